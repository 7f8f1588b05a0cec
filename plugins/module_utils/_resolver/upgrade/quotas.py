"""Quotas and limit ranges before and after an upgrade: whether they admit the pods of the VMs' next starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..kubernetes.quota.admission import QuotaObjects, check_quotas
from ..kubevirt.pod.manifests import name_of, namespace_of
from ..kubevirt.pod.vm_pod import RESTART
from ..kubevirt.vmi.readiness import has_guest
from .vm import UpgradeSide

Manifest = dict[str, Any]


class Admission(NamedTuple):
    """The admission of the pod of a VM before and after an upgrade.

    before, after: why the pod of a VM's next start is rejected; "" if it is admitted.
    """

    before: str = ""
    after: str = ""


class Admissions(NamedTuple):
    """vms: by (namespace, name). quotas: to which the upgrade makes a difference; see admission.check_quotas. They also
    have fits_before.
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
    return check_quotas(vms, side.cluster.objects, side.cluster.kubevirt, objects, RESTART)


def _problem(line: dict[str, Any]) -> str:
    """A VM without a pod has another problem, which its start names."""
    return str(line.get("problem", "")) if line["evaluated"] else ""


def key_of(vm: Manifest) -> tuple[str, str]:
    """The VM's key in Admissions."""
    return namespace_of(vm), name_of(vm)
