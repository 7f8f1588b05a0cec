"""The words of virt-handler, libvirt and QEMU about guests that do not start, and their diagnoses."""

from typing import Any

import pytest
from diagnosed import HOUR, ROOT, SECOND, condition, disk, event, of, old, pod, vm, vmi
from remedies import command, patch, steps

Manifest = dict[str, Any]

HOST = {"name": "local", "hostDisk": {"path": "/data/disk.img", "type": "Disk"}}
SYSPREP = {"name": "answers", "sysprep": {"configMap": {"name": "unattended"}}}
SECRET_SYSPREP = {"name": "answers", "sysprep": {"secret": {"name": "unattended"}}}


def launcher(text: str) -> str:
    return f'server error. command SyncVMI failed: "{text}"'


def libvirt(text: str) -> str:
    return launcher(f"LibvirtError(Code=1, Domain=10, Message='internal error: {text}')")


def qemu(text: str) -> str:
    return libvirt(f"QEMU unexpectedly closed the monitor (vm='shop_web'): 2026-03-01T08:00:00Z qemu-kvm: {text}")


def failing(text: str, *events: Manifest, phase: str = "Scheduled", **spec: Any) -> list[Manifest]:
    machine = vm(**spec)
    failed = condition("Synchronized", "False", "Synchronizing with the Domain failed.", text)
    return [machine, vmi(machine, phase, failed, nodeName="node01"), *events]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (launcher("preparing host-disks failed: chown /var/run/kubevirt-private/vmi-disks/a/disk.img: operation not"
                  " permitted"), "runs as user 107"),
        (qemu("-blockdev {}: Could not open '/dev/sysdisk': Permission denied"), "runs as user 107"),
        ("Failed to change ownership of HostDisk image: no", "runs as user 107"),
        ("error relabeling file /var/run/a with label b", "runs as user 107"),
        (libvirt("cannot limit locked memory of process 42: Operation not permitted"), "lock the guest's"),
        (qemu('-device {}: Failed to get "write" lock Is another process using the image [/a]?'), "another process"),
        (qemu("Failed to get shared \\\"write\\\" lock"), "another process uses the disk"),
        (qemu("Cannot get 'write' permission without 'resize': Image size is not a multiple of request alignment"),
         "no multiple of the block size"),
        (launcher("unable to create /a/disk.img, not enough space, demanded size 5 B is bigger than available space"),
         "full, or smaller"),
        (qemu("unable to map backing store for guest RAM: Cannot allocate memory"), "huge pages"),
        (launcher("failed to determine if hugepages are enabled: no"), "huge pages"),
        ("failed to configure vmi network: setup failed, err: failed plugging phase1 at nic 'net1': Link not found",
         "a network of the guest"),
        ("failed to configure vmi network: bridge br0 does not exist", "a network of the guest"),
        (libvirt("Cannot get interface MTU on 'k6t-net1': No such device"), "a network of the guest"),
        (launcher("PCI-Address for SR-IOV network \"lan\" not found"), "passed through"),
        (libvirt("Unable to create tap device tap0: Device or resource busy"), "a network of the guest"),
        (libvirt("unsupported configuration: CPU mode 'custom' for x86_64 kvm domain is not supported by hypervisor"),
         "CPU lacks the model"),
        (libvirt("the CPU is incompatible with host CPU: Host CPU does not provide required features: avx512f"),
         "CPU lacks the model"),
        (libvirt("guest CPU doesn't match specification: missing features: vmx"), "CPU lacks the model"),
        (libvirt("Unknown CPU model Snowridge-v9"), "CPU lacks the model"),
        (libvirt("unsupported configuration: vcpu '2' is missing hotplug data"), "so many vCPUs"),
        (qemu("Invalid SMP CPUs 300. The max CPUs supported by machine 'pc-q35' is 288"), "so many vCPUs"),
        (libvirt("unsupported configuration: Emulator '/usr/libexec/qemu-kvm' does not support machine type 'a'"),
         "machine type"),
        (libvirt("unsupported configuration: Emulator '/usr/libexec/qemu-kvm' does not support virt type 'kvm'"),
         "no KVM"),
        (qemu("Could not access KVM kernel module: Permission denied"), "no KVM"),
        (launcher("hardware emulation device '/dev/kvm' not present"), "no KVM"),
        (launcher("EFI OVMF roms missing for booting in EFI mode with SecureBoot=true, SEV/SEV-ES=false"),
         "no firmware"),
        (libvirt("operation failed: Unable to find any firmware to satisfy 'efi'"), "no firmware"),
        (libvirt("unsupported configuration: SEV is not supported on this host"), "encrypt the guest's memory"),
        (libvirt("Unable to start the TPM emulator: swtpm died"), "the TPM"),
        (libvirt("device not found: host doesn't support passthrough of host PCI devices"), "passed through"),
        (launcher("failed to create GPU host-devices: the number of GPUs does not match"), "passed through"),
        (qemu("-device vfio-pci,host=0000:3b:00.0: vfio 0000:3b:00.0: group 42 is not viable"), "passed through"),
        (launcher("creating sysprep disks failed: Sysprep drive should contain autounattend.xml or unattend.xml but"
                  " neither were found."), "answers for Windows"),
        (launcher("ReadCloudInitVolumeDataSource failed: no cloud-init data-source found at volume"), "cloud-init"),
        (launcher("creating secret disks failed: stat /a: no such file or directory"), "cloud-init's user data"),
        (qemu("Image is not in qcow2 format"), "no image that QEMU can read"),
        (launcher("failed to find a sourceFile in containerDisk root: no file in /disk"), "no image that QEMU"),
        (launcher("No space left on the root PCI bus."), "more devices"),
        (launcher("Unable to use 'none' cache mode, file system where /a is stored does not support direct I/O"),
         "direct I/O"),
        (qemu("Could not open '/a/disk.img': Read-only file system"), "the storage of a disk fails"),
        (libvirt("Cannot access storage file '/a/disk.img' (as uid:107, gid:107): No such file or directory"),
         "the file of a disk is not there"),
        ("unknown error encountered sending command SyncVMI: rpc error: code = Unavailable desc = transport is closing",
         "does not answer virt-handler"),
        (libvirt("operation failed: domain 'shop_web' already exists with uuid 1"), "does not answer virt-handler"),
        (libvirt("Timed out during operation: cannot acquire state change lock (held by monitor=remoteDispatch)"),
         "does not answer virt-handler"),
    ],
)  # fmt: skip
def test_the_kind_of_a_failure_is_named(text: str, problem: str) -> None:
    found = of(*failing(text))
    assert found["link"] == "start" and found["remedy"], found
    assert problem in found["problem"] and found["problem"].startswith("the guest cannot be started: ")
    assert found["evidence"][0]["message"] == text


