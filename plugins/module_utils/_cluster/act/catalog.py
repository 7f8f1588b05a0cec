"""Deploys a catalog: finds what fits the cluster and which VMs a change concerns, writes, and prunes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..._resolver.api import managed_fields as ownership
from ..._resolver.api.errors import FieldError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import ROLES
from ..._resolver.catalog import upgrade as catalog_upgrade
from ..._resolver.catalog.labels import CATALOG_LABEL, MANAGED_BY_LABEL, VERSION_LABEL
from ..._resolver.catalog.lost_fields import Misfit
from ..._resolver.catalog.object_key import ObjectKey, key_of
from ..._resolver.catalog.upgrade import changes as changes_of
from ..._resolver.catalog.upgrade import predicted
from ..._resolver.declare import plan
from ..._resolver.kubevirt.vmi.cluster import Cluster
from ..._resolver.preflight.object_keys import keys_for_expansion
from ..._resolver.refresh.drift import Drift
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import FIELD_MANAGER, Session
from ..read.catalog_users import Users, labels
from ..read.kubevirt import kubevirt
from ..read.lookup import ClusterLookup
from ..read.snapshot import Key, Unreadable
from .catalog_fit import fits, foreign
from .declare import declare
from .handlers.catalog import OPERATOR, CatalogSubject, deletion_findings, deprecated, left_alone
from .settings import Settings
from .subject import Entry, Finding, Planned, Result

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """The requested state of a catalog.

    manifests: ready to deploy, with the labels of the catalog.
    namespaces: where to look for objects to prune; "" means cluster-wide objects.
    state: `present` or `absent`. prune: `never`, `unused` or `always`. existing: `keep` or `apply`.
    force: delete objects that VMs use. on_lost_fields: `fail`, `warn` or `ignore`.
    """

    manifests: list[Manifest]
    namespaces: tuple[str, ...]
    catalog: str
    state: str = "present"
    prune: str = "never"
    existing: str = "apply"
    force: bool = False
    on_lost_fields: str = "fail"


@dataclass
class Change:
    """An object whose spec changes, [{field, before, after}]. used_by: the VMs that refer to it; None if unknown."""

    place: ObjectKey
    changes: list[dict[str, Any]]
    used_by: list[Manifest] | None = None


@dataclass
class Gone:
    """A deployed object that the catalog no longer contains. kept: why it is not pruned, or None."""

    live: Manifest
    used_by: list[Manifest] | None = None
    kept: str | None = None


@dataclass
class Affected:
    """A VM that refers to a changed or removed object, and its drift after the run."""

    vm: Manifest
    places: list[ObjectKey]
    drift: Drift


@dataclass
class Deployed:
    """The outcome of a request. results: for the requested objects. pruned: for the objects in `gone` that are not
    kept.
    """

    results: list[Result] = field(default_factory=list)
    pruned: list[Result] = field(default_factory=list)
    new: list[ObjectKey] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    gone: list[Gone] = field(default_factory=list)
    affected: list[Affected] = field(default_factory=list)
    misfits: list[tuple[ObjectKey, Misfit]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    versions_before: dict[str, int] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)


def deploy(session: Session, request: Request, settings: Settings) -> Deployed:
    """Carries out a request. Check mode returns the same result but writes nothing."""
    told = Deployed()
    snapshot = _Snapshot(session)
    users = Users(session)
    entries = _entries(session, request, told)
    wanted = [(entry.key, entry.manifest) for entry in entries]
    if request.state == "present":
        _foresee(session, snapshot, users, request, wanted, told)
    subject = _Objects(request, snapshot, users)
    told.versions_before = _versions(_deployed(snapshot, request))
    told.results = declare(session, subject, entries, settings)
    failed = sum(1 for result in told.results if result.failed)
    due = [one for one in told.gone if one.kept is None]
    if failed:
        for one in due:
            one.kept = f"not pruned because {failed} of the catalog's objects failed"
    else:
        told.pruned = declare(session, subject, [_absent(one.live) for one in due], settings)
    after = [one for one in map(_afterwards, told.results) if one is not None]
    pruned = {result.entry.key for result in told.pruned if result.changed}
    stay = [one.live for one in told.gone if _key(one.live) not in pruned]
    told.versions = _versions([*after, *stay], request.catalog)
    return told


class _Snapshot:
    """The live instancetypes and preferences, read with one LIST for each kind and namespace."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lists: dict[tuple[str, str | None], list[Manifest]] = {}

    def of(self, kind: str, namespace: str | None) -> list[Manifest]:
        """The live objects of a kind. Raises Unreadable."""
        if (kind, namespace) not in self._lists:
            try:
                items, _version = self._session.list(BY_NAME[kind], namespace)
            except (ApiError, ConnectionFailed) as error:
                raise Unreadable(explain(error, "LIST", BY_NAME[kind])) from error
            self._lists[kind, namespace] = items
        return self._lists[kind, namespace]

    def read(self, _session: Session, keys: Iterable[Key]) -> dict[Key, Manifest]:
        """See snapshot.read."""
        wanted = set(keys)
        places = {(key.kind, key.namespace) for key in wanted}
        found = {_key(one): one for kind, namespace in places for one in self.of(kind, namespace)}
        return {key: one for key, one in found.items() if key in wanted}


