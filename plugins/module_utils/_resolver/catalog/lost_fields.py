"""Fields of an object that a cluster's API would silently drop, and the effect on VMs.

An API server prunes fields that are not in a CustomResourceDefinition's schema. KubeVirt's releases differ in their
fields and in the CPU topologies that they know; an unknown topology gives a VM a single vCPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..api import release, release_schema, schema
from ..api.errors import FieldError, KubeVirtError
from ..api.manifest import Manifest
from ..api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, MatcherField
from ..api.quantity import parse
from ..api.release import NEWEST, OLDEST, Release
from ..api.tree import copy, differences
from ..kubevirt.instancetype import applier

# A VM for showing effects: with a part of everything that preferences affect.
_TEMPLATE: Final[Manifest] = {
    "metadata": {},
    "spec": {
        "domain": {"devices": {"disks": [{"name": "root", "disk": {}}], "interfaces": [{"name": "default"}]}},
        "networks": [{"name": "default", "pod": {}}],
        "volumes": [{"name": "root", "containerDisk": {"image": "registry.example.com/disk:1"}}],
    },
}
_VCPUS: Final = 4
_MEMORY: Final = "8Gi"


class LostFields(NamedTuple):
    """The fields of an object that a cluster would drop, and what VMs lose by that.

    lost: their paths (``spec.firmware.preferredEfi``). manifest: the rest.
    effects: the differences of a VM's VMI spec, [{field, before, after}]; before is what the object intends.
    """

    lost: tuple[str, ...]
    manifest: Manifest
    effects: tuple[dict[str, Any], ...]

    @property
    def text(self) -> str:
        """One line for users."""
        changes = [
            f"{effect['field']} {_text(effect['before'])} -> {_text(effect['after'])}" for effect in self.effects
        ]
        same = "VMs come out the same, but KubeVirt does not check the requirement"
        result = f"a VM would have {', '.join(changes)}" if changes else same
        return f"the cluster's KubeVirt does not know {', '.join(self.lost)}; {result}"


def spec_schema(definition: Manifest, version: str) -> Manifest | None:
    """The schema of `spec` in a version of a CustomResourceDefinition; None if the version is not served."""
    for served in (definition.get("spec") or {}).get("versions") or []:
        if served.get("name") == version and served.get("served"):
            root = (served.get("schema") or {}).get("openAPIV3Schema") or {}
            spec = (root.get("properties") or {}).get("spec")
            return spec if isinstance(spec, dict) else {"x-kubernetes-preserve-unknown-fields": True}
    return None


def release_of(schemas: Mapping[MatcherField, Manifest]) -> Release:
    """The newest release whose fields are all in the schemas.

    schemas: matcher field → schema; with a single one the result is less precise. 1.5 has the same fields as 1.4.
    """
    introduced: dict[str, bool] = {}
    for matcher_field, openapi in schemas.items():
        for since, served in _versioned_fields(matcher_field.spec_type, openapi, frozenset()):
            introduced[since] = introduced.get(since, True) and served
    best = OLDEST
    for since in sorted(introduced, key=release.parse_release):
        if not introduced[since]:
            return best
        best = release.parse_release(since)
    return NEWEST


def find_lost_fields(manifest: Manifest, openapi: Manifest) -> LostFields | None:
    """Compares an object with a cluster's schema; None if the cluster has all its fields.

    manifest: the one to send. openapi: the schema of its spec (spec_schema).
    """
    matcher_field = MATCHER_FIELD_OF_KIND[manifest["kind"]]
    spec, lost = without_unknown(manifest["spec"], openapi, "spec")
    if not lost:
        return None
    effects = guest_differences(matcher_field, (manifest["spec"], NEWEST), (spec, NEWEST))
    return LostFields(tuple(lost), {**manifest, "spec": spec}, effects)


def without_unknown(value: Any, openapi: Manifest, path: str) -> tuple[Any, list[str]]:
    """A copy of a value without the fields that are not in the schema, and the paths of these fields."""
    if isinstance(value, dict):
        properties, others = openapi.get("properties") or {}, openapi.get("additionalProperties")
        result, lost = {}, []
        for name, entry in value.items():
            field_schema = properties.get(name, others if isinstance(others, dict) else None)
            if field_schema is None and (others is True or openapi.get("x-kubernetes-preserve-unknown-fields")):
                result[name] = copy(entry)
            elif field_schema is None:
                lost.append(f"{path}.{name}")
            else:
                result[name], nested_lost = without_unknown(entry, field_schema, f"{path}.{name}")
                lost += nested_lost
        return result, lost
    if isinstance(value, list):
        items = openapi.get("items") or {"x-kubernetes-preserve-unknown-fields": True}
        pairs = [without_unknown(entry, items, f"{path}[{index}]") for index, entry in enumerate(value)]
        return [entry for entry, _lost in pairs], [lost_path for _entry, lost in pairs for lost_path in lost]
    return value, []


def _versioned_fields(expression: str, openapi: Manifest, parents: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """Maps each field with a note to the release that introduced it, and to whether the schema has it."""
    bare = schema.bare(expression)
    while bare.startswith("[]"):
        bare, openapi = schema.bare(bare[2:]), openapi.get("items") or {}
    if bare not in schema.TYPES or bare in parents:
        return
    properties = openapi.get("properties") or {}
    for name, declaration in schema.TYPES[bare].items():
        notes = schema.field_notes(declaration)
        # A field with several periods was backported, and does not identify the minor version.
        if "since" in notes and " " not in notes["since"]:
            yield notes["since"], name in properties
        if name in properties:
            yield from _versioned_fields(schema.field_type(declaration), properties[name], parents | {bare})


def guest_differences(
    matcher_field: MatcherField, before: tuple[Manifest, Release], after: tuple[Manifest, Release]
) -> tuple[dict[str, Any], ...]:
    """[{field, before, after}] between the VMI specs of a plain VM; none if KubeVirt cannot build both.

    before, after: the spec of the object, and the release that applies it.
    """
    intended, actual = (_vmi_spec(matcher_field, *source) for source in (before, after))
    return () if intended is None or actual is None else tuple(differences(intended, actual))


def _vmi_spec(matcher_field: MatcherField, spec: Manifest, cluster_release: Release) -> Manifest | None:
    """The VMI spec of a plain VM with the object; None if KubeVirt cannot build one."""
    template = schema.canonical("VirtualMachineInstanceTemplateSpec", _TEMPLATE)
    try:
        # A release reads only the fields that it knows; the applier handles unknown topologies.
        canonical = release_schema.canonical(matcher_field.spec_type, spec, cluster_release)
        instancetype = canonical if matcher_field is INSTANCETYPE else _instancetype(canonical)
        preference = None if matcher_field is INSTANCETYPE else canonical
        # The VM sets nothing that could conflict with an instancetype.
        applier.apply_in_place(template["metadata"], template["spec"], instancetype, preference, cluster_release)
    except (KubeVirtError, FieldError):
        return None
    vmi_spec: Manifest = template["spec"]
    return vmi_spec


def _instancetype(preference: Manifest) -> Manifest:
    """An instancetype that meets the requirements of a preference."""
    required = preference.get("requirements") or {}
    vcpus = max(_VCPUS, (required.get("cpu") or {}).get("guest") or 0)
    memory = (required.get("memory") or {}).get("guest") or _MEMORY
    enough = max(_MEMORY, memory, key=lambda text: parse(text).nanos)
    return schema.canonical(INSTANCETYPE.spec_type, {"cpu": {"guest": vcpus}, "memory": {"guest": enough}})


def _text(value: Any) -> str:
    return "nothing" if value is None else str(value)
