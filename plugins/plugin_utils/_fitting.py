# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filters that choose among instancetypes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._resolver.api.errors import FieldError
from ..module_utils._resolver.choose.selection import Rejected, choose
from . import _shape
from ._filters import answering

_OPTIONS: dict[str, Any] = {
    "cpu": None,
    "memory": None,
    "class": "",
    "labels": {},
    "series": "",
    "kubevirt_version": None,
}


def fitting(value: Any, preference: Any = None, **options: Any) -> list[dict[str, Any]]:
    """All instancetypes that fit, best first. For the options see _OPTIONS; `class` cannot be a parameter name."""
    return _chosen("fitting", value, preference, options)


def smallest(value: Any, preference: Any = None, **options: Any) -> dict[str, Any]:
    """The best instancetype that fits."""
    found = _chosen("smallest", value, preference, options)
    if found:
        return found[0]
    asked = [f"{name}={entry}" for name, entry in options.items() if entry and name != "kubevirt_version"]
    if preference is not None:
        asked.insert(0, "the preference")
    raise AnsibleFilterError(f"smallest: no instancetype fits {' and '.join(asked) or 'because the list is empty'}")


def _chosen(name: str, value: Any, preference: Any, options: dict[str, Any]) -> list[dict[str, Any]]:
    unknown = options.keys() - _OPTIONS.keys()
    if unknown:
        raise AnsibleFilterError(f"{name}: {min(unknown)}: unknown option; choose {', '.join(_OPTIONS)}")
    given = {**_OPTIONS, **options}
    if preference is not None and not isinstance(preference, (Mapping, str)):
        raise AnsibleFilterError(f"{name}: preference: expected a manifest, a spec or a name, found {preference!r}")
    if not isinstance(given["labels"], Mapping):
        raise AnsibleFilterError(f"{name}: labels: expected an object, found {given['labels']!r}")
    for option in ("class", "series"):
        if not isinstance(given[option], str):
            raise AnsibleFilterError(f"{name}: {option}: expected text, found {given[option]!r}")
    release = answering(name, given["kubevirt_version"])
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise AnsibleFilterError(f"{name}: expected manifests of instancetypes, found {value!r}")
    # None is an empty YAML document.
    entries = [dict(entry) if isinstance(entry, Mapping) else entry for entry in value if entry is not None]
    for index, entry in enumerate(entries):
        try:
            _shape.check(entry if isinstance(entry, dict) else {})
        except FieldError as error:
            raise AnsibleFilterError(f"{name}: [{index}]: {error}") from error
    try:
        return choose(
            entries,
            preference=dict(preference) if isinstance(preference, Mapping) else preference,
            cpu=given["cpu"],
            memory=given["memory"],
            class_label=given["class"],
            labels=given["labels"],
            series=given["series"],
            release=release,
        )
    except Rejected as error:
        raise AnsibleFilterError(f"{name}: {error}") from error
