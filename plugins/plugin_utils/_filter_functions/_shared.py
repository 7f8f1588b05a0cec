"""Shared parts of all filters: one object or a list, checks of options, errors on one line.

The functions raise AnsibleFilterError; `_deferred` puts the name of the filter in front of its message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._resolver.api import release
from ...module_utils._resolver.api.errors import FieldError, KubeVirtError
from ...module_utils._resolver.api.name_rules import one_line, quoted
from ...module_utils._resolver.api.type_remedies import AS_TEXT
from ...module_utils._resolver.choose.rejected import Rejected
from ...module_utils._resolver.kubevirt.cluster import version_of
from .._manifest_checks import check_fields, check_types, gated

Check = Callable[[Any], Any]


def vm_filter(compute: Callable[..., Any], **checks: Check) -> Callable[..., Any]:
    """A filter for one VM or a list of VMs.

    compute: called with (vm, overrides, objects, release) and the options that `checks` names. The option
    `kubevirt_version` names the release, otherwise the KubeVirt object of the option `kubevirt` does. Without the
    option `objects`, the built-in catalog counts.
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
        accept = accepts_unknown(accept_unknown_fields)
        overrides = {"instancetype": instancetype, "preference": preference}
        for option, manifest in overrides.items():
            if manifest is not None:
                _check_override(option, manifest, accept)
        checked = {option: check_option(option, given, checks.get(option)) for option, given in options.items()}
        version = release_option(kubevirt_version, checked.get("kubevirt"))
        known = _builtin_objects(version) if objects is None else manifests("objects", objects)
        return each(value, lambda vm: compute(gated(vm, accept), overrides, known, version, **checked))

    return apply


def _builtin_objects(version: release.Release) -> list[dict[str, Any]]:
    from .._catalog_files import builtin_objects

    return builtin_objects(version)


def _check_override(option: str, manifest: Any, accept_unknown: bool) -> None:
    """Checks the manifest or bare spec of an instancetype or preference, depending on the option's name."""
    if not isinstance(manifest, Mapping):
        raise AnsibleFilterError(f"{option}: expected a manifest or a spec, found {quoted(manifest)}")
    spec = manifest.get("spec", manifest if "kind" not in manifest else {})
    try:
        if isinstance(spec, Mapping):
            check_fields(f"VirtualMachine{option.capitalize()}Spec", "", dict(spec), accept_unknown)
    except FieldError as error:
        raise AnsibleFilterError(f"{option}: {one_line(error)}") from None


def accepts_unknown(value: Any) -> bool:
    """The option `accept_unknown_fields`, also from `-e`."""
    try:
        return bool(boolean(value))
    except TypeError:
        raise AnsibleFilterError(f"accept_unknown_fields: expected true or false, found {quoted(value)}") from None


def each(value: Any, compute: Callable[[dict[str, Any]], Any]) -> Any:
    """The answer for a manifest, or a list of answers for a list. Errors name the object."""

    def apply(manifest: Any) -> Any:
        if not isinstance(manifest, Mapping):
            raise AnsibleFilterError(f"expected a manifest, found {quoted(manifest)}")
        try:
            check_types(manifest, "VirtualMachine")
            return compute(dict(manifest))
        except (FieldError, Rejected, KubeVirtError) as error:
            raise AnsibleFilterError(f"{_label(manifest)}: {one_line(error)}") from None

    if isinstance(value, Mapping):
        return apply(value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [apply(manifest) for manifest in value]
    raise AnsibleFilterError(f"expected a manifest or a list of them, found {quoted(value)}")


def manifests(option: str, value: Any) -> list[dict[str, Any]]:
    """The manifests of an option: a list, without empty YAML documents, or a single manifest."""
    entries = [value] if isinstance(value, Mapping) else value
    if not isinstance(entries, Iterable) or isinstance(entries, str):
        raise AnsibleFilterError(f"{option}: expected a list of manifests, found {quoted(value)}")
    result = []
    for index, manifest in enumerate(entry for entry in entries if entry is not None):
        place = option if entries is not value else f"{option}[{index}]"
        result.append(check_option(place, manifest, single_manifest))
    return result


def release_option(kubevirt_version: Any, kubevirt: dict[str, Any] | None = None) -> release.Release:
    """The release: named by `kubevirt_version`, else by a KubeVirt object, else the newest known one."""
    text = kubevirt_version or version_of(kubevirt or {}) or None
    return release.NEWEST if text is None else check_option("kubevirt_version", text, release.parse_release)


def choice(*values: str | None) -> Check:
    """A check for an option with a fixed set of values."""

    def check(value: Any) -> Any:
        if value not in values:
            raise ValueError(f"{quoted(value)} is not a valid value; choose {' or '.join(filter(None, values))}")
        return value

    return check


def of_type(kind: type | tuple[type, ...], name: str) -> Check:
    """A check for an option with a value of certain classes. name: a name for the classes in messages."""

    def check(value: Any) -> Any:
        if not isinstance(value, kind):
            raise ValueError(f"expected {name}, found {quoted(value)}")
        return value

    return check


text = of_type(str, "a string")


def list_of(name: str) -> Check:
    """A check for an option with a list, whatever its entries are. name: these, in messages."""

    def check(value: Any) -> Any:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise ValueError(f"expected a list of {name}, found {quoted(value)}")
        return value

    return check


def single_manifest(value: Any) -> dict[str, Any]:
    """A check for an option with one manifest."""
    if not isinstance(value, Mapping):
        raise ValueError(f"expected a manifest, found {quoted(value)}")
    check_types(value)
    return dict(value)


def positive_integer(value: Any) -> int:
    """A check for an option with a positive integer."""
    if isinstance(value, bool) or not str(value).isdigit() or int(value) < 1:
        raise ValueError(f"expected a whole number, 1 or more, found {quoted(value)}")
    return int(value)


def check_option(option: str, value: Any, check: Check | None) -> Any:
    """The option's value after its check. An option without a check does not exist."""
    if check is None:
        raise AnsibleFilterError(f"{option}: unknown option")
    try:
        return check(value)
    except ValueError as error:
        raise AnsibleFilterError(f"{option}: {one_line(error)}") from None


def _label(manifest: Mapping[str, Any]) -> str:
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    named = "/".join(str(metadata[part]) for part in ("namespace", "name") if metadata.get(part))
    return named or str(manifest.get("kind") or "VirtualMachine")


def plain(value: Any, path: str = "") -> Any:
    """A manifest without Ansible's own types, which are classes derived from Python's."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry, f"{path}.{key}" if path else str(key)) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry, f"{path}[{index}]") for index, entry in enumerate(value)]
    if value is None or isinstance(value, bool):
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise AnsibleFilterError(f"{path}: expected a string or a number, found {quoted(value)}{AS_TEXT}")
