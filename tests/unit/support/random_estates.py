"""Random machines of each source, as that source writes them, read by its reader."""

import random
from types import SimpleNamespace

from estate_samples import BUILTIN

from plugins.module_utils._estate.readers import kubevirt, openstack, proxmox, rvtools, vsphere
from plugins.module_utils._estate.readers.reading import Reading
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

COUNT = 1000
TEXTS = (
    "Microsoft Windows Server 2022 (64-bit)",
    "Microsoft Windows 11 (64-bit)",
    "Red Hat Enterprise Linux 9 (64-bit)",
    "Oracle Linux 8 (64-bit)",
    "CentOS 7 (64-bit)",
    "Other (64-bit)",
    "",
)


def size(chance: random.Random) -> tuple[int, int]:
    """(vCPUs, MiB of memory), often odd ones."""
    return chance.choice([1, 2, 3, 4, 6, 8, 13, 16]), chance.choice(
        [512, 1024, 2048, 8192, chance.randint(64, 200_000)]
    )


def of_rvtools(chance: random.Random) -> Reading:
    header = ["VM", "CPUs", "Memory", "Firmware", "EFI Secure boot", "OS according to the configuration file", "VM ID"]
    rows = [
        [f"Web {number % 300}", *size(chance), chance.choice(["bios", "efi"]), chance.choice([True, False, ""]),
         chance.choice(TEXTS), f"vm-{number}"]
        for number in range(COUNT)
    ]  # fmt: skip
    cpu = [["VM", "Hot Add", "VM ID"], *([row[0], chance.random() < 0.3, row[-1]] for row in rows)]
    return rvtools.read({"vInfo": [header, *rows], "vCPU": cpu})


def of_vsphere(chance: random.Random) -> Reading:
    reading = Reading()
    for number in range(COUNT):
        vcpus, memory = size(chance)
        values = {
            "name": f"web_{number}",
            "config.hardware": SimpleNamespace(
                numCPU=vcpus, memoryMB=memory, numCoresPerSocket=None, device=[SimpleNamespace(key=1)]
            ),
            "config.firmware": chance.choice(["bios", "efi"]),
            "config.guestFullName": chance.choice(TEXTS),
            "config.latencySensitivity.level": chance.choice(["normal", "high"]),
        }
        vsphere.add(reading, f"vm-{number}", values, "", {})
    return reading


def of_openstack(chance: random.Random) -> Reading:
    flavors, servers = [], []
    for number in range(COUNT):
        vcpus, memory = size(chance)
        extra = chance.choice([{}, {"hw:cpu_policy": "dedicated"}, {"hw:mem_page_size": "2MB"}])
        flavors.append({"ID": f"f{number}", "Name": f"f{number}", "VCPUs": vcpus, "RAM": memory, "Properties": extra})
        image = chance.choice(TEXTS)
        servers.append({"ID": str(number), "Name": "web", "Flavor ID": f"f{number}", "Image Name": image})
    return openstack.read(servers, flavors)


def of_proxmox(chance: random.Random) -> Reading:
    reading = Reading()
    for number in range(COUNT):
        vcpus, memory = size(chance)
        config = {
            "cores": vcpus,
            "sockets": chance.choice([1, 2]),
            "memory": memory,
            "bios": chance.choice(["seabios", "ovmf"]),
            "ostype": chance.choice(["l26", "win10", "win11", "w2k8", "other"]),
            "balloon": chance.choice([0, 64]),
            "hugepages": chance.choice(["", "2", "1024"]),
        }
        proxmox.add(reading, "", str(number), config)
    return reading


def of_kubevirt(chance: random.Random) -> Reading:
    reading, cluster = Reading(), Cluster(Objects(BUILTIN), KubeVirt(NEWEST))
    for number in range(COUNT):
        vcpus, memory = size(chance)
        domain = {"devices": {}, "cpu": {"cores": vcpus}, "memory": {"guest": f"{memory}Mi"}}
        annotations = {"vm.kubevirt.io/os": chance.choice(["fedora", "windows.11", "ubuntu", "none"])}
        template = {"metadata": {"annotations": annotations}, "spec": {"domain": domain}}
        kubevirt.add(reading, "", {"metadata": {"name": f"web-{number}"}, "spec": {"template": template}}, cluster)
    return reading


SOURCES = (of_rvtools, of_vsphere, of_openstack, of_proxmox, of_kubevirt)
