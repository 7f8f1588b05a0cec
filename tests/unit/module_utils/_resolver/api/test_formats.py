"""A value that no cluster takes is refused with field, value and remedy; others pass."""

import base64
import contextlib
from typing import Any

import pytest

from plugins.module_utils._resolver.api import formats, schema
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.type_remedies import AS_TEXT

VM = "VirtualMachine"
SIZE = "VirtualMachineInstancetype"


def template(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web"}, "spec": {"template": {"spec": {"domain": {"devices": {}}, **spec}}}}


def domain(**domain: Any) -> dict[str, Any]:
    return template(domain={"devices": {}, **domain})


def interface(**fields: Any) -> dict[str, Any]:
    return domain(devices={"interfaces": [{"name": "default", **fields}]})


def volume(**source: Any) -> dict[str, Any]:
    return template(volumes=[{"name": "root", **source}])


def metadata(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web", **fields}, "spec": {"template": {}}}


def toleration(**fields: Any) -> dict[str, Any]:
    return template(tolerations=[fields])


TEMPLATE = "spec.template.spec"
BASE64 = base64.b64encode(b"#cloud-config").decode()


@pytest.mark.parametrize(
    ("vm", "message"),
    [
        (metadata(name="../../x"), "metadata.name: '../../x' must consist of a-z, 0-9, '-' and '.'"),
        (metadata(name="x" * 300), f"metadata.name: '{'x' * 60}'... (300 characters) is longer than 253 characters"),
        (metadata(name="a\nb"), r"metadata.name: 'a\nb' must consist of"),
        (metadata(namespace="Shop"), "metadata.namespace: 'Shop' must consist of a-z, 0-9 and '-'"),
        (metadata(labels={"no way": "x"}), "metadata.labels: the key 'no way' must consist of letters"),
        (metadata(labels={"team": "größe"}), "metadata.labels.team: 'größe' must consist of letters"),
        (metadata(annotations={"a b": "x"}), "metadata.annotations: the key 'a b' must consist of letters"),
        (
            metadata(annotations={"a": "x" * 262144}),
            "metadata.annotations: annotations of 262145 bytes exceed the limit",
        ),
        (domain(memory={"guest": "-1Gi"}), f"{TEMPLATE}.domain.memory.guest: '-1Gi' is too small"),
        (domain(memory={"guest": "0"}), f"{TEMPLATE}.domain.memory.guest: '0' is too small; write more than 0"),
        (
            domain(memory={"guest": 4}),
            f"{TEMPLATE}.domain.memory.guest: '4' is less than 1Mi, too little for a guest; write a size with its unit",
        ),
        (metadata(labels={"a": True}), f"metadata.labels.a: expected a string, found a boolean{AS_TEXT}"),
        (metadata(labels={"a": 1}), f"metadata.labels.a: expected a string, found 1{AS_TEXT}"),
        (metadata(labels={"a": {}}), "metadata.labels.a: expected a string, found an object"),
        (domain(memory={"guest": "1e400"}), f"{TEMPLATE}.domain.memory.guest: '10e399' is too large"),
        (
            domain(memory={"guest": "9" * 100000}),
            f"{TEMPLATE}.domain.memory.guest: '{'9' * 60}'... (100000 characters)",
        ),
        (domain(memory={"guest": 10**5000}), f"{TEMPLATE}.domain.memory.guest: "),
        (
            domain(memory={"hugepages": {"pageSize": "2MiB"}}),
            f"{TEMPLATE}.domain.memory.hugepages.pageSize: '2MiB' is no",
        ),
        (domain(resources={"requests": {"cpu": "-1"}}), f"{TEMPLATE}.domain.resources.requests.cpu: '-1' is negative"),
        (
            interface(macAddress="02:00"),
            f"{TEMPLATE}.domain.devices.interfaces[0].macAddress: '02:00' is not a MAC address",
        ),
        (interface(name="a b"), f"{TEMPLATE}.domain.devices.interfaces[0].name: 'a b' must consist of"),
        (
            interface(ports=[{"port": 65536}]),
            f"{TEMPLATE}.domain.devices.interfaces[0].ports[0].port: 65536 is not a port",
        ),
        (interface(ports=[{"port": 0}]), f"{TEMPLATE}.domain.devices.interfaces[0].ports[0].port: 0 is not a port"),
        (
            interface(ports=[{"port": 1, "name": "80"}]),
            f"{TEMPLATE}.domain.devices.interfaces[0].ports[0].name: '80' must",
        ),
        (interface(ports=[{"port": 1, "protocol": "ICMP"}]), "protocol: 'ICMP' is not one of TCP, UDP"),
        (volume(name="Root"), f"{TEMPLATE}.volumes[0].name: 'Root' must consist of"),
        (volume(emptyDisk={"capacity": "0"}), f"{TEMPLATE}.volumes[0].emptyDisk.capacity: '0' is too small"),
        (volume(cloudInitNoCloud={"userDataBase64": "a secret!"}), "userDataBase64: not valid base64; encode the data"),
        (volume(cloudInitNoCloud={"userData": "(hidden)"}), "userData: stands for a hidden value; write the value"),
        (volume(cloudInitNoCloud={"networkDataBase64": "(hidden)"}), "networkDataBase64: stands for a hidden value"),
        (volume(cloudInitNoCloud={"userData": "x" * 2049}), "userData: 2049 bytes exceed KubeVirt's limit of 2048"),
        (template(terminationGracePeriodSeconds=-1), f"{TEMPLATE}.terminationGracePeriodSeconds: -1 is too small"),
        (template(readinessProbe={"periodSeconds": -1}), f"{TEMPLATE}.readinessProbe.periodSeconds: -1 is too small"),
        (template(readinessProbe={"httpGet": {"port": "80"}}), f"{TEMPLATE}.readinessProbe.httpGet.port: '80' must"),
        (template(nodeSelector={"a": "b c"}), f"{TEMPLATE}.nodeSelector.a: 'b c' must consist of"),
        (template(hostname="web.shop"), f"{TEMPLATE}.hostname: 'web.shop' must consist of"),
        (toleration(operator="Exist", key="a"), "tolerations[0].operator: 'Exist' is not one of Exists, Equal"),
        (toleration(), "tolerations[0].operator: must be Exists without a key"),
        (toleration(key="a b"), "tolerations[0].key: 'a b' must consist of"),
        (toleration(key="a", operator="Exists", value="x"), "tolerations[0].value: only valid with a comparison"),
        (toleration(key="a", value="b c"), "tolerations[0].value: 'b c' must consist of"),
        (toleration(key="a", effect="Execute"), "tolerations[0].effect: 'Execute' is not one of NoSchedule"),
        (
            toleration(key="a", tolerationSeconds=5),
            "tolerations[0].tolerationSeconds: only valid with the effect NoExecute",
        ),
        (
            domain(cpus={"cores": 2}),
            f"{TEMPLATE}.domain.cpus: unknown field; did you mean cpu? Otherwise set accept_",
        ),
        (template(nodeselector={}), f"{TEMPLATE}.nodeselector: unknown field; did you mean nodeSelector?"),
        (template(zzz=1), f"{TEMPLATE}.zzz: unknown field; check the spelling; or set accept_unknown_fields"),
    ],
)
def test_invalid_values_are_rejected_with_field_and_remedy(vm: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError) as error:
        formats.checked(VM, vm)
    assert message in str(error.value)
    assert "\n" not in str(error.value) and "a secret" not in str(error.value)


@pytest.mark.parametrize(
    "vm",
    [
        metadata(
            name="web.1", namespace="shop", labels={"example.com/a": "", "b": "C_1"}, annotations={"Ex.com/a": "ü\n"}
        ),
        domain(memory={"guest": "1Gi", "hugepages": {"pageSize": "2Mi"}}, resources={"requests": {"cpu": "0"}}),
        interface(macAddress="02:00:00:12:34:5F", ports=[{"port": 65535, "name": "http", "protocol": "UDP"}]),
        interface(macAddress="02-00-00-12-34-56"),
        interface(name="eth_0-A", macAddress="0200.0012.3456"),
        volume(cloudInitNoCloud={"userDataBase64": BASE64[:8] + "\n" + BASE64[8:], "networkData": "x" * 2048}),
        template(terminationGracePeriodSeconds=0, readinessProbe={"periodSeconds": 0, "tcpSocket": {"port": 22}}),
        toleration(operator="Exists"),
        toleration(key="example.com/a", value="b", effect="NoExecute", tolerationSeconds=-1),
    ],
)
def test_valid_values_pass(vm: dict[str, Any]) -> None:
    assert formats.checked(VM, vm) == schema.as_declared(VM, vm)


def test_accept_unknown_passes_fields_and_still_checks_values() -> None:
    vm = domain(cpus=2)
    assert formats.checked(VM, vm, accept_unknown=True) == vm
    with pytest.raises(FieldError, match=r"metadata\.name: 'A' must"):
        formats.checked(VM, {**vm, "metadata": {"name": "A"}}, accept_unknown=True)


def test_sizes_of_instancetypes() -> None:
    with pytest.raises(FieldError, match=r"spec\.memory\.guest: '-4Gi' is too small"):
        formats.checked(SIZE, {"metadata": {"name": "a"}, "spec": {"cpu": {"guest": 1}, "memory": {"guest": "-4Gi"}}})


@pytest.mark.parametrize(("type_name", "field"), formats.FIELDS)
def test_checked_fields_exist_in_the_schema(type_name: str, field: str) -> None:
    assert field in schema.TYPES[type_name]
    assert set(formats.TYPES) <= set(schema.TYPES)


@pytest.mark.parametrize(("percent", "fits"), [(-1, False), (0, True), (100, True), (101, False)])
def test_overcommit_is_a_percentage(percent: int, fits: bool) -> None:
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi", "overcommitPercent": percent}}
    with contextlib.nullcontext() if fits else pytest.raises(FieldError, match="is not a percentage; write a number"):
        formats.checked("VirtualMachineInstancetypeSpec", spec)
