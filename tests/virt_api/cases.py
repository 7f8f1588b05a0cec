"""VMs at the limits of what KubeVirt admits: each breaks a rule, or only just keeps it."""

from typing import Any

from virt_api.case import LONG, Case, Fields, disk, gates, interface, vm, vmi, volume
from virt_api.rules import RULES

MULTUS = {"multus": {"networkName": "x"}}
CPU, MEMORY, DEVICES, FIRMWARE = "domain.cpu", "domain.memory", "domain.devices", "domain.firmware"
REQUESTS, LIMITS = "domain.resources.requests", "domain.resources.limits"
EFI = {FIRMWARE: {"bootloader": {"efi": {"secureBoot": False}}}}
NODE = "affinity.nodeAffinity"
IN_SCHEDULING, PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))
RANGES = {"start": 1, "end": 2, "protocol": "TCP"}


def node_term(*match_fields: Fields, **expression: Any) -> Fields:
    term = {"matchFields": list(match_fields)} if match_fields else {"matchExpressions": [expression]}
    return {f"{NODE}.{IN_SCHEDULING}": {"nodeSelectorTerms": [term]}}


def pod_term(kind: str = "podAffinity", **term: Any) -> Fields:
    return {f"affinity.{kind}": {IN_SCHEDULING: [term]}}


def spread(*constraints: Fields) -> Fields:
    whole = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**whole, **constraint} for constraint in constraints]}


def data_volume(name: str = "d", **spec: Any) -> Fields:
    return {"metadata": {"name": name}, "spec": spec}


def with_data_volumes(*templates: Fields) -> Case:
    return vm({"volumes": [{"name": "d", "dataVolume": {"name": "d"}}]}, vm={"dataVolumeTemplates": list(templates)})


BLANK, STORAGE = {"source": {"blank": {}}}, {"storage": {"resources": {"requests": {"storage": "1Gi"}}}}
POPULATOR, OF_GROUP = {"kind": "x", "name": "y"}, {"apiGroup": "g", "kind": "x", "name": "y"}
SSH = {"source": {"secret": {"secretName": "s"}}, "propagationMethod": {"noCloud": {}}}
TWO_USERS = {"qemuGuestAgent": {"users": ["a", "a"]}}
CLOUD = volume("cloudInitNoCloud", userData="#cloud-config")
GRACE = {"permittedHostDevices": {"pciHostDevices": [{"resourceName": "n/grace", "pciVendorSelector": "10de:2342"}]}}
ANY_NVIDIA = {"permittedHostDevices": {"pciHostDevices": [{"resourceName": "n/any", "pciVendorSelector": "10DE:*"}]}}
GRACE_GPU = {f"{DEVICES}.gpus": [{"name": "g", "deviceName": "n/grace"}]}
CLAIM = {"name": "c", "resourceClaimName": "x"}
GPU_CLAIM = {"name": "g", "claimName": "c", "requestName": "r"}
GPU_NAME = {"name": "h", "deviceName": "x"}
OF_CLAIM = {"resourceClaim": {"claimName": "c", "requestName": "r"}}
SEV = {"domain.launchSecurity": {"sev": {}}}
DRA = gates("NetworkDevicesWithDRA")


def claimed(**devices: list[Fields]) -> Fields:
    """Devices beside a claim."""
    return {**{f"{DEVICES}.{kind}": listed for kind, listed in devices.items()}, "resourceClaims": [CLAIM]}


def connected(binding: str, **networks: Fields) -> Fields:
    """Networks by name, each with an interface."""
    return {
        "networks": [{"name": name, **network} for name, network in networks.items()],
        f"{DEVICES}.interfaces": [{"name": name, binding: {}} for name in networks],
    }


def kernel(**container: str) -> Case:
    return vm({f"{FIRMWARE}.kernelBoot": {"container": container}})


def custom_blocks(logical: int, physical: int, **more: int) -> Fields:
    return {"blockSize": {"custom": {"logical": logical, "physical": physical, **more}}}


def stored(**more: Any) -> Fields:
    """A part of a DataVolume: storage of a size. more: other fields of the storage."""
    return {"storage": {**STORAGE["storage"], **more}}


def cloud_init(kind: str = "cloudInitNoCloud", **fields: Any) -> Case:
    return vm({"volumes": [volume(kind, **fields)]})


