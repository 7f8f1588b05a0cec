"""No field of an export is lost without a word: a machine has it, a line says it, or a table ignores it on purpose."""

import random
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any

import export_fields
import pytest

from plugins.module_utils._estate.readers import (
    kubevirt,
    kubevirt_fields,
    openstack,
    openstack_fields,
    proxmox,
    proxmox_settings,
    rvtools,
    rvtools_columns,
    vsphere,
)
from plugins.module_utils._estate.readers.reading import Reading
from plugins.module_utils._resolver.api import release_schema
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

CLOUD_TABLES = {"server": "servers", "flavor": "flavors", "volume": "volumes"}

KEYS = ["VM", "VM ID"]
OWN = ["web", "vm-1"]
# Columns without which the machine would have to be another one, and those of which another one says more.
IDENTITY = {"VM", "VM ID", "VI SDK UUID", "VI SDK Server", "Template", "FT Role", "SRM Placeholder"}
SHADOWED = {
    ("vInfo", name)
    for name in ("VM UUID", "Cluster rule(s)", "Provisioned MiB", "Total disk capacity MiB", "Disks", "NICs")
}
SHADOWED |= {("vInfo", f"Network #{number}") for number in range(1, 9)}
SHADOWED |= {("vMemory", "Reservation"), ("vCPU", "Reservation"), ("vNetwork", "Starts Connected"), ("vDisk", "Path")}


def shown(reading: Reading) -> str:
    return f"{reading.machines} {reading.left_out} {reading.remarks}"


def of_rvtools(changes: Mapping[tuple[str, str], Any], bare: Iterable[str] = ()) -> Reading:
    """A machine with all tabs but the bare ones, and cells that are changed."""
    usual: dict[str, dict[str, Any]] = {tab: dict(zip(KEYS, OWN, strict=True)) for tab in export_fields.RVTOOLS}
    usual["vInfo"] |= {"CPUs": 2, "Memory": 4096, "Powerstate": "poweredOn", "Host": "esx0", "VI SDK UUID": "vc"}
    usual["vDisk"] |= {"Disk": "Hard disk 1", "Capacity MiB": 512}
    usual["vNetwork"] |= {"Network": "lan"}
    usual["vHost"] = {"Host": "esx1", "Speed": 1}
    for (tab, heading), value in changes.items():
        usual[tab][heading] = value
    tabs = {tab: [list(cells), list(cells.values())] for tab, cells in usual.items() if tab not in bare}
    return rvtools.read(tabs)


def is_ignored(tab: str, heading: str) -> bool:
    return rvtools_columns.heading_of(tab, heading)[0] in rvtools_columns.IGNORED[tab]


COLUMNS = [(tab, heading) for tab, headings in export_fields.RVTOOLS.items() for heading in headings]


@pytest.mark.parametrize("column", COLUMNS)
def test_each_column_of_rvtools(column: tuple[str, str]) -> None:
    tab, heading = column
    bare = {"vInfo": ("vDisk", "vNetwork")}.get(tab, ())
    before: dict[tuple[str, str], Any] = {}
    if column == ("vInfo", "Host"):
        before[("vCPU", "Reservation")] = 2
    if column == ("vInfo", "VI SDK Server"):
        before[("vInfo", "VI SDK UUID")] = ""
    value = export_fields.RVTOOLS_VALUES.get(heading, 3)
    changed = of_rvtools({**before, column: value}, bare)
    differs = shown(of_rvtools(before, bare)) != shown(changed)
    assert not changed.unknown[tab]
    # The number of rows is all that counts of snapshots, and other tabs may lack what vInfo says.
    assert differs != (is_ignored(tab, heading) or (tab != "vInfo" and heading in ("VM", "VI SDK Server")))


