"""CustomResourceDefinitions with structural schemas, from the types of `fields/`.

Types, required fields, printed columns and names are those of the real CRDs. As in KubeVirt, the webhooks check choices
of text fields (`ioThreadsPolicy: bogus` is stored), the range of uint32, and anything that involves other objects.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from _resolver.api import release_schema, schema
from _resolver.api.release import NEWEST, Release
from kubevirt_emulation.cdi import kinds as cdi_kinds
from kubevirt_emulation.crd import AGE, FREE, Resource

QUANTITY_PATTERN: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)

_SCALARS: Final[dict[str, dict[str, Any]]] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "uint": {"type": "integer"},
    "uint32": {"type": "integer", "format": "int32"},
    "Quantity": {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "pattern": QUANTITY_PATTERN,
        "x-kubernetes-int-or-string": True,
    },
    "IntOrString": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
    "Time": {"type": "string", "format": "date-time", "nullable": True},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
}


def _by(*keys: str) -> dict[str, Any]:
    """A list whose items differ in these keys."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


_MOST_ENTRIES: Final = {"maxItems": 256}

# What the real schemas restrict beyond the type.
_LIMITS: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("MemoryInstancetype", "overcommitPercent"): {"minimum": 0, "maximum": 100},
    ("ReservedOverhead", "memLock"): {"enum": ["NotRequired", "Required"]},
    ("DomainSpec", "rebootPolicy"): {"enum": ["Reboot", "Terminate"]},
    ("Devices", "disks"): _MOST_ENTRIES,
    ("Devices", "interfaces"): _MOST_ENTRIES,
    **{("VirtualMachineInstanceSpec", field): _MOST_ENTRIES for field in ("accessCredentials", "networks", "volumes")},
    ("VirtualMachineInstanceSpec", "utilityVolumes"): {**_MOST_ENTRIES, **_by("name")},
    ("VirtualMachineInstanceSpec", "resourceClaims"): _by("name"),
    ("VirtualMachineInstanceSpec", "topologySpreadConstraints"): _by("topologyKey", "whenUnsatisfiable"),
    ("QemuGuestAgentSSHPublicKeyAccessCredentialPropagation", "users"): {"x-kubernetes-list-type": "set"},
    ("ContainerPathVolumeSource", "path"): {
        "maxLength": 4096,
        "x-kubernetes-validations": [
            {"rule": "self.startsWith('/')", "message": "path must be absolute (start with '/')"},
            {"rule": "!self.contains('..')", "message": "path must not contain '..'"},
        ],
    },
    ("ContainerPathVolumeSource", "readOnly"): {
        "default": True,
        "x-kubernetes-validations": [
            {"rule": "self == true", "message": "readOnly must be true, write access is not supported"}
        ],
    },
}

# Fields that Go always writes but users may omit: admission or a preference sets them.
_OPTIONAL: Final = frozenset({("Machine", "type"), ("Input", "type")})


@cache
def schema_of(type_name: str, release: Release = NEWEST) -> dict[str, Any]:
    """The OpenAPI schema of a type of `schema.TYPES` in a release. Shared between callers, who must not change it.

    Lists are atomic (the default), except for a few in the VM's real schema.
    """
    if type_name == "ObjectMeta":
        return FREE  # of a template; kube-apiserver itself validates the object's own
    properties = {}
    required = []
    for name, declaration in schema.TYPES[type_name].items():
        if not release_schema.is_known(type_name, name, release):
            continue
        expression = schema.field_type(declaration)
        always = expression.endswith("!") or release_schema.is_required(type_name, name, release)
        if always and (type_name, name) not in _OPTIONAL:
            required.append(name)
        properties[name] = {**_of(expression.rstrip("!"), release), **_LIMITS.get((type_name, name), {})}
    result: dict[str, Any] = {"type": "object"}
    if properties:
        result["properties"] = properties
    if required:
        result["required"] = required
    return result


def _of(expression: str, release: Release) -> dict[str, Any]:
    if expression.startswith("*"):
        return _of(expression[1:], release)
    if expression.startswith("[]"):
        return {"type": "array", "items": _of(expression[2:], release)}
    if expression.startswith("map[string]"):
        return {"type": "object", "additionalProperties": _of(expression[len("map[string]") :], release)}
    if expression in schema.TYPES:
        return schema_of(expression, release)
    return _SCALARS.get(expression, _SCALARS["string"])


