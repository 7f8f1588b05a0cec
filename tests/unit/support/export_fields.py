"""The fields of exports of other platforms, as their newest versions write them."""

from collections.abc import Mapping
from typing import Any

_REPEATED = (
    "Annotation; Datacenter; Cluster; Host; Folder; OS according to the configuration file;"
    "OS according to the VMware Tools; VM ID; VM UUID; VI SDK Server; VI SDK UUID"
)


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(";")]


# The columns of RVTools 4 by tab.
RVTOOLS: Mapping[str, list[str]] = {
    "vInfo": _split(
        "VM; Powerstate; Template; SRM Placeholder; Config status; DNS Name; Connection state; Guest state; Heartbeat;"
        "Consolidation Needed; PowerOn; Suspended To Memory; Suspend time; Suspend Interval; Creation date;"
        "Change Version; CPUs; Overall Cpu Readiness; Memory; Active Memory; NICs; Disks; Total disk capacity MiB;"
        "Fixed Passthru HotPlug; min Required EVC Mode Key; Latency Sensitivity; Op Notification Timeout; EnableUUID;"
        "CBT; Primary IP Address; Network #1; Network #2; Network #3; Network #4; Network #5; Network #6; Network #7;"
        "Network #8; Num Monitors; Video Ram KiB; Resource pool; Folder ID; Folder; vApp; DAS protection; FT State;"
        "FT Role; FT Latency; FT Bandwidth; FT Sec. Latency; Vm Failover In Progress; Provisioned MiB; In Use MiB;"
        "Unshared MiB; HA Restart Priority; HA Isolation Response; HA VM Monitoring; Cluster rule(s);"
        "Cluster rule name(s); Boot Required; Boot delay; Boot retry delay; Boot retry enabled; Boot BIOS setup;"
        "Reboot PowerOff; EFI Secure boot; Firmware; HW version; HW upgrade status; HW upgrade policy; HW target; Path;"
        "Log directory; Snapshot directory; Suspend directory; Annotation; Backup status; ClusterInvariantVMMId;"
        "Last backup; Datacenter; Cluster; Host; OS according to the configuration file;"
        "OS according to the VMware Tools; Customization Info; Guest Detailed Data; VM ID; SMBIOS UUID; VM UUID;"
        "VI SDK Server type; VI SDK API Version; VI SDK Server; VI SDK UUID"
    ),
    "vCPU": _split(
        "VM; Powerstate; Template; SRM Placeholder; CPUs; Sockets; Cores p/s; Max; Overall; Level; Shares; Reservation;"
        f"Entitlement; DRS Entitlement; Limit; Hot Add; Hot Remove; Numa Hotadd Exposed; {_REPEATED}"
    ),
    "vMemory": _split(
        "VM; Powerstate; Template; SRM Placeholder; Size MiB; Memory Reservation Locked To Max; Overhead; Max;"
        "Consumed; Consumed Overhead; Private; Shared; Swapped; Ballooned; Active; Entitlement; DRS Entitlement; Level;"
        f"Shares; Reservation; Limit; Hot Add; {_REPEATED}"
    ),
    "vDisk": _split(
        "VM; Powerstate; Template; SRM Placeholder; Disk; Disk Key; Disk UUID; Disk Path; Capacity MiB; Raw; Disk Mode;"
        "Sharing mode; Thin; Eagerly Scrub; Split; Write Through; Level; Shares; Reservation; Limit; Controller; Label;"
        f"SCSI Unit #; Unit #; Shared Bus; Path; Raw LUN ID; Raw Comp. Mode; Internal Sort Column; {_REPEATED}"
    ),
    "vNetwork": _split(
        "VM; Powerstate; Template; SRM Placeholder; NIC label; Adapter; Network; Switch; Connected; Starts Connected;"
        f"Mac Address; Type; IPv4 Address; IPv6 Address; Direct Path IO; Internal Sort Column; {_REPEATED}"
    ),
    "vUSB": _split(
        "Select; VM; Powerstate; Template; SRM Placeholder; Device Node; Device Type; Connected; Family; Speed;"
        f"EHCI enabled; Auto connect; Bus number; Unit number; VMRef; {_REPEATED}"
    ),
    "vSnapshot": _split(
        "VM; Powerstate; Name; Description; Date / time; Filename; Size MiB (vmsn); Size MiB (total); Quiesced; State;"
        f"{_REPEATED}"
    ),
}
# A value of a column that is not that of the machine without it; 3 for the others.
RVTOOLS_VALUES: Mapping[str, Any] = {
    **dict.fromkeys(("Template", "SRM Placeholder", "Raw", "Thin", "EFI Secure boot", "Hot Add"), True),
    **dict.fromkeys(("Memory Reservation Locked To Max", "Direct Path IO"), True),
    **dict.fromkeys(("Connected", "Starts Connected"), False),
    "Powerstate": "suspended",
    "Latency Sensitivity": "high",
    "FT State": "running",
    "Firmware": "efi",
    "Connection state": "orphaned",
    "Disk Path": "[gold] a.vmdk",
    "Sharing mode": "sharingMultiWriter",
    "Shared Bus": "physicalSharing",
    "VM": "other",
    "Host": "esx1",
}

