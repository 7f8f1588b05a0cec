"""The filters of VirtualMachineTemplates."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.names import shown
from ...module_utils._resolver.api.option_checks import oversized
from ...module_utils._resolver.api.schema import declared
from ...module_utils._resolver.api.unquoted import QUOTES
from ...module_utils._resolver.kubevirt.template.from_vm import template_of
from ...module_utils._resolver.kubevirt.template.openshift import ConversionError, convert
from ...module_utils._resolver.kubevirt.template.parameters import texts
from ...module_utils._resolver.kubevirt.template.process import Processed, process, refusal, review
from .._filters import boolean_option
from .._manifest_checks import check_fields, check_types, gated

_KIND: Final = "VirtualMachineTemplate"


def template_convert(value: Any) -> dict[str, Any]:
    """See its documentation."""
    source = _manifest("template_convert", value, "Template")
    try:
        template = convert(source, object_labels=True)
    except ConversionError as error:
        raise AnsibleFilterError(f"template_convert: {_label(source)}: {error}") from error
    _accepted("template_convert", template, review(template))
    return template


def template_from_vm(value: Any, accept_unknown_fields: Any = False) -> dict[str, Any]:
    """See its documentation."""
    vm = _manifest("template_from_vm", value, "VirtualMachine")
    accept = boolean_option("accept_unknown_fields", "template_from_vm", accept_unknown_fields)
    try:
        return template_of(declared("VirtualMachine", gated(vm, accept)))
    except FieldError as error:
        raise AnsibleFilterError(f"template_from_vm: {_label(vm)}: {error}") from error


def template_process(
    value: Any, parameters: Any = None, seed: Any = None, accept_unknown_fields: Any = False
) -> dict[str, Any]:
    """See its documentation."""
    template = _manifest("template_process", value, _KIND)
    accept = boolean_option("accept_unknown_fields", "template_process", accept_unknown_fields)
    random = secrets.token_hex() if seed is None else str(seed)
    try:
        check_fields(f"{_KIND}Spec", "spec", template.get("spec") or {}, accept_unknown=False)
        processed = _accepted("template_process", template, process(template, _texts(parameters), random))
        manifest = {**(processed.substituted or {}), "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}
        vm = declared("VirtualMachine", gated(manifest, accept))
    except FieldError as error:
        raise AnsibleFilterError(f"template_process: {_label(template)}: {error}") from error
    return {
        "virtual_machine": vm,
        "message": processed.message,
        "warnings": list(processed.warnings),
        "generated": dict(processed.generated or {}),
    }


def _texts(parameters: Any) -> dict[str, str]:
    """Values by name as texts, as the API takes them."""
    if not isinstance(parameters, (Mapping, type(None))):
        raise AnsibleFilterError(f"template_process: parameters: expected values by name, found {shown(parameters)}")
    try:
        return texts(parameters or {})
    except FieldError as error:
        raise AnsibleFilterError(f"template_process: {error}") from error


def _manifest(name: str, value: Any, kind: str) -> dict[str, Any]:
    """The filter's input, which has to be of the kind."""
    if not isinstance(value, Mapping):
        hint = "; read YAML with from_yaml" if isinstance(value, str) else ""
        raise AnsibleFilterError(f"{name}: expected the manifest of a {kind}, found {shown(value)}{hint}")
    if value.get("kind", kind) != kind:
        raise AnsibleFilterError(f"{name}: kind: expected {kind}, found {shown(value['kind'])}")
    try:
        check_types(value)
    except FieldError as error:
        raise AnsibleFilterError(f"{name}: {error}") from error
    too_much = oversized(value)
    if too_much:
        raise AnsibleFilterError(f"{name}: the manifest {too_much}; simplify it")
    return plain_manifest(name, value)


def plain_manifest(name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without Ansible's own types, which are classes derived from Python's."""
    return {str(key): _plain(name, entry, key) for key, entry in value.items()}


def _plain(name: str, value: Any, path: str) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(name, entry, f"{path}.{key}") for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(name, entry, f"{path}[{index}]") for index, entry in enumerate(value)]
    if value is None or isinstance(value, bool):
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise AnsibleFilterError(f"{name}: {path}: expected text or a number, found {shown(value)}{QUOTES}")


def _accepted(name: str, source: dict[str, Any], processed: Processed) -> Processed:
    """What came of a VirtualMachineTemplate, unless it is refused."""
    if processed.errors:
        declared = (source.get("spec") or {}).get("parameters") or []
        names = [parameter["name"] for parameter in declared if parameter.get("name")]
        raise AnsibleFilterError(f"{name}: {_label(source)}: {refusal(processed.errors, names)}")
    return processed


def _label(source: dict[str, Any]) -> str:
    """The object in a message."""
    return str((source.get("metadata") or {}).get("name") or source.get("kind") or _KIND)
