# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shared parts of all filters: one object or a list, checks of options, errors on one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible.module_utils.parsing.convert_bool import boolean

from ..module_utils._resolver.api import release
from ..module_utils._resolver.api.errors import FieldError
from ..module_utils._resolver.api.names import shown
from ..module_utils._resolver.choose.fitting import Rejected
from ..module_utils._resolver.kubevirt.vmi.cluster import version_of
from . import _builtin_catalog
from ._manifest_checks import check_fields, check_types, gated
from ._vm_filters import FilterProblem

Check = Callable[[Any], Any]


def vm_filter(name: str, compute: Callable[..., Any], **checks: Check) -> Callable[..., Any]:
    """A filter for one VM or a list of VMs.

    compute: called with (vm, overrides, objects, release) and the options that `checks` names. The release is that of
    the option `kubevirt`, a KubeVirt object, unless `kubevirt_version` names another. Without `objects`, those of the
    built-in catalog count.
    checks: option → function that converts its value, or raises ValueError.
    """

    def apply(
        value: Any,
        instancetype: Any = None,
        preference: Any = None,
        objects: Any = None,
        kubevirt_version: Any = None,
        accept_unknown_fields: Any = False,
        **options: Any,
    ) -> Any:
        overrides = {"instancetype": instancetype, "preference": preference}
        accept = boolean_option("accept_unknown_fields", name, accept_unknown_fields)
        for option, manifest in overrides.items():
            if manifest is not None and not isinstance(manifest, Mapping):
                raise AnsibleFilterError(f"{name}: {option}: expected a manifest or a spec, found {shown(manifest)}")
            if manifest is not None:
                _check_spec(name, option, manifest, accept)
        checked_options = {
            option: check_option(name, option, option_value, checks.get(option))
            for option, option_value in options.items()
        }
        version = release_option(name, kubevirt_version or version_of(checked_options.get("kubevirt") or {}) or None)
        object_manifests = _builtin_catalog.objects(version) if objects is None else manifests(name, "objects", objects)
        return each(
            name, value, lambda vm: compute(gated(vm, accept), overrides, object_manifests, version, **checked_options)
        )

    return apply


def _check_spec(name: str, option: str, manifest: Mapping[str, Any], accept_unknown: bool) -> None:
    """Checks the manifest or bare spec of an instancetype or preference, depending on the option's name."""
    spec = manifest.get("spec", manifest if "kind" not in manifest else {})
    try:
        if isinstance(spec, Mapping):
            check_fields(f"VirtualMachine{option.capitalize()}Spec", "", dict(spec), accept_unknown)
    except FieldError as error:
        raise AnsibleFilterError(f"{name}: {option}: {_one_line(error)}") from error


def boolean_option(option: str, name: str, value: Any) -> bool:
    """A boolean option, also from `-e`."""
    try:
        return bool(boolean(value))
    except TypeError:
        raise AnsibleFilterError(f"{name}: {option}: expected true or false, found {shown(value)}") from None


def each(name: str, value: Any, compute: Callable[[dict[str, Any]], Any]) -> Any:
    """The answer for a manifest, or a list of answers for a list. Errors name the filter and the object."""

    def apply(manifest: Any) -> Any:
        if not isinstance(manifest, Mapping):
            raise AnsibleFilterError(f"{name}: expected a manifest, found {shown(manifest)}")
        try:
            check_types(manifest, "VirtualMachine")
            return compute(dict(manifest))
        except (FieldError, Rejected, FilterProblem) as error:
            raise AnsibleFilterError(f"{name}: {_label(manifest)}: {_one_line(error)}") from error

    if isinstance(value, Mapping):
        return apply(value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [apply(manifest) for manifest in value]
    raise AnsibleFilterError(f"{name}: expected a manifest or a list of them, found {shown(value)}")


def manifests(name: str, option: str, value: Any) -> list[dict[str, Any]]:
    """The manifests of an option: a list, without empty YAML documents, or a single manifest."""
    entries = [value] if isinstance(value, Mapping) else value
    if not isinstance(entries, Iterable) or isinstance(entries, str):
        raise AnsibleFilterError(f"{name}: {option}: expected a list of manifests, found {shown(value)}")
    result = []
    for index, manifest in enumerate(entry for entry in entries if entry is not None):
        place = option if entries is not value else f"{option}[{index}]"
        if not isinstance(manifest, Mapping):
            raise AnsibleFilterError(f"{name}: {place}: expected a manifest, found {shown(manifest)}")
        try:
            check_types(manifest)
        except FieldError as error:
            raise AnsibleFilterError(f"{name}: {place}: {_one_line(error)}") from error
        result.append(dict(manifest))
    return result


def release_option(name: str, kubevirt_version: Any) -> release.Release:
    """The release that `kubevirt_version` names; by default the newest known release."""
    if kubevirt_version is None:
        return release.NEWEST
    version: release.Release = check_option(name, "kubevirt_version", kubevirt_version, release.parse_release)
    return version


def choice(*values: str) -> Check:
    """A check for an option with a fixed set of values."""

    def check(value: Any) -> Any:
        if value not in values:
            raise ValueError(f"{shown(value)} is not a valid value; choose {' or '.join(values)}")
        return value

    return check


def single_manifest(value: Any) -> dict[str, Any]:
    """A check for an option with one manifest."""
    if not isinstance(value, Mapping):
        raise ValueError(f"expected a manifest, found {shown(value)}")
    check_types(value)
    return dict(value)


def manifest_list(value: Any) -> list[dict[str, Any]]:
    """A check for an option with one manifest or several."""
    entries = [value] if isinstance(value, Mapping) else value
    if not isinstance(entries, Iterable) or isinstance(entries, str):
        raise ValueError(f"expected a list of manifests, found {shown(value)}")
    return [single_manifest(entry) for entry in entries if entry is not None]


def positive_integer(value: Any) -> int:
    """A check for an option with a positive integer."""
    if isinstance(value, bool) or not str(value).isdigit() or int(value) < 1:
        raise ValueError(f"expected a whole number, 1 or more, found {shown(value)}")
    return int(value)


def check_option(name: str, option: str, value: Any, check: Check | None) -> Any:
    """The option's value after its check. An option without a check does not exist."""
    if check is None:
        raise AnsibleFilterError(f"{name}: {option}: unknown option")
    try:
        return check(value)
    except ValueError as error:
        raise AnsibleFilterError(f"{name}: {option}: {error}") from error


def _label(manifest: Mapping[str, Any]) -> str:
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    named = "/".join(str(metadata[part]) for part in ("namespace", "name") if metadata.get(part))
    return named or str(manifest.get("kind") or "VirtualMachine")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
