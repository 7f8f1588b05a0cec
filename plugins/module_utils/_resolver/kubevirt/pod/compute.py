"""The compute container, in which the guest runs, with its CPU and memory (``newResourceRenderer``)."""

from __future__ import annotations

from typing import Any, Final

from ...api.errors import QuantityError
from ...api.label_selector import matches
from ...api.quantity import BINARY_SI, DECIMAL_SI, Quantity, add, of_nanos, parse
from . import devices
from .amounts import Amounts, Container, add_to, own
from .environment import Environment
from .traits import Spec, is_dedicated, pool_threads, vcpus

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


_RATIO_LABEL: Final = "alpha.kubevirt.io/auto-memory-limits-ratio"
_LIMIT_RATIO: Final = 2.0


def request(spec: Spec, requests: Amounts, limits: Amounts, around: Environment) -> None:
    """Sets the requests that the VM leaves out: its limit, else the guest's memory or a huge page.

    requests: the VM's own, which are changed.
    """
    if "memory" in requests and requests["memory"].nanos:
        return
    if "memory" in limits and limits["memory"].nanos:
        requests["memory"] = limits["memory"]
    wanted = _guest(spec)
    if "memory" in requests or wanted is None or wanted.value <= 0:
        return
    percent = around.memory_overcommit
    requests["memory"] = wanted if percent == 100 else Quantity.of(wanted.value * 100 // percent, wanted.format)


def _guest(spec: Spec) -> Quantity | None:
    memory = spec["domain"].get("memory") or {}
    if "guest" in memory:
        return parse(memory["guest"])
    try:
        return parse((memory.get("hugepages") or {}).get("pageSize", ""))
    except QuantityError:
        return None


def with_overhead(spec: Spec, requests: Amounts, limits: Amounts, overhead: Quantity) -> None:
    """Adds the overhead to the request, unless the VM overcommits it, and to a limit."""
    asked = requests.get("memory", _nothing())
    overcommitted = spec["domain"]["resources"].get("overcommitGuestOverhead")
    requests["memory"] = asked if overcommitted else add(asked, overhead)
    if "memory" in limits:
        limits["memory"] = add(limits["memory"], overhead)


def with_huge_pages(spec: Spec, requests: Amounts, limits: Amounts, overhead: Quantity) -> Amounts:
    """The huge pages for requests and limits. Memory becomes the rest of the request, plus the overhead."""
    memory = spec["domain"]["memory"]
    asked = requests.get("memory", _nothing())
    guest = parse(memory["guest"]) if "guest" in memory else None
    paged = guest if guest is not None and asked.value > guest.value else asked
    requests["memory"] = add(_beyond(asked, guest), overhead)
    if "memory" in limits:
        limits["memory"] = add(_beyond(limits["memory"], guest), overhead)
    return {f"hugepages-{memory['hugepages'].get('pageSize', '')}": paged}


def _beyond(amount: Quantity, guest: Quantity | None) -> Quantity:
    if guest is None or amount.value <= guest.value:
        return _nothing()
    return of_nanos(amount.nanos - guest.nanos, amount.format)


def _nothing() -> Quantity:
    return Quantity.of(0, DECIMAL_SI)


def automatic_limit(requests: Amounts, around: Environment) -> Quantity:
    """The limit in a namespace whose quota has one: twice the request, or by the ratio in the namespace's label."""
    try:
        ratio = float(around.namespace_labels.get(_RATIO_LABEL, ""))
    except ValueError:
        ratio = _LIMIT_RATIO
    asked = requests.get("memory", Quantity.of(0, BINARY_SI))
    # With this comparison a label of `nan` behaves as in KubeVirt: not less than 1.
    return Quantity.of(int(float(asked.value) * (_LIMIT_RATIO if ratio < 1.0 else ratio)), asked.format)


_ONE: Final = Quantity.of(1, DECIMAL_SI)
# What KubeVirt writes into the container.
_OWN_STORAGE: Final = parse("50M")


def compute(metadata: dict[str, Any], spec: Spec, around: Environment, overhead: Quantity) -> Container:
    """The compute container of a VMI. Raises devices.UnknownNetwork."""
    # The VM's own values override calculated ones.
    requests, limits = own(spec, "requests"), own(spec, "limits")
    quota = {name: _quota_limits(name, limits, around) for name in ("cpu", "memory")}
    _add_storage(requests, limits)
    limits.update(dict.fromkeys(devices.needed(spec, around), _ONE))
    request(spec, requests, limits, around)
    more_requests, more_limits = _cpu(metadata, spec, requests, limits, around, quota["cpu"])
    if "hugepages" in (spec["domain"].get("memory") or {}):
        pages = with_huge_pages(spec, requests, limits, overhead)
        more_requests.update(pages)
        more_limits.update(pages)
    else:
        with_overhead(spec, requests, limits, overhead)
    if quota["memory"]:
        more_limits["memory"] = automatic_limit(requests, around)
    for name in devices.plugged(metadata.get("namespace", ""), spec, around):
        add_to(more_requests, name, _ONE)
        add_to(more_limits, name, _ONE)
    return Container(
        "compute", {**more_requests, **requests}, {**more_limits, **limits}, tuple(devices.claims(spec, around))
    )


def _quota_limits(name: str, limits: Amounts, around: Environment) -> bool:
    """Whether a ResourceQuota of the namespace requires an automatic limit."""
    gate = around.rules.limits_gate
    if name in limits or (gate and not around.has_gate(gate)):
        return False
    return any(f"limits.{name}" in hard for hard in around.quotas)


def _add_storage(requests: Amounts, limits: Amounts) -> None:
    add_to(requests, "ephemeral-storage", _OWN_STORAGE)
    if "ephemeral-storage" in limits:
        limits["ephemeral-storage"] = add(limits["ephemeral-storage"], _OWN_STORAGE)


def _cpu(
    metadata: dict[str, Any], spec: Spec, requests: Amounts, limits: Amounts, around: Environment, quota: bool
) -> tuple[Amounts, Amounts]:
    if is_dedicated(spec):
        dedicated(metadata, spec, requests, limits, around)
        return {}, {}
    return shared(spec, around, needs_limit(spec, around, quota))