def _entries(session: Session, request: Request, told: Deployed) -> list[Entry]:
    """The entries for the objects, without the fields that the cluster would drop.

    on_lost_fields never fails a preference for another architecture than the cluster's.
    """
    manifests, refused = request.manifests, {}
    if request.state == "present":
        fit = fits(session, manifests)
        manifests = fit.manifests
        told.warnings += fit.warnings
        told.misfits = fit.misfits
        lost = {place: one.text for place, one in fit.misfits}
        if request.on_lost_fields == "fail" and lost:
            others = foreign(session, request.manifests)
            refused = {place: text for place, text in lost.items() if place not in others}
            lost = {place: f"{text}; {others[place]}" for place, text in lost.items() if place in others}
        if request.on_lost_fields != "ignore":
            told.warnings += [f"{place.kind} {_label(place)}: {text}" for place, text in lost.items()]
    return [
        Entry(_label(place), _key(manifest), request.state, manifest, refused.get(place))
        for manifest, place in zip(manifests, map(key_of, manifests))
    ]


class _Objects(CatalogSubject):
    """The objects of a request, and the objects to prune."""

    def __init__(self, request: Request, snapshot: _Snapshot, users: Users) -> None:
        super().__init__("objects")
        self._request = request
        self._snapshot = snapshot
        self._users = users

    def read(self, session: Session, keys: Iterable[Key]) -> dict[Key, Manifest]:
        return self._snapshot.read(session, keys)

    def leave(self, live: Manifest) -> str | None:
        owner = (live["metadata"].get("labels") or {}).get(CATALOG_LABEL)
        if owner not in (None, self._request.catalog) and ownership.owned(live, FIELD_MANAGER) is not None:
            return f"the object belongs to the catalog {owner}"
        return left_alone(live, self._request.existing)

    def preflight(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        release = kubevirt(session).release
        return [[Finding(text, note=True) for text in deprecated(step.plan.manifest, release)] for step in planned]

    def deletion(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        # _kept has already decided what may be pruned.
        return deletion_findings(self._users, planned, self._request.force or self._request.state == "present")


def _foresee(
    session: Session,
    snapshot: _Snapshot,
    users: Users,
    request: Request,
    wanted: list[tuple[Key, Manifest]],
    told: Deployed,
) -> None:
    """Records which objects are new, changed or gone, and the VMs that use them."""
    try:
        live = snapshot.read(session, [key for key, _manifest in wanted])
    except Unreadable:
        return  # declare reports this for each object
    leave = _Objects(request, snapshot, users).leave
    after: dict[ObjectKey, Manifest | None] = {}
    for key, manifest in wanted:
        place = key_of(manifest)
        if key not in live:
            told.new.append(place)
        elif leave(live[key]) is None:
            owner = ownership.owned(live[key], FIELD_MANAGER)
            try:
                spec = predicted(manifest, live[key], owner)
                changes = changes_of(live[key], spec)
            except FieldError:
                continue  # the object comes from a newer KubeVirt: declare reports it
            if changes:
                told.changed.append(Change(place, changes))
                after[place] = {**manifest, "spec": spec}
    places = [key_of(manifest) for _key_, manifest in wanted]
    deployed = _deployed(snapshot, request)
    told.gone = [Gone(one) for one in catalog_upgrade.obsolete(deployed, places, request.catalog)]
    _find_users(session, users, told, after, request)


def _find_users(
    session: Session, users: Users, told: Deployed, after: dict[ObjectKey, Manifest | None], request: Request
) -> None:
    unknown = None
    try:
        for change in told.changed:
            change.used_by = users.of(change.place)
        for one in told.gone:
            one.used_by = users.of(key_of(one.live))
    except (ApiError, ConnectionFailed) as error:
        unknown = explain(error, "LIST", BY_NAME["VirtualMachine"])
        told.warnings.append(f"cannot tell which virtual machines use the changed and removed objects: {unknown}")
    for one in told.gone:
        one.kept = _kept(one, request.prune)
        after[key_of(one.live)] = None if one.kept is None else one.live
    if unknown is not None:
        return
    vms: dict[tuple[str, str], Manifest] = {}
    for used in [change.used_by for change in told.changed] + [one.used_by for one in told.gone]:
        vms.update({(vm["metadata"]["namespace"], vm["metadata"]["name"]): vm for vm in used or []})
    in_order = [vms[key] for key in sorted(vms)]
    if in_order:
        lookup, known = ClusterLookup(session), kubevirt(session)
        lookup.gather(key for vm in in_order for key in keys_for_expansion(vm, known.release))
        now = Cluster(lookup, known)
        told.warnings += [now.kubevirt.doubt] if now.kubevirt.doubt else []
        told.affected = [Affected(*one) for one in catalog_upgrade.affected(in_order, after, now)]


def _kept(one: Gone, prune: str) -> str | None:
    """Why a removed object is not pruned, or None. Only objects that this collection deployed are pruned."""
    left = left_alone(one.live, "keep")
    if left is not None:
        return left
    if prune == "never":
        return "prune is set to never"
    if prune == "unused" and one.used_by is None:
        return "cannot tell which virtual machines use the object"
    if prune == "unused" and one.used_by:
        return f"in use by {labels(one.used_by)}"
    return None


def _deployed(snapshot: _Snapshot, request: Request) -> list[Manifest]:
    """The live objects of the catalog, in the namespaces that can be read."""
    found = []
    for namespace in request.namespaces:
        for role in ROLES:
            kind = role.kind if namespace else role.cluster_kind
            try:
                found += snapshot.of(kind, namespace or None)
            except Unreadable:
                continue
    return [one for one in found if (one["metadata"].get("labels") or {}).get(CATALOG_LABEL) == request.catalog]


def _versions(objects: list[Manifest], catalog: str | None = None) -> dict[str, int]:
    """The number of deployed objects for each version. More than one version means that a run was incomplete."""
    found: dict[str, int] = {}
    for one in objects:
        own = one["metadata"].get("labels") or {}
        if (catalog is None or own.get(CATALOG_LABEL) == catalog) and own.get(MANAGED_BY_LABEL) != OPERATOR:
            version = own.get(VERSION_LABEL, "")
            found[version] = found.get(version, 0) + 1
    return dict(sorted(found.items()))


def _afterwards(result: Result) -> Manifest | None:
    """The object after the run (in check mode, as predicted). Only its labels are reliable."""
    if result.action == plan.DELETE:
        return result.found if result.failed else None
    return result.entry.manifest if result.changed else result.live


def _absent(live: Manifest) -> Entry:
    return Entry(_label(key_of(live)), _key(live), "absent", live)


def _key(manifest: Manifest) -> Key:
    metadata = manifest["metadata"]
    return Key(manifest["kind"], metadata.get("namespace"), metadata["name"])


def _label(place: ObjectKey) -> str:
    return f"{place.namespace}/{place.name}" if place.namespace else place.name