def test_a_warning_of_qemu_is_no_cause() -> None:
    text = "warning: host doesn't support requested feature: MSR(48CH).vmx-invvpid-single-noglobals [bit 43] qemu-kvm: "
    assert "CPU" not in of(*failing(qemu(f"{text}failed to initialize kvm")))["problem"].partition(": server")[0]


def test_an_unknown_failure_is_told_with_the_log() -> None:
    found = of(*failing("the moon is in the wrong phase", pod()))
    assert found["problem"] == "the guest cannot be started: the moon is in the wrong phase"
    assert command(found)[-4:] == ["logs", "launcher", "--container", "compute"]
    assert "task" not in of(*failing("the moon is in the wrong phase"))


def test_an_unknown_failure_has_time_to_pass() -> None:
    assert of(*failing("the moon is in the wrong phase"), at=SECOND)["state"] == "pending"


def test_the_last_event_says_more_than_the_condition() -> None:
    found = of(*failing("the moon", event("VirtualMachineInstance", "web", "SyncFailed", qemu("/dev/kvm"))))
    assert "no KVM" in found["problem"] and len(found["evidence"]) == 2


def test_a_running_guest_cannot_be_changed() -> None:
    found = of(*failing(libvirt("Cannot allocate memory"), phase="Running"))
    assert found["problem"].startswith("the guest cannot be changed: ")
    assert found["otherwise"] == "the guest runs on, without the change"


def test_the_vm_alone_names_the_failure() -> None:
    failed = condition("Synchronized", "False", "Synchronizing with the Domain failed.", "Link not found")
    assert of(vm("Starting", failed))["link"] == "start"


def test_a_crash_loop_names_the_failure() -> None:
    machine = vm("CrashLoopBackOff")
    machine["status"]["startFailure"] = {"consecutiveFailCount": 3}
    assert of(machine)["problem"] == "the guest ended 3 times before it ran"
    found = of(machine, event("VirtualMachineInstance", "web", "SyncFailed", "failed to configure vmi network: no"))
    assert found["link"] == "crash" and "a network of the guest cannot be set up" in found["problem"]
    assert command(found)[2:4] == ["get", "net-attach-def"]


