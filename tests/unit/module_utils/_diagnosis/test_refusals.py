"""Refusals of the API server, and remedies that reckon with the other VMs."""

from typing import Any

import pytest
from diagnosed import HOUR, SECOND, condition, data_volume, disk, event, of, pod, refused, running, vm, vmi
from remedies import command, patch, steps

Manifest = dict[str, Any]

SOON = "2026-03-01T08:10:00Z"
SCC = "unable to validate against any security context constraint: [provider restricted-v2: Invalid value: 107]"
CLONE = (
    "Error encountered while creating DataVolumes: not authorized to create DataVolume: Authorization failed, message"
    " is: User system:serviceaccount:shop:ci has insufficient permissions in clone source namespace golden"
)
LEASE = {"kind": "Lease", "metadata": {"name": "virt-controller", "namespace": "openshift-cnv"}, "spec": {}}


def exceeded(name: str, requested: str, used: str = "400Mi", hard: str = "1Gi") -> str:
    return (
        f'failed to create virtual machine pod: pods "virt-launcher-{name}" is forbidden: exceeded quota: team,'
        f" requested: requests.memory={requested}, used: requests.memory={used}, limited: requests.memory={hard}"
    )


def quota(hard: str, used: str) -> Manifest:
    spec, status = {"hard": {"requests.memory": hard, "pods": "10"}}, {"used": {"requests.memory": used, "pods": "1"}}
    return {"kind": "ResourceQuota", "metadata": {"name": "team", "namespace": "shop"}, "spec": spec, "status": status}


@pytest.mark.parametrize("lease", [[], [LEASE]])
def test_openshift_lacks_a_constraint(lease: list[Manifest]) -> None:
    found = of(*refused(f'pods "virt-launcher-web-" is forbidden: {SCC}'), *lease)
    namespace = "openshift-cnv" if lease else "kubevirt"
    assert found["link"] == "policy" and f"system:serviceaccount:{namespace}:kubevirt-controller" in found["remedy"]
    assert command(found) == ["--namespace", namespace, "delete", "pod", "--selector", "kubevirt.io=virt-operator"]


def test_a_clone_needs_a_right_in_the_source() -> None:
    found = of(vm("Stopped", condition("Failure", "True", "FailedCreate", CLONE)))
    assert found["link"] == "clone_right"
    assert found["problem"] == "system:serviceaccount:shop:ci may not clone from the namespace golden"
    role, binding, _again = (list(step.values())[1]["cmd"] for step in steps(found))
    right = "--verb create --resource datavolumes.cdi.kubevirt.io/source"
    assert role == f"kubectl --namespace golden create role clone-to-shop {right}"
    assert binding.endswith("create rolebinding clone-to-shop --role clone-to-shop --serviceaccount shop:ci")


PODS = 'pods "virt-launcher-web-" is forbidden: '
QUOTA = exceeded("web", "1Gi")


@pytest.mark.parametrize(
    ("objects", "waiting"),
    [
        (refused(QUOTA), "virtualmachineinstance web"),
        (refused('error looking up service account shop/ci: serviceaccount "ci" not found'),
         "virtualmachineinstance web"),
        (refused(f"{PODS}no PriorityClass with name high was found"), "virtualmachineinstance web"),
        (refused(f'{PODS}violates PodSecurity "baseline:latest": privileged'), "virtualmachineinstance web"),
        ([vm("Stopped", condition("Failure", "True", "FailedCreate", QUOTA))], "virtualmachine web"),
        ([vm("Stopped", condition("Failure", "True", "FailedCreate", CLONE))], "virtualmachine web"),
        ([vm("Stopped", condition("Failure", "True", "FailedCreate",
                                  'datasources.cdi.kubevirt.io "fedora" not found'))], "virtualmachine web"),
        ([vm("Provisioning", volumes=disk()),
          data_volume("Pending", condition("Bound", "False", "ErrExceededQuota", QUOTA))], "datavolume data"),
    ],
)  # fmt: skip
def test_who_waits_tries_again_at_once(objects: list[Manifest], waiting: str) -> None:
    again = steps(of(*objects, at=SOON))[-1]["ansible.builtin.command"]["cmd"]
    annotation = f"instancetypes.virtshape.io/retried={SOON}"
    assert again == f"kubectl --namespace shop annotate --overwrite {waiting} {annotation}"


