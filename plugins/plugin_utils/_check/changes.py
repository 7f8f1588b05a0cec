"""The objects that a change of a repository adds, changes and deletes, and what it does to disks and power of VMs.

KubeVirt makes the disks of a VM's templates once and ignores later changes of them; it deletes them with the VM.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...module_utils._resolver.api import schema
from ...module_utils._resolver.api.errors import FieldError, QuantityError
from ...module_utils._resolver.api.finding import ERROR, NOTE, REFUSED, WARNING
from ...module_utils._resolver.api.keys import WORKLOAD_ANNOTATION
from ...module_utils._resolver.api.manifest import Manifest, name_of
from ...module_utils._resolver.api.matcher import MATCHER_FIELD_OF_KIND, ObjectKey, references
from ...module_utils._resolver.api.name_rules import first_names
from ...module_utils._resolver.api.quantity import parse
from ...module_utils._resolver.api.tree import shown_differences
from ...module_utils._resolver.kubevirt.vm.readiness import HALTED, run_strategy
from ...module_utils._resolver.preflight.references import requested_size, storage_class_of, templates_of
from .checked_objects import CRON, UNCHECKED_KINDS, VM, CheckedObject, has_name
from .evaluate import shown_change
from .findings import LocatedFinding
from .matching import Matching
from .placeholders import is_unknown

ADDED: Final = "added"
CHANGED: Final = "changed"
DELETED: Final = "deleted"
_SHOWN: Final = 5
# The choice for a workload repeats what the spec says.
_REPEATED: Final = ("kubectl.kubernetes.io/last-applied-configuration", WORKLOAD_ANNOTATION)
_STOPPED: Final = (HALTED, "Manual")
_STARTING: Final = ("Always", "RerunOnFailure", "Once")
_STRATEGIES: Final = (*_STOPPED, *_STARTING, "WaitAsReceiver")
_SPEC_TYPES: Final = {VM: "VirtualMachineSpec", "DataVolume": "DataVolumeSpec"}
# Kinds whose spec the API refuses to change → the fields that it lets change.
_FIXED: Final = {CRON: (), "DataVolume": (), "PersistentVolumeClaim": ("resources", "volumeAttributesClassName")}
# Kinds that hold a disk; a cron keeps or deletes its imports by its policy.
_DISKS: Final = ("DataVolume", "PersistentVolumeClaim")


class Counts(NamedTuple):
    """The numbers of objects that a change adds, changes and deletes, and of the running guests that it restarts."""

    add: int
    change: int
    delete: int
    restart: int

    @property
    def text(self) -> str:
        """``1 to add, 2 to change, 0 to delete, 1 restart``"""
        restarts = f"{self.restart} restart{'s' * (self.restart != 1)}"
        return f"{self.add} to add, {self.change} to change, {self.delete} to delete, {restarts}"


class Unjudged:
    """The texts of the files in which a revision may have more objects than the check knows."""

    def __init__(
        self,
        findings: Iterable[LocatedFinding],
        texts: Mapping[str, bytes],
        unreadable: Sequence[str],
        objects: Sequence[CheckedObject],
        others: Sequence[CheckedObject],
    ) -> None:
        """The findings at one revision, to tell whether the other has it too.

        unreadable: see `sources.Repository`. others: the objects of the other revision.
        """
        labels = {declared.label for declared in objects}
        files = {finding.location.file for finding in findings if _hides_objects(finding, labels)}
        self._texts = [texts.get(file, b"").replace(b"\0", b"").decode(errors="replace") for file in sorted(files)]
        self._texts += unreadable
        known = {declared.label for declared in others}
        names = {declared.label: _name(declared) for declared in objects}
        self._has_templates = any(is_unknown(name) and label not in known for label, name in names.items())

    def may_have(self, declared: CheckedObject) -> bool:
        """Whether an object may be in one of the files: its name is there, or a template makes the names."""
        if is_unknown(_name(declared)):
            return True
        name = re.compile(rf"(?<![\w.-]){re.escape(_name(declared))}(?![\w.-])")
        return self._has_templates or any(not text.strip() or name.search(text) for text in self._texts)


def _hides_objects(finding: LocatedFinding, labels: set[str]) -> bool:
    if finding.rule == "invalid":
        return finding.label not in labels
    is_hidden = finding.unjudged not in ("", *UNCHECKED_KINDS)
    return finding.rule == "unreadable" or is_hidden or (finding.rule == "unchecked" and not finding.label)


class Changes(NamedTuple):
    """The objects that differ between two revisions; the changed ones with their earlier manifest."""

    added: list[CheckedObject]
    changed: list[tuple[CheckedObject, Manifest]]
    deleted: list[CheckedObject]


def changes(matched: Matching, in_base: Unjudged, in_head: Unjudged) -> Changes:
    """The changes from one revision to another; an object that may be in an unjudged file is not told."""
    return Changes(
        [declared for declared in matched.added if not in_base.may_have(declared)],
        [(declared, before) for declared, before in matched.pairs if not _same(before, declared.manifest)],
        [declared for declared in matched.deleted if not in_head.may_have(declared)],
    )


def _same(before: Manifest, after: Manifest) -> bool:
    """Whether two manifests of an object declare the same; notation, order of keys and status do not count."""
    if _written_metadata(before) != _written_metadata(after):
        return False
    kind, specs = after["kind"], (before.get("spec"), after.get("spec"))
    spec_type = MATCHER_FIELD_OF_KIND[kind].spec_type if kind in MATCHER_FIELD_OF_KIND else _SPEC_TYPES.get(kind, "")
    if specs[0] == specs[1] or not spec_type:
        return bool(specs[0] == specs[1])
    try:
        return schema.equal(spec_type, *(schema.canonical(spec_type, spec) for spec in specs))
    except FieldError:
        return False


def _written_metadata(manifest: Manifest) -> tuple[Any, Any]:
    metadata = manifest["metadata"]
    annotations = {key: value for key, value in (metadata.get("annotations") or {}).items() if key not in _REPEATED}
    return metadata.get("labels") or {}, annotations


def findings(found: Changes, base: Sequence[CheckedObject], absent: Collection[ObjectKey]) -> Iterator[LocatedFinding]:
    """Findings about new and deleted objects, and about changes of VMs that are no changes of their guests.

    absent: the VMs that tasks delete. A task that is gone leaves its VM.
    """
    for declared in found.added:
        if declared.manifest["kind"] == VM:
            yield declared.finding(ADDED, NOTE, "", f"new{_with_disks(declared.manifest, ', makes')}")
    for declared, before in found.changed:
        if declared.manifest["kind"] == VM:
            yield from _power(declared, before)
            yield from _disks(declared, before)
        yield from _refusals(declared, before)
    users = [set(references(declared.manifest)) for declared in base if declared.manifest["kind"] == VM]
    for declared in found.deleted:
        key = ObjectKey.of(declared.manifest)
        using = sum(key in keys for keys in users)
        stays = declared.adopts_disks is not None and key not in absent
        yield declared.finding(DELETED, *_deletion(declared, stays, using, found.added))


def _refusals(declared: CheckedObject, before: Manifest) -> Iterator[LocatedFinding]:
    """An error for a change of a spec that CDI or the API server refuses."""
    kind = declared.manifest["kind"]
    free = _FIXED.get(kind)
    if free is None:
        return
    old, new = ({**manifest, "spec": _without(manifest.get("spec"), free)} for manifest in (before, declared.manifest))
    if not _same({**old, "metadata": new["metadata"]}, new):
        fields = first_names((str(change["field"]) for change in shown_differences(old["spec"], new["spec"])), _SHOWN)
        message = f"the API refuses to change {fields} of a {kind}; delete it first, or choose another name"
        yield declared.finding(REFUSED, ERROR, "spec", message)


def _without(spec: Any, fields: Sequence[str]) -> Any:
    return {name: value for name, value in spec.items() if name not in fields} if isinstance(spec, dict) else spec


def _deletion(declared: CheckedObject, stays: bool, users: int, added: Sequence[CheckedObject]) -> tuple[str, str, str]:
    """Severity, field and message of a deletion.

    stays: no task deletes the VM. users: the VMs of the base that refer to the object.
    """
    manifest, kind = declared.manifest, declared.manifest["kind"]
    if kind == VM:
        disks = _with_disks(manifest, ", and with it")
        text = f"is deleted{disks}"
        if stays:
            text = f"no task declares it any longer: it stays until one with state: absent deletes it{disks}"
        return WARNING, "", f"{text}{_renamed(declared, added)}"
    if kind in MATCHER_FIELD_OF_KIND:
        keep = f"; {users} VM{'s' * (users != 1)} of the base {'use' if users != 1 else 'uses'} it" if users else ""
        text = f"is deleted{keep}: VMs keep the revision that they captured, and no other VM can have it"
        return (WARNING if users else NOTE), "", text
    return (WARNING, "", "is deleted with its content") if kind in _DISKS else (NOTE, "", "is deleted")


def _renamed(declared: CheckedObject, added: Sequence[CheckedObject]) -> str:
    """The words about a new VM that is the deleted one by another name."""
    old = re.compile(rf"\b{re.escape(_name(declared))}\b")
    spec = json.dumps(declared.manifest.get("spec"), sort_keys=True, default=str)
    for other in added:
        if other.manifest["kind"] != VM:
            continue
        new = json.dumps(other.manifest.get("spec"), sort_keys=True, default=str)
        if old.sub(_name(other), spec) == new:
            return f"; {other.label} is the same by another name: no VM can be renamed, so it starts with new disks"
    return ""


def _with_disks(vm: Manifest, words: str) -> str:
    """``, makes the disks web-root (30Gi) and web-data``; "" without disks."""
    disks = []
    for template in _templates(vm).values():
        size = requested_size(template)
        disks.append(f"{name_of(template)} ({size})" if size else name_of(template))
    return f"{words} the disk{'s' * (len(disks) > 1)} {first_names(disks, _SHOWN)}" if disks else ""


def _templates(vm: Manifest) -> dict[str, Manifest]:
    """The templates of a VM's disks by name; {} if no cluster accepts them."""
    try:
        schema.canonical(_SPEC_TYPES[VM], {"dataVolumeTemplates": templates_of(vm)})
        return {name_of(template): template for template in templates_of(vm) if template and name_of(template)}
    except FieldError:
        return {}


