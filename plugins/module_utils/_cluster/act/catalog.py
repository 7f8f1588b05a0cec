"""Deploys a catalog: finds what fits the cluster and which VMs a change concerns, writes, and prunes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..._resolver.api import managed_fields as ownership
from ..._resolver.api.errors import CatalogError, FieldError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import ROLES, ObjectKey, key_of
from ..._resolver.catalog import upgrade as catalog_upgrade
from ..._resolver.catalog.labels import CATALOG_LABEL, MANAGED_BY_LABEL, OPERATOR, VERSION_LABEL
from ..._resolver.catalog.lost_fields import LostFields
from ..._resolver.catalog.upgrade import changes as changes_of
from ..._resolver.catalog.upgrade import predicted
from ..._resolver.declare import plan
from ..._resolver.kubevirt.vmi.cluster import Cluster
from ..._resolver.preflight.object_keys import keys_for_expansion
from ..._resolver.refresh.drift import Drift
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import FIELD_MANAGER, Session
from ..read.catalog_users import CatalogUsers, labels
from ..read.kubevirt import kubevirt
from ..read.lookup import ClusterLookup
from ..read.snapshot import Key, Unreadable
from .catalog_compatibility import check_fields, foreign_architectures
from .declare import declare
from .engine import WriteSettings
from .handlers.catalog import CatalogHandler, deletion_findings, deprecated, skip_reason
from .kind_handler import DeclareOutcome, Entry, Finding, Planned
from .limits import PolicyHandler, limit_entries

Manifest = dict[str, Any]


@dataclass(frozen=True)
class CatalogRequest:
    """The requested state of a catalog.

    manifests: ready to deploy, with the labels of the catalog.
    namespaces: where to look for objects to prune; "" means cluster-wide objects.
    state: `present` or `absent`. prune: `never`, `unused` or `always`. existing: `keep` or `apply`.
    force: delete objects that VMs use. on_lost_fields: `fail`, `warn` or `ignore`.
    limits: as users write them; None to leave those of the catalog as they are.
    """

    manifests: list[Manifest]
    namespaces: tuple[str, ...]
    catalog: str
    state: str = "present"
    prune: str = "never"
    existing: str = "apply"
    force: bool = False
    on_lost_fields: str = "fail"
    limits: list[Any] | None = None


@dataclass
class ChangedObject:
    """An object whose spec changes, [{field, before, after}]. used_by: the VMs that refer to it; None if unknown."""

    object_key: ObjectKey
    changes: list[dict[str, Any]]
    used_by: list[Manifest] | None = None


@dataclass
class RemovedObject:
    """A deployed object that the catalog no longer contains. keep_reason: why it is not pruned, or None."""

    live: Manifest
    used_by: list[Manifest] | None = None
    keep_reason: str | None = None


@dataclass
class Affected:
    """A VM that refers to a changed or removed object, and its drift after the run."""

    vm: Manifest
    object_keys: list[ObjectKey]
    drift: Drift


@dataclass
class CatalogOutcome:
    """The outcome of a request. results: for the requested objects. pruned: for the objects in `gone` that are
    pruned. limits: for the policies of limits.
    """

    results: list[DeclareOutcome] = field(default_factory=list)
    pruned: list[DeclareOutcome] = field(default_factory=list)
    limits: list[DeclareOutcome] = field(default_factory=list)
    new: list[ObjectKey] = field(default_factory=list)
    changed: list[ChangedObject] = field(default_factory=list)
    gone: list[RemovedObject] = field(default_factory=list)
    affected: list[Affected] = field(default_factory=list)
    lost_fields: list[tuple[ObjectKey, LostFields]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    versions_before: dict[str, int] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)


def deploy(session: Session, request: CatalogRequest, settings: WriteSettings) -> CatalogOutcome:
    """Carries out a request. Check mode returns the same result but writes nothing.

    Raises CatalogError for limits that cannot be declared, before it writes anything.
    """
    deployed = CatalogOutcome()
    snapshot = _Snapshot(session)
    users = CatalogUsers(session)
    entries = _entries(session, request, deployed)
    desired = [(entry.key, entry.manifest) for entry in entries]
    if request.state == "present":
        _predict_changes(session, snapshot, users, request, desired, deployed)
    limits = _limits(session, snapshot, request, deployed)
    handler = _CatalogObjectHandler(request, snapshot, users)
    deployed.versions_before = _versions(_deployed(snapshot, request))
    deployed.results = declare(session, handler, entries, settings)
    failed = sum(1 for result in deployed.results if result.failed)
    due = [gone for gone in deployed.gone if gone.keep_reason is None]
    if failed:
        for gone in due:
            gone.keep_reason = f"not pruned because {failed} of the catalog's objects failed"
    else:
        deployed.pruned = declare(session, handler, [_absent(gone.live) for gone in due], settings)
    if limits is not None:
        # Afterwards: a limit names what there is.
        deployed.limits = declare(session, *limits, settings)
    after = [manifest for manifest in map(_afterwards, deployed.results) if manifest is not None]
    pruned = {result.entry.key for result in deployed.pruned if result.changed}
    stay = [gone.live for gone in deployed.gone if _key(gone.live) not in pruned]
    deployed.versions = _versions([*after, *stay], request.catalog)
    return deployed


def _limits(
    session: Session, snapshot: _Snapshot, request: CatalogRequest, deployed: CatalogOutcome
) -> tuple[PolicyHandler, list[Entry]] | None:
    """The limits to declare, for what the cluster has after the run; None to leave them as they are."""
    if request.limits is None:
        return None
    if any(request.namespaces):
        raise CatalogError(
            "limits: valid for cluster-wide objects only; remove namespaces, or write the limits in a task without"
        )
    try:
        live = [
            {**item, "kind": role.cluster_kind}
            for role in ROLES
            for item in snapshot.live_objects(role.cluster_kind, None)
        ]
    except Unreadable as error:
        raise CatalogError(f"limits: {error}") from error
    objects = {key_of(manifest): manifest for manifest in (*live, *request.manifests)}
    for gone in deployed.gone:
        if gone.keep_reason is None:
            del objects[key_of(gone.live)]
    written = request.limits if request.state == "present" else []
    return limit_entries(session, written, request.catalog, objects.values())


class _Snapshot:
    """The live instancetypes and preferences, read with one LIST for each kind and namespace."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lists: dict[tuple[str, str | None], list[Manifest]] = {}

    def live_objects(self, kind: str, namespace: str | None) -> list[Manifest]:
        """The live objects of a kind. Raises Unreadable."""
        if (kind, namespace) not in self._lists:
            try:
                items, _version = self._session.list(BY_NAME[kind], namespace)
            except (ApiError, ConnectionFailed) as error:
                raise Unreadable(explain(error, "LIST", BY_NAME[kind])) from error
            self._lists[kind, namespace] = items
        return self._lists[kind, namespace]

    def read(self, keys: Iterable[Key]) -> dict[Key, Manifest]:
        """See snapshot.read."""
        requested = set(keys)
        object_keys = {(key.kind, key.namespace) for key in requested}
        objects = {_key(live): live for kind, namespace in object_keys for live in self.live_objects(kind, namespace)}
        return {key: live for key, live in objects.items() if key in requested}


