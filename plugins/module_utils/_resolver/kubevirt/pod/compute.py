"""The compute container, in which the guest runs, with its CPU and memory (``newResourceRenderer``)."""

from __future__ import annotations

from typing import Any, Final

from ...api.errors import QuantityError
from ...api.label_selector import matches
from ...api.quantity import BINARY_SI, DECIMAL_SI, Quantity, add, from_nanos, parse
from . import devices
from .amounts import Amounts, Container, add_to, vmi_resources
from .environment import Environment
from .traits import Spec, is_dedicated, pool_threads, vcpus

_EVEN_PARITY: Final = "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity"


def dedicated(metadata: Spec, spec: Spec, requests: Amounts, limits: Amounts, env: Environment) -> None:
    """Sets the CPU of a guest with dedicated CPUs, and also makes memory a limit.

    requests, limits: the VM's own, which are changed.
    """
    threads = pool_threads(spec) if env.rules.pool_needs_cpu else 0
    count = vcpus(spec)
    if count and env.rules.dedicated_wins:
        requests["cpu"] = limits["cpu"] = Quantity.from_integer(count + threads, DECIMAL_SI)
    elif count:
        limits.setdefault("cpu", Quantity.from_integer(count, DECIMAL_SI))
    else:
        for amounts in (requests, limits):
            amounts.update(
                {"cpu": add(amounts["cpu"], Quantity.from_integer(threads, DECIMAL_SI))} if "cpu" in amounts else {}
            )
    if spec["domain"]["cpu"].get("isolateEmulatorThread"):
        _isolate(metadata, spec, requests, limits, env)
    if "memory" in requests:
        limits["memory"] = requests["memory"]


def _isolate(metadata: Spec, spec: Spec, requests: Amounts, limits: Amounts, env: Environment) -> None:
    """Adds a CPU for the emulator, or two if the VM requests an even number."""
    limit = limits.get("cpu", Quantity.from_integer(0, DECIMAL_SI))
    if not env.rules.dedicated_wins:
        limit = Quantity.from_integer(vcpus(spec), DECIMAL_SI)
    # KubeVirt counts the threads of the pool twice here.
    pool = spec["domain"].get("ioThreadsPolicy") == "supplementalPool" and env.rules.pool_needs_cpu
    vcpu_count = limit.value + (pool_threads(spec) if pool else 0)
    even = _EVEN_PARITY in (metadata.get("annotations") or {}) and vcpu_count % 2 == 0
    extra = Quantity.from_integer(2 if even else 1, DECIMAL_SI)
    limits["cpu"] = add(limit, extra)
    if "cpu" in requests:
        requests["cpu"] = add(requests["cpu"], extra)


def shared(spec: Spec, env: Environment, limited: bool) -> tuple[Amounts, Amounts]:
    """Requests and limits of a guest with shared CPUs, unless the VM sets them. limited: with an automatic limit."""
    count = vcpus(spec) + (pool_threads(spec) if env.rules.pool_needs_cpu else 0)
    ratio = env.cpu_allocation_ratio
    if not count:
        return {}, {}
    share = count / ratio
    request = parse(f"{share!r}" if share >= 1 else f"{share * 1000!r}m")
    return {"cpu": request}, {"cpu": Quantity.from_integer(count, DECIMAL_SI)} if limited else {}


def needs_limit(spec: Spec, env: Environment, quota: bool) -> bool:
    """Whether the pod gets an automatic CPU limit. quota: a ResourceQuota requires one."""
    if quota:
        return True
    selector = env.configuration.get("autoCPULimitNamespaceLabelSelector")
    if selector is None or "cpu" in (spec["domain"]["resources"].get("limits") or {}):
        return False
    return matches(selector, env.namespace_labels)


_RATIO_LABEL: Final = "alpha.kubevirt.io/auto-memory-limits-ratio"
_LIMIT_RATIO: Final = 2.0