def hard(*objects: Manifest) -> Any:
    return patch(of(*objects, at=SOON))["spec"]["hard"]["requests.memory"]


def test_a_quota_is_raised_for_all_vms() -> None:
    own = refused(exceeded("web", "1Gi"))
    others = [event("VirtualMachineInstance", name, "FailedCreate", exceeded(name, "2Gi")) for name in ("a", "b")]
    found = of(*own, *others, at=SOON)
    assert "for this VM and 2 more that it holds up" in found["remedy"]
    assert patch(found) == {"spec": {"hard": {"requests.memory": "5520Mi"}}}
    # One has a pod now, one is another namespace's, one belongs to no VM, one is of another quota.
    let_in, elsewhere, foreign, second = others[0], {**others[1]}, {**others[0]}, {**others[0]}
    launched = pod()
    launched["metadata"]["annotations"] = {"kubevirt.io/domain": "a"}
    elsewhere["involvedObject"] = {**elsewhere["involvedObject"], "namespace": "office"}
    foreign["involvedObject"] = {"kind": "ReplicaSet", "namespace": "shop", "name": "c"}
    second["involvedObject"] = {"kind": "VirtualMachineInstance", "namespace": "shop", "name": "d"}
    second["message"] = exceeded("d", "2Gi").replace("quota: team", "quota: other")
    for index, item in enumerate((elsewhere, foreign, second)):
        item["metadata"] = {**item["metadata"], "name": f"e{index}"}
    assert hard(*own, let_in, launched, elsewhere, foreign, second) == "1424Mi"


def test_old_words_of_a_quota_do_not_count() -> None:
    other = event("VirtualMachineInstance", "a", "FailedCreate", exceeded("a", "2Gi"))
    assert patch(of(*refused(exceeded("web", "1Gi")), other, at=HOUR))["spec"]["hard"] == {"requests.memory": "1424Mi"}


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        # It was raised since.
        (quota("8Gi", "2Gi"), "8Gi"),
        (quota("2Gi", "1536Mi"), "2560Mi"),
        ({**quota("2Gi", "2Gi"), "status": {}}, "2Gi"),
        ({**quota("2Gi", "2Gi"), "metadata": {"name": "other", "namespace": "shop"}}, "1424Mi"),
    ],
)
def test_no_remedy_lowers_a_quota(now: Manifest, expected: str) -> None:
    assert hard(*refused(exceeded("web", "1Gi")), now) == expected


def test_disks_that_wait_are_reckoned_twice() -> None:
    words = exceeded("x", "1Gi", "0", "1Gi").replace('pods "', 'persistentvolumeclaims "')
    bound = condition("Bound", "False", "ErrExceededQuota", words.replace("virt-launcher-x", "data"))
    other = event("DataVolume", "other", "ErrExceededQuota", words)
    assert hard(vm("Provisioning", volumes=disk()), data_volume("Pending", bound), other) == "4Gi"


def test_a_silent_handler_starts_no_guest() -> None:
    machine = vm()
    node = {"kind": "Node", "metadata": {"name": "node01", "annotations": {"kubevirt.io/heartbeat": SECOND}}}
    found = of(machine, vmi(machine, "Scheduled", nodeName="node01"), node)
    assert found["link"] == "node" and found["problem"] == "virt-handler of the node node01 has been silent for 3600 s"
    assert of(machine, vmi(machine, "Scheduled", nodeName="node01"), node, at=SOON).get("link") == "node"
    assert of(machine, vmi(machine, "Scheduled", nodeName="node01"), node, at=SECOND).get("link") is None


