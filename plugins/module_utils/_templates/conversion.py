"""VirtualMachineTemplates from OpenShift Templates, as ``virtctl template convert`` makes them, and from VMs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from .._resolver.api import schema
from .._resolver.api.errors import FieldError
from .._resolver.api.tree import copy
from . import go_json
from .substitution import escaped, references

API_VERSION: Final = "template.kubevirt.io/v1beta1"
KIND: Final = "VirtualMachineTemplate"
_METADATA: Final = ("name", "namespace", "labels", "annotations")


def convert(template: Any, object_labels: bool = False) -> dict[str, Any]:
    """The VirtualMachineTemplate for a Template of one object.

    object_labels: add the Template's `labels`, which OpenShift gives to all objects, to the VM; virtctl drops them.
    Raises FieldError.
    """
    source = _with_texts("Template", template)
    read = schema.canonical("Template", {**source, "objects": None})
    objects = source.get("objects") or []
    if len(objects) != 1:
        raise FieldError("", f"template must contain exactly one object, found {len(objects)}")
    vm = copy(objects[0])
    if object_labels and source.get("labels") and isinstance(vm, dict):
        metadata = vm["metadata"] = vm.get("metadata") or {}
        metadata["labels"] = {**(metadata.get("labels") or {}), **source["labels"]}
    metadata = {name: read["metadata"][name] for name in _METADATA if name in read["metadata"]}
    parameters = read.get("parameters")
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        **({"metadata": metadata} if metadata else {}),
        "spec": {
            **({} if vm is None else {"virtualMachine": vm}),
            **({"parameters": parameters} if parameters else {}),
            **({"message": read["message"]} if "message" in read else {}),
        },
    }


def _with_texts(expression: str, value: Any) -> Any:
    """The value with a text where a number or a boolean is in place of one, as virtctl reads YAML."""
    expression = schema.bare(expression)
    if expression == "string" and isinstance(value, (bool, int, float)):
        return _text(value)
    if expression.startswith("[]") and isinstance(value, list):
        return [_with_texts(expression[2:], item) for item in value]
    if expression.startswith("map[string]") and isinstance(value, dict):
        return {key: _with_texts(expression[len("map[string]") :], item) for key, item in value.items()}
    if expression in schema.TYPES and isinstance(value, dict):
        fields = schema.TYPES[expression]
        return {
            name: _with_texts(schema.field_type(fields[name]) if name in fields else "any", item)
            for name, item in value.items()
        }
    return value


def _text(value: bool | int | float) -> str:
    """The text that Go's strconv writes for a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    exact = Decimal(repr(value))
    exponent = exact.adjusted()
    if exact and not -4 <= exponent < 6:
        return f"{exact.scaleb(-exponent).normalize()}e{exponent:+03d}"
    return go_json.number(value)


_NAME: Final = "${NAME}"
_MATCHERS: Final = ("instancetype", "preference")
# A revision goes with its VM, so another VM cannot name it.
_KEPT_OF_MATCHER: Final = ("name", "kind", "inferFromVolume", "inferFromVolumeFailurePolicy")
_KEPT_OF_METADATA: Final = ("labels", "annotations")
_CLAIMS: Final = {"dataVolume": "name", "persistentVolumeClaim": "claimName"}


