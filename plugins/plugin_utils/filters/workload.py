"""The filter workload."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE, ROLE_OF_KIND
from ...module_utils._resolver.api.names import shown
from ...module_utils._resolver.choose.fitting import Rejected
from ...module_utils._resolver.choose.workload import AvailableObjects, WorkloadRequest, resolve
from .. import _builtin_catalog
from .._filters import manifests, release_option


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
    for option, text in (("workload", value), ("size", size), ("performance", performance)):
        if not isinstance(text, str) and (text is not None or option == "workload"):
            raise AnsibleFilterError(f"workload: {option}: expected text, found {shown(text)}")
    release = release_option("workload", kubevirt_version)
    catalog = _builtin_catalog.objects(release) if objects is None else manifests("workload", "objects", objects)
    by_role = {
        role: [manifest for manifest in catalog if ROLE_OF_KIND.get(str(manifest.get("kind"))) is role]
        for role in (PREFERENCE, INSTANCETYPE)
    }
    sources = None if data_sources is None else manifests("workload", "data_sources", data_sources)
    try:
        available = AvailableObjects(by_role[PREFERENCE], by_role[INSTANCETYPE], sources)
        return resolve(WorkloadRequest(value, size, cpu, memory, performance), available, release).as_data()
    except Rejected as error:
        raise AnsibleFilterError(f"workload: {error}") from error
