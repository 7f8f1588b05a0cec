"""The schemas of virt-api and of the CRD, which reject a VM before any rule applies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from ...api import release_schema, schema
from ...api.release import Release
from ...api.tree import value_at
from ..webhooks.response import INVALID, NOT_SUPPORTED, REQUIRED
from .rule import Cause, Spec, items

DUPLICATE: Final = "FieldValueDuplicate"
FORBIDDEN: Final = "FieldValueForbidden"
_MAX_ENTRIES: Final = 256
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
# Lists → the fields that distinguish their entries.
_KEYS: Final = {
    "resourceClaims": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "utilityVolumes": ("name",),
}
_LONGEST_PATH: Final = 4096
# The beginning of a type expression → JSON's name of the type; other types are texts.
_JSON_TYPES: Final = {"map[": "object", "[]": "array", "int": "integer"}
_TEMPLATES: Final = "dataVolumeTemplates"
_CONTENT_TYPE: Final = ("spec", "contentType")
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
        *(Cause(FORBIDDEN, f"{_INDEX.sub('', path)} in body is a forbidden property", path) for path in forbidden),
        *_nulls(vm.get("template"), "spec.template"),
        *(cause for template, field in items(vm, "spec", _TEMPLATES) for cause in _nulls(template, field)),
        *(Cause(REQUIRED, f"{_INDEX.sub('', path)} in body is required", path) for path in missing),
    ]
    return problems or [
        *_choices(spec),
        *(
            cause
            for template, field in items(spec, "spec", _TEMPLATES)
            if value_at(template, _CONTENT_TYPE)
            for cause in _supported(template, _CONTENT_TYPE, ("kubevirt", "archive"), field)
        ),
        *_template_causes((spec.get("template") or {}).get("spec") or {}, "spec.template.spec"),
    ]


def is_kept(path: str) -> bool:
    """Whether kube-apiserver keeps an unknown field of a VM, which virt-api then rejects."""
    return bool(_KEPT.fullmatch(path))


def object_causes(spec_type: str, spec: Spec, release: Release) -> list[Cause]:
    """The causes for the spec of an instancetype or preference as it was declared."""
    missing = release_schema.missing_fields(spec_type, spec, release, scalars=True)
    return [Cause(REQUIRED, "Required value", path) for path in missing]


def _template_causes(spec: Spec, path: str) -> Iterator[Cause]:
    for volume, field in items(spec, path, "volumes"):
        yield from _container_path(volume.get("containerPath") or {}, f"{field}.containerPath")
    yield from _supported(spec, ("domain", "rebootPolicy"), ("Reboot", "Terminate"), path)
    yield from _supported(spec, ("domain", "memory", "reservedOverhead", "memLock"), ("NotRequired", "Required"), path)
    for name in _LISTS:
        count = len(value_at(spec, name.split(".")) or ())
        if count > _MAX_ENTRIES:
            yield Cause(INVALID, f"Too many: {count}: must have at most {_MAX_ENTRIES} items", f"{path}.{name}")
    for field, keys in _KEYS.items():
        for index, entry in _duplicates([{key: entry.get(key) for key in keys} for entry in spec.get(field) or []]):
            shown = json.dumps(entry, separators=(",", ":"))
            yield Cause(DUPLICATE, f"Duplicate value: {shown}", f"{path}.{field}[{index}]")
    users = ("sshPublicKey", "propagationMethod", "qemuGuestAgent", "users")
    for credential, field in items(spec, path, "accessCredentials"):
        for index, name in _duplicates(value_at(credential, users) or []):
            yield Cause(DUPLICATE, f'Duplicate value: "{name}"', f"{field}.{'.'.join(users)}[{index}]")


def _container_path(source: Spec, field: str) -> Iterator[Cause]:
    directory = source.get("path", "/")
    if len(directory) > _LONGEST_PATH:
        yield Cause(INVALID, f"Too long: may not be more than {_LONGEST_PATH} bytes", f"{field}.path")
    if not directory.startswith("/"):
        yield Cause(INVALID, "Invalid value: \"string\": path must be absolute (start with '/')", f"{field}.path")
    if ".." in directory:
        yield Cause(INVALID, "Invalid value: \"string\": path must not contain '..'", f"{field}.path")
    if source.get("readOnly") is False:
        message = 'Invalid value: "boolean": readOnly must be true, write access is not supported'
        yield Cause(INVALID, message, f"{field}.readOnly")


def _choices(spec: Spec) -> Iterator[Cause]:
    """Causes with virt-api's message. Its paths have no indexes."""
    for field in release_schema.fields(_VM, spec, path="spec"):
        choices = _PERMITTED.get((field.type_name, field.name))
        if choices is None:
            continue
        path = _INDEX.sub("", field.path)
        for item in field.value if isinstance(field.value, list) else [field.value]:
            if item is not None and item not in choices:
                yield Cause(NOT_SUPPORTED, f"{path} in body should be one of [{' '.join(choices)}]", path)


def _supported(holder: Spec, keys: tuple[str, ...], choices: tuple[str, ...], path: str) -> Iterator[Cause]:
    """A cause with the CRD's message for another value than the choices. path: the place of the holder."""
    value = value_at(holder, keys)
    if value is not None and value not in choices:
        supported = ", ".join(f'"{choice}"' for choice in choices)
        message = f'Unsupported value: "{value}": supported values: {supported}'
        yield Cause(NOT_SUPPORTED, message, f"{path}.{'.'.join(keys)}")


def _nulls(template: Any, path: str) -> Iterator[Cause]:
    """Nulls in the metadata of a template, which kube-apiserver keeps. It drops others."""
    metadata = template.get("metadata", {}) if isinstance(template, dict) else {}
    nulls = {"metadata": "object"} if metadata is None else {}
    for name, declaration in schema.TYPES["ObjectMeta"].items() if isinstance(metadata, dict) else ():
        if metadata.get(name, "") is None and name != "creationTimestamp":
            expression = schema.bare(schema.field_type(declaration))
            kinds = (kind for start, kind in _JSON_TYPES.items() if expression.startswith(start))
            nulls[f"metadata.{name}"] = next(kinds, "string")
    for name in _TEXTS if isinstance(metadata, dict) else ():
        texts = metadata.get(name)
        for key, value in texts.items() if isinstance(texts, dict) else ():
            if value is None:
                nulls[f"metadata.{name}.{key}"] = "string"
    for name, kind in nulls.items():
        message = f'{_INDEX.sub("", path)}.{name} in body must be of type {kind}: "null"'
        yield Cause(INVALID, message, f"{path}.{name}")


def _duplicates(names: list[Any]) -> Iterator[tuple[int, Any]]:
    """Entries that repeat an earlier one, with their index."""
    return ((index, name) for index, name in enumerate(names) if name in names[:index])
