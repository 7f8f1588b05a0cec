"""The filter template_from_vm."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.schema import declared
from ...module_utils._resolver.kubevirt.template.from_vm import template_of
from .. import _template_filters as shared
from .._filters import boolean_option
from .._manifest_checks import gated

NAME = "template_from_vm"


def template_from_vm(value: Any, accept_unknown_fields: Any = False) -> dict[str, Any]:
    """See its documentation."""
    vm = shared.manifest(NAME, value, "VirtualMachine")
    accept = boolean_option("accept_unknown_fields", NAME, accept_unknown_fields)
    try:
        return template_of(declared("VirtualMachine", gated(vm, accept)))
    except FieldError as error:
        raise AnsibleFilterError(f"{NAME}: {shared.label(vm)}: {error}") from error
