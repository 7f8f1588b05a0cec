"""Deploys a catalog: finds what fits the cluster and which VMs a change concerns, writes, and prunes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..._resolver.api import managed_fields
from ..._resolver.api.errors import FieldError
from ..._resolver.api.keys import CATALOG_LABEL, CATALOG_VERSION_LABEL, FIELD_MANAGER, MANAGED_BY_LABEL
from ..._resolver.api.manifest import Manifest, Options, namespaced_name
from ..._resolver.api.matcher import MATCHER_FIELDS, ObjectKey
from ..._resolver.catalog import deployment_effects
from ..._resolver.catalog.lost_fields import LostFields
from ..._resolver.catalog.ownership import OPERATOR
from ..._resolver.catalog.spec_changes import changes as changes_of
from ..._resolver.catalog.spec_changes import predicted
from ..._resolver.change.declare_steps import ANY_KIND
from ..._resolver.change.declared import DeclareJob, manifest_job, refuse
from ..._resolver.change.drift import Drift
from ..._resolver.declare import plan
from ..._resolver.preflight.object_keys import keys_for_guest
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.catalog_users import CatalogUsers, labels
from ..reads.kubevirt import kubevirt
from ..reads.listed_objects import ListedObjects
from ..reads.lookup import ClusterLookup
from ..reads.revisions import vmis
from ..task import Task
from .catalog_compatibility import check_fields, foreign_architectures
from .catalog_objects import CatalogObjects, ObjectCheck, skip_reason
from .declare import declare


@dataclass
class RemovedObject:
    """A deployed object that the catalog no longer contains. keep_reason: why it is not pruned, or None."""

    live: Manifest
    keep_reason: str | None = None


@dataclass
class CatalogSummary:
    """What a deployment does besides what its jobs say of their objects: users, versions, objects that are gone.

    results: the results of the requested objects. pruned: the results of the objects in `gone` that are pruned. added:
    the jobs for what a capability adds. changed: [{field, before, after}] of the specs that change. used_by: the
    VMs that refer to changed or removed objects; None if unknown. affected: the same, each with these objects and its
    drift after the run.
    """

    results: list[DeclareJob] = field(default_factory=list)
    pruned: list[DeclareJob] = field(default_factory=list)
    added: list[DeclareJob] = field(default_factory=list)
    new: list[ObjectKey] = field(default_factory=list)
    changed: dict[ObjectKey, list[dict[str, Any]]] = field(default_factory=dict)
    gone: list[RemovedObject] = field(default_factory=list)
    used_by: dict[ObjectKey, list[Manifest]] | None = field(default_factory=dict)
    affected: list[tuple[Manifest, list[ObjectKey], Drift]] = field(default_factory=list)
    lost_fields: list[tuple[ObjectKey, LostFields]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    versions_before: dict[str, int] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)


class CatalogExtension(NamedTuple):
    """The contribution of a capability to catalogs.

    option: the option that asks for it; its name also denotes the objects in messages and the key of the result.
    spec: the argument spec of the option.
    plan: (live objects, options of the module, user name of virt-controller, what lists the objects that the cluster
    has after the run, or raises RequestFailed) → the objects that a catalog declares beside its own. Raises
    CatalogError for objects that cannot be declared.
    await_in_force: waits until what was written among these jobs has an effect, until a deadline.
    """

    option: str
    spec: dict[str, Any]
    plan: Callable[[ListedObjects, Options, str, Callable[[], dict[ObjectKey, Manifest]]], list[DeclareJob]]
    await_in_force: Callable[[Session, list[DeclareJob], float], None]


def deploy(
    session: Session,
    options: Options,
    manifests: list[Manifest],
    task: Task,
    extension: CatalogExtension | None = None,
    checks: Sequence[ObjectCheck] = (),
) -> CatalogSummary:
    """Deploys or removes a catalog. Check mode returns the same result but writes nothing.

    options: the module's options, with the name of the catalog as `catalog`, and as `namespaces` where to look for
    objects to prune; "" means cluster-wide objects. manifests: ready to deploy, with the labels of the catalog.
    checks: see `CatalogObjects`.
    Raises CatalogError for what an extension cannot declare, before it writes anything.
    """
    deployed = CatalogSummary()
    live_objects = ListedObjects(session)
    # _keep_reason decides what may be pruned.
    force = options["force"] or options["state"] == "present"
    catalog_objects = CatalogObjects({**options, "force": force}, session, options["catalog"], checks)
    jobs = _jobs(session, options, manifests, deployed)
    if options["state"] == "present":
        _predict_changes(session, live_objects, catalog_objects, options, jobs, deployed)
    added = None
    if extension is not None and options[extension.option] is not None:
        controller = kubevirt(session).controller
        added = extension.plan(
            live_objects, options, controller, lambda: _objects_afterwards(live_objects, manifests, deployed)
        )
    deployed.versions_before = _versions(_deployed(live_objects, options))
    deployed.results = declare(session, catalog_objects.kind, jobs, task, live_objects.read)
    _drop_unchanged(deployed)
    failed = sum(1 for job in deployed.results if job.failed)
    due = [gone for gone in deployed.gone if gone.keep_reason is None]
    if failed:
        for gone in due:
            gone.keep_reason = f"not pruned because {failed} of the catalog's objects failed"
    else:
        pruned = [manifest_job(gone.live, "absent") for gone in due]
        deployed.pruned = declare(session, catalog_objects.kind, pruned, task, live_objects.read)
    if extension is not None and added is not None:
        # These come last, because they name objects that exist.
        deployed.added = declare(session, ANY_KIND, added, task, live_objects.read)
        extension.await_in_force(session, deployed.added, time.monotonic() + task.wait_timeout)
    after = [manifest for manifest in map(_object_after_run, deployed.results) if manifest is not None]
    removed = {job.key for job in deployed.pruned if job.changed}
    stay = [gone.live for gone in deployed.gone if ObjectKey.of(gone.live) not in removed]
    deployed.versions = _versions([*after, *stay], options["catalog"])
    return deployed


def _drop_unchanged(deployed: CatalogSummary) -> None:
    """Drops the predicted changes of objects that the cluster left as they were, whatever was declared."""
    same = {job.key for job in deployed.results if job.goal.action == plan.NONE and not (job.failed or job.skip_reason)}
    for key in same & deployed.changed.keys():
        del deployed.changed[key]
    kept = [(vm, [key for key in keys if key not in same], drift) for vm, keys, drift in deployed.affected]
    deployed.affected = [entry for entry in kept if entry[1]]


def _objects_afterwards(
    live_objects: ListedObjects, manifests: list[Manifest], deployed: CatalogSummary
) -> dict[ObjectKey, Manifest]:
    """The cluster-wide objects that the cluster has after the run. Raises RequestFailed."""
    live = [item for matcher_field in MATCHER_FIELDS for item in live_objects.list(matcher_field.cluster_kind, "")]
    objects = {ObjectKey.of(manifest): manifest for manifest in (*live, *manifests)}
    for gone in deployed.gone:
        if gone.keep_reason is None:
            del objects[ObjectKey.of(gone.live)]
    return objects


def _jobs(session: Session, options: Options, manifests: list[Manifest], deployed: CatalogSummary) -> list[DeclareJob]:
    """The declared objects, without the fields that the cluster would drop.

    lost_fields never fails a preference for another architecture than the cluster's.
    """
    fitting, refused = manifests, {}
    if options["state"] == "present":
        fitting, deployed.lost_fields = check_fields(session, manifests, deployed.warnings)
        lost = {object_key: item.text for object_key, item in deployed.lost_fields}
        if options["lost_fields"] == "fail" and lost:
            others = foreign_architectures(session, manifests)
            refused = {object_key: text for object_key, text in lost.items() if object_key not in others}
            lost = {
                object_key: f"{text}; {others[object_key]}" for object_key, text in lost.items() if object_key in others
            }
        if options["lost_fields"] != "ignore":
            deployed.warnings += [f"{key.kind} {key.label}: {text}" for key, text in lost.items()]
    jobs = [manifest_job(manifest, options["state"]) for manifest in fitting]
    for job in jobs:
        if job.key in refused:
            refuse(job, refused[job.key])
    return jobs


def _predict_changes(
    session: Session,
    live_objects: ListedObjects,
    catalog_objects: CatalogObjects,
    options: Options,
    jobs: list[DeclareJob],
    deployed: CatalogSummary,
) -> None:
    """Records which objects are new, changed or gone, and the VMs that use them."""
    try:
        live_by_key = live_objects.read(session, [job.key for job in jobs])
    except RequestFailed:
        return  # declare reports this for each object
    after: dict[ObjectKey, Manifest | None] = {}
    for job in jobs:
        object_key, live = job.key, live_by_key.get(job.key)
        if live is None:
            deployed.new.append(object_key)
        elif catalog_objects.skip_reason(live) is None:
            try:
                spec = predicted(job.goal.manifest, live, managed_fields.applied_fields(live, FIELD_MANAGER))
                changes = changes_of(live, spec)
            except FieldError:
                continue  # the object comes from a newer KubeVirt: declare reports it
            if changes:
                deployed.changed[object_key] = changes
                after[object_key] = {**job.goal.manifest, "spec": spec}
    object_keys = [job.key for job in jobs]
    objects = _deployed(live_objects, options)
    deployed.gone = [
        RemovedObject(live) for live in deployment_effects.no_longer_declared(objects, object_keys, options["catalog"])
    ]
    _find_users(session, catalog_objects.users, deployed, after, options)


def _find_users(
    session: Session,
    users: CatalogUsers,
    deployed: CatalogSummary,
    after: dict[ObjectKey, Manifest | None],
    options: Options,
) -> None:
    """Notes the users of changed and removed objects, which removed objects stay for them, and the effects on VMs."""
    keys = [*deployed.changed, *(ObjectKey.of(gone.live) for gone in deployed.gone)]
    try:
        deployed.used_by = {key: users.vms_using(key) for key in keys}
    except RequestFailed as error:
        deployed.used_by = None
        deployed.warnings.append(f"cannot tell which virtual machines use the changed and removed objects: {error}")
    is_counted = deployed.used_by is not None and options["prune"] == "unused"
    users_of_gone: dict[ObjectKey, list[Manifest]] | None = None
    try:
        gone_keys = [ObjectKey.of(gone.live) for gone in deployed.gone]
        users_of_gone = {key: users.all_using(key) for key in gone_keys} if is_counted else None
    except RequestFailed as error:
        deployed.warnings.append(f"cannot tell which pools use the removed objects: {error}")
    for gone in deployed.gone:
        gone.keep_reason = _keep_reason(gone.live, users_of_gone, options["prune"])
        after[ObjectKey.of(gone.live)] = None if gone.keep_reason is None else gone.live
    vms = {namespaced_name(vm): vm for used in (deployed.used_by or {}).values() for vm in used}
    if vms:
        _forecast(session, [vms[key] for key in sorted(vms)], deployed, after)


def _forecast(
    session: Session, vms: Sequence[Manifest], deployed: CatalogSummary, after: dict[ObjectKey, Manifest | None]
) -> None:
    """Notes what the deployment does to the guests of VMs."""
    lookup = ClusterLookup(session)
    cluster = lookup.cluster
    namespaces = {vm["metadata"]["namespace"] for vm in vms}
    vmi_of = vmis(session, namespaces.pop() if len(namespaces) == 1 else None, vms)
    guests = [(vm, vmi_of(vm)) for vm in vms]
    lookup.gather(key for vm, vmi in guests for key in keys_for_guest(vm, vmi, cluster.release))
    deployed.warnings += [cluster.kubevirt.assumption] if cluster.kubevirt.assumption else []
    deployed.affected = deployment_effects.affected(guests, after, cluster)


def _keep_reason(live: Manifest, users: dict[ObjectKey, list[Manifest]] | None, prune: str) -> str | None:
    """Why a removed object is not pruned, or None. Only objects that this collection deployed are pruned."""
    skipped = skip_reason(live, "keep")
    if skipped is not None:
        return skipped
    if prune == "never":
        return "prune is set to never"
    if prune == "unused" and users is None:
        return "cannot tell what uses the object"
    using = (users or {}).get(ObjectKey.of(live))
    return f"in use by {labels(using)}" if using else None


def _deployed(live_objects: ListedObjects, options: Options) -> list[Manifest]:
    """The live objects of the catalog, in the namespaces that can be read."""
    live = []
    for namespace in options["namespaces"]:
        for matcher_field in MATCHER_FIELDS:
            kind = matcher_field.kind if namespace else matcher_field.cluster_kind
            try:
                live += live_objects.list(kind, namespace)
            except RequestFailed:
                continue
    return [item for item in live if (item["metadata"].get("labels") or {}).get(CATALOG_LABEL) == options["catalog"]]


def _versions(objects: list[Manifest], catalog: str | None = None) -> dict[str, int]:
    """The number of deployed objects for each version. More than one version means that a run was incomplete."""
    counts: dict[str, int] = {}
    for manifest in objects:
        own = manifest["metadata"].get("labels") or {}
        if (catalog is None or own.get(CATALOG_LABEL) == catalog) and own.get(MANAGED_BY_LABEL) != OPERATOR:
            version = own.get(CATALOG_VERSION_LABEL, "")
            counts[version] = counts.get(version, 0) + 1
    return dict(sorted(counts.items()))


def _object_after_run(job: DeclareJob) -> Manifest | None:
    """The object after the run (in check mode, as predicted). Only its labels are reliable."""
    if job.goal.action == plan.DELETE:
        return job.before.live if job.failed else None
    return job.goal.manifest if job.changed else job.seen.live