CASES: dict[str, Case] = {
    # names
    "hostname ends with a dash": vm({"hostname": "a-"}),
    "hostname too long and bad": vm({"hostname": "A" * 64}),
    "subdomain with dots": vm({"subdomain": "a.b"}),
    "subdomain too long": vm({"subdomain": ".".join(["a" * 62] * 5)}),
    "service account": vm({"serviceAccountName": "sa"}),
    "service account bad": vm({"serviceAccountName": "SA"}),
    "service account other": vm(
        {"serviceAccountName": "sa", "volumes": [volume("serviceAccount", serviceAccountName="other")]}
    ),
    # memory
    "memory request negative": vm({REQUESTS: {"memory": "-1Gi"}}),
    "memory request below 1M": vm({REQUESTS: {"memory": "999k"}}),
    "memory request of milli": vm({REQUESTS: {"memory": "500m"}}),
    "memory request 1M": vm({REQUESTS: {"memory": "1M"}}),
    "memory limit negative": vm({LIMITS: {"memory": "-1"}}),
    "memory request above limit": vm({REQUESTS: {"memory": "2Gi"}, LIMITS: {"memory": "1Gi"}}),
    "hugepages no quantity": vm({f"{MEMORY}.hugepages": {"pageSize": "big"}}),
    "hugepages as large as the memory": vm({f"{MEMORY}.hugepages": {"pageSize": "1Gi"}}),
    "hugepages and limit only": vm({MEMORY: {"hugepages": {"pageSize": "1Gi"}}, LIMITS: {"memory": "512Mi"}}),
    "hugepages no multiple": vm({MEMORY: {"guest": "1025Mi", "hugepages": {"pageSize": "2Mi"}}}),
    "guest above limit": vm({LIMITS: {"memory": "512Mi"}}),
    "guest above limit, staged": vm({LIMITS: {"memory": "512Mi"}}, {"vmRolloutStrategy": "Stage"}),
    "guest at limit, staged": vm({LIMITS: {"memory": "1Gi"}}, {"vmRolloutStrategy": "Stage"}),
    "maxGuest": vm({f"{MEMORY}.maxGuest": "2Gi"}),
    "maxGuest below guest": vm({f"{MEMORY}.maxGuest": "512Mi"}),
    "maxGuest not aligned": vm({f"{MEMORY}.maxGuest": "2049Mi"}),
    "maxGuest, guest not aligned": vm({MEMORY: {"guest": "1025Mi", "maxGuest": "4Gi"}}),
    "maxGuest with 1Gi pages": vm({MEMORY: {"guest": "1Gi", "maxGuest": "3Gi", "hugepages": {"pageSize": "1Gi"}}}),
    "maxGuest with 1Gi pages not aligned": vm(
        {MEMORY: {"guest": "1Gi", "maxGuest": "2560Mi", "hugepages": {"pageSize": "1Gi"}}}
    ),
    "maxGuest on arm64": vm({"architecture": "arm64", f"{MEMORY}.maxGuest": "2Gi"}),
    "maxGuest with realtime": vm(
        {
            f"{MEMORY}.maxGuest": "2Gi",
            f"{MEMORY}.hugepages": {"pageSize": "2Mi"},
            CPU: {"dedicatedCpuPlacement": True, "realtime": {}, "numa": {"guestMappingPassthrough": {}}},
        }
    ),
    "maxGuest encrypted": vm({f"{MEMORY}.maxGuest": "2Gi", **SEV, **EFI}),
    "maxGuest alone": vm({MEMORY: {"maxGuest": "2Gi"}}),
    "maxGuest alone, on arm64": vm({"architecture": "arm64", MEMORY: {"maxGuest": "2Gi"}}),
    "maxGuest staged": vm({f"{MEMORY}.maxGuest": "512Mi"}, {"vmRolloutStrategy": "Stage"}),
    "reserved overhead": vm({f"{MEMORY}.reservedOverhead": {"addedOverhead": "1Mi"}}),
    "no memory at all": vm({MEMORY: None}),
    # CPU
    "cpu request of micro": vm({REQUESTS: {"cpu": "-1u"}}),
    "cpu request equal to limit": vm({REQUESTS: {"cpu": "1"}, LIMITS: {"cpu": "1000m"}}),
    "cpu limit zero": vm({REQUESTS: {"cpu": "1"}, LIMITS: {"cpu": "0"}}),
    "dedicated, nothing": vm({CPU: {"dedicatedCpuPlacement": True}}),
    "dedicated, limit only": vm({CPU: {"dedicatedCpuPlacement": True}, LIMITS: {"cpu": "2"}}),
    "dedicated, half a CPU as limit": vm({CPU: {"dedicatedCpuPlacement": True}, LIMITS: {"cpu": "1500m"}}),
    "dedicated, limit and cores": vm({CPU: {"dedicatedCpuPlacement": True, "cores": 4}, LIMITS: {"cpu": "2"}}),
    "dedicated, limit is cores": vm({CPU: {"dedicatedCpuPlacement": True, "cores": 2}, LIMITS: {"cpu": "2"}}),
    "dedicated, threads only": vm({CPU: {"dedicatedCpuPlacement": True, "threads": 2}}),
    "dedicated, threads on arm64": vm({"architecture": "arm64", CPU: {"dedicatedCpuPlacement": True, "threads": 2}}),
    "dedicated, no memory": vm({MEMORY: None, CPU: {"dedicatedCpuPlacement": True, "cores": 1}}),
    "dedicated, memory limit only": vm(
        {MEMORY: None, LIMITS: {"memory": "1Gi"}, CPU: {"dedicatedCpuPlacement": True, "cores": 1}}
    ),
    "numa alone": vm({CPU: {"cores": 1, "numa": {"guestMappingPassthrough": {}}}}),
    "numa empty": vm({CPU: {"cores": 1, "numa": {}}}),
    "features": vm({CPU: {"features": [{"name": "a"}, {"name": "b", "policy": "no"}, {"name": "c", "policy": "x"}]}}),
    "more sockets than allowed": vm({CPU: {"sockets": 4, "maxSockets": 2}}),
    "more sockets than allowed, staged": vm({CPU: {"sockets": 4, "maxSockets": 2}}, {"vmRolloutStrategy": "Stage"}),
    "realtime without numa": vm({CPU: {"cores": 1, "realtime": {}, "dedicatedCpuPlacement": True}}),
    # firmware and machine
    "machine with a slash": vm({"domain.machine": {"type": "q35/x"}}),
    "machine of s390x": vm({"architecture": "s390x", "domain.machine": {"type": "s390-ccw-virtio-9"}}),
    "machine of an unknown architecture": vm({"architecture": "riscv64", "domain.machine": {"type": "virt"}}),
    "machine among emulatedMachines": vm({"domain.machine": {"type": "pc"}}, {"emulatedMachines": ["pc"]}),
    "machine not among emulatedMachines": vm({"domain.machine": {"type": "q35"}}, {"emulatedMachines": ["pc"]}),
    "acpi empty": vm({f"{FIRMWARE}.acpi": {}}),
    "acpi no volume": vm({f"{FIRMWARE}.acpi": {"slicNameRef": "x", "msdmNameRef": "y"}}),
    "acpi other volume": vm({f"{FIRMWARE}.acpi": {"slicNameRef": "v"}, "volumes": [CLOUD | {"name": "v"}]}),
    "acpi secret": vm({f"{FIRMWARE}.acpi": {"msdmNameRef": "v"}, "volumes": [volume("secret", secretName="s")]}),
    "efi and bios": vm({f"{FIRMWARE}.bootloader": {"efi": {"secureBoot": False}, "bios": {}}}),
    "kernel arguments": vm({f"{FIRMWARE}.kernelBoot": {"kernelArgs": "quiet"}}),
    "kernel boot empty": vm({f"{FIRMWARE}.kernelBoot": {}}),
    "kernel container empty": kernel(),
    "kernel paths": kernel(image="i", kernelPath="a", initrdPath="/a/../b"),
    "kernel path root": kernel(image="i", kernelPath="/"),
    "kernel path with a slash at the end": kernel(image="i", kernelPath="/a/"),
    "kernel path with two slashes": kernel(image="i", kernelPath="//a", initrdPath="/a//b"),
    "secure boot with smm off": vm(
        {f"{FIRMWARE}.bootloader": {"efi": {}}, "domain.features": {"smm": {"enabled": False}}}
    ),
    "launch security of two kinds": vm({"domain.launchSecurity": {"sev": {}, "snp": {}}, **EFI}),
    "launch security of no kind": vm({"domain.launchSecurity": {}, **EFI}),
    "launch security on arm64": vm({"architecture": "arm64", "domain.launchSecurity": {"sev": {}}}),
    "launch security on s390x": vm({"architecture": "s390x", "domain.launchSecurity": {}}),
    "sev attestation": vm({"domain.launchSecurity": {"sev": {"attestation": {}}}, **EFI}),
    "sev attestation paused": vm(
        {"domain.launchSecurity": {"sev": {"attestation": {}}}, **EFI, "startStrategy": "Paused"}
    ),
    "sev secure boot": vm({**SEV, f"{FIRMWARE}.bootloader": {"efi": {}}, "domain.features": {"smm": {}}}),
    "snp persistent": vm(
        {
            "domain.launchSecurity": {"snp": {}},
            f"{FIRMWARE}.bootloader": {"efi": {"secureBoot": False, "persistent": True}},
        }
    ),
    "sev bootable interface": vm({**SEV, **EFI, **interface(masquerade={}, bootOrder=1)}),
    "tdx with smm": vm(
        {"domain.launchSecurity": {"tdx": {}}, **EFI, "domain.features": {"smm": {}}}, gates("WorkloadEncryptionTDX")
    ),
    "tdx secure boot": vm(
        {"domain.launchSecurity": {"tdx": {}}, f"{FIRMWARE}.bootloader": {"efi": {}}}, gates("WorkloadEncryptionTDX")
    ),
    # networks and interfaces
    "two multus defaults": vm(
        connected("bridge", **{name: {"multus": {"networkName": name, "default": True}} for name in ("a", "b")})
    ),
    "networks of one name": vm(
        {"networks": [{"name": "a", **MULTUS}] * 2, f"{DEVICES}.interfaces": [{"name": "a", "bridge": {}}] * 2}
    ),
    "network by claim": vm(interface(OF_CLAIM, sriov={})),
    "network by claim, on": vm({**interface(OF_CLAIM, sriov={}), **claimed()}, DRA),
    "network by claim that is not there": vm(interface(OF_CLAIM, bridge={}), DRA),
    "network by empty claim": vm(interface({"resourceClaim": {}}, sriov={}), DRA),
    "networks by one claim": vm({**connected("sriov", a=OF_CLAIM, b=OF_CLAIM), **claimed()}, DRA),
    "networks by claim and multus": vm(connected("sriov", a=OF_CLAIM, b=MULTUS), DRA),
    "interface name": vm(interface(called="a.b", masquerade={})),
    "interface without a name": vm({"networks": [{"pod": {}}], f"{DEVICES}.interfaces": [{"masquerade": {}}]}),
    "interface absent": vm(interface(bridge={}, state="absent")),
    "interface absent, masquerade": vm(interface(masquerade={}, state="absent")),
    "interface sriov down": vm(interface(MULTUS, sriov={}, state="down")),
    "reserved mac": vm(interface(masquerade={}, macAddress="02:00:00:00:00:00")),
    "mac with dots": vm(interface(masquerade={}, macAddress="0200.0000.0001")),
    "mac of seven bytes": vm(interface(masquerade={}, macAddress="02:00:00:00:00:00:01")),
    "mac of twenty bytes": vm(interface(masquerade={}, macAddress=":".join(["02"] * 20))),
    "mac with two separators": vm(interface(masquerade={}, macAddress="02:00-00:00:00:01")),
    "mac with a digit less": vm(interface(masquerade={}, macAddress="2:0:0:0:0:1")),
    "interface pci address": vm(interface(masquerade={}, pciAddress="0000:81:00.1")),
    "interface pci address bad": vm(interface(masquerade={}, pciAddress="81:00.1")),
    "bridge not permitted": vm(interface(bridge={}), {"network": {"permitBridgeInterfaceOnPodNetwork": False}}),
    "bridge on multus while not permitted": vm(
        interface(MULTUS, bridge={}), {"network": {"permitBridgeInterfaceOnPodNetwork": False}}
    ),
    "passt on multus": vm(interface(MULTUS, passtBinding={})),
    "old passt": vm(interface(passt={})),
    "old passt with its gate": vm(interface(passt={}), gates("Passt")),
    "old macvtap with its gate": vm(interface(macvtap={}), gates("Macvtap")),
    "gate of macvtap, unused": vm(interface(masquerade={}), gates("Macvtap")),
    "binding plugin": vm(interface(binding={"name": "x"})),
    "ports on multus are not looked at": vm(interface(MULTUS, bridge={}, ports=[{"port": 0}])),
    "port negative": vm(interface(masquerade={}, ports=[{"port": -1, "protocol": "SCTP"}])),
    "port names": vm(
        interface(
            masquerade={},
            ports=[{"port": 1, "name": n} for n in ("a" * 16, "1", "a--b", "-a", "a-", "A", "ok", "ok")],
        )
    ),
    "port ranges": vm(interface(masquerade={}, portRanges=[RANGES])),
    "port ranges on": vm(interface(masquerade={}, portRanges=[RANGES]), gates("PortRangesSpec")),
    "port ranges bad": vm(
        interface(
            bridge={},
            ports=[{"port": 1}],
            portRanges=[
                {**RANGES, **wrong} for wrong in ({"protocol": "X"}, {"start": 0}, {"end": 65536}, {"start": 3})
            ],
        ),
        gates("PortRangesSpec"),
    ),
    "port ranges overlap": vm(
        interface(masquerade={}, portRanges=[{**RANGES, "end": 9}, {**RANGES, "start": 9, "end": 12}]),
        gates("PortRangesSpec"),
    ),
    "port ranges, eleven": vm(interface(masquerade={}, portRanges=[RANGES] * 11), gates("PortRangesSpec")),
    "dhcp": vm(
        interface(
            masquerade={},
            dhcpOptions={
                "privateOptions": [{"option": o, "value": v} for o, v in ((1, "x"), (224, "x"), (224, "y"))],
                "ntpServers": ["1.2.3.4", "::1", "x"],
            },
        )
    ),
    # resource claims
    "claims": vm(
        {
            "resourceClaims": [
                {"name": "A", "resourceClaimName": "X", "resourceClaimTemplateName": "t"},
                {"name": "b"},
                {"name": "d", "resourceClaimTemplateName": "T"},
                {"resourceClaimName": "x"},
            ]
        }
    ),
    "gpu by claim": vm(claimed(gpus=[GPU_CLAIM])),
    "gpus by one claim": vm(claimed(gpus=[GPU_CLAIM, GPU_CLAIM])),
    "gpu by half a claim": vm(claimed(gpus=[{"name": "g", "claimName": "c"}])),
    "gpus by claim and by name": vm(claimed(gpus=[GPU_CLAIM, GPU_NAME])),
    "gpu by claim and name": vm({f"{DEVICES}.gpus": [{**GPU_CLAIM, "deviceName": "x"}]}),
    "gpu without anything": vm({f"{DEVICES}.gpus": [{"name": "g"}]}),
    "host devices by claim and name": vm(claimed(hostDevices=[GPU_CLAIM, GPU_NAME]), gates("HostDevices")),
    "gpu and host device by one claim": vm(claimed(gpus=[GPU_CLAIM], hostDevices=[GPU_CLAIM]), gates("HostDevices")),
    "gpu by claim, off": vm(
        claimed(gpus=[GPU_CLAIM]), {"developerConfiguration": {"disabledFeatureGates": ["GPUsWithDRA"]}}
    ),
    "gate both on and off": vm(
        claimed(gpus=[GPU_CLAIM]),
        {"developerConfiguration": {"featureGates": ["GPUsWithDRA"], "disabledFeatureGates": ["GPUsWithDRA"]}},
    ),
    # Grace
    "grace gpu": vm(GRACE_GPU, GRACE),
    "grace gpu, on": vm(GRACE_GPU, {**GRACE, **gates("GraceIOVirtualization")}),
    "grace gpu, annotations": vm(
        GRACE_GPU,
        GRACE,
        metadata={
            "annotations": {f"kubevirt.io/{n}": "true" for n in ("placePCIDevicesOnRootComplex", "disablePCIHole64")}
        },
    ),
    "grace gpu, with all": vm(
        {"architecture": "arm64", **GRACE_GPU, CPU: {"dedicatedCpuPlacement": True, "cores": 1}},
        {**GRACE, **gates("GraceIOVirtualization", "PCINUMAAwareTopology", "IOMMUFD")},
    ),
    "any nvidia": vm({f"{DEVICES}.gpus": [{"name": "g", "deviceName": "n/any"}]}, ANY_NVIDIA),
    "any nvidia, on": vm(
        {f"{DEVICES}.gpus": [{"name": "g", "deviceName": "n/any"}]}, {**ANY_NVIDIA, **gates("GraceIOVirtualization")}
    ),
    # devices
    "input without type": vm({f"{DEVICES}.inputs": [{"name": "i"}]}),
    "input keyboard by ps2": vm({f"{DEVICES}.inputs": [{"name": "i", "type": "keyboard", "bus": "ps2"}]}),
    "two displays": vm(
        {f"{DEVICES}.gpus": [{"name": n, "deviceName": "x", "virtualGPUOptions": {"display": {}}} for n in ("a", "b")]}
    ),
    "two displays, one without boot": vm(
        {
            f"{DEVICES}.gpus": [
                {"name": name, "deviceName": "x", "virtualGPUOptions": {"display": display}}
                for name, display in (("a", {}), ("b", {"ramFB": {}}), ("c", {"enabled": False}))
            ]
        }
    ),
    "sound without a name": vm({f"{DEVICES}.sound": {"model": "sb16"}}),
    "filesystem of a claim": vm(
        {
            "volumes": [volume("persistentVolumeClaim", claimName="c")],
            f"{DEVICES}.filesystems": [{"name": "v", "virtiofs": {}}],
        }
    ),
    "filesystem of a secret": vm(
        {"volumes": [volume("secret", secretName="s")], f"{DEVICES}.filesystems": [{"name": "v", "virtiofs": {}}]}
    ),
    "video": vm({f"{DEVICES}.video": {"type": "any"}}),
    "panic devices": vm({f"{DEVICES}.panicDevices": [{}, {"model": "x"}]}),
    "panic devices on s390x": vm({"architecture": "s390x", f"{DEVICES}.panicDevices": [{"model": "isa"}]}),
    "io threads pool of none": vm(
        {"domain.ioThreadsPolicy": "supplementalPool", "domain.ioThreads": {"supplementalPoolThreadCount": 0}}
    ),
    "io threads without a policy": vm({"domain.ioThreads": {"supplementalPoolThreadCount": 0}}),
    # disks
    "disk pci address": vm(disk(disk={"bus": "virtio", "pciAddress": "0000:04:10.0"})),
    "disk pci address, sata": vm(disk(disk={"bus": "sata", "pciAddress": "x"})),
    "disk boot order 0": vm(disk(bootOrder=0)),
    "interface boot order 0": vm(interface(masquerade={}, bootOrder=0)),
    "boot order twice": vm({**disk(bootOrder=1), **interface(masquerade={}, bootOrder=1)}),
    "boot order of two disks": vm(
        {
            "volumes": [volume("persistentVolumeClaim", n, claimName=n) for n in ("a", "b")],
            f"{DEVICES}.disks": [{"name": n, "bootOrder": 2} for n in ("a", "b")],
        }
    ),
    "disk bus": vm(disk(lun={"bus": "nvme"})),
    "disk read-only on sata": vm(disk(disk={"bus": "sata", "readonly": True})),
    "disk read-only on virtio": vm(disk(disk={"bus": "virtio", "readonly": True})),
    "io thread on sata": vm(disk(disk={"bus": "sata"}, dedicatedIOThread=True)),
    "io thread without a bus": vm(disk(disk={}, dedicatedIOThread=True)),
    "disk modes": vm(disk(disk={}, cache="fast", io="fast", errorPolicy="fast")),
    "disk modes that are": vm(disk(disk={}, cache="writeback", io="threads", errorPolicy="enospace")),
    "disk name with dots": vm(
        {"volumes": [volume("persistentVolumeClaim", "a.b", claimName="c")], f"{DEVICES}.disks": [{"name": "a.b"}]}
    ),
    "serial number with umlauts": vm(disk(serial="ä" * 257)),
    "block size matched and custom": vm(
        disk(blockSize={"matchVolume": {}, "custom": {"logical": 512, "physical": 512}})
    ),
    "block size custom, match off": vm(
        disk(blockSize={"matchVolume": {"enabled": False}, "custom": {"logical": 512, "physical": 512}})
    ),
    "block size logical above physical": vm(disk(**custom_blocks(1024, 512))),
    "block size on sata": vm(disk(disk={"bus": "sata"}, **custom_blocks(1024, 1024))),
    "block size discard": vm(disk(**custom_blocks(512, 512, discardGranularity=700))),
    "block size no power": vm(disk(**custom_blocks(700, 700))),
    "block size too small and too large": vm(disk(**custom_blocks(256, 4194304))),
    "two lower disks of one name": vm(
        {
            "volumes": [volume("persistentVolumeClaim", claimName="c")],
            f"{DEVICES}.disks": [{"name": "v"}, {"name": "v"}, {"name": "v"}],
        }
    ),
    "reservation": vm(disk(lun={"reservation": True}), {"persistentReservationConfiguration": {"enabled": True}}),
    "reservation by gate": vm(disk(lun={"reservation": True}), gates("PersistentReservation")),
    "reservation off": vm(
        disk(lun={"reservation": True}),
        {"persistentReservationConfiguration": {"enabled": False}, **gates("PersistentReservation")},
    ),
    "downward metrics on a cdrom": vm(
        {"volumes": [volume("downwardMetrics")], f"{DEVICES}.disks": [{"name": "v", "cdrom": {}}]},
        gates("DownwardMetrics"),
    ),
    "downward metrics, two": vm(
        {"volumes": [volume("downwardMetrics", n) for n in ("a", "b")]}, gates("DownwardMetrics")
    ),
    # volumes
    "volume without a name": vm({"volumes": [{"persistentVolumeClaim": {"claimName": "c"}}]}),
    "volume memory dumps": vm({"volumes": [volume("memoryDump", n, claimName=n) for n in ("a", "b")]}),
    "host disk": vm({"volumes": [volume("hostDisk", path="", type="File")]}),
    "host disk, on": vm({"volumes": [volume("hostDisk", path="/a", type="Disk", capacity="1Gi")]}, gates("HostDisk")),
    "container disk paths": vm(
        {
            "volumes": [
                volume("containerDisk", n, image="i", path=path)
                for n, path in (("a", "/"), ("b", "x"), ("c", "/x/./y"), ("d", "/x/y"), ("e", "/x/"), ("f", "//x"))
            ]
        }
    ),
    "utility volumes": vm({"utilityVolumes": [{"name": "u", "claimName": "c"}]}),
    "cloud-init two sources of user data": cloud_init(userData="a", userDataBase64="YQ==", secretRef={"name": "s"}),
    "cloud-init secret without a name": cloud_init(secretRef={}),
    "cloud-init no base64": cloud_init("cloudInitConfigDrive", userDataBase64="%", networkDataBase64="a"),
    "cloud-init base64 with line breaks": cloud_init(userDataBase64="YW\nJj\r\n"),
    "cloud-init base64 that ends badly": cloud_init(userDataBase64="YWJj" * 700 + "%"),
    "cloud-init base64 that ends badly, short": cloud_init(userDataBase64="YWJj" * 682 + "YWJ%"),
    "cloud-init base64 for URLs": cloud_init(userDataBase64="_-__"),
    "cloud-init base64 without padding": cloud_init(userDataBase64="YQ"),
    "cloud-init network data": cloud_init(networkData="x" * 2049),
    "cloud-init network data twice": cloud_init(networkData="x", networkDataSecretRef={"name": "s"}),
    # probes, DNS, credentials
    "probe twice": vm({"livenessProbe": {"exec": {"command": ["a"]}, "guestAgentPing": {}}}),
    "probe http on multus": vm(
        {**interface(MULTUS, bridge={}), "readinessProbe": {"httpGet": {"port": 80}}, "livenessProbe": {}}
    ),
    "dns none without servers": vm({"dnsPolicy": "None", "dnsConfig": {}}),
    "dns searches": vm(
        {
            "dnsConfig.searches": ["A", *(["a" * 60] * 6)],
            "dnsConfig.options": [{"value": "x"}],
            "dnsConfig.nameservers": ["::1", "::1%a"],
        }
    ),
    "dns server with zeros": vm({"dnsConfig": {"nameservers": ["010.0.0.1"]}}),
    "credentials of two kinds": vm(
        {
            "volumes": [CLOUD],
            "accessCredentials": [
                {"sshPublicKey": SSH, "userPassword": {**SSH, "propagationMethod": {"qemuGuestAgent": {}}}}
            ],
        }
    ),
    "credentials config drive": vm(
        {
            "accessCredentials": [
                {"sshPublicKey": {**SSH, "propagationMethod": {"noCloud": {}, "configDrive": {}}}},
                {"userPassword": {"source": {}, "propagationMethod": {}}},
            ]
        }
    ),
    # scheduling
    "node selector terms empty": vm({f"{NODE}.{IN_SCHEDULING}": {"nodeSelectorTerms": []}}),
    "node term values missing": vm(node_term(key="a", operator="In")),
    "node term values too many": vm(node_term(key="a", operator="Exists", values=["b"])),
    "node term Gt": vm(node_term(key="a", operator="Gt", values=["1", "2"])),
    "node term key": vm(node_term(key="a/b/c", operator="Exists")),
    "node term key parts": vm(node_term(key="/", operator="Exists")),
    "node term key prefix": vm(node_term(key=f"A/{LONG}", operator="Exists")),
    "node term fields": vm(
        node_term(
            {"key": "metadata.name", "operator": "In", "values": ["A", "b"]},
            {"key": "metadata.namespace", "operator": "Exists"},
        )
    ),
    "node preferences": vm(
        {
            f"{NODE}.{PREFERRED}": [
                {"weight": 0, "preference": {"matchExpressions": [{"key": "", "operator": "Exists"}]}}
            ]
        }
    ),
    "pod term": vm(pod_term(topologyKey="")),
    "pod term namespaces": vm(pod_term("podAntiAffinity", topologyKey="a", namespaces=["A"])),
    "pod term selectors": vm(
        pod_term(
            topologyKey="a",
            labelSelector={"matchLabels": {"-": "b"}},
            namespaceSelector={
                "matchExpressions": [
                    {"key": "a", "operator": "Is"},
                    {"key": "a", "operator": "In"},
                    {"key": "a", "operator": "NotIn", "values": ["-"]},
                    {"key": "a", "operator": "DoesNotExist", "values": ["x"]},
                ]
            },
        )
    ),
    "pod preferences": vm(
        {f"affinity.podAffinity.{PREFERRED}": [{"weight": 101, "podAffinityTerm": {"topologyKey": "a b"}}]}
    ),
    "spread": vm(spread({}, {"topologyKey": "host"})),
    "spread twice": vm(spread({}, {}, {})),
    "spread bad": vm(spread({"maxSkew": 0, "topologyKey": "", "labelSelector": {"matchLabels": {"a": LONG}}})),
    "spread whenUnsatisfiable": vm(spread({"whenUnsatisfiable": "Never"})),
    "toleration effect": vm({"tolerations": [{"effect": "Never", "operator": "Is"}]}),
    # the VM around it
    "WaitAsReceiver, on": vm({}, gates("DecentralizedLiveMigration"), vm={"runStrategy": "WaitAsReceiver"}),
    "running and run strategy": vm(vm={"running": False, "runStrategy": "Often"}),
    "running": vm(vm={"running": False, "runStrategy": None}),
    "labels": vm(metadata={"labels": {"kubevirt.io/schedulable": "true", "kubevirt.io/other": "x"}}),
    "annotations with gates": vm(
        {},
        gates("Sidecar", "ExperimentalIgnitionSupport"),
        metadata={"annotations": {"hooks.kubevirt.io/hookSidecars": "[]", "kubevirt.io/ignitiondata": "x"}},
    ),
    "start strategy and liveness": vm({"startStrategy": "Paused", "livenessProbe": {"guestAgentPing": {}}}),
    "eviction strategy of the cluster": vm({}, {"evictionStrategy": "LiveMigrate"}),
    "data volume": with_data_volumes(data_volume(**BLANK, **STORAGE)),
    "data volume not used": with_data_volumes(data_volume("e", **BLANK, **STORAGE)),
    "data volume without a name": with_data_volumes(data_volume("", **BLANK, **STORAGE)),
    "data volume without storage": with_data_volumes(data_volume(**BLANK)),
    "data volume with pvc and storage": with_data_volumes(data_volume(**BLANK, **STORAGE, pvc={})),
    "data volume without source": with_data_volumes(data_volume(**STORAGE)),
    "data volume with an empty source": with_data_volumes(data_volume(**STORAGE, source={})),
    "data volume with two sources": with_data_volumes(
        data_volume(**STORAGE, source={"blank": {}, "pvc": {"name": "a", "namespace": "b"}})
    ),
    "data volume with source and sourceRef": with_data_volumes(
        data_volume(**STORAGE, **BLANK, sourceRef={"kind": "DataSource", "name": "x"})
    ),
    "data volume populated and with source": with_data_volumes(data_volume(**stored(dataSource=POPULATOR), **BLANK)),
    "data volume populated": with_data_volumes(data_volume(**stored(dataSourceRef=POPULATOR))),
    "data volume populated by a group": with_data_volumes(data_volume(**stored(dataSourceRef=OF_GROUP))),
    "data volume populated by a group and with source": with_data_volumes(
        data_volume(**stored(dataSource=OF_GROUP), **BLANK)
    ),
    "data volume of another namespace": with_data_volumes(
        {"metadata": {"name": "d", "namespace": "other"}, "spec": {**BLANK, **STORAGE}}
    ),
    "data volume access mode": with_data_volumes(data_volume(storage={"accessModes": ["Any"]}, **BLANK)),
    # what virt-api's OpenAPI lets through or not
    "disk without a name": vm({f"{DEVICES}.disks": [{}]}),
    "container disk without an image": vm({"volumes": [volume("containerDisk")]}),
    "empty disk without capacity": vm({"volumes": [volume("emptyDisk")]}),
    "probe without a port": vm({"readinessProbe": {"tcpSocket": {}}}),
    "threads negative": vm({CPU: {"threads": -1}}),
    "sockets too many": vm({CPU: {"sockets": 2**32}}),
    "pull policy": vm({"volumes": [volume("containerDisk", image="i", imagePullPolicy="Maybe")]}),
    "dns policy empty": vm({"dnsPolicy": ""}),
    "container path relative": vm({"volumes": [volume("containerPath", path="a/../b")]}),
    "container path writable": vm({"volumes": [volume("containerPath", path="/a", readOnly=False)]}),
    "257 volumes": vm({"volumes": [volume("emptyDisk", f"v{i}", capacity="1Gi") for i in range(257)]}),
    "reboot policy": vm({"domain.rebootPolicy": "Sleep"}),
    "claims of one name": vm({"resourceClaims": [CLAIM, CLAIM]}),
    "users twice": vm({"accessCredentials": [{"sshPublicKey": {**SSH, "propagationMethod": TWO_USERS}}]}),
    # VMIs
    "vmi": vmi(),
    "vmi without memory": vmi({MEMORY: None}),
    "vmi with hugepages only": vmi({MEMORY: {"hugepages": {"pageSize": "2Mi"}}}),
    "vmi network twice": vmi(interface(MULTUS, masquerade={})),
    "vmi old slirp": vmi(interface(slirp={})),
    "vmi volume without a disk": vmi(
        {"volumes": [volume("memoryDump", claimName="c"), volume("secret", "s", secretName="s")]}
    ),
    "vmi container path": vmi(
        {
            "volumes": [volume("containerPath", path="/var/run/kubevirt/x")],
            f"{DEVICES}.disks": [{"name": "v", "disk": {}}],
        }
    ),
    "vmi dns policy": vmi({"dnsPolicy": "Host"}),
    "vmi cores": vmi({CPU: {"cores": -1}}),
    "vmi label": vmi(metadata={"labels": {"kubevirt.io/nodeName": "n"}}),
    "vmi architecture": vmi({"architecture": "riscv64"}),
    "vmi hyperv": vmi({"domain.features": {"hyperv": {"synictimer": {}, "synic": {"enabled": False}}}}),
    "vmi hyperv evmcs": vmi(
        {
            "domain.features": {"hyperv": {"evmcs": {}, "vapic": {"enabled": False}}},
            CPU: {"features": [{"name": "vmx", "policy": "forbid"}]},
        }
    ),
    "vmi hyperv passthrough": vmi({"domain.features": {"hyperv": {}, "hypervPassthrough": {}}}),
    "vmi arm64": vmi(
        {
            "architecture": "arm64",
            f"{FIRMWARE}.bootloader": {"bios": {}},
            f"{CPU}.model": "host-model",
            **disk(cdrom={"bus": "sata"}),
            f"{DEVICES}.watchdog": {"name": "w"},
            f"{DEVICES}.sound": {"name": "s"},
            f"{DEVICES}.video": {"type": "vga"},
        }
    ),
    "vmi amd64 video": vmi({f"{DEVICES}.video": {"type": "any"}}),
    "vmi amd64 watchdog": vmi({f"{DEVICES}.watchdog": {"name": "w", "diag288": {}}}),
    "vmi s390x": vmi({"architecture": "s390x", f"{DEVICES}.watchdog": {"name": "w", "i6300esb": {}}}),
    "vmi sev annotation": vmi({**SEV, **EFI}),
}

ALL = {**CASES, **RULES}
"""All that virt-api is asked."""