_READY: Final = ("Ready", "string", ".status.conditions[?(@.type=='Ready')].status")


def _instancetype(
    kind: str, plural: str, short_names: tuple[str, ...], namespaced: bool, spec: dict[str, Any]
) -> Resource:
    return Resource(
        group="instancetype.kubevirt.io",
        version="v1beta1",
        kind=kind,
        plural=plural,
        short_names=short_names,
        namespaced=namespaced,
        status=False,
        categories=("all",) if namespaced else (),
        columns=(),
        properties={"spec": spec},
        required=("spec",),
    )


def _kubevirt(
    kind: str,
    short_names: tuple[str, ...],
    columns: tuple[tuple[str, str, str], ...],
    properties: dict[str, Any],
    status: bool = True,
) -> Resource:
    return Resource(
        group="kubevirt.io",
        version="v1",
        kind=kind,
        plural=kind.lower() + "s",
        short_names=short_names,
        namespaced=True,
        status=status,
        categories=("all",),
        columns=columns,
        properties=properties,
        required=("spec",),
    )


def _configuration() -> dict[str, Any]:
    """The schema of the KubeVirt object's spec: only the reference policy is checked."""
    policy = {"type": "string", "nullable": True, "enum": ["reference", "expand", "expandAll"]}
    instancetype = {"type": "object", "nullable": True, "properties": {"referencePolicy": policy}}
    return {**FREE, "properties": {"configuration": {**FREE, "properties": {"instancetype": instancetype}}}}


def resources(release: Release = NEWEST) -> list[Resource]:
    """The kinds that a release serves: instancetypes and preferences, KubeVirt's own, and those of storage."""
    virtual_machine = schema.TYPES["VirtualMachine"]
    instancetype, preference = (
        schema_of(f"VirtualMachine{name}Spec", release) for name in ("Instancetype", "Preference")
    )
    return [
        _instancetype(
            "VirtualMachineInstancetype",
            "virtualmachineinstancetypes",
            ("vminstancetype", "vminstancetypes", "vmf", "vmfs"),
            True,
            instancetype,
        ),
        _instancetype(
            "VirtualMachineClusterInstancetype",
            "virtualmachineclusterinstancetypes",
            ("vmclusterinstancetype", "vmclusterinstancetypes", "vmcf", "vmcfs"),
            False,
            instancetype,
        ),
        _instancetype(
            "VirtualMachinePreference",
            "virtualmachinepreferences",
            ("vmpref", "vmprefs", "vmp", "vmps"),
            True,
            preference,
        ),
        _instancetype(
            "VirtualMachineClusterPreference",
            "virtualmachineclusterpreferences",
            ("vmcp", "vmcps"),
            False,
            preference,
        ),
        _kubevirt(
            "VirtualMachine",
            ("vm", "vms"),
            (AGE, ("Status", "string", ".status.printableStatus"), _READY),
            {name: _of(schema.field_type(virtual_machine[name]).rstrip("!"), release) for name in ("spec", "status")},
        ),
        _kubevirt(
            "VirtualMachineInstance",
            ("vmi", "vmis"),
            (
                AGE,
                ("Phase", "string", ".status.phase"),
                ("IP", "string", ".status.interfaces[0].ipAddress"),
                ("NodeName", "string", ".status.nodeName"),
                _READY,
            ),
            {"spec": schema_of("VirtualMachineInstanceSpec", release), "status": FREE},
            # virt-controller creates VMIs with a status, and virt-handler writes it with the object.
            status=False,
        ),
        _kubevirt(
            "KubeVirt",
            ("kv", "kvs"),
            (AGE, ("Phase", "string", ".status.phase")),
            {"spec": _configuration(), "status": FREE},
        ),
        *cdi_kinds.KINDS,
    ]


def crds(release: Release = NEWEST) -> list[dict[str, Any]]:
    """The CustomResourceDefinitions of all kinds in a release."""
    return [resource.manifest() for resource in resources(release)]
