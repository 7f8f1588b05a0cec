"""The filter `fitting`: all instancetypes that fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.choose.fitting import choose
from ...module_utils._resolver.choose.rejected import Rejected
from .._manifest_checks import check_types
from ._shared import check_option, of_type, release_option, text

_OPTIONS: dict[str, Any] = {
    "cpu": None,
    "memory": None,
    "class": "",
    "labels": {},
    "series": "",
    "deprecated": False,
    "kubevirt_version": None,
}
_CHECKS = {
    "labels": of_type(Mapping, "an object"),
    "class": text,
    "series": text,
    "deprecated": of_type(bool, "true or false"),
}


def fitting(value: Any, preference: Any = None, **options: Any) -> list[dict[str, Any]]:
    """All instancetypes that fit, best first. For the options see _OPTIONS; `class` cannot be a parameter name."""
    unknown = options.keys() - _OPTIONS.keys()
    if unknown:
        raise AnsibleFilterError(f"{min(unknown)}: unknown option; choose {', '.join(_OPTIONS)}")
    settings = {**_OPTIONS, **options}
    check_option("preference", preference, of_type((Mapping, str, type(None)), "a manifest, a spec or a name"))
    for option, check in _CHECKS.items():
        check_option(option, settings[option], check)
    release = release_option(settings.pop("kubevirt_version"))
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise AnsibleFilterError(f"expected manifests of instancetypes, found {value!r}")
    # None is an empty YAML document.
    entries = [dict(entry) if isinstance(entry, Mapping) else entry for entry in value if entry is not None]
    for index, entry in enumerate(entries):
        check_option(f"[{index}]", entry if isinstance(entry, dict) else {}, check_types)
    if isinstance(preference, Mapping):
        preference = dict(preference)
    try:
        return choose(entries, preference=preference, class_label=settings.pop("class"), release=release, **settings)
    except Rejected as error:
        raise AnsibleFilterError(str(error)) from None