def changed(text: str, **spec: Any) -> tuple[str, Any]:
    """The field that the remedy changes, and its value."""
    [change] = patch(of(*failing(text, **spec)))
    return change["path"].removeprefix("/spec/template/spec/"), change["value"]


def test_remedies_change_what_the_vm_declares() -> None:
    assert changed("Unknown CPU model") == ("domain/cpu", {"model": "host-model"})
    domain = {
        "devices": {},
        "cpu": {"model": "Snowridge"},
        "memory": {"guest": "1Gi", "hugepages": {"pageSize": "1Gi"}},
    }
    assert changed("Unknown CPU model", domain=domain) == ("domain/cpu/model", "host-model")
    assert changed("hugepages", domain=domain) == ("domain/memory/hugepages", None)
    assert changed("machine type 'a'") == ("domain/machine", {"type": "q35"})
    assert "task" not in of(*failing("hugepages"))


def test_another_instancetype_has_another_cpu() -> None:
    objects = failing("Unknown CPU model")
    objects[0]["spec"]["instancetype"] = {"name": "cx1"}
    assert patch(of(*objects)) == [{"op": "add", "path": "/spec/instancetype/name", "value": "NAME"}]


def test_a_host_disk_is_created() -> None:
    text = "Cannot access storage file '/a/disk.img': No such file or directory"
    assert patch(of(*failing(text, volumes=[ROOT, HOST]))) == [
        {"op": "add", "path": "/spec/template/spec/volumes/1/hostDisk/type", "value": "DiskOrCreate"},
        {"op": "add", "path": "/spec/template/spec/volumes/1/hostDisk/capacity", "value": "SIZE"},
    ]
    assert "task" not in of(*failing(text))


@pytest.mark.parametrize(
    ("volume", "kind", "part"), [(SYSPREP, "configmap", "data"), (SECRET_SYSPREP, "secret", "stringData")]
)
def test_windows_gets_its_answers(volume: Manifest, kind: str, part: str) -> None:
    found = of(*failing("creating sysprep disks failed", volumes=[ROOT, volume]))
    assert command(found)[2:5] == ["patch", kind, "unattended"]
    assert patch(found) == {part: {"autounattend.xml": "ANSWERS"}}


def test_no_task_gives_answers_to_nobody() -> None:
    assert "task" not in of(*failing("sysprep", volumes=[ROOT, {"name": "answers", "sysprep": {}}]))


LOCK = (
    'Failed to get "write" lock Is another process using the image [/var/run/kubevirt-private/vmi-disks/data/disk.img]?'
)


def other(name: str, kind: str = "VirtualMachineInstance", claim: str = "data", **status: Any) -> Manifest:
    volumes = [ROOT, {"name": "x", "persistentVolumeClaim": {"claimName": claim}}]
    head = {"kind": kind, "metadata": {"name": name, "namespace": "shop"}}
    return {**head, "spec": {"volumes": volumes}, "status": {"phase": "Running", "nodeName": "node02", **status}}


@pytest.mark.parametrize(
    ("users", "words"),
    [
        ([other("twin")], ["'names': ['twin']"]),
        ([other("backup", "Pod")], ["kubectl --namespace shop delete pod backup"]),
        ([other("twin"), other("backup", "Pod")], ["'names': ['twin']", "delete pod backup"]),
        ([other("twin", claim="elsewhere")], ["describe pvc data"]),
        ([other("twin", phase="Succeeded")], ["describe pvc data"]),
        ([other("twin", nodeName="")], ["describe pvc data"]),
    ],
)
def test_the_other_user_of_a_disk_ends(users: list[Manifest], words: list[str]) -> None:
    for volumes in (disk("data"), disk("data", "persistentVolumeClaim", "claimName")):
        found = of(*failing(LOCK, *users, volumes=volumes))
        assert all(text in str(steps(found)) for text in words), found["task"]


def test_an_unnamed_disk_is_one_of_all() -> None:
    found = of(*failing('Failed to get "write" lock', other("twin"), volumes=disk("data")))
    assert "'names': ['twin']" in str(found["task"])
    assert "task" not in of(*failing(LOCK))


def test_an_old_age_is_counted_from_the_objects() -> None:
    assert of(*failing("the moon is in the wrong phase", old(pod())), at=HOUR)["link"] == "start"
