"""The filter `workload`: boot source, preference and instancetype for a workload."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._boot_sources.workload import AvailableObjects, WorkloadRequest, resolve
from ...module_utils._resolver.choose.rejected import Rejected
from .._catalog_files import builtin_objects
from ._shared import check_option, manifests, release_option, text


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
    sources = None if data_sources is None else manifests("data_sources", data_sources)
    try:
        available = AvailableObjects(catalog, sources)
        return resolve(WorkloadRequest(value, size, cpu, memory, performance), available, release)
    except Rejected as error:
        raise AnsibleFilterError(str(error)) from None