def _entries(session: Session, request: CatalogRequest, deployed: CatalogOutcome) -> list[Entry]:
    """The entries for the objects, without the fields that the cluster would drop.

    on_lost_fields never fails a preference for another architecture than the cluster's.
    """
    manifests, refused = request.manifests, {}
    if request.state == "present":
        compatibility = check_fields(session, manifests)
        manifests = compatibility.manifests
        deployed.warnings += compatibility.warnings
        deployed.lost_fields = compatibility.lost_fields
        lost = {object_key: item.text for object_key, item in compatibility.lost_fields}
        if request.on_lost_fields == "fail" and lost:
            others = foreign_architectures(session, request.manifests)
            refused = {object_key: text for object_key, text in lost.items() if object_key not in others}
            lost = {
                object_key: f"{text}; {others[object_key]}" for object_key, text in lost.items() if object_key in others
            }
        if request.on_lost_fields != "ignore":
            deployed.warnings += [
                f"{object_key.kind} {_label(object_key)}: {text}" for object_key, text in lost.items()
            ]
    return [
        Entry(_label(object_key), _key(manifest), request.state, manifest, refused.get(object_key))
        for manifest, object_key in zip(manifests, map(key_of, manifests))
    ]


class _CatalogObjectHandler(CatalogHandler):
    """The objects of a request, and the objects to prune."""

    def __init__(self, request: CatalogRequest, snapshot: _Snapshot, users: CatalogUsers) -> None:
        super().__init__("objects")
        self._request = request
        self._snapshot = snapshot
        self._users = users

    def read(self, session: Session, keys: Iterable[Key]) -> dict[Key, Manifest]:
        return self._snapshot.read(keys)

    def skip_reason(self, live: Manifest) -> str | None:
        owner = (live["metadata"].get("labels") or {}).get(CATALOG_LABEL)
        if owner not in (None, self._request.catalog) and ownership.owned(live, FIELD_MANAGER) is not None:
            return f"the object belongs to the catalog {owner}"
        return skip_reason(live, self._request.existing)

    def preflight(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        release = kubevirt(session).release
        return [deprecated(step.plan.manifest, release) for step in planned]

    def deletion(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        # _keep_reason has already decided what may be pruned.
        return deletion_findings(self._users, planned, self._request.force or self._request.state == "present")


def _predict_changes(
    session: Session,
    snapshot: _Snapshot,
    users: CatalogUsers,
    request: CatalogRequest,
    desired: list[tuple[Key, Manifest]],
    deployed: CatalogOutcome,
) -> None:
    """Records which objects are new, changed or gone, and the VMs that use them."""
    try:
        live = snapshot.read([key for key, _manifest in desired])
    except Unreadable:
        return  # declare reports this for each object
    handler = _CatalogObjectHandler(request, snapshot, users)
    after: dict[ObjectKey, Manifest | None] = {}
    for key, manifest in desired:
        object_key = key_of(manifest)
        if key not in live:
            deployed.new.append(object_key)
        elif handler.skip_reason(live[key]) is None:
            owner = ownership.owned(live[key], FIELD_MANAGER)
            try:
                spec = predicted(manifest, live[key], owner)
                changes = changes_of(live[key], spec)
            except FieldError:
                continue  # the object comes from a newer KubeVirt: declare reports it
            if changes:
                deployed.changed.append(ChangedObject(object_key, changes))
                after[object_key] = {**manifest, "spec": spec}
    object_keys = [key_of(manifest) for _key_, manifest in desired]
    objects = _deployed(snapshot, request)
    deployed.gone = [RemovedObject(live) for live in catalog_upgrade.obsolete(objects, object_keys, request.catalog)]
    _find_users(session, users, deployed, after, request)


def _find_users(
    session: Session,
    users: CatalogUsers,
    deployed: CatalogOutcome,
    after: dict[ObjectKey, Manifest | None],
    request: CatalogRequest,
) -> None:
    unknown = None
    try:
        for change in deployed.changed:
            change.used_by = users.vms_using(change.object_key)
        for gone in deployed.gone:
            gone.used_by = users.vms_using(key_of(gone.live))
    except (ApiError, ConnectionFailed) as error:
        unknown = explain(error, "LIST", BY_NAME["VirtualMachine"])
        deployed.warnings.append(f"cannot tell which virtual machines use the changed and removed objects: {unknown}")
    for gone in deployed.gone:
        gone.keep_reason = _keep_reason(gone, request.prune)
        after[key_of(gone.live)] = None if gone.keep_reason is None else gone.live
    if unknown is not None:
        return
    vms: dict[tuple[str, str], Manifest] = {}
    for used in [change.used_by for change in deployed.changed] + [gone.used_by for gone in deployed.gone]:
        vms.update({(vm["metadata"]["namespace"], vm["metadata"]["name"]): vm for vm in used or []})
    in_order = [vms[key] for key in sorted(vms)]
    if in_order:
        lookup, configured = ClusterLookup(session), kubevirt(session)
        lookup.gather(key for vm in in_order for key in keys_for_expansion(vm, configured.release))
        cluster = Cluster(lookup, configured)
        deployed.warnings += [cluster.kubevirt.assumption] if cluster.kubevirt.assumption else []
        deployed.affected = [Affected(*drift) for drift in catalog_upgrade.affected(in_order, after, cluster)]


def _keep_reason(gone: RemovedObject, prune: str) -> str | None:
    """Why a removed object is not pruned, or None. Only objects that this collection deployed are pruned."""
    skipped = skip_reason(gone.live, "keep")
    if skipped is not None:
        return skipped
    if prune == "never":
        return "prune is set to never"
    if prune == "unused" and gone.used_by is None:
        return "cannot tell which virtual machines use the object"
    if prune == "unused" and gone.used_by:
        return f"in use by {labels(gone.used_by)}"
    return None


def _deployed(snapshot: _Snapshot, request: CatalogRequest) -> list[Manifest]:
    """The live objects of the catalog, in the namespaces that can be read."""
    live = []
    for namespace in request.namespaces:
        for role in ROLES:
            kind = role.kind if namespace else role.cluster_kind
            try:
                live += snapshot.live_objects(kind, namespace or None)
            except Unreadable:
                continue
    return [item for item in live if (item["metadata"].get("labels") or {}).get(CATALOG_LABEL) == request.catalog]


def _versions(objects: list[Manifest], catalog: str | None = None) -> dict[str, int]:
    """The number of deployed objects for each version. More than one version means that a run was incomplete."""
    counts: dict[str, int] = {}
    for manifest in objects:
        own = manifest["metadata"].get("labels") or {}
        if (catalog is None or own.get(CATALOG_LABEL) == catalog) and own.get(MANAGED_BY_LABEL) != OPERATOR:
            version = own.get(VERSION_LABEL, "")
            counts[version] = counts.get(version, 0) + 1
    return dict(sorted(counts.items()))


def _afterwards(result: DeclareOutcome) -> Manifest | None:
    """The object after the run (in check mode, as predicted). Only its labels are reliable."""
    if result.action == plan.DELETE:
        return result.live_before if result.failed else None
    return result.entry.manifest if result.changed else result.live


def _absent(live: Manifest) -> Entry:
    return Entry(_label(key_of(live)), _key(live), "absent", live)


def _key(manifest: Manifest) -> Key:
    metadata = manifest["metadata"]
    return Key(manifest["kind"], metadata.get("namespace"), metadata["name"])


def _label(object_key: ObjectKey) -> str:
    return f"{object_key.namespace}/{object_key.name}" if object_key.namespace else object_key.name