def test_names_of_columns_in_databases() -> None:
    """The same machines, with headings such as ``vInfoCPUs`` and ``vDiskCapacityMiB``."""
    for tab, heading in COLUMNS:
        compact = "".join(part for part in heading if part.isalnum())
        assert rvtools_columns.heading_of(tab, tab + compact) == rvtools_columns.heading_of(tab, heading)
    assert rvtools_columns.heading_of("vInfo", "vInfo_tags_Team") == ("tagsteam", "")
    assert rvtools_columns.heading_of("vCPU", "vCPUs") == ("vcpus", "")


def test_random_columns_of_rvtools_together() -> None:
    chance = random.Random(5)
    usable = [column for column in COLUMNS if column not in SHADOWED and column[1] not in IDENTITY]
    usable = [column for column in usable if column[0] != "vSnapshot" and not is_ignored(*column)]
    for _number in range(60):
        chosen = chance.sample(usable, 6)
        cells = {column: export_fields.RVTOOLS_VALUES.get(column[1], 3) for column in chosen}
        if cells.get(("vInfo", "Powerstate")) and ("vNetwork", "Connected") in cells:
            continue
        whole = shown(of_rvtools(cells))
        for column in chosen:
            if column == ("vInfo", "Host"):
                continue
            rest = {other: value for other, value in cells.items() if other != column}
            assert shown(of_rvtools(rest)) != whole, (column, chosen)


def test_unknown_columns_and_tabs_are_told_once() -> None:
    changes = {("vInfo", "owner"): "ann", ("vDisk", "owner"): "ann", ("vMemory", "mmtest-tags"): "x"}
    assert rvtools.read({"vInfo": [], "Notes": []}).remarks == [
        "Notes: no tab of RVTools has this name; it does not count"
    ]
    assert of_rvtools(changes).remarks == [
        "columns of no known meaning do not count: owner, mmtest-tags; attributes makes labels of vInfo's"
    ]


QEMU = {"name": "web", "cores": "2", "memory": "2048", "scsi0": "l:v,size=2G", "virtio1": "l:v,size=1G"}


def of_proxmox(changes: Mapping[str, str]) -> Reading:
    reading = Reading()
    proxmox.add(reading, "100.conf", "100", {**QEMU, **changes})
    return reading


@pytest.mark.parametrize("key", export_fields.PROXMOX)
def test_each_setting_of_proxmox(key: str) -> None:
    changes = {key: export_fields.PROXMOX[key]}
    before = {"bios": "ovmf"} if key == "efidisk0" else {}
    if key == "efidisk0":
        changes = {key: "l:v,pre-enrolled-keys=1"}
    is_ignored = proxmox_settings.kind_of(key) in proxmox_settings.IGNORED
    differs = shown(of_proxmox(before)) != shown(of_proxmox({**before, **changes}))
    # Some are ignored with a value only, and this is another one.
    own = proxmox_settings.IGNORED.get(proxmox_settings.kind_of(key))
    assert differs != (is_ignored and own == ".*" and key != "lock")


@pytest.mark.parametrize("field", [*export_fields.PROXMOX_DISK, *export_fields.PROXMOX_NET])
def test_each_property_of_disks_and_interfaces(field: str) -> None:
    name = field.partition("=")[0]
    if field in export_fields.PROXMOX_NET:
        kind, values = "netN", [{"net0": "virtio=BC:24:11:00:00:01"}, {"net0": f"virtio=BC:24:11:00:00:01,{field}"}]
    else:
        kind, values = "disk", [{"scsi0": "l:v"}, {"scsi0": f"l:v,{field}"}]
    plain, changed = map(shown, map(of_proxmox, values))
    read = {"size", "shared", "tag", "link_down", "bridge"}
    assert (plain != changed) == (name in read or name not in proxmox_settings.PROPERTIES[kind])


