"""Expanded VMs: they declare what an instancetype and a preference resolve to, and record of which objects.

Unlike a VM that KubeVirt has expanded, such a VM can be refreshed: annotations have the objects, as ControllerRevisions
would, and the fields that they have set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..api.keys import EXPANDED_FIELDS_ANNOTATION
from ..api.manifest import Manifest
from ..api.matcher import API_VERSION, INSTANCETYPE, PREFERENCE, MatcherField
from ..api.records import Path, expanded_fields
from ..api.release_schema import canonical
from ..api.tree import copy, escaped, set_at, value_at
from ..kubevirt.admission.apply import apply_and_check
from ..kubevirt.admission.mutate import store_preferred
from ..kubevirt.cluster import KubeVirt
from ..kubevirt.instancetype import applier, revision_store
from ..kubevirt.instancetype.find import canonical_vm
from ..kubevirt.vm.vmi import attach_automatic_devices

Objects = Mapping[MatcherField, Manifest]
"""The instancetype and the preference that a VM has the values of."""

# The lists to which KubeVirt adds devices when a VM starts.
_ATTACHED: Final = ("disks", "inputs", "interfaces")
_DEVICES: Final = ("template", "spec", "domain", "devices")
# The API requires them even if they are empty.
_REQUIRED: Final = ("domain", "devices")
_DEPTH: Final = len(_DEVICES) + 1
_IDENTITY: Final = ("name", "uid", "generation")


def expanded(vm: Manifest, objects: Objects, kubevirt: KubeVirt, preference: Manifest | None = None) -> Manifest:
    """A plain VM with the values of objects instead of their names, and with records of them.

    vm: without values of an instancetype. preference: the canonical spec of one that the VM goes on naming. Raises
    KubeVirtError as KubeVirt refuses the VM with these objects.
    """
    recorded = {matcher_field: _recorded(matcher_field, item, kubevirt) for matcher_field, item in objects.items()}
    spec = {key: value for key, value in vm["spec"].items() if key not in {field.name for field in objects}}
    result = {**vm, "spec": copy(spec)}
    before, attached, after = _stages(result, recorded, kubevirt, preference)
    for path, value in _added(before, after):
        _set(result["spec"], path, value)
    annotations = {field.record: _json(item) for field, item in recorded.items()}
    annotations[EXPANDED_FIELDS_ANNOTATION] = _json(sorted(_pointer(path) for path, _value in _added(attached, after)))
    return _annotated(result, annotations)


def reexpanded(vm: Manifest, objects: Objects, kubevirt: KubeVirt, preference: Manifest | None = None) -> Manifest:
    """An expanded VM with the values of these objects instead. Raises KubeVirtError like `expanded`."""
    spec = copy(vm["spec"])
    for path in expanded_fields(vm):
        _remove(spec, path)
    return expanded({**vm, "spec": spec}, objects, kubevirt, preference)


def attaches(vm: Manifest, objects: Objects, kubevirt: KubeVirt, live: Manifest) -> bool:
    """Whether an expanded VM has devices that KubeVirt added to the live VM so far.

    KubeVirt would ask for a restart, though the guest has them. The arguments are as for `expanded`.
    """
    before, attached, _after = _stages(vm, objects, kubevirt, None)
    return any(
        item["name"] not in {*_names_of(before, field), *_names_of(live["spec"], field)}
        for field in _ATTACHED
        for item in _devices(attached).get(field) or ()
    )


def with_attached(vm: Manifest, live: Manifest) -> Manifest:
    """A declared VM that names its objects, with the devices that it got when it was expanded.

    Without them, KubeVirt would ask for a restart of the guest, though that would get them again.
    """
    kept: list[Path] = []
    spec = copy(vm["spec"])
    for field in _ATTACHED:
        own = _names_of(spec, field)
        paths = [path for path in expanded_fields(live) if path[:_DEPTH] == (*_DEVICES, field) and len(path) > _DEPTH]
        names = {path[_DEPTH] for path in paths} - own
        items = [item for item in _devices(live["spec"]).get(field) or () if item["name"] in names]
        if items:
            set_at(spec, (*_DEVICES, field), [*(_devices(spec).get(field) or ()), *items])
            kept += [path for path in paths if path[_DEPTH] in names]
            if field == "interfaces" and "networks" in live["spec"]["template"]["spec"]:
                spec["template"]["spec"].setdefault("networks", copy(live["spec"]["template"]["spec"]["networks"]))
    if not kept:
        return vm
    return _annotated({**vm, "spec": spec}, {EXPANDED_FIELDS_ANNOTATION: _json(sorted(map(_pointer, kept)))})


def _recorded(matcher_field: MatcherField, item: Manifest, kubevirt: KubeVirt) -> Manifest:
    """An object as a ControllerRevision has it."""
    metadata = item.get("metadata") or {}
    spec = canonical(matcher_field.spec_type, item.get("spec"), kubevirt.release)
    return {
        "apiVersion": API_VERSION,
        "kind": item["kind"],
        "metadata": {key: metadata[key] for key in _IDENTITY if key in metadata},
        "spec": revision_store.as_written(spec),
    }


def _annotated(vm: Manifest, annotations: Manifest) -> Manifest:
    metadata = vm["metadata"]
    return {**vm, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **annotations}}}


def _devices(spec: Manifest) -> Manifest:
    """The devices of a VM's spec."""
    result: Manifest = value_at(spec, _DEVICES) or {}
    return result


