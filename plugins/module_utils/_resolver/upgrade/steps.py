"""What changes for the whole cluster by an upgrade, and what to do before and after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from ..api.effects import RESTART
from ..kubevirt.vmi.cluster import KubeVirt
from .machine import Machine
from .objects import CHANGED, GONE, Held
from .quotas import Admission, Admissions, key_of
from .templates import Template

BEFORE: Final = "before"
AFTER: Final = "after"


class Step(NamedTuple):
    """when: BEFORE or AFTER the upgrade. text: what to do.

    virtual_machines, templates: NAMESPACE/NAME of those that it is for.
    """

    when: str
    text: str
    virtual_machines: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()


def settings(before: KubeVirt, after: KubeVirt) -> list[dict[str, Any]]:
    """What is different for all VMs: [{setting, before, after}]."""
    pairs = {
        "live_updates": (before.live_updates, after.live_updates),
        "captured_revisions": tuple("status" if one.release.captures_in_status else "spec" for one in (before, after)),
        "reads_alpha_revisions": (bool(before.release.old_revisions), bool(after.release.old_revisions)),
        "required_gates": (sorted(before.release.gates), sorted(after.release.gates)),
    }
    return [{"setting": name, "before": was, "after": will} for name, (was, will) in pairs.items() if was != will]


def steps(
    machines: Sequence[Machine],
    held: Sequence[Held],
    before: KubeVirt,
    after: KubeVirt,
    templates: Sequence[Template] = (),
    admissions: Admissions | None = None,
) -> list[Step]:
    """In the order to take them."""
    found = [
        *_before(machines, before, after),
        *_of_quotas(machines, admissions),
        *_of_templates(templates),
        *_of_catalog(held),
        *_after(machines, before, after),
    ]
    return [one for one in found if one is not None]


def _before(machines: Sequence[Machine], before: KubeVirt, after: KubeVirt) -> Iterable[Step | None]:
    stuck = [one for one in machines if one.after.problem and not one.before.problem]
    unreadable = before.release.old_revisions and not after.release.old_revisions
    yield _step(
        BEFORE,
        "Upgrade revisions that the new KubeVirt cannot read (controller_revision, state: upgraded)"
        if unreadable
        else "Change VMs that the new KubeVirt cannot start",
        stuck,
    )
    refused = [one for one in machines if one.refusal and not one.refusal_before]
    yield _step(BEFORE, "Change VMs that the new KubeVirt rejects at their next change", refused)
    yield _step(BEFORE, "Remove or replace fields that the new KubeVirt drops", [one for one in machines if one.lost])
    sized = [
        one for one in machines if not one.after.problem and one.before.guest != one.after.guest and one.before.spec
    ]
    yield _step(BEFORE, "Decide about VMs whose guest gets another size at its next start", sized)
    if after.live_updates and not before.live_updates:
        yield Step(
            BEFORE, "Set vmRolloutStrategy: Stage in the KubeVirt object if changes must not reach running guests"
        )


def _of_quotas(machines: Sequence[Machine], admissions: Admissions | None) -> Iterable[Step | None]:
    known = admissions.vms if admissions is not None else {}
    found = ((one, known.get(key_of(one.vm), Admission())) for one in machines)
    refused = [one for one, admission in found if admission.after and not admission.before]
    yield _step(BEFORE, "Raise quotas that reject the pods of the new KubeVirt", refused)


def _of_templates(templates: Sequence[Template]) -> Iterable[Step | None]:
    refused = [one for one in templates if one.refusal and not one.refusal_before]
    others = [one for one in templates if not one.refusal or one.refusal_before]
    stuck = [one for one in others if one.after.problem and not one.before.problem]
    sized = [one for one in templates if one.before.spec and one.after.spec and one.before.guest != one.after.guest]
    for text, found in (
        ("Change templates whose VMs the new KubeVirt rejects", refused),
        ("Change templates whose VMs the new KubeVirt cannot start", stuck),
        ("Remove or replace fields of templates that the new KubeVirt drops", [one for one in templates if one.lost]),
        ("Decide about templates whose VMs get another size", sized),
    ):
        if found:
            yield Step(BEFORE, text, templates=tuple(one.label for one in found))


def _of_catalog(held: Sequence[Held]) -> Iterable[Step | None]:
    for becomes, text in (
        (GONE, "Move VMs off objects that the new catalog lacks, and new VMs to others"),
        (CHANGED, "Refresh VMs to the changed objects of the new catalog (refresh_revisions)"),
    ):
        names = [one.place.name for one in held if one.becomes == becomes]
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            yield Step(BEFORE if becomes == GONE else AFTER, f"{text}: {', '.join(names[:3])}{more}")


def _after(machines: Sequence[Machine], before: KubeVirt, after: KubeVirt) -> Iterable[Step | None]:
    pinned = [one for one in machines if one.pinned]
    yield _step(AFTER, "Unpin VMs so that they can be refreshed (controller_revision, state: unpinned)", pinned)
    restart = [one for one in machines if one.effect == RESTART]
    yield _step(AFTER, "Restart guests at a convenient time, because their next start is different", restart)
    obsolete = sorted(before.release.gates - after.release.gates - before.closed_gates)
    if obsolete:
        yield Step(AFTER, f"Remove feature gates that are no longer needed: {', '.join(obsolete)}")


def _step(when: str, text: str, machines: Iterable[Machine]) -> Step | None:
    labels = tuple(one.label for one in machines)
    return Step(when, text, labels) if labels else None
