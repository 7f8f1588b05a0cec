"""VMs and VirtualMachineTemplates before and after an upgrade.

The next start of a VM, a new VM of a template, and the effect of the new KubeVirt on a running guest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from .._capacity.pod import render as manifests
from .._capacity.pod.amounts import amount_texts
from .._capacity.pod.environment import Environment
from .._capacity.pod.render import environments
from .._capacity.pod.resources import launch
from .._capacity.quota.check import QuotaObjects, check_quotas
from .._conversion.convert import has_unreadable_revision
from .._resolver.api import behaviour, release_schema
from .._resolver.api.errors import FieldError, KubeVirtError
from .._resolver.api.manifest import Manifest, metadata_of, name_of, namespace_of, qualified_name
from .._resolver.api.matcher import MATCHER_FIELDS
from .._resolver.api.tree import copy, shown_differences
from .._resolver.change.drift import Drift, drift
from .._resolver.guest.effect import NOTHING, RESTART, GuestEffect, MaybeVMI
from .._resolver.guest.predict import guest_effect
from .._resolver.kubevirt.admission import admitter, validate
from .._resolver.kubevirt.admission.mutate import admit
from .._resolver.kubevirt.admission.response import invalid
from .._resolver.kubevirt.cluster import Cluster
from .._resolver.kubevirt.instancetype import revision_names
from .._resolver.kubevirt.vm.readiness import has_guest
from .._resolver.kubevirt.vm.vmi import build, guest_figures
from .._templates.process import trial_vm

# How far a guest can grow, and the resources of its pod, do not matter to a running guest.
_IRRELEVANT: Final = ("domain.cpu.maxSockets", "domain.memory.maxGuest", "domain.resources")


class UpgradeSide(NamedTuple):
    """A cluster before or after the upgrade.

    environment: the settings that decide on its pods. environments: the same by namespace, where the namespace matters.
    """

    cluster: Cluster
    environment: Environment
    environments: Mapping[str, Environment] = MappingProxyType({})


class VMStart(NamedTuple):
    """The result of a start. spec: the spec of the VMI as stored. pod: {requests, limits}, quantities by resource.

    problem: why KubeVirt cannot start the VM, in its words; the rest is empty then, or only the pod.
    """

    spec: Manifest | None = None
    pod: Mapping[str, Any] = MappingProxyType({})
    problem: str = ""

    @property
    def guest(self) -> Manifest:
        return guest_figures(self.spec) if self.spec is not None else {}


@dataclass(frozen=True, eq=False)
class UpgradeChange:
    """A VM, or a new VM of a VirtualMachineTemplate, before and after an upgrade.

    manifest: the live VM or template. before, after: the next start on either side; of a new VM, with the default
    values of the parameters.

    changes: differences of the VMI's spec, [{field, before, after}]. lost: fields of the VM that the new API drops.
    refusal, refusal_before: why KubeVirt rejects any change of the VM, or a new VM, after the upgrade, and now; "" if
    it does not.
    """

    manifest: Manifest
    before: VMStart
    after: VMStart
    changes: tuple[dict[str, Any], ...]
    lost: tuple[str, ...]
    refusal: str
    refusal_before: str

    @property
    def label(self) -> str:
        return qualified_name(self.manifest)

    @property
    def newly_stuck(self) -> bool:
        """Whether only the new KubeVirt cannot start the VM."""
        return bool(self.after.problem and not self.before.problem)

    @property
    def newly_refused(self) -> bool:
        return bool(self.refusal and not self.refusal_before)

    @property
    def resized(self) -> bool:
        """Whether the guest gets another size."""
        return bool(self.before.spec and not self.after.problem and self.before.guest != self.after.guest)

    @property
    def affected(self) -> bool:
        """Whether the upgrade makes a difference to the VM, or to the VMs of the template."""
        same = (self.refusal, self.after.problem) == (self.refusal_before, self.before.problem)
        return not same or bool(self.changes or self.lost or self.before.pod != self.after.pod)


@dataclass(frozen=True, eq=False)
class VMChange(UpgradeChange):
    """A VM before and after an upgrade.

    effect: what the upgrade does to the guest, without what the guest lacks before the upgrade as well.
    pinned: whether the upgrade turns the captured revision into a pin. unreadable: the new KubeVirt does not read a
    revision of the VM, because it is of an older API version. refresh: the drift after the upgrade.
    """

    effect: GuestEffect
    pinned: bool
    unreadable: bool
    refresh: Drift

    @property
    def affected(self) -> bool:
        return super().affected or self.pinned or self.effect.requested


def upgrade_side(cluster: Cluster, vms: Sequence[Manifest] = (), objects: QuotaObjects | None = None) -> UpgradeSide:
    """Describes a cluster before or after an upgrade.

    objects: what limits the pods of the VMs' namespaces, None for nothing.
    """
    known = objects or QuotaObjects()
    by_namespace = environments(vms, cluster.kubevirt, known.namespaces, known.quotas, known.networks)
    return UpgradeSide(cluster, Environment(cluster.kubevirt), by_namespace)


def vm_change(vm: Manifest, vmi: MaybeVMI, before: UpgradeSide, after: UpgradeSide) -> VMChange:
    """Compares a VM before and after an upgrade. vmi: the VM's VMI, see `guest.effect`."""
    start_before, start_after = _next_start(vm, before), _next_start(vm, after)
    changes = _spec_changes(start_before, start_after)
    return VMChange(
        vm,
        start_before,
        start_after,
        changes,
        _lost(vm, before, after),
        refusal(vm, after.cluster),
        refusal(vm, before.cluster),
        _effect(vm, vmi, before.cluster, after.cluster, changes),
        _pinned(vm, after) and not _pinned(vm, before),
        has_unreadable_revision(vm, after.cluster.objects, after.cluster.release),
        drift(vm, vmi, after.cluster),
    )


