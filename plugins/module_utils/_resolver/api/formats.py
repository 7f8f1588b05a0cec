"""Formats of field values beyond their types: the rules of Kubernetes and of KubeVirt's webhooks.

Only rules of every API server and every supported KubeVirt release, so that no value is rejected that a cluster would
accept, except for guest memory of a few bytes, which lacks its unit. A check returns None, or (path below the field,
what is wrong).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any, Final

from ..secrets.redaction import is_hidden
from . import errors, quantity, schema
from . import name_rules as names
from .name_rules import quoted
from .schema import Check, Checks
from .type_remedies import type_remedy

Fault = tuple[str, str]

# Patterns that few tasks need are compiled at their first use.
_MAC: Final = r"(?ai)[0-9a-f]{2}(:[0-9a-f]{2}){5}|[0-9a-f]{2}(-[0-9a-f]{2}){5}|[0-9a-f]{4}(\.[0-9a-f]{4}){2}"
_INTERFACE: Final = r"[-A-Za-z0-9_]+"
_HIGHEST_PORT: Final = 65535
_ALL: Final = 100
_LARGEST: Final = 2**63 - 1
_NANO: Final = 10**9
_LEAST_MEMORY: Final = 2**20
# KubeVirt's limit for cloud-init data in a VM; larger data belong in a Secret.
_CLOUD_INIT: Final = 2048
# KubeVirt would accept it, and the guest would lose its data at the next start.
_HIDDEN: Final = ("", "stands for a hidden value; write the value itself")
# The limit for all keys and values together.
_ANNOTATIONS: Final = 256 * 1024


def checked(type_name: str, value: dict[str, Any], accept_unknown: bool = False) -> dict[str, Any]:
    """The result of `schema.as_declared` for user input. Raises FieldError for values that no cluster accepts, too, and
    for unknown fields unless accept_unknown is set.
    """
    try:
        return schema.checked(type_name, value, _LENIENT if accept_unknown else _STRICT)
    except errors.FieldError as error:
        if remedy := type_remedy(error.reason):
            raise errors.FieldError(error.path, error.reason + remedy) from error
        raise


def size(text: str) -> str:
    """Says what is wrong with a canonical quantity as a size; "" if nothing is."""
    return _amount(text, 1)


def _guest_memory(text: str) -> str:
    reason = size(text)
    if not reason and quantity.parse(text).nanos < _LEAST_MEMORY * _NANO:
        return "is less than 1Mi, too little for a guest; write a size with its unit, such as 4Gi"
    return reason


def _amount(text: str, minimum: int) -> str:
    nanos = quantity.parse(text).nanos
    if nanos < minimum:
        return "is too small; write more than 0" if minimum else "is negative; write 0 or more"
    return "is too large; write 8Ei at most" if nanos > _LARGEST * _NANO else ""


def _text(check: Callable[[str], str], remedy: str = "") -> Check:
    def check_text(value: Any) -> Fault | None:
        reason = check(value)
        return ("", f"{quoted(value)} {reason}{remedy}") if reason else None

    return check_text


def _one_of(*values: str) -> Check:
    return lambda value: None if value in values else ("", f"{quoted(value)} is not one of {', '.join(values)}")


def _not_negative(value: int) -> Fault | None:
    return None if value >= 0 else ("", f"{value} is too small; write 0 or more")


def _percent(value: int) -> Fault | None:
    return None if 0 <= value <= _ALL else ("", f"{value} is not a percentage; write a number from 0 to {_ALL}")


def _labels(value: dict[str, str]) -> Fault | None:
    for key, entry in value.items():
        if not names.label_key(key) and (reason := names.label_value(entry)):
            return key, f"{quoted(entry)} {reason}; write a value such as shop-1, or put the text into an annotation"
    return _keys(value, names.label_key, "team or example.com/team")


def _annotations(value: dict[str, str]) -> Fault | None:
    # The domain of an annotation's key may have capitals.
    if fault := _keys(value, lambda key: names.label_key(key.lower()), "example.com/owner"):
        return fault
    length = sum(len(key.encode()) + len(entry.encode("utf-8", "replace")) for key, entry in value.items())
    return ("", f"annotations of {length} bytes exceed the limit of {_ANNOTATIONS}") if length > _ANNOTATIONS else None


def _keys(value: dict[str, str], check: Callable[[str], str], example: str) -> Fault | None:
    wrong = "; ".join(f"the key {quoted(key)} {reason}" for key in value if (reason := check(key)))
    return ("", f"{wrong}; write a key such as {example}") if wrong else None


def _port(value: Any) -> Fault | None:
    if isinstance(value, str):
        return _text(names.port_name)(value)
    is_port = 1 <= value <= _HIGHEST_PORT
    return None if is_port else ("", f"{value} is not a port; write a number from 1 to {_HIGHEST_PORT}")


def _quantity_text(value: str) -> Fault | None:
    try:
        text = quantity.canonical(value)
    except errors.QuantityError:
        return "", f"{quoted(value)} is not a quantity; write a quantity such as 2Mi or 1Gi"
    return ("", f"{quoted(value)} {reason}") if (reason := size(text)) else None


def _amounts(value: dict[str, str]) -> Fault | None:
    for key, text in value.items():
        if reason := _amount(text, 1 if key == "storage" else 0):
            return key, f"{quoted(text)} {reason}"
    return None


def _cloud_init(value: str) -> Fault | None:
    if is_hidden(value):
        return _HIDDEN
    return _cloud_init_size(len(value.encode("utf-8", "surrogatepass")))


def _cloud_init_base64(value: str) -> Fault | None:
    if is_hidden(value):
        return _HIDDEN
    # Go ignores line breaks in base64, and nothing else.
    text = value.replace("\r", "").replace("\n", "")
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        # The message must not contain the value, which may be secret.
        return "", "not valid base64; encode the data with the filter b64encode, or use the field for plain text"
    return _cloud_init_size(len(data))


def _cloud_init_size(length: int) -> Fault | None:
    if length <= _CLOUD_INIT:
        return None
    return "", f"{length} bytes exceed KubeVirt's limit of {_CLOUD_INIT}; put the data into a Secret (secretRef)"


def _toleration(value: dict[str, Any]) -> Fault | None:
    operator, key = value.get("operator", "Equal") or "Equal", value.get("key", "")
    if key and (reason := names.label_key(key)):
        return "key", f"{quoted(key)} {reason}"
    # Lt and Gt exist since Kubernetes 1.35.
    if operator not in ("Exists", "Equal", "Lt", "Gt"):
        return "operator", f"{quoted(operator)} is not one of Exists, Equal, Lt, Gt"
    if not key and operator != "Exists":
        return "operator", "must be Exists without a key; set key, or operator: Exists"
    if operator == "Exists" and value.get("value"):
        return "value", "only valid with a comparison; remove value, or set operator: Equal"
    if value.get("value") and (reason := names.label_value(value["value"])):
        return "value", f"{quoted(value['value'])} {reason}"
    effect = value.get("effect", "")
    if effect not in ("", "NoSchedule", "PreferNoSchedule", "NoExecute"):
        return "effect", f"{quoted(effect)} is not one of NoSchedule, PreferNoSchedule, NoExecute"
    if value.get("tolerationSeconds") is not None and effect != "NoExecute":
        return "tolerationSeconds", "only valid with the effect NoExecute; remove it, or set effect: NoExecute"
    return None


_NAME: Final = _text(names.subdomain, "; write a name such as web-1")
_LABEL: Final = _text(names.label, "; write a name such as root-disk")
_SIZE: Final = _text(size)
_GUEST_MEMORY: Final = _text(_guest_memory)
# (type, field) → check of its value. Empty values that are dropped are not checked.
FIELDS: Final[dict[tuple[str, str], Check]] = {
    ("ObjectMeta", "name"): _NAME,
    ("ObjectMeta", "namespace"): _text(names.label, "; write a name such as shop"),
    ("ObjectMeta", "labels"): _labels,
    ("ObjectMeta", "annotations"): _annotations,
    ("InstancetypeMatcher", "name"): _NAME,
    ("InstancetypeMatcher", "revisionName"): _NAME,
    ("PreferenceMatcher", "name"): _NAME,
    ("PreferenceMatcher", "revisionName"): _NAME,
    ("VirtualMachineInstanceSpec", "nodeSelector"): _labels,
    ("VirtualMachineInstanceSpec", "hostname"): _LABEL,
    ("VirtualMachineInstanceSpec", "subdomain"): _NAME,
    ("VirtualMachineInstanceSpec", "priorityClassName"): _NAME,
    ("VirtualMachineInstanceSpec", "serviceAccountName"): _NAME,
    ("VirtualMachineInstanceSpec", "terminationGracePeriodSeconds"): _not_negative,
    ("VirtualMachineInstancetypeSpec", "nodeSelector"): _labels,
    ("VirtualMachineInstancetypeSpec", "annotations"): _annotations,
    ("VirtualMachinePreferenceSpec", "annotations"): _annotations,
    ("VirtualMachinePreferenceSpec", "preferredSubdomain"): _NAME,
    ("VirtualMachinePreferenceSpec", "preferredTerminationGracePeriodSeconds"): _not_negative,
    ("Volume", "name"): _LABEL,
    ("Disk", "name"): _LABEL,
    ("PersistentVolumeClaimVolumeSource", "claimName"): _NAME,
    ("DataVolumeSource", "name"): _NAME,
    ("LocalObjectReference", "name"): _NAME,
    ("AccessCredentialSecretSource", "secretName"): _NAME,
    ("DataVolumeSourceRef", "name"): _NAME,
    ("DataVolumeSourceRef", "namespace"): _LABEL,
    ("DataVolumeSourcePVC", "name"): _NAME,
    ("DataVolumeSourcePVC", "namespace"): _LABEL,
    ("DataVolumeSourceSnapshot", "name"): _NAME,
    ("DataVolumeSourceSnapshot", "namespace"): _LABEL,
    ("Interface", "name"): _text(
        lambda text: "" if re.fullmatch(_INTERFACE, text) else "must consist of letters, digits, '-' and '_'"
    ),
    ("Interface", "macAddress"): _text(
        lambda text: (
            ""
            if re.fullmatch(_MAC, text)
            else "is not a MAC address; write six bytes such as 02:00:00:12:34:56, in quotes"
        )
    ),
    ("Port", "port"): _port,
    ("Port", "name"): _text(names.port_name, "; write a name such as http"),
    ("Port", "protocol"): _one_of("TCP", "UDP"),
    ("PortRange", "start"): _port,
    ("PortRange", "end"): _port,
    ("HTTPGetAction", "port"): _port,
    ("TCPSocketAction", "port"): _port,
    **{
        ("Probe", field): _not_negative
        for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
    },
    **{
        (source, field): check
        for source in ("CloudInitNoCloudSource", "CloudInitConfigDriveSource")
        for field, check in (
            ("userData", _cloud_init),
            ("networkData", _cloud_init),
            ("userDataBase64", _cloud_init_base64),
            ("networkDataBase64", _cloud_init_base64),
        )
    },
    ("Memory", "guest"): _GUEST_MEMORY,
    ("Memory", "maxGuest"): _GUEST_MEMORY,
    ("MemoryInstancetype", "guest"): _GUEST_MEMORY,
    ("MemoryInstancetype", "overcommitPercent"): _percent,
    ("MemoryInstancetype", "maxGuest"): _GUEST_MEMORY,
    ("MemoryPreferenceRequirement", "guest"): _GUEST_MEMORY,
    ("Hugepages", "pageSize"): _quantity_text,
    ("EmptyDiskSource", "capacity"): _SIZE,
    ("ResourceRequirements", "requests"): _amounts,
    ("ResourceRequirements", "limits"): _amounts,
    ("VolumeResourceRequirements", "requests"): _amounts,
    ("VolumeResourceRequirements", "limits"): _amounts,
}

# Type → check of its fields together.
TYPES: Final[dict[str, Check]] = {"Toleration": _toleration}

_STRICT: Final = Checks(FIELDS, TYPES, unknown_fields=True)
_LENIENT: Final = Checks(FIELDS, TYPES, unknown_fields=False)