def template_of(vm: dict[str, Any]) -> dict[str, Any]:
    """The template, with the VM's name and namespace and the parameters NAME, INSTANCETYPE and PREFERENCE.

    vm: its manifest, as `schema.as_declared` gives it. Raises FieldError if it has no `spec.template.spec`.
    """
    spec = vm.get("spec") or {}
    if not (spec.get("template") or {}).get("spec"):
        raise FieldError("spec.template.spec", "is missing; a template needs it")
    named = set(references(spec))
    dollar = "DOLLAR"
    while dollar in named:
        dollar += "_"
    metadata = vm.get("metadata") or {}
    spec = escaped(copy(spec), dollar)
    parameters = [{"name": "NAME", "generate": "expression", "from": "vm-[a-z0-9]{5}", "required": True}]
    parameters += _matchers(spec)
    if named:
        parameters.append({"name": dollar, "description": "Keeps ${...} of a script as it is", "value": "$"})
    _forget_identity(spec["template"], metadata.get("name", ""))
    _rename_volumes(spec, metadata)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {name: metadata[name] for name in ("name", "namespace") if metadata.get(name)},
        "spec": {
            "virtualMachine": {
                "apiVersion": "kubevirt.io/v1",
                "kind": "VirtualMachine",
                "metadata": {"name": _NAME},
                "spec": spec,
            },
            "parameters": parameters,
        },
    }


def _matchers(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Puts references in place of the names of instancetype and preference. Returns the parameters."""
    parameters = []
    for matcher_field in _MATCHERS:
        matcher = spec.get(matcher_field)
        if not matcher:
            continue
        spec[matcher_field] = {field: matcher[field] for field in _KEPT_OF_MATCHER if matcher.get(field)}
        if matcher.get("name"):
            parameters.append({"name": matcher_field.upper(), "value": matcher["name"]})
            spec[matcher_field]["name"] = f"${{{matcher_field.upper()}}}"
    return parameters


def _forget_identity(template: dict[str, Any], name: str) -> None:
    """Removes what only one VM may have, as virt-template's controller does, and lets the guest's name follow."""
    domain = template["spec"].get("domain") or {}
    for interface in (domain.get("devices") or {}).get("interfaces") or []:
        interface.pop("macAddress", None)
    for identity in ("uuid", "serial"):
        (domain.get("firmware") or {}).pop(identity, None)
    metadata = template.get("metadata") or {}
    template["metadata"] = {field: metadata[field] for field in _KEPT_OF_METADATA if metadata.get(field)}
    labels = template["metadata"].get("labels", {})
    labels.update({key: _NAME for key, value in labels.items() if value == name})
    if template["spec"].get("hostname") == name:
        template["spec"]["hostname"] = _NAME


def _rename_volumes(spec: dict[str, Any], metadata: dict[str, Any]) -> None:
    """Gives each VM its own volumes: DataVolumeTemplates get its name, other claims become clones of them."""
    vm = metadata.get("name", "")
    source = {"namespace": metadata["namespace"]} if metadata.get("namespace") else {}
    templates = spec.pop("dataVolumeTemplates", None) or []
    names = {}
    for template in templates:
        old = template.get("metadata") or {}
        name = names[old.get("name", "")] = _renamed(old.get("name", ""), vm)
        template["metadata"] = {"name": name, **{field: old[field] for field in _KEPT_OF_METADATA if old.get(field)}}
        template.pop("status", None)
    # A memory dump belongs to the VM of which it is.
    volumes = [volume for volume in spec["template"]["spec"].pop("volumes", ()) if "memoryDump" not in volume]
    for volume in volumes:
        kind = next((kind for kind in _CLAIMS if kind in volume), None)
        if kind is None:
            continue
        claim = volume.pop(kind).get(_CLAIMS[kind], "")
        if claim not in names:
            names[claim] = _renamed(claim, vm)
            clone = {"source": {"pvc": {"name": claim, **source}}, "storage": {}}
            templates.append({"metadata": {"name": names[claim]}, "spec": clone})
        volume["dataVolume"] = {"name": names[claim]}
    if volumes:
        spec["template"]["spec"]["volumes"] = volumes
    if templates:
        spec["dataVolumeTemplates"] = templates


def _renamed(volume: str, vm: str) -> str:
    """The name of a volume with a reference to the VM's name: ``${NAME}-root`` for web1-root of web1."""
    if vm and volume.startswith(f"{vm}-"):
        return _NAME + volume[len(vm) :]
    return f"{volume.removesuffix(f'-{vm}')}-{_NAME}"
