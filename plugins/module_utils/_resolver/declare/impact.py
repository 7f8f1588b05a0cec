"""The effect of a planned change on a VM's guest, and whether it needs a restart."""

from __future__ import annotations

from typing import Final

from ..api.manifest import Manifest
from ..api.matcher import ROLES
from ..api.tree import copy, shown_differences
from ..kubevirt.find import naming
from ..kubevirt.vmi import live_update, outstanding, vmi
from ..kubevirt.vmi.cluster import Cluster
from ..kubevirt.vmi.device_hotplug import migrates
from ..kubevirt.vmi.hotplug import Update
from ..kubevirt.vmi.live_update import LIVE, NOTHING, RESTART, UNKNOWN, Impact
from ..kubevirt.vmi.readiness import HALTED, run_strategy
from ..kubevirt.vmi.vmi import guest
from ..kubevirt.webhooks import mutate
from ..kubevirt.webhooks.mutate import AdmissionResult

_SILENT_RESTART: Final = "KubeVirt does not ask for a restart, but the guest gets {fields} only at its next start"


def impact(vm: Manifest, future: AdmissionResult, instance: Manifest | None, cluster: Cluster) -> Impact:
    """The impact of a planned change.

    vm: the live VM. future: the VM after the change. instance: its VMI, or None. One that does not run yet counts, too:
    KubeVirt compares the VM with it, and does not make it anew.
    """
    if future.admitted is None:
        return Impact(UNKNOWN)
    after = _captured(future.admitted)
    running = instance if instance is not None and live_update.takes_changes(instance) else None
    started = (outstanding.started_spec(vm, running, cluster.objects) if running else None) or vm["spec"]
    started_vm = {**vm, "spec": started, **({} if started is vm["spec"] else {"status": {}})}
    before = vmi.build(started_vm, cluster).spec
    after_spec = vmi.build(after, cluster).spec
    if before is None or after_spec is None:
        return Impact(UNKNOWN)
    update, unrequested_restart, guest_current = Update(), "", False
    if running is not None:
        if run_strategy(future.vm) != HALTED:
            update = live_update.compare(started_vm, after, running, cluster)
            unrequested_restart = _silent_restart(before, after_spec, running, update, migrates(after))
            if update.restart_required:
                guest_current = _lacks_nothing(after, running, cluster)
            elif live_update.remaining_condition(vm, cluster.release) is not None:
                guest_current = not unrequested_restart
        # The guest has what KubeVirt has hotplugged since its start.
        for part, field in (("cpu", "sockets"), ("memory", "guest")):
            hotplugged = (running["spec"]["domain"].get(part) or {}).get(field)
            if hotplugged is not None and before["domain"].get(part):
                before["domain"][part][field] = hotplugged
    reason = update.restart_required or unrequested_restart or None
    needs_restart = reason is not None and not guest_current
    return Impact(
        RESTART if needs_restart else LIVE if update.changes else NOTHING,
        reason,
        guest_before=guest(before),
        guest_after=guest(after_spec),
        changes=tuple(shown_differences(before, after_spec)),
        guest_current=guest_current,
        without_condition=bool(unrequested_restart) or update.without_condition,
    )


def _lacks_nothing(vm: Manifest, instance: Manifest, cluster: Cluster) -> bool:
    """Whether the guest has everything that a VM declares that is to be written."""
    metadata = vm["metadata"]
    vm = {**vm, "metadata": {**metadata, "generation": metadata.get("generation", 0) + 1}}
    return outstanding.outstanding(vm, instance, cluster).guest_current


def _silent_restart(before: Manifest, after: Manifest, instance: Manifest, update: Update, migrating: bool) -> str:
    """Why a change that KubeVirt does not ask to restart for needs a restart all the same; "" if none does.

    KubeVirt compares neither the disks and interfaces that it attaches automatically, nor volumes that it could plug.
    A guest that does not run yet may still get them. One that is to migrate to other volumes is not to lose its data.
    """
    if update.restart_required is not None or (instance.get("status") or {}).get("phase") != "Running":
        return ""
    live = (*update.changes, "volumes") if migrating else update.changes
    fixed = outstanding.fixed(before, after, instance["spec"])
    lacking = [field for field in fixed if not any(f"{field}.".startswith(f"{change}.") for change in live)]
    return _SILENT_RESTART.format(fields=", ".join(lacking)) if lacking else ""


def size_mismatch(declared: Manifest, live: Manifest, cluster: Cluster) -> str | None:
    """A note if an expanded VM has another size than its declared matchers give now, or None.

    The cluster's reference policy replaced the matchers, so the VM does not follow them. Whether the play or the
    instancetype changed is unknown.
    """
    admitted = mutate.mutate(declared, cluster.objects, release=cluster.release).vm
    intended = vmi.build(admitted, cluster).spec if admitted else None
    actual = vmi.build(live, cluster).spec
    if intended is None or actual is None or _size(intended) == _size(actual):
        return None
    return (
        f"the cluster's reference policy replaced the instancetype by its values ({_size(actual)}); the instancetype"
        f" now gives {_size(intended)}, which the VM does not get: declare cpu and memory to change the VM"
    )


def _size(spec: Manifest) -> str:
    figures = guest(spec)
    return f"{figures['vcpus']} vCPU, {figures.get('memory', 'no memory')}"


def _captured(vm: Manifest) -> Manifest:
    """The VM without references to revisions that virt-controller captures again."""
    vm = copy(vm)
    for role in ROLES:
        matcher, reference = role.matcher_of(vm), role.reference_of(vm)
        if matcher and reference and naming.recapture_fields(matcher, reference):
            del vm["status"][role.reference]
    return vm
