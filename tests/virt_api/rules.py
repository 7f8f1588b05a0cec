"""Further VMs at the limits of what KubeVirt admits: one for each rule and gate that those of `cases` do not reach."""

from functools import partial

from virt_api.case import Case, Fields, gates, interface, vm, vmi, volume

DEFAULT = {"multus": {"networkName": "net", "default": True}}
NETWORK_A, NETWORK_B, NETWORK_M = {"name": "a", "pod": {}}, {"name": "b", "pod": {}}, {"name": "m", **DEFAULT}
INTERFACES, DISKS = "domain.devices.interfaces", "domain.devices.disks"
REQUESTS, LIMITS = "domain.resources.requests", "domain.resources.limits"
PINNED = {"dedicatedCpuPlacement": True}
SECRET = {"source": {"secret": {"secretName": "s"}}}
SIDECARS = {"hooks.kubevirt.io/hookSidecars": "[]"}
IGNITION = {**SIDECARS, "kubevirt.io/ignitiondata": "x"}
GPU_CLAIM = {"name": "g", "claimName": "c", "requestName": "r"}

on_pod = partial(interface, called="a")
"""An interface beside the pod network, both named `a`."""


def span(protocol: str, start: int, end: int) -> Fields:
    return {"protocol": protocol, "start": start, "end": end}


def without_gate(name: str) -> Fields:
    return {"developerConfiguration": {"disabledFeatureGates": [name]}}


def disk_of(source: Fields, **fields: Fields) -> Fields:
    """A volume and its disk, both named `d`."""
    return {"volumes": [{"name": "d", **source}], DISKS: [{"name": "d", **fields}]}


def evmcs(*features: Fields) -> Case:
    enlightenments = {"evmcs": {"enabled": True}, "vapic": {"enabled": True}}
    return vmi({"domain.features": {"hyperv": enlightenments}, "domain.cpu": {"features": list(features)}})