def test_random_settings_of_proxmox_together() -> None:
    chance = random.Random(6)
    # A template is no machine, and `vcpus` says more than these.
    usable = {
        key: value for key, value in export_fields.PROXMOX.items() if key not in ("template", "vcpus", "efidisk0")
    }
    told = [key for key in usable if shown(of_proxmox({})) != shown(of_proxmox({key: usable[key]}))]
    for _number in range(100):
        chosen = chance.sample([key for key in told if key not in ("boot", "bootdisk")], 6)
        whole = shown(of_proxmox({key: usable[key] for key in chosen}))
        for key in chosen:
            assert shown(of_proxmox({other: usable[other] for other in chosen if other != key})) != whole, (key, chosen)


def test_secrets_of_cloud_init_are_not_shown() -> None:
    assert "secret" not in shown(of_proxmox({"cipassword": "secret", "sshkeys": "secret"}))


SERVER = {"ID": "s1", "Name": "web", "Status": "ACTIVE", "Flavor": "small", "Image Name": "rhel", "Image ID": "i1"}
SMALL = {"ID": "f1", "Name": "small", "VCPUs": 1, "RAM": 512, "Disk": 5}
LARGE = {"ID": "f2", "Name": "large", "VCPUs": 2, "RAM": 512, "Disk": 5}
DATA = {"ID": "v1", "Size": 3, "Attached to": [{"server_id": "s1", "device": "/dev/vdb"}]}


def of_openstack(
    server: Any = (), flavor: Any = (), specs: Any = (), image: Any = (), volume: Any = (), boots: bool = False
) -> Reading:
    images = [
        {"ID": "i1", "Name": "rhel", "Properties": dict(image)},
        {"ID": "i2", "Name": "u", "Properties": {"os_distro": "ubuntu"}},
    ]
    flavors = [{**SMALL, **dict(flavor), "Properties": dict(specs)}, LARGE]
    own = {**SERVER, **({"Image Name": "N/A (booted from volume)", "Image ID": ""} if boots else {}), **dict(server)}
    return openstack.read([own], flavors, images, [{**DATA, "ID": "v2"}, {**DATA, **dict(volume)}])


CLOUD: list[tuple[str, str, Any]] = [
    (part, key, value)
    for part, fields in (
        ("server", export_fields.SERVER),
        ("flavor", export_fields.FLAVOR),
        ("volume", export_fields.VOLUME),
        ("specs", export_fields.EXTRA_SPECS),
        ("image", export_fields.IMAGE),
    )
    for key, value in fields.items()
]
# These are in the tables of what is read.
READ = {
    "hw:cpu_policy", "hw:mem_page_size", "hw:tpm_version", "os:secure_boot", "pci_passthrough:alias", "resources:VGPU",
    "hw_firmware_type", "os_secure_boot", "os_distro", "os_version", "os_type", "hw_cpu_policy", "hw_mem_page_size",
    "hw_tpm_version",
}  # fmt: skip


def is_passed_over(part: str, key: str) -> bool:
    """Whether a table of what is ignored has the key. Tables of specs and properties have what is read too."""
    if part in CLOUD_TABLES:
        patterns = openstack_fields.IGNORED[CLOUD_TABLES[part]]
        return any(fnmatchcase(key.lower().replace("_", " "), pattern) for pattern in patterns)
    patterns = openstack_fields.SPECS if part == "specs" else openstack_fields.PROPERTIES
    return key not in READ and any(fnmatchcase(key.lower(), pattern) for pattern in patterns)


@pytest.mark.parametrize(("part", "key", "value"), CLOUD)
def test_each_key_of_openstack(part: str, key: str, value: Any) -> None:
    plain = of_openstack(boots=part == "volume")
    changed = of_openstack(**{part: {key: value}}, boots=part == "volume")
    assert not any(changed.unknown.values())
    differs = shown(plain) != shown(changed)
    assert differs != is_passed_over(part, key)


def test_unknown_keys_are_told_once() -> None:
    reading = of_openstack(server={"Colour": "red"}, volume={"Shape": "round", "Empty": ""})
    assert reading.remarks == [
        "servers: keys of no known meaning do not count: colour",
        "volumes: keys of no known meaning do not count: shape",
    ]


