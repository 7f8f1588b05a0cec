# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shared parts of the filters for VirtualMachineTemplates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._resolver.api.errors import FieldError
from ..module_utils._resolver.api.names import shown
from ..module_utils._resolver.api.option_checks import oversized
from ..module_utils._resolver.api.unquoted import QUOTES
from ..module_utils._resolver.kubevirt.template.process import Processed
from ..module_utils._resolver.kubevirt.template.refusal import refusal
from ._manifest_checks import check_fields, check_types

KIND = "VirtualMachineTemplate"


def manifest(name: str, value: Any, kind: str) -> dict[str, Any]:
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


def template(name: str, value: Any) -> dict[str, Any]:
    """The filter's input, a VirtualMachineTemplate that the API server takes."""
    checked = manifest(name, value, KIND)
    try:
        check_fields(f"{KIND}Spec", "spec", checked.get("spec") or {}, accept_unknown=False)
    except FieldError as error:
        raise AnsibleFilterError(f"{name}: {label(checked)}: {error}") from error
    return checked


def accepted(name: str, source: dict[str, Any], processed: Processed) -> Processed:
    """What came of a VirtualMachineTemplate, unless it is refused."""
    if processed.errors:
        declared = (source.get("spec") or {}).get("parameters") or []
        names = [parameter["name"] for parameter in declared if parameter.get("name")]
        raise AnsibleFilterError(f"{name}: {label(source)}: {refusal(processed.errors, names)}")
    return processed


def label(source: dict[str, Any]) -> str:
    """The object in a message."""
    return str((source.get("metadata") or {}).get("name") or source.get("kind") or KIND)
