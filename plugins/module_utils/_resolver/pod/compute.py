"""The compute container, in which the guest runs (``newResourceRenderer``)."""

from __future__ import annotations

from typing import Any, Final

from ..api.quantity import DECIMAL_SI, Quantity, add, parse
from . import cpu, devices, memory
from .amounts import Amounts, add_to, own
from .container import Container
from .environment import Environment
from .traits import Spec, is_dedicated

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
    memory.request(spec, requests, limits, around)
    more_requests, more_limits = _cpu(metadata, spec, requests, limits, around, quota["cpu"])
    if "hugepages" in (spec["domain"].get("memory") or {}):
        pages = memory.with_huge_pages(spec, requests, limits, overhead)
        more_requests.update(pages)
        more_limits.update(pages)
    else:
        memory.with_overhead(spec, requests, limits, overhead)
    if quota["memory"]:
        more_limits["memory"] = memory.automatic_limit(requests, around)
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
        cpu.dedicated(metadata, spec, requests, limits, around)
        return {}, {}
    return cpu.shared(spec, around, cpu.needs_limit(spec, around, quota))