def of_vsphere(*devices: str, **values: Any) -> Reading:
    reading = Reading()
    made = [type(f"vim.vm.device.{name}", (SimpleNamespace,), {})(key=1) for name in devices]
    hardware = SimpleNamespace(numCPU=1, memoryMB=512, numCoresPerSocket=None, device=made)
    vsphere.add(reading, "vm-1", {"name": "web", "config.hardware": hardware, **values}, "", {})
    return reading


def test_each_type_of_device_of_vsphere() -> None:
    plain = shown(of_vsphere())
    for name in export_fields.VSPHERE_LOST:
        assert f"device: a device of the type {name.removeprefix('Virtual')}" in shown(of_vsphere(name))
    assert plain == shown(of_vsphere(*export_fields.VSPHERE_IGNORED))


def test_each_property_of_vsphere() -> None:
    """All that is asked of a vCenter counts."""
    values: dict[str, Any] = {
        "parent": None,
        "config.managedBy": SimpleNamespace(extensionKey="com.vmware.vim.eam"),
        "config.ftInfo": object(),
        "config.firmware": "efi",
        "config.latencySensitivity.level": "high",
        "runtime.powerState": "suspended",
        "runtime.connectionState": "disconnected",
        "snapshot": SimpleNamespace(rootSnapshotList=[SimpleNamespace()]),
    }
    for name in vsphere.PROPERTIES:
        if name not in ("name", "parent", "config.hardware"):
            changed = shown(of_vsphere(**{name: values.get(name, 3 if "Allocation" in name else "x")}))
            assert changed != shown(of_vsphere()), name


VM_FIELDS = release_schema._known_fields(NEWEST)
SAMPLES = {"string": "x", "bool": True, "Quantity": "3Gi", "Empty": {}}
USUAL = {"domain": {"devices": {}, "cpu": {"cores": 2}, "memory": {"guest": "1Gi"}}}


def of_type(name: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Each field below a type of KubeVirt with a value that has only this field."""
    for field, kind in VM_FIELDS[name].items():
        bare = kind.removeprefix("[]").removeprefix("map[string]").lstrip("*")
        if bare not in VM_FIELDS or not VM_FIELDS[bare] or depth > 9:
            found = [("", SAMPLES.get(bare, 3))]
        else:
            found = [(f".{path}", value) for path, value in of_type(bare, depth + 1)]
        for path, value in found:
            is_map = "map[string]" in kind
            held = {"k": value} if is_map else value
            yield f"{field}{'.k' if is_map else ''}{path}", {field: [held] if kind.startswith("[]") else held}


def merged(first: Any, second: Any) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        both = {key: merged(first[key], second[key]) for key in first.keys() & second.keys()}
        return {**first, **second, **both}
    return second


def of_kubevirt(change: Mapping[str, Any]) -> Reading:
    spec = merged({"template": {"spec": USUAL}}, change)
    reading = Reading()
    kubevirt.add(reading, "vm.yml", {"metadata": {"name": "web"}, "spec": spec}, Cluster(Objects([]), KubeVirt(NEWEST)))
    return reading


def test_each_field_of_vms() -> None:
    """Thousands of paths; a VM that cannot be read is a remark."""
    plain = shown(of_kubevirt({}))
    told = 0
    for path, change in of_type("VirtualMachineSpec"):
        ignored = any(fnmatchcase(path, pattern) for pattern in kubevirt_fields.IGNORED)
        differs = shown(of_kubevirt(change)) != plain
        used = any(fnmatchcase(path, pattern) for pattern in kubevirt_fields.USED)
        # Names, and what is the same as the usual or counts with another field only.
        assert differs or ignored or used, path
        told += differs and not used and not ignored
    assert told > 300
    assert kubevirt_fields.lost({"spec": {"template": None, "updateVolumesStrategy": None}}) == []
