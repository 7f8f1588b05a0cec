"""The class of a guest: the demands of its pod on a node besides vCPUs and memory.

A guest of another class may never start on the nodes that its VM has had: dedicated CPUs need a CPU manager, huge pages
reserved memory. Or it lacks what its VM was made for, such as a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .._resolver.api.manifest import Manifest
from .._resolver.api.tree import value_at

_MODEL: Final = "domain.cpu.model"
_SELECTOR: Final = "nodeSelector"
# The path in a VMI's spec → what a guest with the value has, as words.
_DEMANDS: Final[Mapping[str, str]] = {
    "domain.cpu.dedicatedCpuPlacement": "dedicated CPUs",
    "domain.cpu.isolateEmulatorThread": "an isolated emulator thread",
    "domain.cpu.numa": "NUMA passthrough",
    "domain.cpu.realtime": "realtime",
    _MODEL: "the CPU model {}",
    "domain.cpu.features": "CPU features ({})",
    "domain.memory.hugepages": "huge pages of {}",
    "domain.devices.gpus": "GPUs ({})",
    "domain.devices.hostDevices": "host devices ({})",
    "domain.launchSecurity": "launch security ({})",
    _SELECTOR: "the node selector {}",
    "schedulerName": "the scheduler {}",
}
# Models that every node has; KubeVirt gives guests without a model the first.
_ANY_MODEL: Final = ("host-model", "host-passthrough")


def demands_of(spec: Manifest) -> dict[str, str]:
    """The demands of a VMI (its spec with defaults): path → words. An empty object is a demand too."""
    demands: dict[str, str] = {}
    for path, words in _DEMANDS.items():
        value = value_at(spec, tuple(path.split(".")))
        if value in (None, False, []) or (path == _MODEL and value in _ANY_MODEL) or (path == _SELECTOR and not value):
            continue
        demands[path] = words.format(_shown(value))
    return demands


def class_difference(before: Mapping[str, str], after: Mapping[str, str], accepted: Callable[[str], bool]) -> str:
    """How a class differs from another, in words; "" if it does not. accepted: whether a path may differ."""
    paths = [path for path in _DEMANDS if not accepted(path) and before.get(path) != after.get(path)]
    lost, added = ([side[path] for path in paths if path in side] for side in (before, after))
    parts = [f"{word} {' and '.join(words)}" for word, words in (("loses", lost), ("adds", added)) if words]
    return " and ".join(parts)


def _shown(value: Any) -> str:
    """The value as a part of a line: names of devices, sizes, labels."""
    if isinstance(value, list):
        return ", ".join(sorted(str(entry.get("deviceName") or entry.get("name")) for entry in value))
    if isinstance(value, dict):
        if set(value) == {"pageSize"}:
            return str(value["pageSize"])
        return ", ".join(f"{key}={entry}" if isinstance(entry, str) else key for key, entry in sorted(value.items()))
    return str(value)