def _effect(
    vm: Manifest, vmi: MaybeVMI, before: Cluster, after: Cluster, changes: tuple[dict[str, Any], ...]
) -> GuestEffect:
    """The effect of an upgrade on a guest. changes: the changes of the VMI's spec at the next start, with defaults."""
    earlier, now = (guest_effect(vm, vm, vmi, cluster) for cluster in (before, after))
    if (now.needs, now.outstanding, now.requested) == (earlier.needs, earlier.outstanding, earlier.requested):
        now = now._replace(needs=NOTHING, reason="", requested=False)
    visible = any(not change["field"].startswith(_IRRELEVANT) for change in changes)
    return now._replace(needs=RESTART) if has_guest(vm) and visible else now


def _spec_changes(before: VMStart, after: VMStart) -> tuple[dict[str, Any], ...]:
    """The differences of the VMI's spec, [{field, before, after}], without secrets."""
    return () if before.spec is None or after.spec is None else tuple(shown_differences(before.spec, after.spec))


def _next_start(vm: Manifest, side: UpgradeSide) -> VMStart:
    """Computes the next start of a VM. vm: the VM as stored."""
    built = None
    try:
        built = build(vm, side.cluster)
        environment = side.environments.get(namespace_of(vm), side.environment)
        spec, pod = launch(built.metadata, built.spec, environment)
    except KubeVirtError as error:
        return VMStart(built.spec if built is not None else None, problem=error.message)
    return VMStart(spec, {"requests": amount_texts(pod.requests), "limits": amount_texts(pod.limits)})


def refusal(vm: Manifest, cluster: Cluster, is_new: bool = False) -> str:
    """Why KubeVirt would reject any change of a stored VM, or a new VM; or ""."""
    applied = release_schema.canonical("VirtualMachine", copy(vm), cluster.release)
    spec = copy(applied["spec"])
    response = validate.virtual_machine(applied, cluster)
    if not response.allowed:
        return response.message
    before = None if is_new else spec
    try:
        causes = admitter.virtual_machine_causes(applied["spec"], spec, before, namespace_of(vm), cluster.kubevirt)
    except KubeVirtError as error:
        return error.message
    return invalid(causes).message if causes else ""


def _lost(vm: Manifest, before: UpgradeSide, after: UpgradeSide) -> tuple[str, ...]:
    """The fields of a VM that the new API drops and the old one does not."""
    dropped_after, dropped_before = (
        [field.path for field in release_schema.unknown("VirtualMachineSpec", vm["spec"], side.cluster.release, "spec")]
        for side in (after, before)
    )
    return tuple(path for path in dropped_after if path not in dropped_before)