# Each key of a configuration of Proxmox with a value that is not the default.
PROXMOX: Mapping[str, str] = {
    "acpi": "0", "affinity": "0-3", "agent": "1", "allow-ksm": "0", "amd-sev": "type=snp", "arch": "aarch64",
    "args": "-device edu", "audio0": "device=ich9-intel-hda", "autostart": "1", "balloon": "0", "bios": "ovmf",
    "boot": "order=virtio1", "bootdisk": "virtio1", "cdrom": "local:iso/a.iso,media=cdrom", "cicustom": "user=a:b",
    "cipassword": "secret", "citype": "nocloud", "ciupgrade": "1", "ciuser": "ann", "cores": "3", "cpu": "host",
    "cpulimit": "2", "cpuunits": "50", "description": "mine", "digest": "d", "efidisk0": "l:v,efitype=4m",
    "freeze": "1", "hookscript": "local:snippets/a.pl", "hostpci0": "0000:01:00.0", "hotplug": "cpu,memory",
    "hugepages": "1024", "ide0": "l:v,size=1G", "import-working-storage": "local", "intel-tdx": "type=tdx",
    "ipconfig0": "ip=dhcp", "ivshmem": "size=32", "keephugepages": "1", "keyboard": "de", "kvm": "0", "localtime": "1",
    "lock": "suspended", "machine": "q35", "memory": "4096", "meta": "creation-qemu=9", "migrate_downtime": "1",
    "migrate_speed": "1", "name": "other", "nameserver": "192.0.2.1", "net3": "virtio=BC:24:11:00:00:01,bridge=vmbr1",
    "numa": "1", "numa0": "cpus=0-1,memory=1024", "onboot": "1", "ostype": "win11", "parallel0": "/dev/parport0",
    "parent": "before", "pool": "shop", "protection": "1", "reboot": "0", "rng0": "source=/dev/urandom",
    "sata0": "l:v,size=1G", "scsi7": "l:v,size=1G", "scsihw": "pvscsi", "searchdomain": "example.com",
    "serial0": "/dev/ttyS0", "shares": "1", "smbios1": "uuid=42,serial=x", "sockets": "2",
    "spice_enhancements": "videostreaming=all", "sshkeys": "ssh-rsa",
    "startdate": "now", "startup": "order=2", "tablet": "0", "tags": "sql", "tdf": "1",
    "template": "1", "tpmstate0": "l:v,version=v2.0", "unused0": "l:vm-100-disk-9", "usb0": "host=1234:5678",
    "usb1": "mapping=dongle", "vcpus": "1", "vga": "qxl", "virtio3": "l:v,size=1G", "virtiofs0": "dirid=a",
    "vmgenid": "1", "vmstatestorage": "local", "watchdog": "model=i6300esb",
}  # fmt: skip
# Each property of a disk and of an interface of Proxmox.
PROXMOX_DISK = _split(
    "aio=native; backup=0; cache=none; discard=on; iothread=1; ro=1; snapshot=1; serial=x; wwn=0x5000; mbps=5;"
    "iops_rd=100; format=raw; shared=1; ssd=1; replicate=0; detect_zeroes=0; queues=4; size=9G"
)
PROXMOX_NET = _split("firewall=1; link_down=1; mtu=9000; queues=4; rate=10; tag=3; trunks=1-5; bridge=vmbr9")

