"""Links that no recorded fault breaks, and those of recorded faults with other evidence."""

from collections.abc import Sequence
from typing import Any

import pytest
from diagnosed import (
    HOUR,
    ROOT,
    SECOND,
    UNSCHEDULABLE,
    claim,
    condition,
    data_volume,
    disk,
    event,
    node,
    of,
    old,
    pod,
    refused,
    running,
    starting,
    storage_class,
    vm,
    vmi,
)
from remedies import checked, command, patch, stdin, steps

from plugins.module_utils._diagnosis.ages import age
from plugins.module_utils._diagnosis.offline import diagnoses, flattened
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt

Manifest = dict[str, Any]

CLAIM_QUOTA = condition(
    "Bound",
    "False",
    "ErrExceededQuota",
    'persistentvolumeclaims "data" is forbidden: exceeded quota: team, requested: requests.storage=1Gi, used: '
    "requests.storage=0, limited: requests.storage=500Mi",
)


UNBOUND = condition("PodScheduled", "False", "Unschedulable", "pod has unbound immediate PersistentVolumeClaims")
PROVISIONING = event("PersistentVolumeClaim", "data", "ExternalProvisioning", "by the external provisioner 'example'")
NO_PVC = condition("Bound", "False", "NotFound", "No PVC found")
MOUNT = condition("Running", "False", "ContainerCreating", 'secret "a" not found')


def used_claim(*objects: Manifest, conditions: Sequence[Manifest] = (), **spec: Any) -> list[Manifest]:
    """A VM whose pod waits for a claim."""
    volumes = disk("data", "persistentVolumeClaim", "claimName")
    return [*starting(pod(node="", conditions=conditions), *objects, volumes=volumes), claim("data", "Pending", **spec)]


def importing(*conditions: Manifest, phase: str = "Pending") -> list[Manifest]:
    """A VM that waits for its disk."""
    return [vm("Provisioning", volumes=disk()), old(data_volume(phase, *conditions))]


def of_importer(reason: str, message: str) -> list[Manifest]:
    pending = claim("data", "Pending")
    pending["metadata"]["uid"] = "u"
    return [pending, event("Pod", "importer-prime-u", reason, message)]


def finalized(*finalizers: str) -> list[Manifest]:
    machine = vm("Terminating")
    machine["metadata"].update(deletionTimestamp=SECOND, finalizers=list(finalizers))
    return [machine]


def migrating(phase: str = "Running") -> list[Manifest]:
    metadata = {"name": "move", "namespace": "shop", "creationTimestamp": SECOND}
    move = {"kind": "VirtualMachineInstanceMigration", "metadata": metadata, "spec": {"vmiName": "web"}}
    return [*running(condition("Ready", "True")), {**move, "status": {"phase": phase}}]


def class_of(name: str) -> list[Manifest]:
    machine = vm(volumes=disk())
    pvc = {"storageClassName": name, "resources": {"requests": {"storage": "1Gi"}}}
    machine["spec"]["dataVolumeTemplates"] = [{"metadata": {"name": "data"}, "spec": {"pvc": pvc}}]
    return [machine, data_volume("Pending"), claim("other", "Bound"), storage_class("local")]


WORDS = 'storageclass.storage.k8s.io "lost" not found'
NO_CLASS = event("PersistentVolumeClaim", "data", "FailedBinding", "no storage class is set")
HOOK = 'admission webhook "{}" denied the request: no'
AGENT = {"readinessProbe": {"guestAgentPing": {}}}
CREDENTIALS = [
    {"sshPublicKey": {"propagationMethod": {"noCloud": {}}}},
    {"sshPublicKey": {"propagationMethod": {"qemuGuestAgent": {}}}},
]
PROBE = {"readinessProbe": {"httpGet": {"port": 80}}}
PORTS = {"devices": {"interfaces": [{"name": "default", "masquerade": {}, "ports": [{"port": 80}]}]}}
IO_ERROR = condition("Paused", "True", "PausedIOError", "no space left")
OPEN = {"domain": {**PORTS, "memory": {"guest": "1Gi"}}, **PROBE}