def request(spec: Spec, requests: Amounts, limits: Amounts, env: Environment) -> None:
    """Sets the requests that the VM leaves out: its limit, else the guest's memory or a huge page.

    requests: the VM's own, which are changed.
    """
    if "memory" in requests and requests["memory"].nanos:
        return
    if "memory" in limits and limits["memory"].nanos:
        requests["memory"] = limits["memory"]
    guest_memory = _guest(spec)
    if "memory" in requests or guest_memory is None or guest_memory.value <= 0:
        return
    percent = env.memory_overcommit
    if percent != 100:
        guest_memory = Quantity.from_integer(guest_memory.value * 100 // percent, guest_memory.format)
    requests["memory"] = guest_memory


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
    requested = requests.get("memory", _zero())
    overcommitted = spec["domain"]["resources"].get("overcommitGuestOverhead")
    requests["memory"] = requested if overcommitted else add(requested, overhead)
    if "memory" in limits:
        limits["memory"] = add(limits["memory"], overhead)


def with_huge_pages(spec: Spec, requests: Amounts, limits: Amounts, overhead: Quantity) -> Amounts:
    """The huge pages for requests and limits. Memory becomes the rest of the request, plus the overhead."""
    memory = spec["domain"]["memory"]
    requested = requests.get("memory", _zero())
    guest = parse(memory["guest"]) if "guest" in memory else None
    paged = guest if guest is not None and requested.value > guest.value else requested
    requests["memory"] = add(_beyond(requested, guest), overhead)
    if "memory" in limits:
        limits["memory"] = add(_beyond(limits["memory"], guest), overhead)
    return {f"hugepages-{memory['hugepages'].get('pageSize', '')}": paged}


def _beyond(amount: Quantity, guest: Quantity | None) -> Quantity:
    if guest is None or amount.value <= guest.value:
        return _zero()
    return from_nanos(amount.nanos - guest.nanos, amount.format)


def _zero() -> Quantity:
    return Quantity.from_integer(0, DECIMAL_SI)


def automatic_limit(requests: Amounts, env: Environment) -> Quantity:
    """The limit in a namespace whose quota has one: twice the request, or by the ratio in the namespace's label."""
    try:
        ratio = float(env.namespace_labels.get(_RATIO_LABEL, ""))
    except ValueError:
        ratio = _LIMIT_RATIO
    requested = requests.get("memory", Quantity.from_integer(0, BINARY_SI))
    # With this comparison a label of `nan` behaves as in KubeVirt: not less than 1.
    return Quantity.from_integer(
        int(float(requested.value) * (_LIMIT_RATIO if ratio < 1.0 else ratio)), requested.format
    )


_ONE: Final = Quantity.from_integer(1, DECIMAL_SI)
# What KubeVirt writes into the container.
_OWN_STORAGE: Final = parse("50M")


def compute(metadata: dict[str, Any], spec: Spec, env: Environment, overhead: Quantity) -> Container:
    """The compute container of a VMI. Raises devices.UnknownNetwork."""
    # The VM's own values override calculated ones.
    requests, limits = vmi_resources(spec, "requests"), vmi_resources(spec, "limits")
    quota = {name: _quota_limits(name, limits, env) for name in ("cpu", "memory")}
    _add_storage(requests, limits)
    limits.update(dict.fromkeys(devices.needed(spec, env), _ONE))
    request(spec, requests, limits, env)
    more_requests, more_limits = _cpu(metadata, spec, requests, limits, env, quota["cpu"])
    if "hugepages" in (spec["domain"].get("memory") or {}):
        pages = with_huge_pages(spec, requests, limits, overhead)
        more_requests.update(pages)
        more_limits.update(pages)
    else:
        with_overhead(spec, requests, limits, overhead)
    if quota["memory"]:
        more_limits["memory"] = automatic_limit(requests, env)
    for name in devices.plugged(metadata.get("namespace", ""), spec, env):
        add_to(more_requests, name, _ONE)
        add_to(more_limits, name, _ONE)
    return Container(
        "compute", {**more_requests, **requests}, {**more_limits, **limits}, tuple(devices.claims(spec, env))
    )


def _quota_limits(name: str, limits: Amounts, env: Environment) -> bool:
    """Whether a ResourceQuota of the namespace requires an automatic limit."""
    gate = env.rules.limits_gate
    if name in limits or (gate and not env.has_gate(gate)):
        return False
    return any(f"limits.{name}" in hard for hard in env.quotas)


def _add_storage(requests: Amounts, limits: Amounts) -> None:
    add_to(requests, "ephemeral-storage", _OWN_STORAGE)
    if "ephemeral-storage" in limits:
        limits["ephemeral-storage"] = add(limits["ephemeral-storage"], _OWN_STORAGE)


def _cpu(
    metadata: dict[str, Any], spec: Spec, requests: Amounts, limits: Amounts, env: Environment, quota: bool
) -> tuple[Amounts, Amounts]:
    if is_dedicated(spec):
        dedicated(metadata, spec, requests, limits, env)
        return {}, {}
    return shared(spec, env, needs_limit(spec, env, quota))
