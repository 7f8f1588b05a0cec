"""Steps before and after an upgrade, and the settings of the cluster that it changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from .._resolver.api import behaviour
from .._resolver.api.manifest import namespaced_name
from .._resolver.api.name_rules import first_names
from .._resolver.catalog.deployment_effects import CHANGED, REMOVED, ObjectChange
from .._resolver.guest.effect import RESTART
from .._resolver.kubevirt.cluster import KubeVirt
from .._resolver.kubevirt.gates import required
from .vm import Admission, Admissions, UpgradeChange, VMChange

BEFORE: Final = "before"
AFTER: Final = "after"
_VMS: Final = "virtual_machines"
_TEMPLATES: Final = "templates"


class UpgradeStep(NamedTuple):
    """A step of an upgrade.

    when: BEFORE or AFTER the upgrade. text: the instruction.

    virtual_machines, templates: NAMESPACE/NAME of the VMs and templates that the step concerns.
    """

    when: str
    text: str
    virtual_machines: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()


def settings(before: KubeVirt, after: KubeVirt) -> list[dict[str, Any]]:
    """The settings that change for all VMs: [{setting, before, after}]."""
    pairs = {
        "live_updates": (before.live_updates, after.live_updates),
        "captured_revisions": tuple(
            "status" if kubevirt.release.has(behaviour.CAPTURES_IN_STATUS) else "spec" for kubevirt in (before, after)
        ),
        "reads_alpha_revisions": (
            before.release.has(behaviour.READS_OLD_REVISIONS),
            after.release.has(behaviour.READS_OLD_REVISIONS),
        ),
        "required_gates": (sorted(required(before.release)), sorted(required(after.release))),
    }
    return [
        {"setting": name, "before": value_before, "after": value_after}
        for name, (value_before, value_after) in pairs.items()
        if value_before != value_after
    ]


def steps(
    vms: Sequence[VMChange],
    objects: Sequence[ObjectChange],
    before: KubeVirt,
    after: KubeVirt,
    templates: Sequence[UpgradeChange] = (),
    admissions: Admissions | None = None,
) -> list[UpgradeStep]:
    """The steps of an upgrade, in the order to take them."""
    candidates = [
        *_vm_steps(vms, before, after),
        *_quota_steps(vms, admissions),
        *_template_steps(templates),
        *_catalog_steps(objects),
        *_steps_after(vms, before, after),
    ]
    return [step for step in candidates if step is not None]


def _vm_steps(vms: Sequence[VMChange], before: KubeVirt, after: KubeVirt) -> Iterable[UpgradeStep | None]:
    yield _step(
        BEFORE,
        "Convert revisions that KubeVirt cannot read from 1.7 on (controller_revision, state: upgraded)",
        [vm for vm in vms if vm.unreadable],
    )
    yield from _change_steps(
        _VMS,
        [vm for vm in vms if not vm.unreadable],
        "Change VMs that the new KubeVirt cannot start",
        "Change VMs that the new KubeVirt rejects at their next change",
        "Remove or replace fields that the new KubeVirt drops",
        "Decide about VMs whose guest gets another size at its next start",
    )
    if after.live_updates and not before.live_updates:
        yield UpgradeStep(
            BEFORE, "Set vmRolloutStrategy: Stage in the KubeVirt object if changes must not reach running guests"
        )


def _template_steps(templates: Sequence[UpgradeChange]) -> Iterable[UpgradeStep | None]:
    return _change_steps(
        _TEMPLATES,
        templates,
        "Change templates whose VMs the new KubeVirt cannot start",
        "Change templates whose VMs the new KubeVirt rejects",
        "Remove or replace fields of templates that the new KubeVirt drops",
        "Decide about templates whose VMs get another size",
    )


def _change_steps(
    field: str, changes: Sequence[UpgradeChange], stuck: str, refused: str, lossy: str, resized: str
) -> Iterable[UpgradeStep | None]:
    """The steps that VMs and templates need alike. field: of UpgradeStep. The others: texts of steps."""
    # A new VM that is rejected does not start either.
    startable = [change for change in changes if field == _VMS or not change.newly_refused]
    yield _step(BEFORE, stuck, [change for change in startable if change.newly_stuck], field)
    yield _step(BEFORE, refused, [change for change in changes if change.newly_refused], field)
    yield _step(BEFORE, lossy, [change for change in changes if change.lost], field)
    yield _step(BEFORE, resized, [change for change in changes if change.resized], field)


def _quota_steps(vms: Sequence[VMChange], admissions: Admissions | None) -> Iterable[UpgradeStep | None]:
    by_vm = admissions.vms if admissions is not None else {}
    vms_with_admission = ((vm, by_vm.get(namespaced_name(vm.manifest), Admission())) for vm in vms)
    refused = [vm for vm, admission in vms_with_admission if admission.after and not admission.before]
    yield _step(BEFORE, "Raise quotas that reject the pods of the new KubeVirt", refused)


def _catalog_steps(objects: Sequence[ObjectChange]) -> Iterable[UpgradeStep | None]:
    for status, text in (
        (REMOVED, "Move VMs off objects that the new catalog lacks, and new VMs to others"),
        (CHANGED, "Refresh VMs to the changed objects of the new catalog (refresh_revisions)"),
    ):
        names = [change.object_key.name for change in objects if change.status == status]
        if names:
            yield UpgradeStep(BEFORE if status == REMOVED else AFTER, f"{text}: {first_names(names, 3)}")


def _steps_after(vms: Sequence[VMChange], before: KubeVirt, after: KubeVirt) -> Iterable[UpgradeStep | None]:
    pinned = [vm for vm in vms if vm.pinned]
    yield _step(AFTER, "Unpin VMs so that they can be refreshed (controller_revision, state: unpinned)", pinned)
    restart = [vm for vm in vms if vm.effect.needs == RESTART]
    yield _step(AFTER, "Restart guests at a convenient time, because their next start is different", restart)
    obsolete = sorted(required(before.release) - required(after.release) - before.closed_gates)
    if obsolete:
        yield UpgradeStep(AFTER, f"Remove feature gates that are no longer needed: {', '.join(obsolete)}")


def _step(when: str, text: str, changes: Iterable[UpgradeChange], field: str = _VMS) -> UpgradeStep | None:
    labels = tuple(change.label for change in changes)
    return UpgradeStep(when, text, **{field: labels}) if labels else None
