"""Every field of the schema with every empty value, in an object that is otherwise as small as it can be."""

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

from plugins.module_utils._resolver.api import schema

EMPTY: tuple[Any, ...] = ({}, [], "", None, 0, False)

_DISK: dict[str, Any] = {"resources": {"requests": {"storage": "1Gi"}}}
_EXISTS = {"key": "zone", "operator": "Exists"}
_TERM = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
_SECRET = {"source": {"secret": {"secretName": "keys"}}}
# The fields that an object of a type needs besides the tested one, or servers would reject it for another reason.
_NEEDED: dict[str, dict[str, Any]] = {
    "CPUInstancetype": {"guest": 1},
    "CloudInitConfigDriveSource": {"userData": "x"},
    "CloudInitNoCloudSource": {"userData": "x"},
    "ContainerDiskSource": {"image": "a/b:1"},
    "DataVolumeSource": {"name": "x"},
    "DataVolumeSpec": {"storage": _DISK, "source": {"blank": {}}},
    "DataVolumeTemplateSpec": {"metadata": {"name": "x"}, "spec": {"storage": _DISK, "source": {"blank": {}}}},
    "Disk": {"name": "root"},
    "EmptyDiskSource": {"capacity": "1Gi"},
    "Filesystem": {"name": "x", "virtiofs": {}},
    "GPU": {"name": "gpu", "deviceName": "example.com/gpu"},
    "HTTPGetAction": {"port": 80},
    "HostDevice": {"name": "device", "deviceName": "example.com/device"},
    "Input": {"name": "tablet", "type": "tablet", "bus": "usb"},
    "InstancetypeMatcher": {"name": "x"},
    "Interface": {"name": "default", "masquerade": {}},
    "LabelSelectorRequirement": _EXISTS,
    "MemoryInstancetype": {"guest": "1Gi"},
    "Network": {"name": "default", "pod": {}},
    "NodeSelectorRequirement": _EXISTS,
    "NodeSelectorTerm": {"matchExpressions": [_EXISTS]},
    "PersistentVolumeClaimVolumeSource": {"claimName": "x"},
    "PodAffinityTerm": _TERM,
    "PodDNSConfigOption": {"name": "x"},
    "Port": {"port": 80},
    "PreferenceMatcher": {"name": "x"},
    "PreferredSchedulingTerm": {"weight": 1, "preference": {"matchExpressions": [_EXISTS]}},
    "Probe": {"tcpSocket": {"port": 80}},
    "SSHPublicKeyAccessCredential": {**_SECRET, "propagationMethod": {"qemuGuestAgent": {"users": ["a"]}}},
    "SoundDevice": {"name": "sound"},
    "TCPSocketAction": {"port": 80},
    "Toleration": {"operator": "Exists"},
    "TopologySpreadConstraint": {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"},
    "UserPasswordAccessCredential": {**_SECRET, "propagationMethod": {"qemuGuestAgent": {}}},
    "VirtualMachineInstancetypeSpec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
    "Volume": {"name": "x"},
    "Watchdog": {"name": "dog", "i6300esb": {"action": "poweroff"}},
    "WeightedPodAffinityTerm": {"weight": 1, "podAffinityTerm": _TERM},
}
# A field → the needed field that excludes it.
_INSTEAD = {
    **{("Interface", field): "masquerade" for field in ("bridge", "sriov", "binding", "slirp", "macvtap", "passt")},
    **{("Network", field): "pod" for field in ("multus", "resourceClaim")},
    **{("Probe", field): "tcpSocket" for field in ("httpGet", "exec", "guestAgentPing")},
    ("DataVolumeSpec", "pvc"): "storage",
    ("DataVolumeSpec", "sourceRef"): "source",
}


class Case(NamedTuple):
    """A field of a type (path: with [] for the items of a list) with an empty value. spec: that has only the field."""

    path: str
    value: Any
    spec: dict[str, Any]


def cases(type_name: str) -> Iterator[Case]:
    """The cases of a spec's type."""
    for path in _paths(type_name, (), ()):
        for value in EMPTY:
            yield Case(".".join(path), value, _built(type_name, path, value))


def _paths(type_name: str, path: tuple[str, ...], parents: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, declaration in schema.TYPES[type_name].items():
        expression, below = schema.bare(schema.field_type(declaration)), (*path, name)
        yield below
        while expression.startswith(("[]", "map[string]")):
            part = "[]" if expression.startswith("[]") else "map[string]"
            expression, below = schema.bare(expression[len(part) :]), (*below, part)
        # A type inside of itself is the same once more; metadata is no part of what a VM is.
        if expression in schema.TYPES and expression not in (*parents, "ObjectMeta"):
            yield from _paths(expression, below, (*parents, type_name))


def _built(expression: str, path: tuple[str, ...], value: Any) -> Any:
    if not path:
        return value
    expression, (first, *rest) = schema.bare(expression), path
    if first == "[]":
        return [_built(expression[2:], tuple(rest), value)]
    if first == "map[string]":
        return {"key": _built(expression[len(first) :], tuple(rest), value)}
    needed = copy.deepcopy(_NEEDED.get(expression, {}))
    needed.pop(_INSTEAD.get((expression, first), ""), None)
    below = _built(schema.field_type(schema.TYPES[expression][first]), tuple(rest), value)
    beside = needed.get(first)
    # A needed field stays, unless it is the empty one.
    needed[first] = {**beside, **below} if rest and isinstance(beside, dict) and isinstance(below, dict) else below
    return needed
