"""The filter fitting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.choose.fitting import Rejected, choose
from .._filters import release_option
from .._manifest_checks import check_types

_OPTIONS: dict[str, Any] = {
    "cpu": None,
    "memory": None,
    "class": "",
    "labels": {},
    "series": "",
    "deprecated": False,
    "kubevirt_version": None,
}


def fitting(value: Any, preference: Any = None, **options: Any) -> list[dict[str, Any]]:
    """All instancetypes that fit, best first. For the options see _OPTIONS; `class` cannot be a parameter name."""
    unknown = options.keys() - _OPTIONS.keys()
    if unknown:
        raise AnsibleFilterError(f"fitting: {min(unknown)}: unknown option; choose {', '.join(_OPTIONS)}")
    settings = {**_OPTIONS, **options}
    if preference is not None and not isinstance(preference, (Mapping, str)):
        raise AnsibleFilterError(f"fitting: preference: expected a manifest, a spec or a name, found {preference!r}")
    if not isinstance(settings["labels"], Mapping):
        raise AnsibleFilterError(f"fitting: labels: expected an object, found {settings['labels']!r}")
    for option in ("class", "series"):
        if not isinstance(settings[option], str):
            raise AnsibleFilterError(f"fitting: {option}: expected text, found {settings[option]!r}")
    if not isinstance(settings["deprecated"], bool):
        raise AnsibleFilterError(f"fitting: deprecated: expected true or false, found {settings['deprecated']!r}")
    release = release_option("fitting", settings["kubevirt_version"])
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise AnsibleFilterError(f"fitting: expected manifests of instancetypes, found {value!r}")
    # None is an empty YAML document.
    entries = [dict(entry) if isinstance(entry, Mapping) else entry for entry in value if entry is not None]
    for index, entry in enumerate(entries):
        try:
            check_types(entry if isinstance(entry, dict) else {})
        except FieldError as error:
            raise AnsibleFilterError(f"fitting: [{index}]: {error}") from error
    try:
        return choose(
            entries,
            preference=dict(preference) if isinstance(preference, Mapping) else preference,
            cpu=settings["cpu"],
            memory=settings["memory"],
            class_label=settings["class"],
            labels=settings["labels"],
            series=settings["series"],
            deprecated=settings["deprecated"],
            release=release,
        )
    except Rejected as error:
        raise AnsibleFilterError(f"fitting: {error}") from error