def _power(declared: CheckedObject, before: Manifest) -> Iterator[LocatedFinding]:
    old, new = run_strategy(before), run_strategy(declared.manifest)
    if old == new or new not in _STRATEGIES:
        return
    if new == HALTED:
        severity, effect = WARNING, "a running guest is stopped"
    elif old in _STOPPED and new in _STARTING:
        severity, effect = NOTE, "the guest is started"
    else:
        severity, effect = NOTE, "a running guest goes on"
    field = "spec.runStrategy" if "runStrategy" in (declared.manifest.get("spec") or {}) else "spec.running"
    yield declared.finding(CHANGED, severity, field, f"{old} -> {new}: {effect}")


def _disks(declared: CheckedObject, before: Manifest) -> Iterator[LocatedFinding]:
    old, new = _templates(before), _templates(declared.manifest)
    for index, name in enumerate(new):
        field = f"spec.dataVolumeTemplates[{index}]"
        if name not in old:
            size = requested_size(new[name])
            yield declared.finding(CHANGED, NOTE, field, f"makes the disk {name}{f' ({size})' if size else ''}")
        elif text := _unchangeable(old[name], new[name], declared.adopts_disks is not None):
            yield declared.finding(CHANGED, WARNING, field, f"the disk {name} stays as it is, {text}")
    for name in old:
        if name not in new:
            message = f"the disk {name} stays, although it is no longer declared, until the VM is deleted"
            yield declared.finding(CHANGED, NOTE, "spec.dataVolumeTemplates", message)


