"""The filter quota."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.kubernetes.quota.admission import QuotaObjects, check_quotas
from ...module_utils._resolver.kubevirt.pod.vm_pod import KEEP, MIGRATE, RESTART
from .._filters import check_option, manifests, single_manifest
from .._pod_filters import evaluate_vms

_NAME = "quota"
_RUNNING = (KEEP, RESTART, MIGRATE)


def quota(
    vms: Any,
    quotas: Any = (),
    limit_ranges: Any = (),
    application_quotas: Any = (),
    cluster_quotas: Any = (),
    aaq: Any = None,
    namespaces: Any = (),
    networks: Any = None,
    pods: Any = (),
    guests: Any = (),
    virtual_machines: Any = (),
    storage_class: Any = "",
    running: Any = KEEP,
    kubevirt: Any = None,
    kubevirt_version: Any = None,
    objects: Any = (),
    accept_unknown_fields: Any = False,
) -> dict[str, Any]:
    if running not in _RUNNING:
        raise AnsibleFilterError(f"{_NAME}: running: choose from {', '.join(_RUNNING)}, not {running!r}")
    cluster = QuotaObjects(
        quotas=manifests(_NAME, "quotas", quotas),
        limit_ranges=manifests(_NAME, "limit_ranges", limit_ranges),
        application_quotas=manifests(_NAME, "application_quotas", application_quotas),
        cluster_quotas=manifests(_NAME, "cluster_quotas", cluster_quotas),
        aaq=None if aaq is None else check_option(_NAME, "aaq", aaq, single_manifest),
        namespaces=manifests(_NAME, "namespaces", namespaces),
        networks=None if networks is None else manifests(_NAME, "networks", networks),
        pods=manifests(_NAME, "pods", pods),
        guests=manifests(_NAME, "guests", guests),
        vms=manifests(_NAME, "virtual_machines", virtual_machines),
        default_class=str(storage_class or ""),
    )
    return evaluate_vms(
        _NAME,
        check_quotas,
        vms,
        cluster,
        running,
        kubevirt=kubevirt,
        kubevirt_version=kubevirt_version,
        objects=objects,
        accept_unknown_fields=accept_unknown_fields,
    )
