"""Disks, networks, devices and labels of machines as options of VMs, and what is not brought."""

from typing import Any

import pytest
from estate_samples import GIB, machine, proposed


def declared(rules: Any = None, **fields: Any) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
    result = proposed([machine(**fields)], rules=rules)
    return result["virtual_machines"][0], result["machines"][0]["not_brought"], result["unmapped"]


def test_identity_and_labels() -> None:
    vm, lost, unmapped = declared(name="Web 1", folder="Shop/Höhe", tags={"team": "a b", "/": "x", "empty": ""})
    assert (vm["name"], vm["namespace"], vm["run_strategy"]) == ("web-1", "default", "Halted")
    assert vm["labels"] == {"instancetypes.virtshape.io/source-folder": "Shop-Hohe", "team": "a-b"}
    assert vm["annotations"] == {
        "instancetypes.virtshape.io/source-name": "Web 1",
        "instancetypes.virtshape.io/source-id": "vm-1",
        "instancetypes.virtshape.io/assignment": '{"preferences":{"":""},"sizes":{"2c-8g":"u1.large"}}',
    }
    assert (lost, unmapped) == ([], {"storage": [], "networks": [], "devices": []})


def test_machines_that_are_on_start_by_rule() -> None:
    for power, strategy in (("on", "Always"), ("off", "Halted")):
        assert declared({"start": True}, power=power)[0]["run_strategy"] == strategy


def test_disks_and_the_map_of_storage() -> None:
    disks = [
        {"name": "root", "size": 40 * GIB, "storage": "gold"},
        {"size": GIB + 1, "storage": "slow"},
        {"size": GIB},
        {"name": "raw", "size": GIB, "raw": True},
        {"name": "shared", "size": GIB, "shared": True},
        {"name": "alone", "size": GIB, "mode": "independent_persistent"},
        {"name": "unknown"},
    ]
    rules = {"storage": {"gold": {"storage_class": "fast", "access_modes": ["ReadWriteMany"]}}}
    vm, lost, unmapped = declared(rules, disks=disks)
    assert vm["volumes"] == [
        {
            "name": "disk-1",
            "import": {"blank": True, "size": "40Gi", "storage_class": "fast", "access_modes": ["ReadWriteMany"]},
        },
        {"name": "disk-2", "import": {"blank": True, "size": "1025Mi"}},
        {"name": "disk-3", "import": {"blank": True, "size": "1Gi"}},
    ]
    assert [line.partition(":")[0] for line in lost] == ["raw", "shared", "alone", "unknown"]
    assert unmapped["storage"] == [{"name": "(unknown)", "uses": 1}, {"name": "slow", "uses": 1}]


def test_content_of_disks_by_vddk() -> None:
    rules = {"vddk": {"url": "https://vc", "thumbprint": "AA", "secret_ref": "vc"}, "storage": {"gold": "fast"}}
    disks = [{"size": GIB, "storage": "gold", "path": "[gold] a/a.vmdk"}]
    assert declared(rules, disks=disks, uuid="42")[0]["volumes"][0]["import"] == {
        "vddk": {
            "url": "https://vc",
            "thumbprint": "AA",
            "secret_ref": "vc",
            "uuid": "42",
            "backing_file": "[gold] a/a.vmdk",
        },
        "size": "1Gi",
        "storage_class": "fast",
    }
    assert "blank" in declared(rules, disks=disks)[0]["volumes"][0]["import"]


def test_networks_and_their_map() -> None:
    nics = [
        {"network": "lan", "mac": "00:50:56:00:00:01"},
        {"network": "lan"},
        {"network": "dmz"},
        {"network": "backup"},
        {"network": "else"},
        {},
    ]
    networks = {"lan": "pod", "dmz": "net/dmz", "backup": "ignored"}
    vm, lost, unmapped = declared({"networks": networks, "keep_macs": True}, nics=nics)
    assert vm["networks"] == [
        {"name": "nic-1", "mac_address": "00:50:56:00:00:01"},
        {"name": "nic-3", "multus": "net/dmz"},
    ]
    assert lost == [
        "network interface 2: a second interface on the pod network",
        "network interface 5: else is not in the map of networks",
        "network interface 6: its network is not in the map of networks",
    ]
    assert unmapped["networks"] == [{"name": "(unknown)", "uses": 1}, {"name": "else", "uses": 1}]
    assert "mac_address" not in declared({"networks": networks}, nics=nics)[0]["networks"][0]


def test_devices_and_their_map() -> None:
    rules = {"devices": {"grid": {"gpu": "nvidia.com/GRID"}, "card": {"host_device": "example.com/card"}}}
    vm, lost, unmapped = declared(
        rules, passthrough=["grid", "card", "other"], firmware="bios", guest={"text": "Fedora"}, fault_tolerance=True
    )
    domain = vm["template"]["spec"]["domain"]
    assert domain["devices"] == {
        "gpus": [{"name": "device-1", "deviceName": "nvidia.com/GRID"}],
        "hostDevices": [{"name": "device-2", "deviceName": "example.com/card"}],
        "autoattachPodInterface": False,
    }
    assert domain["firmware"] == {"bootloader": {"bios": {}}}
    assert lost == ["device 3: other is not in the map of devices", "fault tolerance, which KubeVirt does not have"]
    assert unmapped["devices"] == [{"name": "other", "uses": 1}]


