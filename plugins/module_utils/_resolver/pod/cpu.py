"""The CPU of the compute container (``WithCPUPinning``, ``WithoutDedicatedCPU``)."""

from __future__ import annotations

from typing import Final

from ..api.label_selector import matches
from ..api.quantity import DECIMAL_SI, Quantity, add, parse
from .amounts import Amounts
from .environment import Environment
from .traits import Spec, pool_threads, vcpus

_EVEN_PARITY: Final = "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity"


def dedicated(metadata: Spec, spec: Spec, requests: Amounts, limits: Amounts, around: Environment) -> None:
    """Sets the CPU of a guest with dedicated CPUs, and also makes memory a limit.

    requests, limits: the VM's own, which are changed.
    """
    threads = pool_threads(spec) if around.rules.pool_needs_cpu else 0
    count = vcpus(spec)
    if count and around.rules.dedicated_wins:
        requests["cpu"] = limits["cpu"] = Quantity.of(count + threads, DECIMAL_SI)
    elif count:
        limits.setdefault("cpu", Quantity.of(count, DECIMAL_SI))
    else:
        for amounts in (requests, limits):
            amounts.update({"cpu": add(amounts["cpu"], Quantity.of(threads, DECIMAL_SI))} if "cpu" in amounts else {})
    if spec["domain"]["cpu"].get("isolateEmulatorThread"):
        _isolate(metadata, spec, requests, limits, around)
    if "memory" in requests:
        limits["memory"] = requests["memory"]


def _isolate(metadata: Spec, spec: Spec, requests: Amounts, limits: Amounts, around: Environment) -> None:
    """Adds a CPU for the emulator, or two if the VM requests an even number."""
    limit = limits.get("cpu", Quantity.of(0, DECIMAL_SI))
    if not around.rules.dedicated_wins:
        limit = Quantity.of(vcpus(spec), DECIMAL_SI)
    # KubeVirt counts the threads of the pool twice here.
    pool = spec["domain"].get("ioThreadsPolicy") == "supplementalPool" and around.rules.pool_needs_cpu
    counted = limit.value + (pool_threads(spec) if pool else 0)
    even = _EVEN_PARITY in (metadata.get("annotations") or {}) and counted % 2 == 0
    more = Quantity.of(2 if even else 1, DECIMAL_SI)
    limits["cpu"] = add(limit, more)
    if "cpu" in requests:
        requests["cpu"] = add(requests["cpu"], more)


def shared(spec: Spec, around: Environment, limited: bool) -> tuple[Amounts, Amounts]:
    """Requests and limits of a guest with shared CPUs, unless the VM sets them. limited: with an automatic limit."""
    count = vcpus(spec) + (pool_threads(spec) if around.rules.pool_needs_cpu else 0)
    ratio = around.cpu_allocation_ratio
    if not count:
        return {}, {}
    share = count / ratio
    request = parse(f"{share!r}" if share >= 1 else f"{share * 1000!r}m")
    return {"cpu": request}, {"cpu": Quantity.of(count, DECIMAL_SI)} if limited else {}


def needs_limit(spec: Spec, around: Environment, quota: bool) -> bool:
    """Whether the pod gets an automatic CPU limit. quota: a ResourceQuota requires one."""
    if quota:
        return True
    selector = around.configuration.get("autoCPULimitNamespaceLabelSelector")
    if selector is None or "cpu" in (spec["domain"]["resources"].get("limits") or {}):
        return False
    return matches(selector, around.namespace_labels)
