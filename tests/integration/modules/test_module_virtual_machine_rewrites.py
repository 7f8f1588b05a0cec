"""virtual_machine: what KubeVirt itself writes to the spec of a VM after its declaration."""

from typing import Any

from waiting import wait_until

from modules_support import Task, claim_of, network_of, objects, vm, warned

ROOT = {"name": "root", "container_disk": "registry.example.com/disk:1"}
MORE = {"name": "more", "empty_disk": "1Gi"}
EXTRA = {"name": "extra", "persistent_volume_claim": "extra"}
WARNING = "volumes: extra was plugged in and stays, though the task does not declare it"


def spec_of(api: Any, namespace: str) -> dict[str, Any]:
    vms = objects(api, "VirtualMachine")
    result: dict[str, Any] = vms.get(name="web", namespace=namespace).to_dict()["spec"]["template"]["spec"]
    return result


def volumes_of(api: Any, namespace: str) -> list[str]:
    return [volume["name"] for volume in spec_of(api, namespace)["volumes"]]


def disks_of(api: Any, namespace: str) -> list[str]:
    return [disk["name"] for disk in spec_of(api, namespace)["domain"]["devices"].get("disks") or []]


def subresource(api: Any, namespace: str, verb: str, body: dict[str, Any]) -> None:
    """Sends a request to a subresource, like virtctl."""
    path = f"/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines/web/{verb}"
    api.request("put", path, body=body, header_params={"Accept": "*/*"})


def plug(api: Any, namespace: str) -> None:
    """Plugs a volume like `virtctl addvolume web --volume-name=extra --persist`."""
    disk = {"name": "extra", "disk": {"bus": "scsi"}, "serial": "extra"}
    source = {"persistentVolumeClaim": {"claimName": "extra"}}
    subresource(api, namespace, "addvolume", {"name": "extra", "disk": disk, "volumeSource": source})
    # Older releases let virt-controller write it.
    wait_until(lambda: "extra" in volumes_of(api, namespace))


def test_unplugged_interface_is_unchanged(task: Task, namespace: str, api: Any) -> None:
    network_of(api, namespace, "lan")

    def declare(state: str | None, **options: Any) -> dict[str, Any]:
        lan = {"name": "lan", "bridge": {}, **({"state": state} if state else {})}
        networks = [{"name": "default", "pod": {}}, {"name": "lan", "multus": {"networkName": "lan"}}]
        interfaces = [{"name": "default", "masquerade": {}}, lan]
        spec = {"networks": networks, "domain": {"devices": {"interfaces": interfaces}}}
        options = {"template": {"spec": spec}, "wait": True, **options}
        return task("virtual_machine", name="web", memory="1Gi", volumes=[ROOT], **options)

    def names() -> list[str]:
        return [network["name"] for network in spec_of(api, namespace).get("networks") or []]

    assert declare(None)["changed"]
    assert declare("absent")["changed"]
    wait_until(lambda: names() == ["default"])
    for check in (True, False):
        again = declare("absent", check=check)
        assert not again["changed"] and not again.get("failed"), again
    # virt-controller owns the lists; they are taken back.
    assert declare(None)["changed"]
    assert names() == ["default", "lan"]
    assert not declare(None)["changed"]


def test_paused_start_of_halted_vm(task: Task, namespace: str, api: Any) -> None:
    """virt-controller writes the run strategy then, and not virt-api."""

    def declare() -> dict[str, Any]:
        return task("virtual_machine", name="web", run_strategy="Halted", memory="1Gi", volumes=[ROOT])

    def strategy() -> str:
        vms = objects(api, "VirtualMachine")
        return str(vms.get(name="web", namespace=namespace).spec.runStrategy)

    assert declare()["changed"]
    subresource(api, namespace, "start", {"paused": True})
    wait_until(lambda: strategy() == "Always")
    again = declare()
    assert again["changed"] and not again.get("failed"), again
    assert strategy() == "Halted"
    assert not declare()["changed"]


