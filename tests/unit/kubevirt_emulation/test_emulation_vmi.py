"""Defaults of a VMI, and the imitated node."""

from __future__ import annotations

from typing import Any

import pytest

from _resolver.api import schema
from _resolver.instancetype.vmi.configuration import Configuration
from _resolver.instancetype.vmi.vmi_defaults import set_vmi_defaults
from kubevirt_emulation.controllers.node import changes
from kubevirt_emulation.controllers.vmi_factory import FINALIZER

Manifest = dict[str, Any]


def with_defaults(domain: Manifest, **spec: Any) -> Manifest:
    manifest = schema.canonical("VirtualMachineInstanceSpec", {"domain": {"devices": {}, **domain}, **spec})
    set_vmi_defaults(manifest, Configuration())
    return manifest


@pytest.mark.parametrize(
    ("domain", "most"),
    [
        ({"memory": {"guest": "1Gi"}}, "4Gi"),
        ({"memory": {"guest": "512Mi"}}, None),
        ({"memory": {"guest": "1Gi", "maxGuest": "2Gi"}}, "2Gi"),
        ({"memory": {"guest": "16Gi", "hugepages": {"pageSize": "1Gi"}}}, "64Gi"),
        ({"memory": {"guest": "1025Mi", "hugepages": {"pageSize": "1Gi"}}}, None),
        ({"memory": {"guest": "2Gi"}, "cpu": {"numa": {"guestMappingPassthrough": {}}}}, None),
        ({"memory": {"guest": "2Gi"}, "cpu": {"realtime": {}}}, None),
    ],
)
def test_maximum_memory(domain: Manifest, most: str | None) -> None:
    assert with_defaults(domain)["domain"]["memory"].get("maxGuest") == most


def test_sockets_can_grow_fourfold() -> None:
    cpu = with_defaults({"cpu": {"sockets": 3}})["domain"]["cpu"]
    assert (cpu["maxSockets"], cpu["model"]) == (12, "host-model")


def test_arm64() -> None:
    spec = with_defaults({"memory": {"guest": "4Gi"}}, architecture="arm64", volumes=[{"name": "v"}])
    domain = spec["domain"]
    assert domain["machine"] == {"type": "virt"}
    assert domain["cpu"]["model"] == "host-passthrough" and "maxSockets" not in domain["cpu"]
    assert "maxGuest" not in domain["memory"]
    assert domain["devices"]["disks"] == [{"name": "v", "disk": {"bus": "virtio"}}]
    assert domain["firmware"]["bootloader"] == {"efi": {"secureBoot": False}}


def test_features_are_switched_on_unless_said() -> None:
    hyperv = {"relaxed": {}, "vapic": {"enabled": False}, "spinlocks": {}, "tlbflush": {"direct": {}}}
    features = with_defaults({"features": {"smm": {}, "hyperv": hyperv}})["domain"]["features"]
    assert features["acpi"] == features["smm"] == {"enabled": True}
    assert features["hyperv"] == {
        "relaxed": {"enabled": True},
        "vapic": {"enabled": False},
        "spinlocks": {"enabled": True, "spinlocks": 4096},
        "tlbflush": {"enabled": True, "direct": {"enabled": True}},
        "vpindex": {"enabled": True},
    }


def test_devices() -> None:
    devices = {"disks": [{"name": "c", "cdrom": {}}, {"name": "d"}], "inputs": [{"name": "i", "type": ""}]}
    result = with_defaults({"devices": devices})["domain"]["devices"]
    assert result["disks"][0]["cdrom"] == {"bus": "sata", "readonly": True, "tray": "closed"}
    assert result["disks"][1]["disk"] == {"bus": "sata"}
    assert result["inputs"] == [{"name": "i", "type": "tablet", "bus": "usb"}]


def test_the_node_runs_and_ends_a_vmi() -> None:
    vmi: Manifest = {
        "metadata": {"finalizers": [FINALIZER]},
        "spec": {"domain": {"cpu": {"cores": 1, "sockets": 2, "threads": 1}, "memory": {"guest": "1Gi"}}},
    }
    started = changes(vmi)
    assert started is not None
    assert started["status"]["phase"] == "Running"
    assert started["status"]["memory"]["guestCurrent"] == "1Gi"
    assert started["status"]["currentCPUTopology"]["sockets"] == 2

    vmi["status"] = started["status"]
    assert changes(vmi) is None

    vmi["metadata"]["deletionTimestamp"] = "now"
    ended = changes(vmi)
    assert ended is not None
    assert [entry["phase"] for entry in ended["status"]["phaseTransitionTimestamps"]] == ["Running", "Succeeded"]

    vmi["status"] = ended["status"]
    assert changes(vmi) == {"metadata": {"finalizers": None}}


def test_s390x() -> None:
    domain = with_defaults({"features": {}}, architecture="s390x", volumes=[{"name": "v"}])["domain"]
    assert domain["features"]["acpi"] == {"enabled": False}
    assert domain["devices"]["disks"][0]["disk"] == {"bus": "virtio"}
    assert domain["cpu"]["maxSockets"] == 4 and "maxGuest" not in domain["memory"]


@pytest.mark.parametrize(
    ("cpu", "most"),
    [
        ({"sockets": 2, "cores": 100, "threads": 1}, 5),
        ({"sockets": 8, "cores": 100, "threads": 1}, 8),
        ({"cores": 2}, None),
    ],
)
def test_sockets_grow_to_512_vcpus_at_most(cpu: Manifest, most: int | None) -> None:
    assert with_defaults({"cpu": cpu})["domain"]["cpu"].get("maxSockets") == most


def test_hyperv_features_bring_what_they_need() -> None:
    domain = with_defaults({"features": {"hyperv": {"evmcs": {}, "synictimer": {}}}})["domain"]
    on = {name for name, feature in domain["features"]["hyperv"].items() if feature["enabled"]}
    assert on == {"evmcs", "vapic", "synictimer", "synic", "vpindex"}
    assert domain["cpu"]["features"] == [{"name": "vmx", "policy": "require"}]


def test_what_a_vmi_forbids_is_not_switched_on() -> None:
    hyperv = {"ipi": {}, "vpindex": {"enabled": False}}
    features = with_defaults({"features": {"hyperv": hyperv}})["domain"]["features"]
    assert features["hyperv"]["vpindex"] == {"enabled": False}


def test_the_clusters_cpu_model() -> None:
    spec = schema.canonical("VirtualMachineInstanceSpec", {"domain": {"devices": {}}})
    set_vmi_defaults(spec, Configuration(), "Haswell")
    assert spec["domain"]["cpu"]["model"] == "Haswell"
