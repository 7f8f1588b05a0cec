"""The schemas of virt-api and of the CRD, which reject a VM before any rule applies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from ...api import release_schema, schema
from ...api.name_rules import join_or, quoted
from ...api.release import Release
from ..cluster import KubeVirt
from .response import INVALID, REQUIRED
from .rows import Group, Place, Row, at_most, one_of, unique
from .rule import Cause, Spec, items

FORBIDDEN: Final = "FieldValueForbidden"
_LISTS: Final = (
    *("accessCredentials", "networks", "volumes", "utilityVolumes"),
    *("domain.devices.disks", "domain.devices.interfaces"),
)
# (type, field) → the values that virt-api's OpenAPI permits, where it names them.
_PERMITTED: Final = {
    (type_name, name): notes["values"].split()
    for type_name, declarations in schema.TYPES.items()
    for name, declaration in declarations.items()
    if "values" in (notes := schema.field_notes(declaration))
}
_TEMPLATES: Final = "dataVolumeTemplates"
_VM: Final = "VirtualMachineSpec"
# kube-apiserver drops unknown fields, except in these objects (x-kubernetes-preserve-unknown-fields).
_KEPT: Final = re.compile(
    r"spec\.(template\.metadata\..*|template\.spec\.domain\.clock\.[^.]+|dataVolumeTemplates\[\d+]\.metadata\..*)"
)
_INDEX: Final = re.compile(r"\[\d+\]")
_TEXTS: Final = ("labels", "annotations")


def causes(vm: Spec, release: Release) -> list[Cause]:
    """The causes for a VM's spec as it was declared. The canonical form has values where these fields are missing."""
    spec = release_schema.without_unknown_fields(_VM, vm, release)
    forbidden = [field.path for field in release_schema.unknown(_VM, vm, release, "spec") if is_kept(field.path)]
    missing = release_schema.missing_fields(_VM, spec, release, scalars=False)
    problems = [
        *(Cause(FORBIDDEN, f"{_last(path)} is no field of KubeVirt; remove it", path) for path in forbidden),
        *_nulls(vm.get("template"), "spec.template"),
        *(cause for template, field in items(vm, "spec", _TEMPLATES) for cause in _nulls(template, field)),
        *(Cause(REQUIRED, f"{_last(path)} is missing; set it", path) for path in missing),
    ]
    return problems or [*_choices(spec), *_RULES(spec, "spec", KubeVirt(release))]


def is_kept(path: str) -> bool:
    """Whether kube-apiserver keeps an unknown field of a VM, which virt-api then rejects."""
    return bool(_KEPT.fullmatch(path))


def object_causes(spec_type: str, spec: Spec, release: Release) -> list[Cause]:
    """The causes for the spec of an instancetype or preference as it was declared."""
    missing = release_schema.missing_fields(spec_type, spec, release, scalars=True)
    return [Cause(REQUIRED, f"{_last(path)} is missing; set it", path) for path in missing]


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _path(directory: str, _place: Place) -> str:
    wrong = not directory.startswith("/") or ".." in directory
    return f"must be absolute and without .., not {quoted(directory)}" if wrong else ""


def _read_only(value: bool, _place: Place) -> str:
    return "" if value else "must be true; KubeVirt only reads such volumes"


def _repeats(*names: str) -> Row:
    """No earlier entry has the same values."""

    def check(entry: Spec, place: Place) -> str:
        earlier = place.entries[: place.index]
        repeated = any(all(entry.get(name) == other.get(name) for name in names) for other in earlier)
        return f"repeats the {' and '.join(names)} of another entry; remove one" if repeated else ""

    return Row("", check)


_RULES: Final = Group(
    "",
    Group(f"{_TEMPLATES}[]", Row("spec.contentType", one_of("", "kubevirt", "archive"))),
    Group(
        "template.spec",
        Group(
            "volumes[]",
            Row("containerPath.path", at_most(4096, "characters")),
            Row("containerPath.path", _path),
            Row("containerPath.readOnly", _read_only),
        ),
        Row("domain.rebootPolicy", one_of("Reboot", "Terminate")),
        Row("domain.memory.reservedOverhead.memLock", one_of("NotRequired", "Required")),
        *(Row(name, at_most(256)) for name in _LISTS),
        Group("resourceClaims[]", _repeats("name")),
        Group("topologySpreadConstraints[]", _repeats("topologyKey", "whenUnsatisfiable")),
        Group("utilityVolumes[]", _repeats("name")),
        Group("accessCredentials[]", Group("sshPublicKey.propagationMethod.qemuGuestAgent.users[]", unique(""))),
    ),
)


def _choices(spec: Spec) -> Iterator[Cause]:
    """Causes with virt-api's paths, which have no indexes."""
    for field in release_schema.fields(_VM, spec, path="spec"):
        choices = _PERMITTED.get((field.type_name, field.name))
        if choices is None:
            continue
        path = _INDEX.sub("", field.path)
        for item in field.value if isinstance(field.value, list) else [field.value]:
            if item is not None and item not in choices:
                yield Cause(INVALID, f"{field.name} must be {join_or(choices)}, not {quoted(item)}", path)


def _nulls(template: Any, path: str) -> Iterator[Cause]:
    """Nulls in the metadata of a template, which kube-apiserver keeps. It drops others."""
    metadata = template.get("metadata", {}) if isinstance(template, dict) else {}
    nulls = ["metadata"] if metadata is None else []
    for name in schema.TYPES["ObjectMeta"] if isinstance(metadata, dict) else ():
        if metadata.get(name, "") is None and name != "creationTimestamp":
            nulls.append(f"metadata.{name}")
    for name in _TEXTS if isinstance(metadata, dict) else ():
        texts = metadata.get(name)
        entries = texts.items() if isinstance(texts, dict) else ()
        nulls += [f"metadata.{name}.{key}" for key, value in entries if value is None]
    for name in nulls:
        yield Cause(INVALID, f"{name} is null; set or remove it", f"{path}.{name}")
