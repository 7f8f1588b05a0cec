"""The filters of VirtualMachineTemplates."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.name_rules import quoted
from ...module_utils._resolver.api.schema import as_declared
from ...module_utils._resolver.declare.option_checks import oversized
from ...module_utils._templates.conversion import convert, template_of
from ...module_utils._templates.parameters import texts
from ...module_utils._templates.process import Processed, process, refusal, validate
from .._manifest_checks import check_fields, check_types, gated
from ._shared import accepts_unknown, plain

_KIND: Final = "VirtualMachineTemplate"


def template_convert(value: Any) -> dict[str, Any]:
    """See its documentation."""
    source = _manifest(value, "Template")
    try:
        template = convert(source, object_labels=True)
    except FieldError as error:
        raise AnsibleFilterError(f"{_label(source)}: {error}") from None
    _accepted(template, validate(template))
    return template


def template_from_vm(value: Any, accept_unknown_fields: Any = False) -> dict[str, Any]:
    """See its documentation."""
    vm = _manifest(value, "VirtualMachine")
    accept = accepts_unknown(accept_unknown_fields)
    try:
        return template_of(as_declared("VirtualMachine", gated(vm, accept)))
    except FieldError as error:
        raise AnsibleFilterError(f"{_label(vm)}: {error}") from None


def template_process(
    value: Any, parameters: Any = None, seed: Any = None, accept_unknown_fields: Any = False
) -> dict[str, Any]:
    """See its documentation."""
    template = _manifest(value, _KIND)
    accept = accepts_unknown(accept_unknown_fields)
    random = secrets.token_hex() if seed is None else str(seed)
    try:
        check_fields(f"{_KIND}Spec", "spec", template.get("spec") or {}, accept_unknown=False)
        processed = _accepted(template, process(template, _texts(parameters), random))
        manifest = {**(processed.substituted or {}), "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}
        vm = as_declared("VirtualMachine", gated(manifest, accept))
    except FieldError as error:
        raise AnsibleFilterError(f"{_label(template)}: {error}") from None
    return {
        "virtual_machine": vm,
        "message": processed.message,
        "warnings": list(processed.warnings),
        "generated": dict(processed.generated or {}),
    }


def _texts(parameters: Any) -> dict[str, str]:
    """Values by name as texts, as the API takes them."""
    if not isinstance(parameters, (Mapping, type(None))):
        raise AnsibleFilterError(f"parameters: expected values by name, found {quoted(parameters)}")
    try:
        return texts(parameters or {})
    except FieldError as error:
        raise AnsibleFilterError(str(error)) from None


def _manifest(value: Any, kind: str) -> dict[str, Any]:
    """The filter's input, which has to be of the kind."""
    if not isinstance(value, Mapping):
        hint = "; read YAML with from_yaml" if isinstance(value, str) else ""
        raise AnsibleFilterError(f"expected the manifest of a {kind}, found {quoted(value)}{hint}")
    if value.get("kind", kind) != kind:
        raise AnsibleFilterError(f"kind: expected {kind}, found {quoted(value['kind'])}")
    try:
        check_types(value)
    except FieldError as error:
        raise AnsibleFilterError(str(error)) from None
    too_much = oversized(value)
    if too_much:
        raise AnsibleFilterError(f"the manifest {too_much}; simplify it")
    manifest: dict[str, Any] = plain(value)
    return manifest


def _accepted(source: dict[str, Any], processed: Processed) -> Processed:
    """The result for a VirtualMachineTemplate, unless it is refused."""
    if processed.errors:
        raise AnsibleFilterError(f"{_label(source)}: {refusal(processed.errors)}")
    return processed


def _label(source: dict[str, Any]) -> str:
    """The object in a message."""
    return str((source.get("metadata") or {}).get("name") or source.get("kind") or _KIND)
