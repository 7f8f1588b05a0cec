"""The memory of the compute container (``WithMemoryRequests``, ``WithHugePages``, ``WithMemoryOverhead``)."""

from __future__ import annotations

from typing import Final

from ..api.errors import QuantityError
from ..api.quantity import BINARY_SI, DECIMAL_SI, Quantity, add, of_nanos, parse
from .amounts import Amounts
from .environment import Environment
from .traits import Spec

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