@pytest.mark.parametrize(
    ("objects", "link", "problem"),
    [
        (finalized("kubevirt.io/virtualMachineControllerFinalize"), "deletion", "kubevirt.io/virtualMachine"),
        (finalized("foregroundDeletion", "example.com/hold"), "deletion", "example.com/hold"),
        (refused(HOOK.format("limits.example.com")), "policy", "limits.example.com denies the guest"),
        (refused(HOOK.format("vmi-validator.kubevirt.io")), "admission", "vmi-validator"),
        (refused('error looking up service account shop/ci: serviceaccount "ci" not found'), "prerequisite",
         "the ServiceAccount ci of the guest does not exist"),
        (refused('pods "a" is forbidden: no PriorityClass with name high was found'), "prerequisite",
         "the PriorityClass high of the guest does not exist"),
        (refused('pods "a" is forbidden: violates PodSecurity "restricted:latest": seccompProfile'), "policy",
         "the Pod Security Standard restricted of the namespace"),
        (
            refused('Invalid value: "1292Mi": must be less than or equal to memory limit of 700Mi'),
            "limit_range",
            "700Mi",
        ),
        ([vm("Starting", condition("Synchronized", "False", "FailedBackendStorageCreate", "exceeded quota: team"))],
         "quota", "exceeded quota: team"),
        (refused("failed quota: team: must specify limits.cpu"), "quota", "must specify limits.cpu"),
        (class_of("lost"), "storage_class", "StorageClass lost of the disk data"),
        ([*starting(volumes=disk()), claim("data", "Pending", storageClassName="lost"), storage_class("local"),
          event("PersistentVolumeClaim", "data", "ProvisioningFailed", WORDS)], "storage_class", "lost"),
        ([*starting(volumes=disk()), claim("data", "Pending"), NO_CLASS, storage_class("local")],
         "storage_class", "none is the default"),
        ([*starting(volumes=disk()), claim("data", "Pending"), NO_CLASS], "storage_class", "none is the default"),
        (used_claim(NO_CLASS, storageClassName=""), "claim", "no storage class is set"),
        (used_claim(conditions=[UNBOUND]), "claim", "is Pending: pod has unbound immediate"),
        (used_claim(PROVISIONING, conditions=[UNBOUND]), "claim", "by the external provisioner"),
        (importing(NO_PVC), "claim", "CDI has not created the claim data"),
        ([*importing(condition("Bound", "False", "Pending", "PVC data Pending")), old(claim("data", "Pending"))],
         "claim", "is Pending: PVC data Pending"),
        ([*importing(), old(claim("data", "Pending")), PROVISIONING], "claim", "by the external provisioner"),
        ([*importing(MOUNT, phase="ImportScheduled")], "import", "the Secret a of a volume does not exist"),
        ([*importing(condition("Running", "False", "ErrImagePull"), phase="ImportScheduled"),
          *of_importer("Failed", "no such host")], "import", "no such host"),
        ([vm("Provisioning", volumes=disk()), data_volume("Pending", CLAIM_QUOTA)], "quota", "requests.storage=500Mi"),
        ([vm("Provisioning", volumes=disk()), data_volume("CloneScheduled"),
          event("DataVolume", "data", "CloneWithoutSource", "The source pvc a doesn't exist")], "import",
         "The source pvc a doesn't exist"),
        ([*starting(volumes=disk()), data_volume("Failed")], "import", "the disk data fails: Failed, 0 restarts"),
        ([*starting(volumes=disk()),
          data_volume("ImportInProgress", condition("Running", "False", "Pod is running"), restartCount=6)],
         "import", "ImportInProgress, 6 restarts"),
        ([*starting(volumes=disk()), data_volume("ImportInProgress", restartCount=2),
          event("DataVolume", "data", "Error", "no route")], "import", "no route"),
        ([*starting(volumes=disk()), claim("other", "Bound")], "claim", "the claim data does not exist"),
        ([*starting(volumes=disk()), claim("data", "Lost")], "claim", "is Lost: its volume is gone"),
        ([*starting(volumes=disk()), claim("data", "Pending"),
          event("PersistentVolumeClaim", "data", "ProvisioningFailed", "full")], "claim", "is Pending: full"),
        (starting(pod(node="", conditions=[UNSCHEDULABLE], **{"cpu": "1", "example.com/GPU": "1"}),
                  node(**{"example.com/GPU": "2"})), "device", "the device plugin of 1 of them does not answer"),
        (starting(pod(node="", conditions=[UNSCHEDULABLE])), "scheduling", "0/1 nodes are available"),
        (starting(old(pod(node=""))), "scheduling", "the scheduler default-scheduler has not looked at the pod"),
        ([vm(), vmi(vm(), "Scheduling", UNSCHEDULABLE)], "scheduling", "0/1 nodes are available"),
        ([*running(), node("Unknown")], "node", "node01 does not answer"),
        ([*running(), {**node(), "metadata": {"name": "node02"}}], "node", "node01 does not exist any more"),
        (starting(pod(("ContainerCreating", "")), event("Pod", "launcher", "FailedMount", 'secret "a" not found')),
         "files", "the Secret a of a volume does not exist"),
        (starting(old(pod(("ContainerCreating", ""))), event("Pod", "launcher", "FailedAttachVolume", "in use")),
         "files", "cannot mount a volume: in use"),
        (starting(pod(("ContainerCreating", "")), event("Pod", "launcher", "FailedCreatePodSandBox", "no CNI")),
         "network", "the network cannot be set up: no CNI"),
        (starting(pod(("InvalidImageName", ""))), "image", "InvalidImageName"),
        (running(**AGENT), "agent", "readinessProbe.guestAgentPing"),
        (running(condition("Ready", "True"), accessCredentials=CREDENTIALS), "agent", "accessCredentials[1]"),
        (running(**PROBE), "probe", "its readiness probe fails"),
        (running(**OPEN), "probe", "its readiness probe fails"),
        (running(readinessProbe={"exec": {"command": ["true"]}}), "probe", "its readiness probe fails"),
        (running(IO_ERROR), "paused", "no space left"),
        (migrating(), "migration", "takes longer than 30 minutes"),
        ([vm("ErrorUnschedulable", condition("Ready", "False", "a", "waits"))], "other", "ErrorUnschedulable: waits"),
    ],
)  # fmt: skip
def test_the_link_is_broken(objects: list[Manifest], link: str, problem: str) -> None:
    found = of(*objects)
    assert found.get("link") == link, found
    assert problem in found["problem"]
    assert all(item["kind"] and item["name"] for item in found["evidence"])


