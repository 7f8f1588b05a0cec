"""The filters that choose objects: all instancetypes that fit, and what a workload needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._boot_sources.workload import AvailableObjects, WorkloadRequest, resolve
from ...module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE, ROLE_OF_KIND
from ...module_utils._resolver.choose.fitting import Rejected, choose
from .._catalog_files import builtin_objects
from .._filters import check_option, manifests, of_type, release_option, text
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


def workload(
    value: Any,
    size: Any = None,
    cpu: Any = None,
    memory: Any = None,
    performance: Any = None,
    data_sources: Any = None,
    objects: Any = None,
    kubevirt_version: Any = None,
) -> dict[str, Any]:
    """See its documentation."""
    for option, given in (("workload", value), ("size", size), ("performance", performance)):
        if given is not None or option == "workload":
            check_option(option, given, text)
    release = release_option(kubevirt_version)
    catalog = builtin_objects(release) if objects is None else manifests("objects", objects)
    preferences, instancetypes = (
        [manifest for manifest in catalog if ROLE_OF_KIND.get(str(manifest.get("kind"))) is role]
        for role in (PREFERENCE, INSTANCETYPE)
    )
    sources = None if data_sources is None else manifests("data_sources", data_sources)
    try:
        available = AvailableObjects(preferences, instancetypes, sources)
        return resolve(WorkloadRequest(value, size, cpu, memory, performance), available, release).as_data()
    except Rejected as error:
        raise AnsibleFilterError(str(error)) from None
