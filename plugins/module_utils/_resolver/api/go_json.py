"""JSON as Go's ``encoding/json`` reads and writes it, and its errors for values of a wrong type.

Where types are not known, all numbers are 64-bit floats. Of values of a wrong type, Go remembers the first and
continues; an invalid quantity, or any error in a type with its own UnmarshalJSON, stops it and is the error.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final

from . import errors, quantity
from .fields import data_volume, instancetype
from .fields.domain import ENUMS
from .schema import INTEGERS, TYPES, bare, field_type

# Go writes numbers of these sizes without an exponent.
_PLAIN: Final = (1e-6, 1e21)
_ESCAPES: Final = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def read(text: str) -> Any:
    """The value of a JSON text, with whole numbers as int. Raises ValueError if Go does not accept the text."""
    try:
        value = json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("exceeded max depth") from error
    return _without_surrogates(value) if "\\u" in text else value


def numbers(value: Any) -> Any:
    """A copy of a JSON value with each number as Go holds it: 9007199254740993 becomes 9007199254740992.

    Raises OverflowError for a number that is no 64-bit float.
    """
    if isinstance(value, dict):
        return {key: numbers(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [numbers(entry) for entry in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _whole(float(value))
    return value


def write(value: Any) -> str:
    """The JSON text of a value, with sorted keys."""
    if isinstance(value, dict):
        return write_struct({key: value[key] for key in sorted(value)})
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPES)


def write_struct(fields: dict[str, Any]) -> str:
    """The JSON text of an object with its fields in their order."""
    return "{" + ",".join(f"{write(name)}:{write(value)}" for name, value in fields.items()) + "}"


def number(value: int | float) -> str:
    """A number as Go writes it."""
    if value == 0 or _PLAIN[0] <= abs(value) < _PLAIN[1]:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    return repr(float(value)).replace("e-0", "e-")


def _number(text: str) -> int | float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is out of range")
    return _whole(value)


def _whole(value: float) -> int | float:
    """A whole number as int, with the digits that Go writes; but not -0, which has no int."""
    is_plain = value.is_integer() and abs(value) < _PLAIN[1] and str(value) != "-0.0"
    return int(Decimal(repr(value))) if is_plain else value


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _without_surrogates(value: Any) -> Any:
    """Replaces halves of surrogate pairs by the replacement character."""
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(entry) for entry in value]
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in value)
    return value


# Packages are named by their last element; all other types are in a `v1`.
_V1BETA1: Final = frozenset((*instancetype.TYPES, *data_volume.TYPES))
# Names that are ambiguous in Go, and those of the types as which structs with their own UnmarshalJSON are read.
_GO_NAMES: Final = {
    "DHCPOptions": "DHCPOptionsAlias",
    "PodNetwork": "PodNetworkAlias",
    "VirtualMachineInstanceSpec": "VMISpecAlias",
    "CorePersistentVolumeClaimVolumeSource": "PersistentVolumeClaimVolumeSource",
    "DataVolumeImport": "DataVolumeSource",
}
# Strings and maps with a named type in Go.
_NAMED: Final = {
    "VirtualMachineInstancetypeSpec.ioThreadsPolicy": "v1.IOThreadsPolicy",
    "CPUPreferences.preferredCPUTopology": "v1beta1.PreferredCPUTopology",
    "SpreadOptions.across": "v1beta1.SpreadAcross",
    "DevicePreferences.preferredDiskBus": "v1.DiskBus",
    "DevicePreferences.preferredLunBus": "v1.DiskBus",
    "DevicePreferences.preferredCdromBus": "v1.DiskBus",
    "DevicePreferences.preferredDiskCache": "v1.DriverCache",
    "DevicePreferences.preferredDiskIO": "v1.DriverIO",
    "DevicePreferences.preferredInputBus": "v1.InputBus",
    "DevicePreferences.preferredInputType": "v1.InputType",
    "DevicePreferences.preferredPanicDeviceModel": "v1.PanicDeviceModel",
    **dict.fromkeys(("Clock.timezone", "ClockOffset.timezone"), "v1.ClockOffsetTimezone"),
    "HPETTimer.tickPolicy": "v1.HPETTickPolicy",
    "PITTimer.tickPolicy": "v1.PITTickPolicy",
    "RTCTimer.tickPolicy": "v1.RTCTickPolicy",
    "RTCTimer.track": "v1.RTCTimerTrack",
    **dict.fromkeys(("CDRomTarget.bus", "DiskTarget.bus", "LunTarget.bus"), "v1.DiskBus"),
    "CDRomTarget.tray": "v1.TrayState",
    **dict.fromkeys(("ContainerDiskSource.imagePullPolicy", "KernelBootContainer.imagePullPolicy"), "v1.PullPolicy"),
    **dict.fromkeys(("Diag288Watchdog.action", "I6300ESBWatchdog.action"), "v1.WatchdogAction"),
    "Disk.cache": "v1.DriverCache",
    "Disk.errorPolicy": "v1.DiskErrorPolicy",
    "Disk.io": "v1.DriverIO",
    "DomainSpec.ioThreadsPolicy": "v1.IOThreadsPolicy",
    "DomainSpec.rebootPolicy": "v1.RebootPolicy",
    "Firmware.uuid": "types.UID",
    "HTTPGetAction.scheme": "v1.URIScheme",
    "HostDisk.type": "v1.HostDiskType",
    "Input.bus": "v1.InputBus",
    "Input.type": "v1.InputType",
    "Interface.state": "v1.InterfaceState",
    "LabelSelectorRequirement.operator": "v1.LabelSelectorOperator",
    "NodeSelectorRequirement.operator": "v1.NodeSelectorOperator",
    "PanicDevice.model": "v1.PanicDeviceModel",
    "ReservedOverhead.memLock": "v1.MemLockRequirement",
    "Toleration.effect": "v1.TaintEffect",
    "Toleration.operator": "v1.TolerationOperator",
    "TopologySpreadConstraint.nodeAffinityPolicy": "v1.NodeInclusionPolicy",
    "TopologySpreadConstraint.nodeTaintsPolicy": "v1.NodeInclusionPolicy",
    "TopologySpreadConstraint.whenUnsatisfiable": "v1.UnsatisfiableConstraintAction",
    "UtilityVolume.type": "v1.UtilityVolumeType",
    "VMISpecAlias.dnsPolicy": "v1.DNSPolicy",
    "VMISpecAlias.evictionStrategy": "v1.EvictionStrategy",
    "VMISpecAlias.startStrategy": "v1.StartStrategy",
    **{
        f"{struct}.{field}": "v1.ResourceList"
        for struct in ("ResourceRequirements", "VolumeResourceRequirements")
        for field in ("limits", "requests")
    },
}
# Structs with their own UnmarshalJSON: Go names the struct that contains them for all errors below.
_CUSTOM_UNMARSHAL: Final = frozenset(("DHCPOptions", "PodNetwork", "VirtualMachineInstanceSpec"))
_CLAIM: Final = "PersistentVolumeClaimVolumeSource"
# Structs that embed one whose fields are theirs. Go, since 1.24, names the embedded one in the path to these fields.
_EMBEDDED: Final[dict[str, dict[str, str]]] = {
    "Clock": dict.fromkeys(("utc", "timezone"), "ClockOffset"),
    "ConfigMapVolumeSource": {"name": "LocalObjectReference"},
    "Disk": dict.fromkeys(("disk", "lun", "cdrom"), "DiskDevice"),
    **{
        struct: {"enabled": "FeatureState"}
        for struct in ("FeatureAPIC", "FeatureSpinlocks", "FeatureVendorID", "SyNICTimer", "TLBFlush")
    },
    **{struct: dict.fromkeys(("claimName", "requestName"), "ClaimRequest") for struct in ("GPU", "HostDevice")},
    "Interface": dict.fromkeys(
        ("bridge", "slirp", "masquerade", "sriov", "macvtap", "passt", "passtBinding"), "InterfaceBindingMethod"
    ),
    "MemoryDumpVolumeSource": {
        **dict.fromkeys(("claimName", "readOnly"), f"{_CLAIM}.{_CLAIM}"),
        "hotpluggable": _CLAIM,
    },
    "Network": dict.fromkeys(("pod", "multus", "resourceClaim"), "NetworkSource"),
    "PersistentVolumeClaimVolumeSource": dict.fromkeys(("claimName", "readOnly"), _CLAIM),
    "Probe": dict.fromkeys(("exec", "guestAgentPing", "httpGet", "tcpSocket"), "Handler"),
    "UtilityVolume": dict.fromkeys(("claimName", "readOnly"), _CLAIM),
    "Volume": dict.fromkeys(TYPES["Volume"].keys() - {"name"}, "VolumeSource"),
    "Watchdog": dict.fromkeys(("i6300esb", "diag288"), "WatchdogDevice"),
}
# The types as which Go's own UnmarshalJSON methods read these.
_READ_AS: Final = {"Time": "string", "IntOrString": "int32"}
_KINDS: Final = {str: "string", bool: "bool", list: "array", dict: "object"}


def type_error(type_name: str, value: Any, struct: str = "") -> str | None:
    """Go's error for a JSON value read as a type (a key of schema.TYPES), or None.

    struct: the Go type's name if it differs, as for the cluster-wide kinds.
    """
    reader = _Reader()
    try:
        reader.read(type_name, value, (), struct or _GO_NAMES.get(type_name, type_name))
    except (errors.QuantityError, _Stopped) as error:
        return str(error)
    return reader.first


class _Stopped(Exception):
    """Go stops reading; the text is its error."""


class _Reader:
    """Reads a value as Go does.

    first: the error of the first value of a wrong type. holder: the struct that Go names, "" for the innermost.
    """

    def __init__(self, holder: str = "") -> None:
        self.first: str | None = None
        self._holder = holder

    def read(self, expression: str, value: Any, path: tuple[str, ...], struct: str) -> None:
        """Reads a value.

        expression: its type. path: the fields down to the value. struct: the Go type that has the last of them.
        """
        expression = bare(expression)
        kind = _KINDS.get(type(value), "number")
        if value is None or expression == "any":
            return
        if expression == "Quantity":
            # Go passes a value that is not a number as its JSON text, which is not a quantity.
            quantity.parse(str(value).strip() if kind in ("string", "number") else "{}")
        elif expression in _CUSTOM_UNMARSHAL and path and not self._holder:
            nested = _Reader(struct)
            nested.read(expression, value, path, struct)
            if nested.first is not None:
                raise _Stopped(nested.first)
        elif not self._read_inside(expression, kind, value, path, struct):
            self._read_scalar(expression, kind, value, path, struct)

    def _read_inside(self, expression: str, kind: str, value: Any, path: tuple[str, ...], struct: str) -> bool:
        """Reads the contents of a list, a map or an object. Returns whether the value has the required type."""
        if expression.startswith("[]") and kind == "array":
            for entry in value:
                self.read(expression[2:], entry, path, struct)
        elif expression.startswith("map[string]") and kind == "object":
            for entry in value.values():
                self.read(expression[len("map[string]") :], entry, path, struct)
        elif expression in TYPES and kind == "object":
            inner = _GO_NAMES.get(expression, expression) if path else struct
            for field, entry in value.items():
                if field in TYPES[expression]:
                    embedded = _EMBEDDED.get(expression, {}).get(field)
                    below = (*path, embedded, field) if embedded else (*path, field)
                    self.read(field_type(TYPES[expression][field]), entry, below, inner)
        else:
            return False
        return True

    def _read_scalar(self, expression: str, kind: str, value: Any, path: tuple[str, ...], struct: str) -> None:
        if expression in INTEGERS and kind == "number":
            low, high = INTEGERS[expression]
            is_whole = isinstance(value, int) or (value == 0 and low < 0)
            if not is_whole or not low <= value <= high:
                self._note(f"number {number(value)}", expression, path, struct)
        elif not _takes(expression, kind):
            self._note(kind, expression, path, struct)

    def _note(self, json_type: str, expression: str, path: tuple[str, ...], struct: str) -> None:
        if self.first is None:
            target = f"struct field {self._holder or struct}.{'.'.join(path)}" if path else "value"
            expected = _go_type(expression, f"{struct}.{path[-1]}" if path else "")
            self.first = f"json: cannot unmarshal {json_type} into Go {target} of type {expected}"


def _takes(expression: str, kind: str) -> bool:
    """Whether a scalar type accepts a kind of JSON value."""
    if expression == "bool":
        return kind == "bool"
    if expression == "IntOrString":
        return kind in ("string", "number")
    return (expression in ("string", "Time") or expression in ENUMS) and kind == "string"


def _go_type(expression: str, field: str) -> str:
    """A type as Go prints it. field: the field that contains it, with its struct."""
    if field in _NAMED:
        return _NAMED[field]
    for prefix in ("[]", "map[string]"):
        if expression.startswith(prefix):
            return prefix + _go_type(expression[len(prefix) :], "")
    if expression in TYPES:
        package = "v1beta1" if expression in _V1BETA1 else "v1"
        return f"{package}.{_GO_NAMES.get(expression, expression)}"
    return "string" if expression in ENUMS else _READ_AS.get(expression, expression)
