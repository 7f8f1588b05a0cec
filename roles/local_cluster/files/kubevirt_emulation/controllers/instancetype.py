"""Captures the revisions of a VM's instancetype and preference or expands the VM, depending on the reference policy.

`_resolver` computes the writes; this module sends them.
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from _resolver.api.matcher import INSTANCETYPE, ROLES
from _resolver.instancetype.find import find, naming
from _resolver.instancetype.find.lookup import Lookup
from _resolver.instancetype.revision import store, upgrade
from _resolver.instancetype.vmi import expand
from kubevirt_emulation import go_metadata
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.controllers.context import Context, Failure, Work
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.resources import REVISION

Manifest = dict[str, Any]


_EXPANDING = "unsupported error: error encountered while expanding into VirtualMachine: "


class Decision(NamedTuple):
    """What to do for a VM; the first field that is set counts."""

    failure: tuple[str, str] | None = None  # reason, message
    expanded: Manifest | None = None
    stored: store.Writes | None = None
    upgraded: store.Writes | None = None


async def sync(context: Context, work: Work) -> None:
    """Writes what `decide` returns.

    work.vm gets the references that are to be written with its status. Raises Failure.
    """
    vm = work.vm
    if all(role.matcher_of(vm) is None for role in ROLES):
        return
    configuration = context.configuration
    release = configuration.release
    decision = await context.objects.resolve(
        lambda lookup: decide(vm, lookup, configuration),
        # A VM without a revision needs no look-up: the attempt to create the revision shows whether it exists.
        trusted=() if any(naming.referenced(vm, role, release).name for role in ROLES) else ("ControllerRevision",),
    )
    if decision.failure is not None:
        raise Failure(*decision.failure)
    if decision.expanded is not None:
        await _replace(context, work, decision.expanded)
    elif decision.stored is not None:
        await _store(context, work, decision.stored)
        if decision.upgraded is not None:
            await _upgrade(context, work, decision.upgraded)


def decide(vm: Manifest, lookup: Lookup, configuration: KubeVirtConfiguration) -> Decision:
    """What virt-controller would do."""
    release, policy = configuration.release, configuration.reference_policy
    reasons = ("FailedFindInstancetype", "FailedFindPreference") if configuration.behaviour.finds_objects_first else ()
    for role, reason in zip(ROLES, reasons):
        found = find.spec(vm, role, lookup, release)
        if found.error is not None:
            return Decision(failure=(reason, found.error.message))
    has_revision = any((role.reference_of(vm) or {}).get("controllerRevisionRef") for role in ROLES)
    if policy == "expandAll" or (policy == "expand" and not has_revision):
        expanded = expand.expand(vm, lookup, configuration.defaults, release)
        if expanded.error is not None:
            return Decision(failure=("UnsupportedSyncError", _EXPANDING + expanded.error.message))
        return Decision(expanded=expanded.vm)
    if policy != "reference":
        # An unknown policy keeps the captured revisions, whatever the matchers say.
        return Decision()
    stored = store.store(vm, lookup, release)
    if stored.error is not None or any(isinstance(action, store.Create) for action in stored.actions):
        # A revision captured now has the current version.
        return Decision(stored=stored)
    return Decision(stored=stored, upgraded=upgrade.upgrade(vm, lookup, release))


async def _replace(context: Context, work: Work, expanded: Manifest) -> None:
    """Replaces the VM's spec by the expanded one and deletes its revisions."""
    before = work.vm
    spec = go_metadata.of_spec(expanded["spec"], context.configuration.behaviour)
    answer = await context.patch_vm(before, [{"op": "replace", "path": "/spec", "value": spec}])
    work.vm = {**answer, "status": _without_references(before["status"])}
    for role in ROLES:
        reference = (role.reference_of(before) or {}).get("controllerRevisionRef")
        if reference:
            await _delete_revision(context, before["metadata"]["namespace"], reference["name"])