@pytest.mark.parametrize(
    ("objects", "state"),
    [
        (finalized(), "pending"),
        ([vm("Stopped")], "pending"),
        ([*importing(), claim("data", "Pending"), PROVISIONING], "pending"),
        (importing(condition("Running", "False", "ContainerCreating"), phase="ImportScheduled"), "pending"),
        (starting(pod(("PodInitializing", "")), node()), "pending"),
        (starting(pod(node="")), "pending"),
        (starting(pod(("ContainerCreating", "pulls")), node()), "pending"),
        (starting(pod(("ContainerCreating", "")), event("Pod", "launcher", "FailedMount", "timed out")), "pending"),
        ([*starting(volumes=disk()), data_volume("ImportInProgress"), claim("data", "Pending")], "pending"),
        ([*starting(volumes=disk()), data_volume("Succeeded"), claim("data", "Bound")], "pending"),
        ([*starting(volumes=disk("data", "persistentVolumeClaim", "claimName"))], "pending"),
        (migrating("Succeeded"), "pending"),
        (starting({**pod(), "metadata": {"name": "other", "namespace": "shop"}}), "pending"),
    ],
)
def test_no_link_is_broken(objects: list[Manifest], state: str) -> None:
    found = of(*objects)
    assert (found["state"], found.get("link")) == (state, None), found


@pytest.mark.parametrize("objects", [importing(NO_PVC), starting(old(pod(node=""))), importing(MOUNT)])
def test_a_new_object_has_time(objects: list[Manifest]) -> None:
    assert of(*objects, at=SECOND)["state"] == "pending"


def test_an_upload_is_waited_for() -> None:
    assert of(*importing(phase="UploadReady"))["waits_for"] == "the upload of the disk data"


