"""What a change between two revisions of a repository means for running guests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...module_utils._resolver.api.effects import RESTART, UNKNOWN
from ...module_utils._resolver.api.errors import Crash, FieldError
from ...module_utils._resolver.api.matcher import ROLE_OF_KIND
from ...module_utils._resolver.api.release_schema import canonical
from ...module_utils._resolver.api.semantic import equal
from ...module_utils._resolver.catalog.object_key import key_of, references
from ...module_utils._resolver.declare.impact import impact
from ...module_utils._resolver.kubevirt.vmi import vmi
from ...module_utils._resolver.kubevirt.vmi.cluster import Cluster, KubeVirt
from ...module_utils._resolver.kubevirt.vmi.readiness import HALTED, run_strategy
from ...module_utils._resolver.preflight.admit import admit
from .findings import NOTE, WARNING, Finding
from .judge import VM, Declared, Known

Manifest = dict[str, Any]


def compare(
    base: Sequence[Declared], base_known: Known, head: Sequence[Declared], head_known: Known, kubevirt: KubeVirt
) -> Iterator[Finding]:
    """Findings for each changed VM whose running guest needs a restart, and for each changed instancetype or preference
    that VMs refer to.

    known objects: those of a revision and the objects given otherwise. A VM that is not halted is assumed to run as the
    base declares it.
    """
    before = {key_of(entry.manifest): entry.manifest for entry in base}
    old, new = Cluster(base_known, kubevirt), Cluster(_Over(base_known, head_known), kubevirt)
    vms = [entry.manifest for entry in head if entry.manifest["kind"] == VM]
    for entry in head:
        was = before.get(key_of(entry.manifest))
        if was is None or was.get("spec") == entry.manifest.get("spec"):
            continue
        try:
            if entry.manifest["kind"] == VM:
                yield from _restart(entry, was, old, new)
            elif entry.manifest["kind"] in ROLE_OF_KIND:
                yield from _changed(entry, was, vms, kubevirt)
        except (FieldError, Crash):
            # judge reports the errors of the object itself.
            continue


def _restart(entry: Declared, was: Manifest, old: Cluster, new: Cluster) -> Iterator[Finding]:
    admitted = admit(was, None, old).admitted
    if admitted is None or run_strategy(admitted) == HALTED:
        return
    built = vmi.build(admitted, old.objects, old.configuration, old.release)
    if built.spec is None:
        return
    instance = {"metadata": built.metadata, "spec": built.spec, "status": {"phase": "Running"}}
    effect = impact(admitted, admit(entry.manifest, admitted, new), instance, new)
    if effect.needs == RESTART:
        fields = ", ".join(str(change["field"]) for change in effect.changes[:3])
        message = f"the change needs a restart of a running guest: {effect.reason or fields}"
        yield Finding("needs-restart", WARNING, entry.place, entry.label, "spec", message)
    elif effect.needs == UNKNOWN:
        message = "the effect on a running guest is unknown until the errors of the VM are fixed"
        yield Finding("unchecked", NOTE, entry.place, entry.label, "spec", message)


class _Over:
    """The objects of two revisions. The base overrides the head, because VMs keep their captured revisions."""

    def __init__(self, base: Known, head: Known) -> None:
        self._base, self._head = base, head

    def get(self, kind: str, namespace: str, name: str) -> Any:
        found = self._base.get(kind, namespace, name)
        return found if isinstance(found, dict) else self._head.get(kind, namespace, name)


def _changed(entry: Declared, was: Manifest, vms: Sequence[Manifest], kubevirt: KubeVirt) -> Iterator[Finding]:
    role = ROLE_OF_KIND[entry.manifest["kind"]]
    old, new = (canonical(role.spec_type, one.get("spec"), kubevirt.release) for one in (was, entry.manifest))
    users = sum(key_of(entry.manifest) in references(vm) for vm in vms)
    if users and not equal(role.spec_type, old, new):
        message = f"{users} VM{'s' * (users != 1)} captured the object before the change; run refresh_revisions"
        yield Finding("changed-size", NOTE, entry.place, entry.label, "spec", message)