def _unchangeable(old: Manifest, new: Manifest, of_task: bool) -> str:
    """The changes of a template, and what to do instead; "" without changes."""
    sizes = requested_size(old), requested_size(new)
    classes = [storage_class_of(template)[1] for template in (old, new)]
    changed = []
    growth = _growth(*sizes)
    if growth:
        changed.append({"field": "size", "before": sizes[0] or None, "after": sizes[1] or None})
    if classes[0] != classes[1]:
        changed.append({"field": "storage class", "before": classes[0] or None, "after": classes[1] or None})
    changed += shown_differences(_other_fields(old), _other_fields(new))
    if not changed:
        return ""
    text = f"because KubeVirt makes it only once: {first_names(map(shown_change, changed), _SHOWN)}"
    if len(changed) > 1 or growth == 0:
        return f"{text}; another name makes a new disk"
    if growth < 0:
        return f"{text}; claims never shrink"
    return f"{text}; {'set expand: grow' if of_task else 'expand its claim, where the StorageClass permits it'}"


def _growth(old: str, new: str) -> int:
    """By how much a size grows, 0 for the same size in another notation."""
    try:
        return parse(new or "0").nanos - parse(old or "0").nanos
    except QuantityError:
        return int(old != new)


def _other_fields(template: Manifest) -> Manifest:
    """The fields of a template besides size and StorageClass."""
    spec = dict(template.get("spec") or {})
    field, _storage_class = storage_class_of(template)
    storage = dict(spec.get(field) or {})
    storage.pop("storageClassName", None)
    storage.pop("resources", None)
    return {**spec, field: storage}


def _name(declared: CheckedObject) -> str:
    return f"{declared.manifest['metadata'].get('name')}" if has_name(declared.manifest) else ""