def test_the_other_kind_of_a_name_is_said() -> None:
    machine = vm("Stopped", condition("Failure", "True", "FailedFindInstancetype", '"small" not found'))
    machine["spec"]["instancetype"] = {"name": "small"}
    metadata = {"name": "small", "namespace": "shop"}
    found = of(machine, {"kind": "VirtualMachineInstancetype", "metadata": metadata, "spec": {"cpu": {"guest": 1}}})
    assert found["remedy"] == "use the VirtualMachineInstancetype small"


def test_unknown_reasons_leave_the_schedulers_words() -> None:
    objects = starting(pod(node="", conditions=[UNSCHEDULABLE]), node())
    groups = [
        {"reasons": reasons, "node_count": 1, "nodes": ["node01"]} for reasons in (["has the taint a:NoSchedule"], [])
    ]
    [result] = diagnoses(objects, KubeVirt(NEWEST), HOUR, lambda _nodes, _pods: lambda _pod: groups)
    assert result["diagnosis"]["problem"] == "no node is suitable: 0/1 nodes are available"


def test_a_booting_guest_has_time() -> None:
    assert of(*running(**PROBE), at=SECOND)["state"] == "pending"
    assert of(*running(**AGENT), at=SECOND)["state"] == "pending"


def test_a_new_migration_has_time() -> None:
    assert of(*migrating(), at=SECOND).get("link") is None


def test_a_drain_would_migrate_again() -> None:
    machine, guest, move = migrating()
    assert [step["name"] for step in steps(of(machine, guest, move))] == ["Cancel the migration"]
    guest["status"]["evacuationNodeName"] = "node01"
    found = of(machine, guest, move)
    assert "end the drain of node01" in found["remedy"]
    assert command(found)[2].endswith("/namespaces/shop/virtualmachineinstances/web/evacuate/cancel")
    assert stdin(found) == {"evacuationNodeName": "node01"}
    assert "delete vmim move" in str(steps(found)[1])


def test_a_halted_vm_is_stopped_as_declared() -> None:
    machine = vm("Stopped", volumes=disk())
    machine["spec"]["runStrategy"] = "Halted"
    found = of(machine, claim("other", "Bound"))
    assert (found["state"], "claim" in found["passed"]) == ("stopped", False)


def test_what_is_not_known_is_unchecked() -> None:
    assert {"claim", "scheduling", "controller"} <= set(of(vm())["unchecked"])


def test_a_type_that_exists_now_is_said() -> None:
    message = 'virtualmachineinstancetypes.instancetype.kubevirt.io "small" not found'
    machine = vm("Stopped", condition("Failure", "True", "FailedFindInstancetype", message))
    machine["spec"]["instancetype"] = {"name": "smal", "kind": "VirtualMachineInstancetype"}
    metadata = {"name": "small", "namespace": "shop"}
    kind = {"kind": "VirtualMachineInstancetype", "metadata": metadata, "spec": {"cpu": {"guest": 1}}}
    assert of(machine, kind)["remedy"] == "use the VirtualMachineInstancetype small"
    machine["spec"]["instancetype"]["name"] = "small"
    found = of(machine, kind)
    assert "it exists now" in found["problem"]
    # Another patch of the same name would change nothing.
    assert command(found)[2:5] == ["annotate", "--overwrite", "virtualmachine"]


def test_a_kubevirt_request_for_restart_suffices() -> None:
    machine, guest = running(condition("Ready", "True"))
    machine["status"]["conditions"] = [condition("RestartRequired", "True", "", "a field was changed")]
    assert of(machine)["state"] == "pending"
    machine["spec"]["instancetype"] = {"name": "small"}
    assert of(machine, guest)["link"] == "restart"


def test_an_active_preference_is_no_fault() -> None:
    machine, guest = running(condition("Ready", "True"))
    machine["spec"]["preference"] = {"name": "linux", "kind": "VirtualMachinePreference"}
    metadata = {"name": "linux", "namespace": "shop"}
    assert (
        of(machine, guest, {"kind": "VirtualMachinePreference", "metadata": metadata, "spec": {}}).get("link") is None
    )


