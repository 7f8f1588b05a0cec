"""virtual_machine_adopt: what VMs can be adopted with, and that their guests do not notice it."""

from typing import Any

import pytest

from modules_support import Run, Task, await_condition, by_name, live, objects, vm, warned

SMALL = {"kind": "VirtualMachineInstancetype", "name": "small"}
LINUX = {"kind": "VirtualMachinePreference", "name": "linux"}
FULL = {"cpu": {"sockets": 1, "cores": 1, "threads": 1}, "memory": {"guest": "2Gi"}}
# The catalog that a cluster may have besides is none of the tests' business.
OWN = {"instancetypes": ["tiny", "small", "medium"], "preferences": ["linux"]}


def explicit(name: str, domain: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """An entry for a VM with all that it needs."""
    return {
        "name": name,
        "template": {"spec": {"domain": FULL if domain is None else domain}},
        "volumes": [
            {"name": "root", "container_disk": "registry.example.com/disk:1", "bus": "virtio"},
            {"name": "init", "cloud_init": {"user_data": "password: hunter2"}, "bus": "virtio"},
        ],
        **options,
    }


def declared(task: Task, *entries: dict[str, Any]) -> None:
    task("virtual_machine", virtual_machines=list(entries), wait=True)


@pytest.fixture
def adopt(task: Task, shop: str) -> Run:
    """adopt(**options): the module's result for the VMs of the namespace."""

    def one(**options: Any) -> dict[str, Any]:
        return task.outcome("virtual_machine_adopt", **{"namespace": shop, **OWN, **options})

    return one


def test_check_mode_reports_and_changes_nothing(task: Task, adopt: Run, shop: str, api: Any) -> None:
    declared(task, explicit("web", labels={"app": "web"}))
    before = live(api, shop)
    matches = adopt(check=True)
    assert (matches["changed"], matches["msg"]) == (
        True,
        "1 virtual machine: 1 would be adopted, 0 already have an instancetype",
    )
    (result,) = matches["results"]
    assert (result["instancetype"], result["preference"], result["differences"]) == (SMALL, LINUX, [])
    assert (result["fits"], result["changed"], result["failed"], result["needs"]) == (True, True, False, "nothing")
    assert result["removed"] == [
        *(f"domain.cpu.{count}" for count in ("sockets", "cores", "threads")),
        "domain.memory.guest",
        *(f"domain.devices.disks[{index}].disk.bus" for index in (0, 1)),
    ]
    manifest = result["manifest"]
    assert (manifest["metadata"]["labels"], manifest["spec"]["instancetype"]) == ({"app": "web"}, SMALL)
    assert "status" not in manifest and "managedFields" not in manifest["metadata"]
    assert manifest["spec"]["template"]["spec"]["domain"]["devices"] == {
        "disks": [{"name": name, "disk": {}} for name in ("root", "init")]
    }
    assert "hunter2" not in str(matches)
    # Not the resourceVersion: virt-controller may write the status at any time.
    after = live(api, shop)
    assert [after["metadata"][part] for part in ("generation", "labels")] == [
        before["metadata"][part] for part in ("generation", "labels")
    ]


def test_adoption_leaves_the_guest_unchanged(task: Task, adopt: Run, shop: str, api: Any) -> None:
    declared(task, explicit("web"), explicit("off", run_strategy="Halted"))
    guest = live(api, shop, kind="VirtualMachineInstance")
    checked = task("virtual_machine_adopt", check=True, **OWN)
    assert (checked["changed"], [item["changed"] for item in checked["results"]]) == (True, [True, True])
    assert checked["msg"].startswith("2 virtual machines: 2 would be adopted")
    assert "instancetype" not in live(api, shop)["spec"]
    done = adopt()
    assert done["changed"], done
    assert "hunter2" not in str(done)
    assert done["diff"] == checked["diff"]
    assert "instancetype" in done["diff"][0]["after"]["spec"]
    again = adopt()
    assert (again["changed"], again["msg"]) == (
        False,
        "2 virtual machines: 0 were adopted, 2 already have an instancetype",
    )
    assert by_name(again["results"])["web"]["instancetype"] == SMALL
    # It has captured both, waits for no restart, and is started as it was.
    result = task.vms()
    assert [result[name]["restart_required"] for name in ("off", "web")] == [False, False]
    running = live(api, shop, kind="VirtualMachineInstance")
    assert (running["metadata"]["uid"], running["spec"]) == (guest["metadata"]["uid"], guest["spec"])
    assert task("virtual_machine_power", wait=True, name="web", state="restarted")["changed"]
    fresh = live(api, shop, kind="VirtualMachineInstance")
    assert fresh["metadata"]["uid"] != guest["metadata"]["uid"]
    assert fresh["spec"] == guest["spec"]


def test_the_play_of_an_adopted_vm(task: Task, adopt: Run, shop: str) -> None:
    declared(task, explicit("off", run_strategy="Halted"))
    assert adopt()["changed"]
    # The old play asks for what the instancetype decides now; as soon as it names that, it has to leave it out.
    matchers = {"instancetype": SMALL, "preference": LINUX}
    old = task.refused("virtual_machine", **explicit("off", run_strategy="Halted"), **matchers)
    assert "conflicts with selected instance type" in old["msg"]
    volumes = [{key: value for key, value in item.items() if key != "bus"} for item in explicit("off")["volumes"]]
    play = {"name": "off", "volumes": volumes, "run_strategy": "Halted", **matchers}
    task("virtual_machine", **play)
    assert not task("virtual_machine", **play)["changed"]
    (expanded,) = task("virtual_machine_info", include=["expansion"])["virtual_machines"]
    assert expanded["expansion"]["equal"], expanded
    assert expanded["expansion"]["server"]["template"]["spec"]["domain"]["memory"] == {"guest": "2Gi"}


def test_fields_of_other_owners_stay(adopt: Run, api: Any, shop: str) -> None:
    """A VM as kubectl made it: what goes is nobody's, what comes is ours, and all else stays kubectl's."""
    disks = [{"name": "root", "disk": {"bus": "virtio"}}]
    volumes = [{"name": "root", "containerDisk": {"image": "registry.example.com/disk:1"}}]
    manifest = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web"},
        "spec": {
            "runStrategy": "Halted",
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"domain": {**FULL, "devices": {"disks": disks, "rng": {}}}, "volumes": volumes},
            },
        },
    }
    resource = objects(api, "VirtualMachine")
    resource.create(manifest, namespace=shop, field_manager="kubectl-create")
    assert adopt()["changed"]
    owned = {
        entry["manager"]: entry["fieldsV1"]["f:spec"]
        for entry in live(api, shop)["metadata"]["managedFields"]
        if entry["manager"] in ("kubectl-create", "virtshape") and "f:spec" in entry["fieldsV1"]
    }
    assert owned["virtshape"].keys() == {"f:instancetype", "f:preference", "f:template"}
    changed = owned["virtshape"]["f:template"]["f:spec"]["f:domain"]
    assert changed == {"f:devices": {"f:disks": {}}}
    left = owned["kubectl-create"]["f:template"]["f:spec"]
    assert left["f:domain"]["f:devices"].keys() == {".", "f:rng"}
    assert (left["f:volumes"], "f:runStrategy" in owned["kubectl-create"]) == ({}, True)
    assert not {"f:memory", "f:cpu"} & {key for key in left["f:domain"] if left["f:domain"][key] != {}}