def test_a_failed_guest_needs_no_node() -> None:
    machine = vm()
    assert of(machine, vmi(machine, "Failed", nodeName="gone"), {"kind": "Node", "metadata": {"name": "a"}}).get(
        "link"
    ) != "node"  # fmt: skip


def test_kubevirt_copies_the_state_of_an_image() -> None:
    machine = vm("ErrImagePull", condition("Synchronized", "False", "ErrImagePull", "pull of a failed"))
    assert of(machine)["problem"] == "an image cannot be pulled: pull of a failed"


ATTACHED = event(
    "Pod", "launcher", "FailedAttachVolume", "Multi-Attach error for volume a Volume is already used by pod"
)


def starting_on(*objects: Manifest) -> Manifest:
    machine = vm(volumes=disk("data", "persistentVolumeClaim", "claimName"))
    waiting = {**pod(("ContainerCreating", "")), "metadata": {**pod()["metadata"], "creationTimestamp": HOUR}}
    return of(machine, vmi(machine, "Scheduling"), waiting, ATTACHED, *objects)


def test_a_volume_of_another_node_is_freed() -> None:
    found = starting_on()
    assert found["link"] == "files" and "another node has a volume of the VM" in found["problem"]
    assert command(found) == ["get", "volumeattachments"]
    twin = {**running()[1], "metadata": {"name": "twin", "namespace": "shop"}}
    twin["spec"] = {**twin["spec"], "volumes": disk("data", "persistentVolumeClaim", "claimName")}
    found = starting_on(twin)
    assert found["remedy"] == "stop the VM twin, or give the VM a disk of its own"
    before = {**pod(node="gone"), "metadata": {**pod()["metadata"], "name": "before", "creationTimestamp": SECOND}}
    nodes = [{"kind": "Node", "metadata": {"name": "node01"}}]
    found = starting_on(before, *nodes)
    assert command(found)[:3] == ["taint", "nodes", "gone"]


def test_a_node_that_is_gone_leaves_pods() -> None:
    machine = vm()
    found = of(
        machine, vmi(machine, "Running", nodeName="gone"), pod(node="gone"), {"kind": "Node", "metadata": {"name": "a"}}
    )
    assert command(found)[2:5] == ["delete", "pod", "launcher"]


def test_a_namespace_that_ends_takes_nothing() -> None:
    words = 'pods "a" is forbidden: unable to create new content in namespace shop because it is being terminated'
    found = of(*refused(words))
    assert (found["link"], found["problem"]) == ("admission", "the namespace shop is being deleted")


def crashed(**status: Any) -> Manifest:
    machine = vm("CrashLoopBackOff")
    machine["status"]["startFailure"] = {"consecutiveFailCount": 2}
    ended = pod()
    ended["status"] = {"phase": "Failed", **status}
    return of(machine, ended)


def test_kubelet_says_why_a_pod_ended() -> None:
    found = crashed(reason="UnexpectedAdmissionError", message="Allocate failed due to device plugin")
    assert found["link"] == "crash" and "(UnexpectedAdmissionError): Allocate failed" in found["problem"]
    assert command(found) == ["describe", "node", "node01"]
    killed = {"name": "compute", "state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}
    found = crashed(containerStatuses=[{"name": "guest-console-log"}, killed])
    assert "the container compute needed more memory" in found["problem"]
    assert patch(found)["spec"]["configuration"] == {"additionalGuestMemoryOverheadRatio": "1.5"}
    assert crashed()["problem"] == "the guest ended 2 times before it ran"


def test_a_container_that_its_runtime_cannot_start() -> None:
    machine = vm()
    waiting = pod(("RunContainerError", "failed to start"))
    found = of(machine, vmi(machine, "Scheduling"), waiting)
    assert (found["link"], found["problem"]) == ("container", "a container of the pod does not run: failed to start")
    words = 'exec: "/container-disk-binary/usr/bin/container-disk": no such file or directory'
    found = of(machine, vmi(machine, "Scheduling"), waiting, event("Pod", "launcher", "Failed", words))
    assert "container-disk-binary" in found["problem"] and command(found)[2:4] == ["logs", "launcher"]