@pytest.mark.parametrize(
    ("reasons", "remedy", "words"),
    [
        (["lacks 2Gi of memory"], "free a node, add one", "placement"),
        (["lacks the label zone of its topology spread"], "smallest zone", "placement"),
        (["lacks the label cpu-model.node.kubevirt.io/Skylake=true"], "a CPU model", "placement"),
        (["lacks the label tier=web"], "label a node", "kubectl label node node0 tier=web"),
        (["lacks the label kubernetes.io/arch=arm64"], "correct the node selector", "placement"),
        (["has the taint node-role.kubernetes.io/control-plane:NoSchedule", "lacks 2Gi of memory"],
         "free a node, add one", "placement"),
        (["lacks 2Gi of memory", "has the taint node.kubernetes.io/unschedulable:NoSchedule"],
         "if its maintenance is over", "kubectl uncordon node1"),
        (["has the taint team=a:NoSchedule"], "tolerate the taint",
         'tolerations","value":[{"key":"old"},{"key":"team","value":"a","effect":"NoSchedule"}]'),
        (["has the taint team:NoExecute"], "tolerate the taint",
         '{"key":"team","effect":"NoExecute","operator":"Exists"}'),
    ],
)  # fmt: skip
def test_the_remedy_suits_the_nodes(reasons: list[str], remedy: str, words: str) -> None:
    listed = [
        {"reasons": [reason], "node_count": 1, "nodes": [f"node{index}", "more"]}
        for index, reason in enumerate(reasons)
    ]
    objects = starting(pod(node="", conditions=[UNSCHEDULABLE]), node(), tolerations=[{"key": "old"}])
    [result] = diagnoses(objects, KubeVirt(NEWEST), HOUR, lambda _nodes, _pods: lambda _pod: listed)
    found = checked(result["diagnosis"])
    assert found["problem"].startswith(f"no node is suitable: {reasons[0]} (node0, more)")
    assert remedy in found["remedy"]
    assert words in str(steps(found)[0])


def test_a_restore_in_progress_is_waited_for() -> None:
    machine = vm("Stopped")
    machine["status"]["restoreInProgress"] = "monday"
    assert of(machine)["waits_for"] == "the restore monday"


def test_another_size_is_another_instancetype() -> None:
    objects = refused('Invalid value: "1292Mi": must be less than or equal to memory limit of 700Mi')
    objects[0]["spec"]["instancetype"] = {"name": "large", "kind": "VirtualMachineInstancetype"}
    [change] = patch(of(*objects))
    assert change["value"] == {"name": "NAME", "kind": "VirtualMachineInstancetype"}
    objects[0]["spec"]["instancetype"] = {"name": "large"}
    assert patch(of(*objects))[0]["value"] == {"name": "NAME"}


def test_only_a_limit_range_mends_a_minimum() -> None:
    found = of(*refused('pods "a" is forbidden: minimum memory usage per Container is 8Gi, but request is 1292Mi'))
    assert found["link"] == "limit_range" and command(found)[-2:] == ["describe", "limitrange"]


def test_quota_of_a_disk_permits_two_claims() -> None:
    found = of(vm("Provisioning", volumes=disk()), data_volume("Pending", CLAIM_QUOTA))
    assert "second claim in which CDI fills the disk" in found["remedy"]
    assert patch(found)["spec"]["hard"] == {"requests.storage": "2Gi"}


def test_clone_into_a_smaller_disk_never_ends() -> None:
    message = "[tmp-pvc-1] : target resources requests storage size is smaller than the source"
    objects = [vm("Provisioning", volumes=disk()), data_volume("CloneInProgress"), claim("data", "Pending")]
    found = of(*objects, event("PersistentVolumeClaim", "data", "ErrIncompatiblePVC", message))
    assert found["link"] == "import" and found["remedy"].startswith("give the disk the size of its source in the VM")


def test_cdi_refuses_a_clone_before_its_claim() -> None:
    message = "The clone doesn't meet the validation requirements: target resources requests storage size is smaller"
    refusal = condition("Bound", "False", "CloneValidationFailed", f"{message} than the source 1 < 2")
    found = of(vm("Provisioning", volumes=disk()), data_volume("", refusal))
    assert found["link"] == "import" and message in found["problem"]
    assert found["remedy"].startswith("give the disk the size of its source in the VM")