async def _store(context: Context, work: Work, writes: store.Writes) -> None:
    references = {INSTANCETYPE: writes.instancetype_ref, ROLES[1]: writes.preference_ref}
    if writes.error is not None:
        if INSTANCETYPE.matcher_of(work.vm) is not None and INSTANCETYPE.reference_of(work.vm) is None:
            # KubeVirt starts the reference before it stores the revision, and writes it with the status.
            work.vm = {**work.vm, "status": {**work.vm["status"], INSTANCETYPE.reference: {}}}
        raise Failure("FailedCreate", context.configuration.behaviour.storing_failed + writes.error.message)
    creates = [action for action in writes.actions if isinstance(action, store.Create)]
    await asyncio.gather(*(_create(context, action) for action in creates))
    for action in writes.actions:
        if isinstance(action, store.PatchSpec):
            work.vm = await _patch_spec(context, work.vm, action)
    work.vm = _with_annotations(work.vm, creates)
    status = dict(work.vm["status"])
    for role, reference in references.items():
        if reference is not None:
            status[role.reference] = reference
    work.vm = {**work.vm, "status": status}


def _with_annotations(vm: Manifest, creates: list[store.Create]) -> Manifest:
    """The VM with its instancetype's annotations in its template; this VM is never stored.

    KubeVirt adds them when it checks for conflicts a last time, so the start revision contains them too.
    """
    kept = [action.manifest["data"] for action in creates]
    annotations = {
        key: value
        for one in kept
        for key, value in (one["spec"].get("annotations") or {}).items()
        if one["kind"] in (INSTANCETYPE.kind, INSTANCETYPE.cluster_kind)
    }
    if not annotations:
        return vm
    template = vm["spec"]["template"]
    metadata = template.get("metadata") or {}
    metadata = {**metadata, "annotations": {**annotations, **(metadata.get("annotations") or {})}}
    return {**vm, "spec": {**vm["spec"], "template": {**template, "metadata": metadata}}}


async def _create(context: Context, action: store.Create) -> None:
    name = action.manifest["metadata"]["name"]
    if context.caches["ControllerRevision"].get((action.namespace, name)) is not None:
        return  # `_resolver` has checked that it contains the same
    try:
        await context.create_revision(action.namespace, action.manifest)
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise Failure("FailedCreate", context.configuration.behaviour.storing_failed + str(error)) from None
        # The next attempt checks whether it contains the same.
        context.caches["ControllerRevision"].observe(await context.client.get(REVISION, action.namespace, name))
        raise


async def _upgrade(context: Context, work: Work, writes: store.Writes) -> None:
    for action in writes.actions:
        if isinstance(action, store.Create):
            try:
                await context.create_revision(action.namespace, action.manifest)
            except ApiError as error:
                raise Failure("FailedCreate", context.configuration.behaviour.upgrading_failed + str(error)) from None
        elif isinstance(action, store.PatchStatus):
            answer = await context.patch_vm(work.vm, action.patch, "status")
            work.vm = {**answer, "status": answer.get("status") or {}}
        elif isinstance(action, store.PatchSpec):
            work.vm = await _patch_spec(context, work.vm, action)
        else:
            await _delete_revision(context, action.namespace, action.name)
    if writes.error is not None:
        raise Failure("FailedCreate", context.configuration.behaviour.upgrading_failed + writes.error.message)


async def _patch_spec(context: Context, vm: Manifest, action: store.PatchSpec) -> Manifest:
    """The VM after its revisions were named in its spec. The result keeps the old generation, as in KubeVirt."""
    answer = await context.patch_vm(vm, action.patch)
    metadata = {**answer["metadata"], "generation": vm["metadata"]["generation"]}
    return {**answer, "metadata": metadata, "status": vm["status"]}


async def _delete_revision(context: Context, namespace: str, name: str) -> None:
    try:
        await context.client.delete(REVISION, namespace, name)
    except ApiError as error:
        if error.code != 404:
            raise


def _without_references(status: Manifest) -> Manifest:
    return {key: value for key, value in status.items() if key not in [role.reference for role in ROLES]}