def _names_of(spec: Manifest, field: str) -> set[str]:
    return {item["name"] for item in _devices(spec).get(field) or ()}


def _stages(
    vm: Manifest, objects: Objects, kubevirt: KubeVirt, named: Manifest | None
) -> tuple[Manifest, Manifest, Manifest]:
    """The canonical specs of a VM without the values of objects, with the devices that get some, and with the values.

    Other values that KubeVirt adds to every VM are left to it: declared, they would keep guests from live changes.
    named: the preference that stays named.
    """
    release = kubevirt.release
    before = canonical_vm(vm, release)["spec"]
    instancetype, preference = (
        canonical(field.spec_type, objects[field]["spec"], release) if field in objects else None
        for field in (INSTANCETYPE, PREFERENCE)
    )
    after = copy(before)
    template = after["template"]
    apply_and_check(copy(template), instancetype, preference or named, kubevirt)
    if preference is not None:
        store_preferred(preference, {"spec": after})
    attach_automatic_devices(template["spec"], preference, kubevirt)
    bare = copy(template["spec"])
    metadata, spec = template["metadata"], template["spec"]
    if named is None:
        applier.apply_in_place(metadata, spec, instancetype, preference, release)
    else:
        applier.apply_instancetype(metadata, spec, instancetype, named, release)
    return before, _with_valued_devices(before, bare, spec), after


def _with_valued_devices(before: Manifest, bare: Manifest, spec: Manifest) -> Manifest:
    """The spec of a VM with the devices that KubeVirt attaches itself, if the preference gives them values.

    The others are removed from `spec`. bare, spec: the VMI specs with these devices before and after the preference is
    applied.
    """
    result = copy(before)
    vmi = result["template"]["spec"]
    own, devices, kept = vmi["domain"]["devices"], spec["domain"]["devices"], False
    for field in _ATTACHED:
        names = {item["name"] for item in own.get(field) or ()}
        by_kubevirt = [item for item in bare["domain"]["devices"].get(field) or () if item["name"] not in names]
        after = devices.get(field) or []
        # Every preference writes the type of a disk, which is KubeVirt's default.
        unchanged = [item for item in by_kubevirt if item in after or {**item, "disk": {}} in after]
        changed = [item for item in by_kubevirt if item not in unchanged]
        devices[field] = [item for item in after if item["name"] not in {other["name"] for other in unchanged}]
        if changed:
            own[field] = [*(own.get(field) or ()), *changed]
        kept = kept or (field == "interfaces" and bool(changed))
    if kept:
        vmi["networks"] = bare["networks"]
    elif "networks" not in vmi:
        spec.pop("networks", None)
    return result


def _added(before: Any, after: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values that `after` has and `before` does not, with their paths. Items of lists go by their names."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in after.items():
            # Others may write to an object that was not there, such as the UUID of the firmware.
            absent: Any = {} if value and isinstance(value, dict) else None
            yield from _added(before.get(key, absent), value, (*path, key))
    elif _is_named(before) and _is_named(after):
        old = {_name(item): item for item in before}
        for item in after:
            yield from _added(old.get(_name(item)), item, (*path, _name(item)))
    elif after != before and after not in (None, "", []):
        yield path, after


def _is_named(value: Any) -> bool:
    """Whether a value is a list of items with names."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) and _name(item) for item in value)


def _name(item: Manifest) -> str:
    return str(item.get("name") or (item.get("metadata") or {}).get("name") or "")


def _set(target: Any, path: Path, value: Any) -> None:
    """Sets the value at a path of `_added`, and creates its parents."""
    key, rest = path[0], path[1:]
    if isinstance(target, list):
        found = next((item for item in target if _name(item) == key), None)
        if found is None:
            target.append(copy(value))
        else:
            _set(found, rest, value)
    elif rest:
        if target.get(key) is None:
            target[key] = {}
        _set(target[key], rest, value)
    else:
        target[key] = copy(value)


def _remove(target: Any, path: Sequence[str], *, prune: bool = True) -> None:
    """Removes the value at a path of `_added`, if it is there, and the parents that become empty.

    Parents in items of lists stay, because an empty object says that a disk is a CD-ROM.
    """
    key, rest = path[0], path[1:]
    if isinstance(target, list):
        for item in [item for item in target if isinstance(item, dict) and _name(item) == key]:
            if rest:
                _remove(item, rest, prune=False)
            else:
                target.remove(item)
    elif isinstance(target, dict) and key in target:
        if rest:
            _remove(target[key], rest, prune=prune)
        if not rest or (prune and not target[key] and key not in _REQUIRED):
            del target[key]


def _pointer(path: Path) -> str:
    return "".join("/" + escaped(key) for key in path)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