def _pinned(vm: Manifest, side: UpgradeSide) -> bool:
    """Up to KubeVirt 1.4 a revision in the spec is the captured one."""
    release = side.cluster.release
    return release.has(behaviour.CAPTURES_IN_STATUS) and any(
        revision_names.referenced_revision(vm, matcher_field, release).pinned for matcher_field in MATCHER_FIELDS
    )


class Admission(NamedTuple):
    """The admission of the pod of a VM before and after an upgrade.

    before, after: why the pod of a VM's next start is rejected; "" if it is admitted.
    """

    before: str = ""
    after: str = ""


class Admissions(NamedTuple):
    """The answers of admission to VMs before and after an upgrade, and the quotas that it affects.

    vms: (namespace, name) → Admission. quotas: as of check.check_quotas, only affected ones, each with fits_before.
    """

    vms: dict[tuple[str, str], Admission]
    quotas: list[dict[str, Any]]


def admissions(vms: Sequence[Manifest], before: UpgradeSide, after: UpgradeSide, objects: QuotaObjects) -> Admissions:
    """Each running VM restarts, one after the other; then each halted VM starts.

    The sums of the quotas are of the running VMs, what their new pods need beyond the present ones. Raises FieldError.
    """
    running = [vm for vm in vms if has_guest(vm)]
    halted = [vm for vm in vms if not has_guest(vm)]
    checks_before, checks_after = (
        _check([*running, *halted], side, objects)["virtual_machines"] for side in (before, after)
    )
    by_vm = {
        (result_before["namespace"], result_before["name"]): Admission(_problem(result_before), _problem(result_after))
        for result_before, result_after in zip(checks_before, checks_after)
    }
    sums = (_check(running, side, objects)["quotas"] for side in (before, after))
    lines = [
        {**line_after, "fits_before": line_before["fits"]}
        for line_before, line_after in zip(*sums)
        if line_before != line_after
    ]
    return Admissions(by_vm, lines)


def _check(vms: Sequence[Manifest], side: UpgradeSide, objects: QuotaObjects) -> dict[str, Any]:
    return check_quotas(vms, side.cluster.objects, side.cluster.kubevirt, objects, manifests.RESTART)


def _problem(line: dict[str, Any]) -> str:
    """A VM without a pod has another problem, which its start names."""
    return str(line.get("problem", "")) if line["evaluated"] else ""


def template_change(template: Manifest, before: UpgradeSide, after: UpgradeSide) -> UpgradeChange:
    """Compares a template before and after an upgrade. One that makes no VM has a problem on both sides."""
    try:
        vm = default_vm(template)
        (start_before, refusal_before), (start_after, refusal_after) = (
            _new_start(vm, side) for side in (before, after)
        )
        dropped = _lost(vm, before, after)
    except (AttributeError, FieldError, KeyError, TypeError, ValueError) as error:
        unusable = VMStart(problem=f"the template makes no VM: {' '.join(str(error).split())}")
        return UpgradeChange(template, unusable, unusable, (), (), "", "")
    return UpgradeChange(
        template,
        start_before,
        start_after,
        _spec_changes(start_before, start_after),
        dropped,
        refusal_after,
        refusal_before,
    )


def default_vm(template: Manifest) -> Manifest:
    """The VM of a template with the default values of its parameters, in the template's namespace."""
    vm, _open, why = trial_vm(template)
    if vm is None:
        raise FieldError("", why)
    if not isinstance(vm.get("spec"), dict):
        raise FieldError("spec.virtualMachine.spec", "missing")
    return {**vm, "metadata": {"name": name_of(template), **metadata_of(vm), "namespace": namespace_of(template)}}


def _new_start(vm: Manifest, side: UpgradeSide) -> tuple[VMStart, str]:
    """(The start of a new VM, why KubeVirt rejects it)."""
    admission = admit(vm, None, side.cluster)
    if admission.admitted is None:
        message = admission.refusal.message if admission.refusal is not None else "is rejected"
        return VMStart(problem=message), message
    return _next_start(admission.admitted, side), refusal(admission.admitted, side.cluster, is_new=True)
