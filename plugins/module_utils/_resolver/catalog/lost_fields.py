"""Fields of an object that a cluster's API would silently drop, and the effect on VMs.

An API server prunes fields that are not in a CustomResourceDefinition's schema. KubeVirt's releases differ in their
fields and in the CPU topologies that they know; an unknown topology gives a VM a single vCPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..api import release, release_schema, schema
from ..api.errors import Crash, FieldError
from ..api.matcher import INSTANCETYPE, ROLE_OF_KIND, Role
from ..api.quantity import parse
from ..api.release import NEWEST, Release
from ..api.tree import copy, differences
from ..kubevirt.apply import applier
from ..kubevirt.vmi.guest import guest

Manifest = dict[str, Any]

# A VM for showing effects: with a part of everything that preferences affect.
_TEMPLATE: Final[Manifest] = {
    "metadata": {},
    "spec": {
        "domain": {
            "devices": {"disks": [{"name": "root", "disk": {}}], "interfaces": [{"name": "default"}]},
        },
        "networks": [{"name": "default", "pod": {}}],
        "volumes": [{"name": "root", "containerDisk": {"image": "registry.example.com/disk:1"}}],
    },
}
_VCPUS: Final = 4
_MEMORY: Final = "8Gi"


class Misfit(NamedTuple):
    """lost: paths of the dropped fields (``spec.firmware.preferredEfi``). manifest: without them.
    effects: on a VM's VMI spec, [{field, before, after}]; before is what the object intends.
    vcpus: (intended, actual) if these differ.
    """

    lost: tuple[str, ...]
    manifest: Manifest
    effects: tuple[dict[str, Any], ...]
    vcpus: tuple[int, int] | None

    @property
    def text(self) -> str:
        """One line for users."""
        told = []
        if self.lost:
            told.append(f"the cluster's KubeVirt does not know {', '.join(self.lost)}")
        if self.vcpus is not None:
            told.append(f"a VM with {self.vcpus[0]} vCPUs would get {self.vcpus[1]}")
        shown = [f"{one['field']} {_words(one['before'])} -> {_words(one['after'])}" for one in self.effects]
        if shown and self.vcpus is None:
            told.append(f"a VM would have {', '.join(shown)}")
        elif self.lost and not shown:
            told.append("VMs come out the same, but KubeVirt does not check the requirement")
        return "; ".join(told)


def spec_schema(definition: Manifest, version: str) -> Manifest | None:
    """The schema of `spec` in a version of a CustomResourceDefinition; None if the version is not served."""
    for served in (definition.get("spec") or {}).get("versions") or []:
        if served.get("name") == version and served.get("served"):
            root = (served.get("schema") or {}).get("openAPIV3Schema") or {}
            found = (root.get("properties") or {}).get("spec")
            return found if isinstance(found, dict) else {"x-kubernetes-preserve-unknown-fields": True}
    return None


def release_of(schemas: Mapping[Role, Manifest]) -> Release:
    """The newest release whose fields are all in the schemas.

    schemas: by role; with a single role the result is less precise. 1.2 has the same fields as 1.1, and 1.5 as 1.4.
    """
    newer: dict[str, bool] = {}
    for role, found in schemas.items():
        for since, known in _noted(role.spec_type, found, frozenset()):
            newer[since] = newer.get(since, True) and known
    best = "1.0"
    for since in sorted(newer, key=lambda text: tuple(int(part) for part in text.split("."))):
        if not newer[since]:
            return release.of(best)
        best = since
    return NEWEST


def misfit(manifest: Manifest, found: Manifest, known: Release) -> Misfit | None:
    """How an object does not fit a cluster; None if it fits.

    manifest: as it would be sent. found: the schema of its spec (spec_schema). known: the cluster's release
    (release_of).
    """
    role = ROLE_OF_KIND[manifest["kind"]]
    spec, lost = without_unknown(manifest["spec"], found, "spec")
    meant, given = shown(role, manifest["spec"], NEWEST), shown(role, spec, known)
    vcpus = None
    if meant is not None and given is not None and guest(meant)["vcpus"] != guest(given)["vcpus"]:
        vcpus = (guest(meant)["vcpus"], guest(given)["vcpus"])
    if not lost and vcpus is None:
        return None
    # Use the same release for both, so that only the lost fields make a difference.
    kept = shown(role, spec, NEWEST) if vcpus is None else given
    effects = differences(meant, kept) if meant is not None and kept is not None else []
    return Misfit(tuple(lost), {**manifest, "spec": spec}, tuple(effects), vcpus)


def without_unknown(value: Any, found: Manifest, path: str) -> tuple[Any, list[str]]:
    """A copy of a value without the fields that are not in the schema, and the paths of these fields."""
    if isinstance(value, dict):
        properties, others = found.get("properties") or {}, found.get("additionalProperties")
        kept, lost = {}, []
        for name, entry in value.items():
            below = properties.get(name, others if isinstance(others, dict) else None)
            if below is None and (others is True or found.get("x-kubernetes-preserve-unknown-fields")):
                kept[name] = copy(entry)
            elif below is None:
                lost.append(f"{path}.{name}")
            else:
                kept[name], deeper = without_unknown(entry, below, f"{path}.{name}")
                lost += deeper
        return kept, lost
    if isinstance(value, list):
        items = found.get("items") or {"x-kubernetes-preserve-unknown-fields": True}
        pairs = [without_unknown(entry, items, f"{path}[{index}]") for index, entry in enumerate(value)]
        return [entry for entry, _lost in pairs], [one for _entry, lost in pairs for one in lost]
    return value, []


def _noted(expression: str, found: Manifest, above: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """For each field with a note: the release that introduced it, and whether the schema has it."""
    bare = expression.strip("*!")
    while bare.startswith("[]"):
        bare, found = bare[2:].strip("*!"), found.get("items") or {}
    if bare not in schema.TYPES or bare in above:
        return
    properties = found.get("properties") or {}
    for name, declaration in schema.TYPES[bare].items():
        notes = schema.field_notes(declaration)
        # A backported field does not identify the minor version.
        if "since" in notes and "backported" not in notes:
            yield notes["since"], name in properties
        if name in properties:
            yield from _noted(schema.field_type(declaration), properties[name], above | {bare})


def shown(role: Role, spec: Manifest, known: Release) -> Manifest | None:
    """The VMI spec of a plain VM with the object; None if KubeVirt cannot build one."""
    template = schema.canonical("VirtualMachineInstanceTemplateSpec", _TEMPLATE)
    try:
        # A release reads only the fields that it knows; the applier handles unknown topologies.
        own = release_schema.canonical(role.spec_type, spec, known)
        instancetype = own if role is INSTANCETYPE else _instancetype(own)
        preference = None if role is INSTANCETYPE else own
        # The VM sets nothing that could conflict with an instancetype.
        applier.apply_in_place(template["metadata"], template["spec"], instancetype, preference, known)
    except (Crash, FieldError):
        return None
    shown: Manifest = template["spec"]
    return shown


def _instancetype(preference: Manifest) -> Manifest:
    """An instancetype that meets the requirements of a preference."""
    required = preference.get("requirements") or {}
    vcpus = max(_VCPUS, (required.get("cpu") or {}).get("guest") or 0)
    memory = (required.get("memory") or {}).get("guest") or _MEMORY
    enough = max(_MEMORY, memory, key=lambda text: parse(text).nanos)
    return schema.canonical(INSTANCETYPE.spec_type, {"cpu": {"guest": vcpus}, "memory": {"guest": enough}})


def _words(value: Any) -> str:
    return "nothing" if value is None else str(value)
