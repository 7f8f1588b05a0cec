"""The sockets, cores and threads for a number of vCPUs (KubeVirt ``applyGuestCPUTopology``)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ...api.errors import KubeVirtError, Panic

SOCKETS: Final = "sockets"
CORES: Final = "cores"
THREADS: Final = "threads"
SPREAD: Final = "spread"
ANY: Final = "any"

# The meaning of each name. The long names are deprecated since KubeVirt 1.4.
NAMES: Final = {
    "sockets": SOCKETS,
    "cores": CORES,
    "threads": THREADS,
    "spread": SPREAD,
    "any": ANY,
    "preferSockets": SOCKETS,
    "preferCores": CORES,
    "preferThreads": THREADS,
    "preferSpread": SPREAD,
    "preferAny": ANY,
}

SOCKETS_CORES: Final = "SocketsCores"
CORES_THREADS: Final = "CoresThreads"
SOCKETS_CORES_THREADS: Final = "SocketsCoresThreads"

_DEFAULT_RATIO: Final = 2
_THREADS_PER_CORE: Final = 2


class Topology(NamedTuple):
    """Numbers whose product is the guest's vCPUs (minus the remainder of a spread). 0 is written as an absent field."""

    sockets: int
    cores: int
    threads: int


class Spread(NamedTuple):
    """How a preference spreads vCPUs over sockets, cores and threads.

    ratio: the number of finer units in a coarser one. across: the units.
    """

    ratio: int
    across: str


class SpreadError(KubeVirtError):
    """The vCPUs of the instancetype cannot be spread as preferred; virt-api rejects the VM."""

    field: Final = "instancetype.spec.cpu.guest"


def preferred(preference: dict[str, Any] | None) -> str:
    """The preferred topology by its short name; "" for an unknown name."""
    name = ((preference or {}).get("cpu") or {}).get("preferredCPUTopology")
    if name is None:
        return SOCKETS
    return NAMES.get(name, "")


def spread_of(preference: dict[str, Any]) -> Spread:
    """Ratio and units of a spread; the default is 2 cores per socket."""
    options = (preference.get("cpu") or {}).get("spreadOptions") or {}
    ratio = options.get("ratio")
    if ratio is None:
        ratio = preference.get("preferSpreadSocketToCoreRatio") or _DEFAULT_RATIO
    across = options.get("across")
    return Spread(int(ratio), SOCKETS_CORES if across is None else str(across))


def topology(vcpus: int, preference: dict[str, Any] | None) -> Topology:
    """The guest's topology for an instancetype's vCPUs and a canonical preference spec.

    As in KubeVirt, the remainder of a spread is lost, and unknown names give one vCPU. The VM webhook rejects the
    former, the preference webhook the latter. Raises Panic for a ratio of 0.
    """
    if vcpus == 1:
        return Topology(1, 1, 1)
    kind = preferred(preference)
    if kind in (SOCKETS, ANY):
        return Topology(vcpus, 1, 1)
    if kind == CORES:
        return Topology(1, vcpus, 1)
    if kind == THREADS:
        return Topology(1, 1, vcpus)
    if kind == SPREAD and preference is not None:
        return _spread(vcpus, spread_of(preference))
    return Topology(1, 1, 1)


def _spread(vcpus: int, spread: Spread) -> Topology:
    ratio = spread.ratio
    if spread.across == SOCKETS_CORES:
        return Topology(vcpus // _divisor(ratio), ratio, 1)
    if spread.across == CORES_THREADS:
        return Topology(1, vcpus // _divisor(ratio), ratio)
    if spread.across == SOCKETS_CORES_THREADS:
        return Topology(vcpus // _THREADS_PER_CORE // _divisor(ratio), ratio, _THREADS_PER_CORE)
    return Topology(1, 1, 1)


def _divisor(ratio: int) -> int:
    if ratio == 0:
        raise Panic("a spread ratio of 0 divides by zero")
    return ratio


def check_spread(instancetype: dict[str, Any] | None, preference: dict[str, Any] | None) -> None:
    """Raises SpreadError if spreading the vCPUs leaves a remainder, as virt-api checks it, and Panic for a ratio of 0.

    instancetype, preference: canonical specs or None.
    """
    if instancetype is None or preference is None or preferred(preference) != SPREAD:
        return
    vcpus = instancetype["cpu"]["guest"]
    ratio, across = spread_of(preference)
    if across == SOCKETS_CORES and vcpus % _divisor(ratio):
        by = (
            "by the Spec.PreferSpreadSocketToCoreRatio or Spec.CPU.PreferSpreadOptions.Ratio"
            f" of {ratio} provided by the preference"
        )
    elif across == CORES_THREADS and vcpus % _divisor(ratio):
        by = f"by the number of threads per core {ratio}"
    elif across == SOCKETS_CORES_THREADS and (
        vcpus % _THREADS_PER_CORE or vcpus // _THREADS_PER_CORE % _divisor(ratio)
    ):
        by = (
            f"by the number of threads per core {_THREADS_PER_CORE} and"
            f" Spec.PreferSpreadSocketToCoreRatio or Spec.CPU.PreferSpreadOptions.Ratio of {ratio}"
        )
    else:
        return
    raise SpreadError(f"{vcpus} vCPUs provided by the instance type are not divisible {by}")
