"""Rules of KubeVirt's webhooks that no case of tests/admission_cases.py breaks; a server answers those."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.admission import (
    cpu,
    devices,
    disks,
    firmware,
    guest,
    interfaces,
    networks,
    scheduling,
    virtual_machine,
    vmi_only,
    volumes,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.config import gates
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.config.cluster import (
    KubeVirt,
    kubevirt_of,
)

Spec = dict[str, Any]
POD, OTHER = {"name": "a", "pod": {}}, {"name": "b", "pod": {}}
MULTUS: Spec = {"name": "m", "multus": {"networkName": "net", "default": True}}
CLAIM: Spec = {"name": "c", "resourceClaim": {"claimName": "claim", "requestName": "one"}}
PORTS = {"PortRangesSpec"}
CLOSED = {"DeclarativeHotplugVolumes", "DecentralizedLiveMigration", "PasstBinding", "RebootPolicy"}
DRA = {"NetworkDevicesWithDRA"}


def vmi(_devices: Spec | None = None, _domain: Spec | None = None, **spec: Any) -> Spec:
    return {"domain": {"devices": _devices or {}, "resources": {}, **(_domain or {})}, **spec}


def on_pod(**interface: Any) -> Spec:
    return vmi({"interfaces": [{"name": "a", **interface}]}, networks=[POD])


def amounts(requests: Spec, limits: Spec, **fields: Any) -> Spec:
    return vmi(_domain={"resources": {"requests": requests, "limits": limits}, **fields})


def dedicated(requests: Spec, limits: Spec, **fields: Any) -> Spec:
    return amounts(requests, limits, cpu={"dedicatedCpuPlacement": True, **fields})


def metrics(**disk: Any) -> Spec:
    return vmi({"disks": [{"name": "d", **disk}]}, volumes=[{"name": "d", "downwardMetrics": {}}])


def hyperv(*features: Spec) -> Spec:
    features_of = {"hyperv": {"evmcs": {"enabled": True}, "vapic": {"enabled": True}}}
    return vmi(_domain={"features": features_of, "cpu": {"features": list(features)}})


PREFERRED: Spec = {
    "weight": 1,
    "preference": {
        "matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["1"]}],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}],
    },
}
CASES: dict[str, tuple[Callable[..., Any], Spec, set[str], list[str]]] = {
    "two pods": (
        networks.single_pod_network,
        vmi(networks=[POD, OTHER]),
        set(),
        ["more than one interface is connected"],
    ),
    "two defaults": (
        networks.single_pod_network,
        vmi(networks=[MULTUS, MULTUS]),
        set(),
        ["only have one default network"],
    ),
    "a pod and a default": (
        networks.single_pod_network,
        vmi(networks=[POD, MULTUS]),
        set(),
        ["Pod network cannot be defined"],
    ),
    "multus without a name": (
        networks.multus_name,
        vmi(networks=[{"name": "m", "multus": {}}]),
        set(),
        ["networkName"],
    ),
    "a network twice": (networks.unique_names, vmi(networks=[POD, POD]), set(), ['"a" already exists']),
    "a network alone": (networks.assigned_to_interfaces, vmi(networks=[POD]), set(), ["'a' not found"]),
    "an interface alone": (
        networks.interfaces_assigned,
        vmi({"interfaces": [{"name": "a"}]}),
        set(),
        ["'a' not found"],
    ),
    "claimed and pod": (
        networks.claimed,
        vmi({"interfaces": [{"name": "c", "sriov": {}}]}, networks=[POD, CLAIM]),
        DRA,
        ["not defined in spec.resourceClaims"],
    ),
    "interfaces of one name": (
        interfaces.unique_names,
        vmi({"interfaces": [{"name": "a"}, {"name": "a"}]}),
        set(),
        ["Only one interface can be connected"],
    ),
    "an unknown state": (interfaces.states, on_pod(state="sideways"), set(), ["state value is unsupported: sideways"]),
    "a reserved address": (
        interfaces.bindings,
        on_pod(masquerade={}, macAddress="02:00:00:00:00:00"),
        set(),
        ["reserved for the in-pod bridge"],
    ),
    "time servers": (interfaces.fields, on_pod(dhcpOptions={"ntpServers": ["nowhere"]}), set(), ["valid IPv4"]),
    "private options": (
        interfaces.fields,
        on_pod(dhcpOptions={"privateOptions": [{"option": 1}, {"option": 1}], "ntpServers": ["10.0.0.1"]}),
        set(),
        ["Found Duplicates", "out of range", "out of range"],
    ),
    "port names": (
        interfaces.fields,
        on_pod(masquerade={}, ports=[{"port": 1}, {"port": 2, "name": "web"}, {"port": 3, "name": "web"}]),
        set(),
        ["Duplicate name of the port: web"],
    ),
    "no port": (interfaces.fields, on_pod(masquerade={}, ports=[{}]), set(), ["Port field is mandatory"]),
    "a port beyond": (interfaces.fields, on_pod(masquerade={}, ports=[{"port": 70000}]), set(), ["must be in range"]),
    "ranges side by side": (
        interfaces.fields,
        on_pod(
            masquerade={},
            portRanges=[
                {"protocol": "TCP", "start": 1, "end": 2},
                {"protocol": "TCP", "start": 3, "end": 4},
                {"protocol": "UDP", "start": 1, "end": 2},
            ],
        ),
        PORTS,
        [],
    ),
    "ranges off the pod network": (
        interfaces.fields,
        vmi({"interfaces": [{"name": "m", "bridge": {}, "portRanges": []}]}, networks=[MULTUS]),
        PORTS,
        [],
    ),
    "less than no CPU": (cpu.request_within_limit, amounts({"cpu": "2"}, {"cpu": "1"}), set(), ["is greater than"]),
    "passed through without CPUs of its own": (
        cpu.numa,
        vmi(_domain={"cpu": {"numa": {"guestMappingPassthrough": {}}, "dedicatedCpuPlacement": True}}),
        set(),
        ["hugepages must be requested"],
    ),
    "neither CPUs nor pages": (
        cpu.numa,
        vmi(_domain={"cpu": {"numa": {"guestMappingPassthrough": {}}}}),
        set(),
        ["dedicatedCpuPlacement must be set to true", "hugepages must be requested"],
    ),
    "realtime": (
        cpu.realtime,
        vmi(_domain={"cpu": {"realtime": {}}}),
        set(),
        ["dedicatedCpuPlacement must be set", "guestMappingPassthrough must be defined"],
    ),
    "memory that may grow": (
        cpu.dedicated,
        dedicated({"memory": "1Gi", "cpu": "1"}, {"memory": "2Gi", "cpu": "1"}),
        set(),
        ["must be equal to spec.domain.resources.limits.memory"],
    ),
    "CPUs that may grow": (
        cpu.dedicated,
        dedicated({"cpu": "1"}, {"cpu": "2"}),
        set(),
        ["must be equal when"],
    ),
    "no CPUs": (cpu.dedicated, dedicated({}, {}), set(), ["must be provided when"]),
    "CPUs twice": (
        cpu.dedicated,
        dedicated({"cpu": "1"}, {"cpu": "1"}, cores=2),
        set(),
        ["must not be provided at the same time"],
    ),
    "three threads": (
        cpu.dedicated,
        dedicated({}, {}, cores=1, sockets=1, threads=3),
        set(),
        ["Not more than two threads"],
    ),
    "host devices": (devices.host_devices, vmi({"hostDevices": []}), set(), ["Host Devices feature gate"]),
    "a socket": (devices.vsock, vmi({"autoattachVSOCK": True}), set(), ["VSOCK feature gate"]),
    "metrics": (devices.downward_metrics, vmi({"downwardMetrics": {}}), set(), ["DownwardMetrics feature gate"]),
    "panic on s390x": (
        devices.panic_devices,
        vmi({"panicDevices": [{"model": "hyperv"}]}, architecture="s390x"),
        set(),
        ["not supported on s390x"],
    ),
    "a mouse": (
        devices.inputs,
        vmi({"inputs": [{"type": "tablet", "bus": "usb"}, {"type": "mouse", "bus": "ps2"}]}),
        set(),
        ["only virtio or usb bus", "only tablet type"],
    ),
    "video without graphics": (
        devices.video,
        vmi({"video": {"type": "vga"}, "autoattachGraphicsDevice": False}),
        set(),
        ["not allowed when autoattachGraphicsDevice is set to false"],
    ),
    "a pool without a size": (
        devices.io_threads,
        vmi(_domain={"ioThreadsPolicy": "supplementalPool"}),
        set(),
        ["needs to be set and positive"],
    ),
    "a reboot policy": (
        devices.reboot_policy,
        vmi(_domain={"rebootPolicy": "Terminate"}),
        set(),
        ["RebootPolicy feature"],
    ),
    "metrics on a disk of no kind": (disks.boot_order, metrics(cdrom={}), set(), ["must be mapped to a disk"]),
    "metrics on another bus": (
        disks.boot_order,
        metrics(disk={"bus": "sata"}),
        set(),
        ["must be mapped to virtio bus"],
    ),
    "metrics as they should be": (disks.boot_order, metrics(disk={}), set(), []),
    "a lun of a container disk": (
        disks.boot_order,
        vmi({"disks": [{"name": "d", "lun": {}}]}, volumes=[{"name": "d", "containerDisk": {"image": "i"}}]),
        set(),
        ["can only be mapped to a DataVolume or PersistentVolumeClaim"],
    ),
    "an empty CD-ROM": (disks.boot_order, vmi({"disks": [{"name": "d", "cdrom": {}}]}), set(), ["empty CD-ROM disk"]),
    "a disk of nothing": (disks.boot_order, vmi({"disks": [{"name": "d", "disk": {}}]}), set(), ["'d' not found"]),
    "an interface that boots at 0": (
        disks.boot_order,
        vmi({"interfaces": [{"name": "a", "bootOrder": 0}]}),
        set(),
        ["must have a boot order > 0"],
    ),
    "IDE": (disks.check, vmi({"disks": [{"name": "d", "disk": {"bus": "ide"}}]}), set(), ["IDE bus is not supported"]),
    "virtio for a CD-ROM": (
        disks.check,
        vmi({"disks": [{"name": "d", "cdrom": {"bus": "virtio"}}]}),
        set(),
        ["invalid for CD-ROM device"],
    ),
    "disks of one name": (
        disks.check,
        vmi({"disks": [{"name": "d", "disk": {}}, {"name": "d", "disk": {}}]}),
        set(),
        ["must not have the same Name"],
    ),
    "a service account twice": (
        guest.service_account,
        vmi(serviceAccountName="a", volumes=[{"serviceAccount": {"serviceAccountName": n}} for n in ("a", "b")]),
        set(),
        ["must reference the same service account"],
    ),
    "two probes in one": (
        guest.probes,
        vmi(livenessProbe={"exec": {}, "httpGet": {}}, networks=[POD]),
        set(),
        ["exactly one probe type"],
    ),
    "a probe of nothing": (guest.probes, vmi(livenessProbe={}, networks=[POD]), set(), ["must be set if"]),
    "a probe without a pod network": (
        guest.probes,
        vmi(livenessProbe={"tcpSocket": {}}),
        set(),
        ["Pod Network is attached"],
    ),
    "no name server": (guest.dns, vmi(dnsPolicy="None", dnsConfig={}), set(), ["at least one DNS nameserver"]),
    "four name servers": (
        guest.dns,
        vmi(dnsPolicy="None", dnsConfig={"nameservers": ["1.1.1.1"] * 4, "options": [{"name": "a"}, {}]}),
        set(),
        ["not have more than 3 nameservers", "Option.Name must not be empty"],
    ),
    "many search paths": (
        guest.dns,
        vmi(dnsPolicy="Default", dnsConfig={"searches": [f"{'a' * 60}{number}.b" for number in range(40)]}),
        set(),
        ["search paths", "characters (including spaces)"],
    ),
    "a key without a user": (
        guest.access_credentials,
        vmi(
            accessCredentials=[
                {"sshPublicKey": {"source": {"secret": {}}, "propagationMethod": {"qemuGuestAgent": {}}}},
                {"userPassword": {"source": {"secret": {}}, "propagationMethod": {"qemuGuestAgent": {}}}},
            ]
        ),
        set(),
        ["at least one user"],
    ),
    "a key without its volume": (
        guest.access_credentials,
        vmi(accessCredentials=[{"sshPublicKey": {"propagationMethod": {"noCloud": {}, "configDrive": {}}}}, {}]),
        set(),
        [
            "requires a noCloud",
            "requires a configDrive",
            "one source",
            "one propagationMethod",
            "one access credential",
        ],
    ),
    "a hidden label": (
        virtual_machine.metadata,
        {"labels": {"kubevirt.io/nodeName": "n"}, "annotations": {"hooks.kubevirt.io/hookSidecars": "[]"}},
        set(),
        ["reserved kubevirt.io/ labels", "sidecar feature gate"],
    ),
    "an unknown eviction": (virtual_machine.eviction_strategy, vmi(evictionStrategy="Never"), set(), ["option: Never"]),
    "an unknown start": (virtual_machine.start_strategy, vmi(startStrategy="Late"), set(), ["option: Late"]),
    "paused and alive": (
        virtual_machine.start_strategy,
        vmi(startStrategy="Paused", livenessProbe={}),
        set(),
        ["LivenessProbe is not supported"],
    ),
    "no start strategy": (virtual_machine.start_strategy, vmi(), set(), []),
    "arm64 as it should be": (
        vmi_only.architecture,
        vmi({"disks": [{"name": "d", "disk": {"bus": "virtio"}}]}, architecture="arm64"),
        set(),
        [],
    ),
    "an unknown machine": (vmi_only.architecture, vmi(architecture="mips"), set(), ["unsupported architecture: mips"]),
    "two targets": (
        disks.check,
        vmi({"disks": [{"name": "d", "disk": {}, "lun": {}}]}),
        set(),
        ["can only have a single target type"],
    ),
    "an emulator thread": (
        cpu.isolated_emulator_thread,
        vmi(_domain={"cpu": {"isolateEmulatorThread": True}}),
        set(),
        ["in combination with DedicatedCPUPlacement"],
    ),
    "an open CD-ROM": (
        disks.boot_order,
        vmi({"disks": [{"name": "d", "cdrom": {}}]}),
        {"DeclarativeHotplugVolumes"},
        [],
    ),
    "TDX with SMM": (
        firmware.launch_security,
        vmi(_domain={"launchSecurity": {"tdx": {}}, "features": {"smm": {}}}, architecture="amd64"),
        {"WorkloadEncryptionTDX"},
        ["TDX does not work along with SMM", "TDX requires OVMF"],
    ),
    "a policy of no kind": (guest.dns, vmi(dnsPolicy="Somehow"), set(), ["Somehow is not supported"]),
    "no configuration": (guest.dns, vmi(dnsPolicy="None"), set(), ["must provide `dnsConfig`"]),
    "a port of no name": (
        interfaces.fields,
        on_pod(masquerade={}, ports=[{"port": 1, "name": "Not A Name"}]),
        set(),
        ["Invalid name of the port"],
    ),
    "passt": (interfaces.bindings, on_pod(passtBinding={}), set(), ["PasstBinding feature gate"]),
    "a model of no kind": (interfaces.fields, on_pod(model="ne1"), set(), ["uses model ne1"]),
    "an interface of no name": (
        interfaces.fields,
        vmi({"interfaces": [{"name": "a b", "macAddress": "1"}]}),
        set(),
        ["can only contain alphabetical", "malformed MAC"],
    ),
    "a claim of nobody": (
        devices.resource_claims,
        vmi({"gpus": [{"name": "g", "claimName": "c", "requestName": "r"}]}),
        {"GPUsWithDRA"},
        ["must specify all claims"],
    ),
    "nodes as they should be": (
        scheduling.affinity,
        vmi(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [PREFERRED]}}),
        set(),
        [],
    ),
    "an unknown run strategy": (
        virtual_machine.run_strategy,
        {"runStrategy": "Sometimes"},
        set(),
        ["Invalid RunStrategy (Sometimes)"],
    ),
    "a receiver": (
        virtual_machine.run_strategy,
        {"runStrategy": "WaitAsReceiver"},
        set(),
        ["DecentralizedLiveMigration feature gate"],
    ),
    "two ways to run": (
        virtual_machine.run_strategy,
        {"runStrategy": "Always", "running": True},
        set(),
        ["mutually exclusive"],
    ),
    "none": (virtual_machine.run_strategy, {}, set(), ["RunStrategy must be specified"]),
    "evmcs without vmx": (vmi_only.hyperv, hyperv(), set(), ["vmx cpu feature is required"]),
    "evmcs with another feature": (vmi_only.hyperv, hyperv({"name": "svm"}), set(), []),
    "evmcs with a forced feature": (
        vmi_only.hyperv,
        hyperv({"name": "vmx", "policy": "force"}),
        set(),
        ["has to be set to require policy"],
    ),
    "metrics as a volume without the gate": (
        volumes.check,
        vmi(volumes=[{"name": "a", "downwardMetrics": {}}]),
        set(),
        ["DownwardMetrics feature gate is not enabled"],
    ),
    "volumes of one name": (
        volumes.check,
        vmi(volumes=[{"name": "a", "emptyDisk": {}}, {"name": "a", "dataVolume": {}}, {"name": "b", "secret": {}}]),
        set(),
        ["must not have the same Name", "'name' must be set", "secretName is a required field"],
    ),
    "metrics as a volume": (
        volumes.check,
        vmi(volumes=[{"name": "a", "downwardMetrics": {}}, {"name": "b", "downwardMetrics": {}}]),
        {"DownwardMetrics"},
        ["max one"],
    ),
    "unmapped": (
        vmi_only.mapped,
        vmi(volumes=[{"name": "a", "emptyDisk": {}}, {"name": "m", "memoryDump": {}}]),
        set(),
        ["'a' not found"],
    ),
    "a path of the container": (
        vmi_only.mapped,
        vmi(
            {"filesystems": [{"name": "p"}], "disks": [{"name": "q", "disk": {}}]},
            volumes=[{"name": name, "containerPath": {"path": "/data"}} for name in ("p", "q")],
        ),
        set(),
        ["not a disk", "must have a matching filesystem"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_causes_of_rules(name: str) -> None:
    rule, spec, gates, expected = CASES[name]
    configuration = {
        "developerConfiguration": {"featureGates": [*gates], "disabledFeatureGates": sorted(CLOSED - gates)},
    }
    config = KubeVirt(release.NEWEST, configuration)
    # Some rules are about the spec of the VM.
    causes = rule(spec, config) if rule is virtual_machine.run_strategy else rule(spec, "spec", config)
    messages = [cause.message for cause in causes]
    assert bool(messages) == bool(expected), messages
    for part in expected:
        assert any(part in message for message in messages), messages


PANIC = vmi({"panicDevices": [{"model": "isa"}]})
SECURE = vmi(_domain={"launchSecurity": {}}, architecture="s390x")
SEV = vmi(_domain={"launchSecurity": {"sev": {}}}, architecture="amd64")
BARE = vmi(_domain={"launchSecurity": {}}, architecture="amd64")
OLDER: list[tuple[str, Callable[..., Any], Spec, str, list[str]]] = [
    ("1.9.0", devices.panic_devices, PANIC, "", []),
    ("1.8.0", devices.panic_devices, PANIC, "", ["Panic Devices feature gate is not enabled in kubevirt-config"]),
    ("1.6.0", devices.panic_devices, PANIC, "PanicDevices", []),
    ("1.9.0", firmware.launch_security, SECURE, "", []),
    ("1.8.0", firmware.launch_security, SECURE, "", ["SecureExecution feature gate is not enabled in kubevirt-config"]),
    ("1.6.0", firmware.launch_security, SECURE, "SecureExecution", []),
    ("1.5.0", firmware.launch_security, SECURE, "WorkloadEncryptionSEV", []),
    ("1.6.0", firmware.launch_security, SEV, "WorkloadEncryptionSEV", ["SEV requires OVMF (UEFI)"]),
    ("1.6.0", firmware.launch_security, BARE, "", []),
    (
        "1.5.0",
        firmware.launch_security,
        BARE,
        "",
        ["WorkloadEncryptionSEV feature gate is not enabled in kubevirt-config"],
    ),
]


@pytest.mark.parametrize(("version", "rule", "spec", "gate", "expected"), OLDER)
def test_gates_of_older_releases(
    version: str, rule: Callable[..., Any], spec: Spec, gate: str, expected: list[str]
) -> None:
    configuration = {"developerConfiguration": {"featureGates": [gate]}}
    config = KubeVirt(release.parse_release(version), configuration)
    assert [cause.message for cause in rule(spec, "spec", config)] == expected


def test_machines_of_all_architectures_override_those_of_each() -> None:
    configuration = {
        "emulatedMachines": ["q35*"],
        "architectureConfiguration": {"arm64": {"emulatedMachines": ["virt*"]}},
    }
    assert KubeVirt(release.NEWEST, configuration).emulated_machines("arm64") == ("q35*",)
    del configuration["emulatedMachines"]
    assert KubeVirt(release.NEWEST, configuration).emulated_machines("arm64") == ("virt*",)


def test_data_volume_template_needs_namespace_of_vm() -> None:
    vm = {"dataVolumeTemplates": [{"metadata": {"name": "a", "namespace": "other"}}]}
    (cause,) = virtual_machine.data_volume_namespaces(vm, None, "shop")
    assert "namespace other differs from VM namespace shop" in cause.message
    assert not list(virtual_machine.data_volume_namespaces(vm, vm, "shop"))


def test_malformed_configuration_raises_value_error() -> None:
    with pytest.raises(ValueError, match="malformed"):
        KubeVirt(release.NEWEST, {"permittedHostDevices": "x"}).check()


# Feature gates that older releases ask for. No KubeVirt answers these cases: they follow the releases' sources.


Manifest = dict[str, Any]
ALL = frozenset((gates.MULTI_ARCHITECTURE, gates.PERSISTENT_STATE))


def config(closed: frozenset[str]) -> KubeVirt:
    """A release that asks for all of them."""
    return KubeVirt(release.parse_release("1.5"), {"developerConfiguration": {"featureGates": [*(ALL - closed)]}})


@pytest.mark.parametrize(
    ("spec", "closed", "fields"),
    [
        ({"architecture": "arm64"}, ALL, ["spec.architecture"]),
        ({"architecture": "amd64"}, ALL, []),
        ({}, ALL, []),
        ({"architecture": "arm64"}, frozenset(), []),
    ],
)
def test_another_architecture(spec: Manifest, closed: frozenset[str], fields: list[str]) -> None:
    assert [cause.field for cause in firmware.architecture(spec, "spec", config(closed))] == fields


@pytest.mark.parametrize(
    ("domain", "closed", "fields"),
    [
        ({"devices": {"tpm": {"persistent": True}}}, ALL, ["spec.domain.devices.tpm.persistent"]),
        ({"devices": {"tpm": {"persistent": True, "enabled": False}}}, ALL, []),
        ({"devices": {"tpm": {}}}, ALL, []),
        (
            {"devices": {}, "firmware": {"bootloader": {"efi": {"persistent": True}}}},
            ALL,
            ["spec.domain.firmware.bootloader.efi.persistent"],
        ),
        ({"devices": {"tpm": {"persistent": True}}}, frozenset(), []),
    ],
)
def test_persistent_state(domain: Manifest, closed: frozenset[str], fields: list[str]) -> None:
    assert [cause.field for cause in firmware.persistent_state({"domain": domain}, "spec", config(closed))] == fields


def test_closed_gates() -> None:
    def closed(version: str, *opened: str) -> frozenset[str]:
        spec = {"configuration": {"developerConfiguration": {"featureGates": list(opened)}}}
        return kubevirt_of({"spec": spec}, version).closed_gates

    assert closed("1.9.0") == closed("1.8.0") == frozenset()
    assert closed("1.7.4") == closed("1.6.6") == {gates.MULTI_ARCHITECTURE}
    assert closed("1.7.4", gates.MULTI_ARCHITECTURE) == frozenset()
    assert closed("1.5.3") == {*ALL, gates.REFERENCE_POLICY}
    assert kubevirt_of(None, "1.7.4", "no right").closed_gates == {gates.MULTI_ARCHITECTURE}
