"""Says whether one size is enough for a guest of another; for conversions, adoptions and estates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from ..api.quantity import BINARY_SI, Quantity


class Sized(Protocol):
    """Something with a size. memory: in bytes. size_class: its demands on nodes besides; equal ones are the same."""

    @property
    def vcpus(self) -> int: ...

    @property
    def memory(self) -> int: ...

    @property
    def size_class(self) -> Any: ...


class GuestSize(NamedTuple):
    """The size of a guest. vcpus: the number that its system uses."""

    vcpus: int = 0
    memory: int = 0
    size_class: Any = ()


def is_enough(offered: Sized, needed: Sized) -> bool:
    """Whether a guest loses nothing with another size: it has no less of anything, and is of the same class."""
    large = offered.vcpus >= needed.vcpus and offered.memory >= needed.memory
    return large and bool(offered.size_class == needed.size_class)


def shortage(offered: Sized, needed: Sized) -> str:
    """The lack of a size against another, such as ``2 vCPUs instead of 4``; "" if nothing."""
    lacks = []
    if offered.vcpus < needed.vcpus:
        lacks.append(f"{vcpus_text(offered.vcpus)} instead of {needed.vcpus}")
    if offered.memory < needed.memory:
        lacks.append(f"{memory_text(offered.memory)} instead of {memory_text(needed.memory)}")
    return " and ".join(lacks)


def waste_of(offered: Sized, needed: Sized) -> Fraction:
    """The additional vCPUs and memory of a size in sum, each as a share of what is needed; a lack counts alike."""
    pairs = ((offered.vcpus, needed.vcpus), (offered.memory, needed.memory))
    return sum((Fraction(abs(more - less), less) for more, less in pairs), Fraction())


def shown(size: Sized) -> str:
    """``4 vCPUs, 8Gi``"""
    return f"{vcpus_text(size.vcpus)}, {memory_text(size.memory)}"


def vcpus_text(vcpus: int) -> str:
    """``1 vCPU``, ``4 vCPUs``"""
    return f"{vcpus} vCPU{'' if vcpus == 1 else 's'}"


def memory_text(memory: int) -> str:
    """Bytes as a quantity without loss: ``8Gi``, ``34322Mi``."""
    return Quantity.from_integer(memory, BINARY_SI).text
