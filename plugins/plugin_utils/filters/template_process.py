"""The filter template_process."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.names import shown
from ...module_utils._resolver.api.schema import declared
from ...module_utils._resolver.kubevirt.template.parameters import texts
from ...module_utils._resolver.kubevirt.template.process import process
from .. import _template_filters as shared
from .._filters import boolean_option
from .._manifest_checks import gated

NAME = "template_process"


def template_process(
    value: Any, parameters: Any = None, seed: Any = None, accept_unknown_fields: Any = False
) -> dict[str, Any]:
    """See its documentation."""
    template = shared.template(NAME, value)
    accept = boolean_option("accept_unknown_fields", NAME, accept_unknown_fields)
    random = secrets.token_hex() if seed is None else str(seed)
    processed = shared.accepted(NAME, template, process(template, _texts(parameters), random))
    manifest = {**(processed.substituted or {}), "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}
    try:
        vm = declared("VirtualMachine", gated(manifest, accept))
    except FieldError as error:
        raise AnsibleFilterError(f"{NAME}: {shared.label(template)}: {error}") from error
    return {
        "virtual_machine": vm,
        "message": processed.message,
        "warnings": list(processed.warnings),
        "generated": dict(processed.generated or {}),
    }


def _texts(parameters: Any) -> dict[str, str]:
    """Values by name as texts, as the API takes them."""
    if not isinstance(parameters, (Mapping, type(None))):
        raise AnsibleFilterError(f"{NAME}: parameters: expected values by name, found {shown(parameters)}")
    try:
        return texts(parameters or {})
    except FieldError as error:
        raise AnsibleFilterError(f"{NAME}: {error}") from error