def test_plugged_volume_stays_until_it_is_declared(task: Task, namespace: str, api: Any) -> None:
    claim_of(api, namespace, "extra")

    def declare(*volumes: dict[str, Any], **options: Any) -> dict[str, Any]:
        options = {"volumes": [ROOT, *volumes], "wait": True, **options}
        return task("virtual_machine", name="web", memory="1Gi", **options)

    assert declare()["changed"]
    plug(api, namespace)
    again = declare()
    assert not again["changed"]
    assert any(WARNING in text for text in warned(again)), again
    declared = declare(EXTRA)
    assert not declared["changed"] and not warned(declared), declared

    # A later change of the list keeps it, and so do the runs after that.
    assert declare(MORE)["changed"]
    assert volumes_of(api, namespace) == ["root", "more", "extra"]
    again = declare(MORE)
    assert not again["changed"]
    assert any(WARNING in text for text in warned(again)), again

    # Somebody unplugs it: what is not declared may go.
    subresource(api, namespace, "removevolume", {"name": "extra"})
    wait_until(lambda: "extra" not in volumes_of(api, namespace))
    again = declare(MORE)
    assert not again["changed"] and not any(WARNING in text for text in warned(again)), again

    # Declared, it is ours, and goes with its disk when the task drops it.
    plug(api, namespace)
    assert declare(EXTRA)["changed"]
    assert not declare(EXTRA)["changed"]
    assert volumes_of(api, namespace) == ["root", "extra"]
    assert declare()["changed"]
    assert (volumes_of(api, namespace), disks_of(api, namespace)) == (["root"], [])


def test_forced_removal_of_plugged_volume(task: Task, namespace: str, api: Any) -> None:
    claim_of(api, namespace, "extra")

    def declare(**options: Any) -> dict[str, Any]:
        return task("virtual_machine", name="web", memory="1Gi", volumes=[ROOT], **options)

    assert declare(wait=True)["changed"]
    plug(api, namespace)
    foretold = task("virtual_machine", check=True, name="web", memory="1Gi", volumes=[ROOT], force_conflicts=True)
    assert foretold["changed"], foretold
    removed = declare(force_conflicts=True)
    assert removed["changed"] and not removed.get("failed"), removed
    assert removed["diff"][0]["before"] == foretold["diff"][0]["before"]
    assert (volumes_of(api, namespace), disks_of(api, namespace)) == (["root"], [])
    assert not declare()["changed"]


def test_restored_vm_names_a_lost_revision(task: Task, shop: str, api: Any) -> None:
    """A backup restores such a VM: its spec names a revision that the backup lacks."""
    kind = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}
    matcher = {"name": "small", "kind": "VirtualMachineInstancetype", "revisionName": "web-small-v1beta1-gone-1"}
    volumes = [{"name": "root", "containerDisk": {"image": "registry.example.com/disk:1"}}]
    template = {"spec": {"domain": {"devices": {}}, "volumes": volumes}}
    spec = {"runStrategy": "Always", "instancetype": matcher, "template": template}
    vms = api.resources.get(api_version=kind["apiVersion"], kind=kind["kind"])
    vms.create(namespace=shop, body={**kind, "metadata": {"name": "web"}, "spec": spec})

    def declare(check: bool = False) -> dict[str, Any]:
        entry = vm("web", preference=None, run_strategy="Always", volumes=[ROOT])
        return task.outcome("virtual_machine", check=check, **entry, take_over=True, wait=True)

    line = (
        "spec.instancetype: the captured revision web-small-v1beta1-gone-1 was deleted, so KubeVirt can neither start,"
        " stop nor restart the VM; refresh the VM (controller_revision, state: refreshed)"
    )
    assert declare()["msg"] == f"{shop}/web: {line}"
    foretold = declare(check=True)
    assert not foretold.get("failed") and line in warned(foretold)[0], foretold
    task("controller_revision", names=["web"], state="refreshed")
    assert not declare().get("failed")
    assert not declare()["changed"]


def test_a_clone_gets_another_size(task: Task, shop: str, api: Any) -> None:
    assert task("virtual_machine", **vm("web", run_strategy="Halted"), wait=True)["changed"]
    kind = {"apiVersion": "clone.kubevirt.io/v1beta1", "kind": "VirtualMachineClone"}
    ends = {
        end: {"apiGroup": "kubevirt.io", "kind": "VirtualMachine", "name": name}
        for end, name in (("source", "web"), ("target", "twin"))
    }
    api.resources.get(api_version=kind["apiVersion"], kind=kind["kind"]).create(
        namespace=shop, body={**kind, "metadata": {"name": "twin"}, "spec": ends}
    )
    wait_until(lambda: "twin" in task.vms())
    other = vm("twin", "medium")
    refused = task.refused("virtual_machine", **other)
    assert '"virt-controller" owns spec.instancetype.name' in refused["msg"]
    clone = "the VM is a clone, which virt-controller has made: set take_over: [virt-controller]"
    assert refused["msg"].endswith(f"; {clone}"), refused["msg"]
    assert task("virtual_machine", **other, take_over=["virt-controller"])["changed"]
    assert not task("virtual_machine", **other)["changed"]