RULES: dict[str, Case] = {
    "two pods": vm({"networks": [NETWORK_A, NETWORK_B]}),
    "two defaults": vm({"networks": [NETWORK_M, NETWORK_M]}),
    "a pod and a default": vm({"networks": [NETWORK_A, NETWORK_M]}),
    "multus without a name": vm({"networks": [{"name": "m", "multus": {}}]}),
    "a network twice": vm({"networks": [NETWORK_A, NETWORK_A]}),
    "an interface alone": vm({INTERFACES: [{"name": "a"}]}),
    "claimed and pod": vm(
        {
            "networks": [NETWORK_A, {"name": "c", "resourceClaim": {"claimName": "claim", "requestName": "one"}}],
            INTERFACES: [{"name": "c", "sriov": {}}],
        },
        gates("NetworkDevicesWithDRA"),
    ),
    "interfaces of one name": vm({INTERFACES: [{"name": "a"}, {"name": "a"}]}),
    "an unknown state": vm(on_pod(state="sideways")),
    "time servers": vm(on_pod(dhcpOptions={"ntpServers": ["nowhere"]})),
    "private options": vm(
        on_pod(dhcpOptions={"privateOptions": [{"option": 1}, {"option": 1}], "ntpServers": ["10.0.0.1"]})
    ),
    "port names, alone": vm(
        on_pod(masquerade={}, ports=[{"port": 1}, {"port": 2, "name": "web"}, {"port": 3, "name": "web"}])
    ),
    "no port": vm(on_pod(masquerade={}, ports=[{}])),
    "ranges side by side": vm(
        on_pod(masquerade={}, portRanges=[span("TCP", 1, 2), span("TCP", 3, 4), span("UDP", 1, 2)]),
        gates("PortRangesSpec"),
    ),
    "ranges off the pod network": vm(
        interface(DEFAULT, "m", bridge={}, portRanges=[span("TCP", 1, 2)]), gates("PortRangesSpec")
    ),
    "less than no CPU": vm({REQUESTS: {"cpu": "2"}, LIMITS: {"cpu": "1"}}),
    "realtime": vm({"domain.cpu": {"realtime": {}}}),
    "memory that may grow": vm(
        {REQUESTS: {"memory": "1Gi", "cpu": "1"}, LIMITS: {"memory": "2Gi", "cpu": "1"}, "domain.cpu": PINNED}
    ),
    "CPUs that may grow": vm({REQUESTS: {"cpu": "1"}, LIMITS: {"cpu": "2"}, "domain.cpu": PINNED}),
    "no CPUs": vm({"domain.cpu": {**PINNED, "cores": 0}}),
    "vmi without CPUs": vmi({"domain.cpu": {**PINNED, "cores": 0, "sockets": 0}}),
    "three threads": vm({"domain.cpu": {**PINNED, "cores": 1, "sockets": 1, "threads": 3}}),
    "host devices": vm({"domain.devices.hostDevices": [{"name": "h", "deviceName": "x"}]}),
    "a socket": vm({"domain.devices.autoattachVSOCK": True}),
    "metrics": vm({"domain.devices.downwardMetrics": {}}),
    "video without graphics": vm(
        {"domain.devices.video": {"type": "vga"}, "domain.devices.autoattachGraphicsDevice": False}
    ),
    "a reboot policy": vm({"domain.rebootPolicy": "Terminate"}, without_gate("RebootPolicy")),
    "metrics on a disk of no kind": vm(disk_of({"downwardMetrics": {}}, cdrom={})),
    "metrics on another bus": vm(disk_of({"downwardMetrics": {}}, disk={"bus": "sata"})),
    "a lun of a container disk": vm(disk_of({"containerDisk": {"image": "i"}}, lun={})),
    "an empty CD-ROM": vm({DISKS: [{"name": "d", "cdrom": {}}]}, without_gate("DeclarativeHotplugVolumes")),
    "an interface that boots at 0": vm({INTERFACES: [{"name": "a", "bootOrder": 0}]}),
    "IDE": vm({DISKS: [{"name": "d", "disk": {"bus": "ide"}}]}),
    "virtio for a CD-ROM": vm({DISKS: [{"name": "d", "cdrom": {"bus": "virtio"}}]}),
    "disks of one name": vm({DISKS: [{"name": "d", "disk": {}}, {"name": "d", "disk": {}}]}),
    "a service account twice": vm(
        {
            "serviceAccountName": "a",
            "volumes": [{"serviceAccount": {"serviceAccountName": name}} for name in ("a", "b")],
        }
    ),
    "two probes in one": vm(
        {"livenessProbe": {"exec": {"command": ["a"]}, "httpGet": {"port": 1}}, **on_pod(masquerade={})}
    ),
    "a probe of nothing": vm({"livenessProbe": {}, "networks": [NETWORK_A]}),
    "a probe without a pod network": vm({"livenessProbe": {"tcpSocket": {"port": 1}}}),
    "four name servers": vm(
        {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["1.1.1.1"] * 4, "options": [{"name": "a"}, {}]}}
    ),
    "many search paths": vm(
        {"dnsPolicy": "Default", "dnsConfig": {"searches": [f"{'a' * 60}{number}.b" for number in range(40)]}}
    ),
    "a key without a user": vm(
        {
            "accessCredentials": [
                {"sshPublicKey": {**SECRET, "propagationMethod": {"qemuGuestAgent": {"users": []}}}},
                {"userPassword": {**SECRET, "propagationMethod": {"qemuGuestAgent": {}}}},
            ]
        }
    ),
    "a key without its volume": vm(
        {
            "accessCredentials": [
                {"sshPublicKey": {"source": {}, "propagationMethod": {"noCloud": {}, "configDrive": {}}}},
                {"sshPublicKey": {"source": {}, "propagationMethod": {}}},
                {},
            ]
        }
    ),
    "a hidden label": vm(metadata={"labels": {"kubevirt.io/nodeName": "n"}, "annotations": SIDECARS}),
    "an unknown eviction": vm({"evictionStrategy": "Never"}),
    "an unknown start": vm({"startStrategy": "Late"}),
    "paused and alive": vm({"startStrategy": "Paused", "livenessProbe": {}}),
    "no start strategy": vm({}),
    "arm64 as it should be": vmi({"architecture": "arm64", DISKS: [{"name": "d", "disk": {"bus": "virtio"}}]}),
    "an unknown machine": vmi({"architecture": "mips"}),
    "two targets": vm({DISKS: [{"name": "d", "disk": {}, "lun": {}}]}),
    "an emulator thread": vm({"domain.cpu": {"isolateEmulatorThread": True}}),
    "an open CD-ROM": vm({DISKS: [{"name": "d", "cdrom": {}}]}, gates("DeclarativeHotplugVolumes")),
    "TDX with SMM": vm(
        {"architecture": "amd64", "domain.launchSecurity": {"tdx": {}}, "domain.features": {"smm": {}}},
        gates("WorkloadEncryptionTDX"),
    ),
    "no configuration": vm({"dnsPolicy": "None"}),
    "a port of no name": vm(on_pod(masquerade={}, ports=[{"port": 1, "name": "Not A Name"}])),
    "passt": vm(on_pod(passtBinding={}), without_gate("PasstBinding")),
    "a model of no kind": vm(on_pod(model="ne1")),
    "an interface of no name": vm({INTERFACES: [{"name": "a b", "macAddress": "1"}]}),
    "a claim of nobody": vm({"domain.devices.gpus": [GPU_CLAIM]}, gates("GPUsWithDRA")),
    "nodes as they should be": vm(
        {
            "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 1,
                    "preference": {
                        "matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["1"]}],
                        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}],
                    },
                }
            ]
        }
    ),
    "a receiver": vm({}, without_gate("DecentralizedLiveMigration"), vm={"runStrategy": "WaitAsReceiver"}),
    "none": vm(vm={"runStrategy": None}),
    "evmcs without vmx": evmcs(),
    "evmcs with another feature": evmcs({"name": "svm"}),
    "evmcs with a forced feature": evmcs({"name": "vmx", "policy": "force"}),
    "metrics as a volume": vm(
        {"volumes": [volume("downwardMetrics", name) for name in ("a", "b")]}, gates("DownwardMetrics")
    ),
    "unmapped": vmi(
        {
            "volumes": [
                volume("emptyDisk", "a", capacity="1Gi"),
                volume("memoryDump", "m", claimName="c"),
                volume("containerPath", "p", path="/data"),
            ]
        }
    ),
    "hugepages of no size": vm({"domain.memory": {"guest": "1Gi", "hugepages": {"pageSize": "0"}}}),
    "io threads pool of two": vm(
        {"domain.ioThreadsPolicy": "supplementalPool", "domain.ioThreads": {"supplementalPoolThreadCount": 2}}
    ),
    "data volume of no name": vm({"volumes": [volume("dataVolume")]}),
    "objects without names": vm(
        {"volumes": [volume(source, source) for source in ("secret", "configMap", "serviceAccount")]}
    ),
    "metrics as they should be": vm(disk_of({"downwardMetrics": {}}, disk={}), gates("DownwardMetrics")),
    "a path of the container": vmi(
        {
            "volumes": [volume("containerPath", name, path="/data") for name in ("p", "q")],
            "domain.devices.filesystems": [{"name": "p", "virtiofs": {}}],
            DISKS: [{"name": "q", "disk": {}}],
        }
    ),
    "panic device of the gate": vm({"domain.devices.panicDevices": [{"model": "isa"}]}, gates("PanicDevices")),
    "panic device": vm({"domain.devices.panicDevices": [{"model": "isa"}]}),
    "secure execution with its gate": vm(
        {"architecture": "s390x", "domain.launchSecurity": {}}, gates("SecureExecution")
    ),
    "secure execution with another gate": vm(
        {"architecture": "s390x", "domain.launchSecurity": {}}, gates("WorkloadEncryptionSEV")
    ),
    "sev without efi": vm(
        {"architecture": "amd64", "domain.launchSecurity": {"sev": {}}}, gates("WorkloadEncryptionSEV")
    ),
    "arm64": vm({"architecture": "arm64"}),
    "arm64 with its gate": vm({"architecture": "arm64"}, gates("MultiArchitecture")),
    "amd64": vm({"architecture": "amd64"}),
    "persistent tpm": vm({"domain.devices.tpm": {"persistent": True}}),
    "persistent tpm with its gate": vm({"domain.devices.tpm": {"persistent": True}}, gates("VMPersistentState")),
    "persistent tpm that is off": vm({"domain.devices.tpm": {"persistent": True, "enabled": False}}),
    "tpm": vm({"domain.devices.tpm": {}}),
    "persistent efi": vm({"domain.firmware.bootloader": {"efi": {"persistent": True, "secureBoot": False}}}),
    "machines of all architectures": vm(
        {"domain.machine": {"type": "virt"}, "architecture": "arm64"},
        {"emulatedMachines": ["q35*"], "architectureConfiguration": {"arm64": {"emulatedMachines": ["virt*"]}}},
    ),
    "machines of an architecture": vm(
        {"domain.machine": {"type": "virt"}, "architecture": "arm64"},
        {"architectureConfiguration": {"arm64": {"emulatedMachines": ["virt*"]}}},
    ),
    "arm64 with another gate": vm({"architecture": "arm64"}, gates("VMPersistentState")),
    "old slirp": vm(on_pod(slirp={})),
    "old macvtap": vm(on_pod(macvtap={})),
    "old passt on multus": vm(interface(DEFAULT, "m", passt={})),
    "vmi old passt with its gate": vmi(on_pod(passt={}), gates("Passt")),
    "annotations without gates": vm(metadata={"annotations": IGNITION}),
    "gpu with a name and half a claim": vm(
        {"domain.devices.gpus": [{"name": "g", "deviceName": "x", "claimName": "c"}]}, gates("GPUsWithDRA")
    ),
    "gpu by a claim that is there": vm(
        {"domain.devices.gpus": [GPU_CLAIM], "resourceClaims": [{"name": "c", "resourceClaimName": "x"}]},
        gates("GPUsWithDRA"),
    ),
}