def test_unmatched_vm_fails_with_nearest_instancetypes(task: Task, adopt: Run, shop: str) -> None:
    odd = {**FULL, "resources": {"limits": {"memory": "3Gi"}}}
    declared(task, explicit("odd", odd, run_strategy="Halted"), explicit("web", run_strategy="Halted"))
    matches = adopt()
    assert (matches["failed"], matches["changed"]) == (True, True)
    assert matches["msg"] == (
        f"1 of 2 virtual machines failed: {shop}/odd: no instancetype has the CPU, memory and devices of the VM; "
        "the nearest match is small: differs in domain.resources.limits; set accept: [domain.resources.limits];"
        " 1 adopted"
    )
    result = by_name(matches["results"])
    assert [(result[name]["changed"], result[name]["failed"], result[name]["fits"]) for name in ("odd", "web")] == [
        (False, True, False),
        (True, False, True),
    ]
    assert result["odd"]["nearest"][0]["differences"] == [
        {"field": "domain.resources.limits", "before": {"memory": "3Gi"}, "after": None}
    ]
    # To find that out is no failure, and to accept it is a decision.
    assert "failed" not in adopt(check=True)
    taken = adopt(accept=["domain.resources.limits"])
    assert taken["changed"], taken
    assert by_name(taken["results"])["odd"]["differences"] == result["odd"]["nearest"][0]["differences"]


def test_nearest_instancetype_is_of_the_guests_class(task: Task, adopt: Run, shop: str) -> None:
    """A guest with dedicated CPUs would wait for a node with a CPU manager forever."""
    sizes = {"cpu": {"guest": 1, "dedicated_cpu_placement": True}, "memory": {"guest": "1700Mi"}}
    assert task("instancetype", name="pinned", **sizes)["changed"]
    declared(task, explicit("web", {"cpu": {"sockets": 1}, "memory": {"guest": "1536Mi"}}, run_strategy="Halted"))
    (result,) = adopt(instancetypes=["pinned", "medium", "small"], check=True)["results"]
    assert [pair["instancetype"]["name"] for pair in result["nearest"]] == ["small", "medium"]
    refused = adopt(instancetypes=["pinned"])
    assert refused["results"][0]["nearest"] == []
    assert refused["msg"].endswith(
        "web: each instancetype makes the guest smaller or changes its class: pinned, the nearest in size, adds"
        " dedicated CPUs; create one with 1 vCPU, 1536Mi"
    )