def test_urls_of_messages_show_no_secret() -> None:
    url = "https://bob:hunter22@images.example.com/a.img?X-Amz-Signature=c0ffee"
    failed = condition("Running", "False", "Error", f'Head "{url}": dial tcp: no such host')
    found = of(vm("Provisioning", volumes=disk()), data_volume("ImportInProgress", failed))
    assert 'Head "https://(hidden)@images.example.com/a.img?(hidden)": dial tcp' in found["problem"]
    assert "hunter22" not in str(found) and "c0ffee" not in str(found)


def test_quota_may_forbid_only_the_second_claim() -> None:
    message = CLAIM_QUOTA["message"].replace('"data"', '"prime-1"').replace("storage=0", "storage=1Gi")
    objects = [vm("Provisioning", volumes=disk()), data_volume("Pending"), claim("data", "Pending")]
    found = of(*objects, event("PersistentVolumeClaim", "data", "ErrCreatingPVCPrime", message))
    assert (found["link"], found["evidence"][0]["kind"]) == ("quota", "PersistentVolumeClaim")
    assert patch(found)["spec"]["hard"] == {"requests.storage": "2Gi"}


def test_another_image_keeps_other_volumes() -> None:
    message = "Failed to pull image registry.example.com/disk:1"
    other = {"name": "data", "containerDisk": {"image": "registry.example.com/data:1"}}
    found = of(*starting(pod(("ErrImagePull", message)), volumes=[other, ROOT]))
    assert patch(found) == [
        {"op": "add", "path": "/spec/template/spec/volumes/1/containerDisk/image", "value": "IMAGE"}
    ]


def test_another_image_is_for_the_vms_own() -> None:
    assert "task" not in of(*starting(pod(("ErrImagePull", "Failed to pull image quay.io/kubevirt/virt-launcher"))))


def test_the_agent_is_added_to_the_volumes() -> None:
    [change] = patch(of(*running(**AGENT)))
    assert change["path"] == "/spec/template/spec/volumes/-"
    assert "qemu-guest-agent" in change["value"]["cloudInitNoCloud"]["userData"]
    [change] = patch(of(*running(**AGENT, volumes=[])))
    assert change["path"] == "/spec/template/spec/volumes" and len(change["value"]) == 1


def test_no_task_replaces_the_script_of_a_guest() -> None:
    own = {"name": "init", "cloudInitConfigDrive": {"userData": "#cloud-config"}}
    found = of(*running(**AGENT, volumes=[ROOT, own]))
    assert found["link"] == "agent" and found.get("task") is None


def test_another_port_keeps_other_interfaces() -> None:
    interfaces = [{"name": "lan", "bridge": {}}, *PORTS["devices"]["interfaces"]]
    domain = {"devices": {"interfaces": interfaces}, "memory": {"guest": "1Gi"}}
    objects = running(domain=domain, readinessProbe={"tcpSocket": {"port": 22}})
    [change] = patch(of(*objects))
    assert (change["path"][-28:], change["value"]) == ("devices/interfaces/1/ports/-", {"port": 22})
    del objects[0]["spec"]["template"]["spec"]["domain"]["devices"]
    assert "task" not in of(*objects)


def test_a_disk_that_is_too_small_grows() -> None:
    failed = condition("Running", "False", "Error", "image size 5Gi is larger than the available storage 1Gi")
    found = of(*starting(volumes=disk()), data_volume("ImportInProgress", failed))
    assert found["remedy"].startswith("give the disk the size of its source")


def test_lists_are_taken_apart() -> None:
    items = [{"metadata": {"name": "a"}}]
    lists: list[Manifest] = [
        {"kind": "List", "items": [{"kind": "PodList", "items": items}]},
        {"kind": "Config", "items": items},
    ]
    assert list(flattened(lists)) == [{"kind": "Pod", "metadata": {"name": "a"}}, lists[1]]


def test_an_unreadable_time_has_no_age() -> None:
    assert (age(HOUR, SECOND), age(HOUR, "soon"), age("", SECOND)) == (3600, 0, 0)