def test_plans_of_forklift() -> None:
    rules = {
        "forklift": {"source_provider": "vcenter"},
        "networks": {"lan": "pod", "dmz": "net/dmz", "bare": "br", "backup": None},
        "storage": {"gold": {"storage_class": "fast", "access_modes": ["ReadWriteMany"], "volume_mode": "Block"},
                    "slow": {}},
        "namespaces": {"Shop": "shop"},
    }  # fmt: skip
    disks = [{"storage": "gold", "size": GIB}, {"storage": "slow", "size": GIB}]
    nics = [{"network": name} for name in rules["networks"]]
    machines = [machine(1, disks=disks, nics=nics), machine(2, folder="Shop"), machine(3)]
    network, storage, rest, shop = proposed(machines, rules=rules)["forklift"]
    assert [item["destination"] for item in network["spec"]["map"]] == [
        {"type": "ignored"},
        {"type": "multus", "name": "br"},
        {"type": "multus", "name": "dmz", "namespace": "net"},
        {"type": "pod"},
    ]
    assert storage["spec"]["map"] == [
        {
            "source": {"name": "gold"},
            "destination": {"storageClass": "fast", "accessMode": "ReadWriteMany", "volumeMode": "Block"},
        },
        {"source": {"name": "slow"}, "destination": {"storageClass": ""}},
    ]
    assert [plan["metadata"] for plan in (rest, shop)] == [
        {"name": "estate-default", "namespace": "openshift-mtv"},
        {"name": "estate-shop", "namespace": "openshift-mtv"},
    ]
    assert shop["spec"]["vms"] == [{"id": "vm-2", "name": "web2", "targetName": "web2", "instanceType": "u1.large"}]
    assert shop["spec"]["targetNamespace"] == "shop" and len(rest["spec"]["vms"]) == 2
    assert proposed(machines)["forklift"] == []


def test_machines_without_networks_get_no_interface() -> None:
    """Otherwise KubeVirt connects them to the pod network."""
    nics = [{"network": "backup"}, {"network": "lan", "connected": False}, {}]
    for own, networks in (([], {}), (nics, {"lan": "pod", "backup": "ignored"})):
        vm, lost, _unmapped = declared({"networks": networks}, nics=own)
        assert vm["template"]["spec"]["domain"]["devices"] == {"autoattachPodInterface": False}
        assert "networks" not in vm
    assert lost == [
        "network interface 2: it is not connected to lan",
        "network interface 3: its network is not in the map of networks",
    ]
    vm, lost, _unmapped = declared(nics=[{"network": "pod", "model": "SriovEthernetCard"}])
    assert vm["networks"] == [{"name": "nic-1"}] and "template" not in vm
    assert lost == ["network interface 1: direct access to a device of the host (SR-IOV)"]


def test_what_the_reader_says_is_not_brought() -> None:
    assert declared(not_brought=["2 monitors"], power="suspended")[1] == [
        "2 monitors",
        "the memory of a suspended machine, which starts anew",
    ]


# A field → a value that no other machine has. Programs may want the last three; no VM has them.
FIELDS: dict[str, Any] = {
    "id": "vm-9",
    "name": "other",
    "vcpus": 3,
    "memory": 3 * GIB,
    "power": "suspended",
    "firmware": "efi",
    "source": "vc",
    "folder": "Shop",
    "uuid": "42",
    "instancetype": "u1.small",
    "preference": "fedora",
    "hugepages": "1Gi",
    "secure_boot": True,
    "tpm": True,
    "fault_tolerance": True,
    "guest": {"id": "rhel9_64Guest"},
    "reserved": {"cpu": True},
    "hot_add": {"cpu": True},
    "tags": {"team": "shop"},
    "disks": [{"size": GIB}],
    "nics": [{"network": "lan"}],
    "passthrough": ["t4"],
    "not_brought": ["2 monitors"],
    "cores_per_socket": 2,
    "used": {"cpu": 1},
    "thin": True,
}
INFORMATION = ("cores_per_socket", "used", "thin")


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_of_a_machine_counts(field: str) -> None:
    disk = {"size": 3 * GIB, "name": "root"}
    usual = {"vcpus": 3, "memory": 7 * GIB} if field == "hot_add" else {}
    if field in ("secure_boot", "thin"):
        usual = {"firmware": "efi", "disks": [disk]}
    changed = {"disks": [{**disk, "thin": True}]} if field == "thin" else {field: FIELDS[field]}
    plain, other = (proposed([machine(**facts)]) for facts in (usual, {**usual, **changed}))
    assert (plain == other) == (field in INFORMATION)