def test_cores_alone_are_adopted_in_both_proposed_ways(task: Task, adopt: Run, api: Any, shop: str) -> None:
    """The commonest old VM."""
    assert task("instancetype", name="double", cpu={"guest": 2}, memory={"guest": "4Gi"})["changed"]
    old = {"cpu": {"cores": 2}, "memory": {"guest": "4Gi"}}
    declared(task, explicit("turned", old), explicit("kept", old))
    why = (
        "no instancetype has the CPU, memory and devices of the VM; the nearest match is double: differs in"
        " domain.cpu.cores, domain.cpu.sockets; set accept: [domain.cpu] to change the topology of its vCPUs, or use a"
        " preference with spec.cpu.preferredCPUTopology: cores and accept: [domain.cpu.sockets] to keep it"
    )
    turn = {"names": ["turned"], "instancetypes": ["double"]}
    refused = adopt(**turn)
    assert refused["msg"] == f"{shop}/turned: {why}"
    checked = adopt(**turn, check=True)
    assert (checked.get("failed"), checked["changed"]) == (None, False)
    assert warned(checked) == [f"1 virtual machine cannot be adopted: {shop}/turned: {why}"]

    turned = adopt(**turn, accept=["domain.cpu"])
    assert turned["changed"], turned
    assert turned["results"][0]["needs"] == "restart"
    restart = "a restart for this; use virtual_machine_power with state: restarted"
    assert warned(turned) == [f"{shop}/turned needs {restart}"]

    assert task("preference", name="cores", cpu={"preferred_cpu_topology": "cores"})["changed"]
    options = {**turn, "names": ["kept"], "preferences": ["cores"], "accept": ["domain.cpu.sockets"]}
    # KubeVirt asks for a restart, but the guest has the cores and the one socket already.
    for kept in (adopt(**options, check=True), adopt(**options)):
        assert (kept["changed"], kept["results"][0]["needs"], warned(kept)) == (True, "nothing", []), kept
    for name in ("turned", "kept"):
        await_condition(api, shop, name, "RestartRequired")
    assert task("virtual_machine_power", wait=True, names=["kept", "turned"], state="restarted")["changed"]
    result = task.vms()
    guests = [result[name]["vmi"]["guest"] for name in ("turned", "kept")]
    assert [[guest[part] for part in ("sockets", "cores", "threads")] for guest in guests] == [[2, 1, 1], [1, 2, 1]]


def test_restart_without_effect_is_predicted(task: Task, adopt: Run, shop: str) -> None:
    """KubeVirt compares how a VM is written, not what it means."""
    spelled = {"cpu": FULL["cpu"], "resources": {"requests": {"memory": "2Gi"}}}
    declared(task, explicit("web", spelled))
    done = adopt()
    (result,) = done["results"]
    assert (result["differences"], result["needs"], result["changed"]) == ([], "restart", True)
    assert warned(done)[0].startswith(f"{shop}/web needs a restart for this; ")
    assert result["restart_reason"] == "a non-live-updatable field was changed in the template spec"


def test_vms_are_chosen_by_name_and_labels(task: Task, adopt: Run, shop: str) -> None:
    entries = [explicit(name, run_strategy="Halted", labels={"tier": name}) for name in ("a", "b", "c")]
    declared(task, *entries, vm("d", run_strategy="Halted"))
    assert [item["name"] for item in adopt(check=True)["results"]] == ["a", "b", "c", "d"]
    assert [item["name"] for item in adopt(check=True, names=["a", "c"])["results"]] == ["a", "c"]
    assert [item["name"] for item in adopt(check=True, label_selectors=["tier in (a, b)"])["results"]] == ["a", "b"]
    without = adopt(check=True, names=["a"], preferences=[])["results"][0]
    assert (without["instancetype"], "preference" in without) == (SMALL, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["nobody"]}, "names: no such virtual machine in {shop}: nobody"),
        ({"namespace": None, "names": ["web"]}, "namespace: required with names"),
        (
            {"instancetypes": ["smal", "sm*"]},
            "instancetypes: no instancetype that the namespace {shop} can use matches 'smal'",
        ),
        ({"preferences": ["bsd"]}, "preferences: no preference that the namespace {shop} can use matches 'bsd'"),
    ],
)
def test_bad_input_is_one_line(task: Task, adopt: Run, shop: str, options: dict[str, Any], message: str) -> None:
    declared(task, explicit("web", run_strategy="Halted"))
    refused = adopt(**options)
    assert refused["failed"]
    assert refused["msg"] == message.format(shop=shop)