# Each key of a server, a flavor and a volume, as the client and the API write them.
SERVER: Mapping[str, Any] = {
    "ID": "other", "Name": "other", "Status": "SHUTOFF", "Task State": "spawning", "Power State": 4,
    "Networks": {"dmz": ["192.0.2.2"]}, "Image Name": "ubuntu-22.04", "Image ID": "i2", "Flavor": "large",
    "Availability Zone": "nova", "Pinned Availability Zone": "nova", "Host": "c1", "Properties": {"team": "shop"},
    "Project ID": "p", "User ID": "u", "Created At": "2026", "Security Groups": [{"name": "web"}],
    "config_drive": "True", "OS-DCF:diskConfig": "MANUAL", "OS-EXT-AZ:availability_zone": "nova",
    "OS-EXT-SRV-ATTR:host": "c1", "OS-EXT-SRV-ATTR:user_data": "x", "OS-EXT-STS:vm_state": "active",
    "OS-SRV-USG:launched_at": "2026", "accessIPv4": "192.0.2.1", "created": "2026", "description": "mine",
    "hostId": "h", "key_name": "mine", "locked": True, "progress": 0, "tags": ["sql"], "updated": "2026",
    "volumes_attached": [{"id": "v9"}], "Scheduler Hints": "group=x", "server_groups": ["g"],
    "trusted_image_certificates": ["c"], "hostname": "web", "host_status": "UP", "links": [1],
}  # fmt: skip
FLAVOR: Mapping[str, Any] = {
    "VCPUs": 3, "RAM": 4096, "Disk": 9, "Ephemeral": 7, "OS-FLV-EXT-DATA:ephemeral": 7, "Swap": 512, "Is Public": False,
    "RXTX Factor": 2.0, "OS-FLV-DISABLED:disabled": True, "os-flavor-access:is_public": True, "description": "mine",
}  # fmt: skip
EXTRA_SPECS: Mapping[str, str] = {
    "hw:cpu_policy": "dedicated", "hw:mem_page_size": "1GB", "hw:numa_nodes": "2", "hw:numa_cpus.0": "0,1",
    "hw:numa_mem.0": "1024", "hw:cpu_thread_policy": "isolate", "hw:emulator_threads_policy": "share",
    "hw:cpu_realtime": "yes", "hw:cpu_realtime_mask": "^0", "hw:cpu_sockets": "2", "hw:cpu_cores": "2",
    "hw:cpu_max_sockets": "2", "hw:watchdog_action": "reset", "hw:pci_numa_affinity_policy": "required",
    "hw:mem_encryption": "true", "hw:vif_multiqueue_enabled": "true", "hw:serial_port_count": "2",
    "hw:tpm_version": "2.0", "hw:tpm_model": "tpm-crb", "hw:locked_memory": "true", "hw_rng:allowed": "True",
    "hw_video:ram_max_mb": "64", "hide_hypervisor_id": "true", "os:secure_boot": "required",
    "pci_passthrough:alias": "t4:1", "resources:VGPU": "1", "resources:CUSTOM_X": "1",
    "trait:HW_CPU_X86_AVX2": "required",
    "quota:cpu_quota": "5000", "quota:disk_total_iops_sec": "100", "accel:device_profile": "x", "powervm:min_mem": "1",
    "aggregate_instance_extra_specs:ssd": "true", "capabilities:x": "y",
}  # fmt: skip
IMAGE: Mapping[str, str] = {
    "hw_firmware_type": "uefi", "os_secure_boot": "required", "os_distro": "rhel", "os_version": "9.2",
    "os_type": "windows", "hw_disk_bus": "scsi", "hw_vif_model": "e1000", "hw_machine_type": "q35",
    "hw_numa_nodes": "2", "hw_cpu_policy": "dedicated", "hw_mem_page_size": "1GB", "hw_tpm_version": "2.0",
    "architecture": "aarch64", "hw_watchdog_action": "reset", "hw_pmu": "false", "hw_video_model": "qxl",
    "hw_vif_multiqueue_enabled": "true", "hw_mem_encryption": "true", "os_command_line": "quiet",
}  # fmt: skip
VOLUME: Mapping[str, Any] = {
    "ID": "other", "Name": "logs", "Status": "in-use", "Size": 9, "Type": "ssd", "volume_type": "ssd",
    "encrypted": True,
    "Bootable": "true", "Properties": {}, "multiattach": True, "created_at": "2026", "snapshot_id": "s",
    "Attached to": [{"server_id": "s1", "device": "/dev/vda"}, {"server_id": "s2"}],
    "volume_image_metadata": {"os_distro": "rhel", "hw_firmware_type": "uefi", "image_name": "rhel"},
    "availability_zone": "nova", "os-vol-host-attr:host": "c1", "consistencygroup_id": "c", "user_id": "u",
}  # fmt: skip
# Types of devices of vSphere that no VM gets.
VSPHERE_LOST = _split(
    "VirtualSerialPort; VirtualParallelPort; VirtualHdAudioCard; VirtualWDT; VirtualNVDIMM; VirtualNew"
)
VSPHERE_IGNORED = _split(
    "VirtualIDEController; VirtualPS2Controller; VirtualKeyboard; VirtualPointingDevice; VirtualMachineVMCIDevice;"
    "VirtualCdrom; VirtualFloppy; VirtualMachineVideoCard"
)
