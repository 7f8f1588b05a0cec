"""Properties of a canonical VMI spec on which several parts of a pod depend."""

from __future__ import annotations

import math
from typing import Any

from ...api.quantity import parse

Spec = dict[str, Any]


def vcpus(spec: Spec) -> int:
    """The vCPUs: the product of the set ones of cores, sockets and threads; 0 if none is set, 1 without `cpu`."""
    cpu = spec["domain"].get("cpu")
    if cpu is None:
        return 1
    counts = [cpu[part] for part in ("cores", "sockets", "threads") if cpu.get(part)]
    return math.prod(counts) if counts else 0


def pool_threads(spec: Spec) -> int:
    """The threads of the supplemental IO thread pool."""
    return int((spec["domain"].get("ioThreads") or {}).get("supplementalPoolThreadCount") or 0)


def is_dedicated(spec: Spec) -> bool:
    """Whether the guest has dedicated CPUs."""
    return bool((spec["domain"].get("cpu") or {}).get("dedicatedCpuPlacement"))


def wants_guaranteed(spec: Spec) -> bool:
    """Whether the VM's requests of CPU and memory equal its limits (``WantsToHaveQOSGuaranteed``)."""
    cpu_request, cpu_limit = _pair(spec, "cpu")
    request, limit = _pair(spec, "memory")
    memory = bool(limit) if not request else request == limit
    return memory and bool(cpu_request) and cpu_request == cpu_limit


def _pair(spec: Spec, name: str) -> tuple[int, int]:
    resources = spec["domain"]["resources"]
    requested, limited = ((resources.get(kind) or {}).get(name, "0") for kind in ("requests", "limits"))
    return parse(requested).nanos, parse(limited).nanos


def is_guaranteed(spec: Spec) -> bool:
    """Whether the requests of the pod's containers equal their limits."""
    return is_dedicated(spec) or wants_guaranteed(spec)


def kernel_boot(spec: Spec) -> Spec | None:
    """The container with the guest's kernel."""
    container: Spec | None = ((spec["domain"].get("firmware") or {}).get("kernelBoot") or {}).get("container")
    return container


def _security(spec: Spec) -> Spec:
    return spec["domain"].get("launchSecurity") or {}


def has_sev(spec: Spec) -> bool:
    return "sev" in _security(spec)


def has_sev_es(spec: Spec) -> bool:
    policy = (_security(spec).get("sev") or {}).get("policy") or {}
    return bool(policy.get("encryptedState"))


def has_snp(spec: Spec) -> bool:
    return "snp" in _security(spec)


def has_tdx(spec: Spec) -> bool:
    return "tdx" in _security(spec)
