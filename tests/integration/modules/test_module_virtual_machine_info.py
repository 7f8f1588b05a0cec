"""virtual_machine_info: what VMs are, which are returned, and the server's expansion."""

import json
import re
from typing import Any

from modules_support import Task, claim_of, objects, vm


def grow(task: Task) -> None:
    """Another generation of the instancetype small."""
    assert task("instancetype", name="small", cpu={"guest": 2}, memory={"guest": "3Gi"})["changed"]


def test_drifted_vm_is_described(task: Task, shop: str) -> None:
    task("virtual_machine", **vm("web", labels={"app": "web"}), wait=True)
    grow(task)
    web = task.vms()["web"]
    assert (web["status"], web["ready"], web["run_strategy"]) == ("Running", True, "Always")
    assert (web["labels"], web["drifted"], web["restart_required"]) == ({"app": "web"}, True, False)
    assert "Ready" in [item["type"] for item in web["conditions"]]
    instancetype, preference = web["instancetype"], web["preference"]
    assert (instancetype["name"], instancetype["kind"]) == ("small", "VirtualMachineInstancetype")
    assert (instancetype["state"], instancetype["pinned"], instancetype["recreated"]) == ("drifted", False, False)
    assert (instancetype["generation"], instancetype["current_generation"]) == (1, 2)
    assert instancetype["changes"] == [
        {"field": "cpu.guest", "before": 1, "after": 2},
        {"field": "memory.guest", "before": "2Gi", "after": "3Gi"},
    ]
    assert instancetype["revision"].startswith("web-small-v1beta1-")
    assert (preference["state"], preference["changes"]) == ("current", [])
    # At its next start it gets what it has captured, not what the instancetype is now.
    assert (web["resources"]["guest"]["vcpus"], web["resources"]["guest"]["memory"]) == (1, "2Gi")
    assert (web["resources"]["pod"]["cpu"], web["resources"]["pod"]["overhead"]) == ("105m", "268Mi")
    assert (web["vmi"]["phase"], web["vmi"]["guest"]["memory"]) == ("Running", "2Gi")
    assert web["vmi"]["node"]


def test_table_has_the_columns_of_kubectl(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", virtual_machines=[vm("web"), {**vm("db"), "run_strategy": "Halted"}], wait=True)
    path = f"/apis/kubevirt.io/v1/namespaces/{shop}/virtualmachines"
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    served = json.loads(api.request("get", path, header_params=accept, serialize=False).data)
    columns = [column["name"].upper() for column in served["columnDefinitions"] if not column["priority"]]
    kubectl = {row["cells"][0]: dict(zip(columns, row["cells"])) for row in served["rows"]}
    header, *lines = task("virtual_machine_info", namespace=shop)["table"]
    rows = {line.split()[1]: dict(zip(header.split(), line.split())) for line in lines}
    assert rows.keys() == kubectl.keys() == {"web", "db"}
    assert header.split()[1:5] == columns == ["NAME", "AGE", "STATUS", "READY"]
    for name, cells in kubectl.items():
        assert {column: rows[name][column] for column in columns if column != "AGE"} == {
            column: cell for column, cell in cells.items() if column != "AGE"
        }
        assert re.fullmatch(r"\d+s", rows[name]["AGE"])
    assert (rows["web"]["INSTANCETYPE"], rows["web"]["PREFERENCE"]) == ("small", "linux")
    assert (rows["web"]["DRIFTED"], rows["web"]["RESTART"]) == ("-", "-")


def test_captured_revisions_and_running_guest(task: Task, shop: str, api: Any) -> None:
    claim_of(api, shop, "data")
    volumes = [
        {"name": "root", "container_disk": "registry.example.com/disk:1", "bus": "virtio"},
        {"name": "data", "persistent_volume_claim": "data", "hotpluggable": True},
        {"name": "iso", "device": "cdrom"},
    ]
    networks = [{"model": "e1000e"}]
    task("virtual_machine", **vm("web", volumes=volumes, networks=networks), wait=True)
    grow(task)
    web = task.vms(include=["captured"])["web"]
    revisions = objects(api, "ControllerRevision")
    for part in (web["instancetype"], web["preference"]):
        data = revisions.get(name=part["revision"], namespace=shop).to_dict()["data"]
        assert part["captured"] == {"api_version": data["apiVersion"], "spec": data["spec"]}
    assert web["instancetype"]["captured"]["spec"]["memory"] == {"guest": "2Gi"}

    instances = objects(api, "VirtualMachineInstance")
    live, instance = instances.get(name="web", namespace=shop).to_dict(), web["vmi"]
    buses = {disk["name"]: target_of(disk)["bus"] for disk in live["spec"]["domain"]["devices"]["disks"]}
    assert {disk["name"]: disk["bus"] for disk in instance["disks"]} == buses
    facts = {disk["name"]: (disk["device"], disk["source"], disk["claim"]) for disk in instance["disks"]}
    assert facts == {
        "root": ("disk", "containerDisk", ""),
        "data": ("disk", "persistentVolumeClaim", "data"),
        "iso": ("cdrom", "", ""),
    }
    assert instance["claims"] == ["data"]
    assert [disk["name"] for disk in instance["disks"] if disk["hotpluggable"]] == ["data"]
    (interface,), (reported,) = instance["interfaces"], live["status"]["interfaces"]
    assert (interface["name"], interface["model"], interface["binding"]) == ("default", "e1000e", "masquerade")
    assert (interface["mac"], interface["addresses"]) == (reported["mac"], reported["ipAddresses"])
    assert [instance["guest"][name] for name in ("sockets", "cores", "threads")] == [1, 1, 1]


def target_of(disk: dict[str, Any]) -> dict[str, Any]:
    return next(disk[target] for target in ("disk", "cdrom", "lun") if target in disk)


def test_vm_without_instancetype_has_own_resources(task: Task, shop: str) -> None:
    volumes = [{"name": "root", "container_disk": "registry.example.com/disk:1"}]
    own = {"name": "own", "cpu": {"cores": 2}, "memory": "1Gi", "volumes": volumes, "run_strategy": "Halted"}
    task("virtual_machine", **own)
    seen = task.vms()["own"]
    assert (seen["resources"]["guest"]["vcpus"], seen["resources"]["guest"]["memory"]) == (2, "1Gi")
    assert (seen["drifted"], "instancetype" in seen, "vmi" in seen) == (False, False, False)


def test_unresolved_vm_reports_the_server_message(task: Task, shop: str) -> None:
    task("virtual_machine", **vm("web", "nowhere", preference=None), preflight="off")
    seen = task.vms()["web"]
    assert seen["problem"] == 'virtualmachineinstancetypes.instancetype.kubevirt.io "nowhere" not found'
    assert (seen["instancetype"]["state"], "resources" in seen) == ("not_captured", False)


def test_filters_can_be_combined(task: Task, shop: str) -> None:
    entries = [
        vm("a", labels={"tier": "web"}),
        vm("b", "medium", labels={"tier": "web"}, preference=None),
        vm("c", "small", preference=None),
        vm("d", "medium"),
    ]
    task("virtual_machine", virtual_machines=entries, wait=True)
    grow(task)
    for options, names in (
        ({}, "abcd"),
        ({"names": ["a", "d", "no"]}, "ad"),
        ({"label_selectors": ["tier=web"]}, "ab"),
        ({"instancetype": "small"}, "ac"),
        ({"preference": "linux"}, "ad"),
        ({"drifted": True}, "ac"),
        ({"drifted": False}, "bd"),
        ({"drifted": True, "preference": "linux"}, "a"),
        ({"instancetype": "small", "label_selectors": ["tier=web"]}, "a"),
        ({"restart_required": True}, ""),
        ({"restart_required": False, "instancetype": "medium"}, "bd"),
    ):
        assert "".join(task.vms(**options)) == names, options


def test_vms_that_need_a_restart(task: Task, shop: str) -> None:
    task("virtual_machine", virtual_machines=[vm("a"), vm("b")], wait=True)
    task("virtual_machine", **vm("a", "medium"), wait=True)
    waiting = task.vms(restart_required=True)
    assert list(waiting) == ["a"]
    assert "RestartRequired" in [item["type"] for item in waiting["a"]["conditions"]]
    assert (waiting["a"]["vmi"]["guest"]["memory"], waiting["a"]["resources"]["guest"]["memory"]) == ("2Gi", "4Gi")


def test_server_and_resolver_expand_equally(task: Task, shop: str) -> None:
    user_data = [{"name": "init", "cloud_init": {"user_data": "password: hunter2-secret"}}]
    entries = [vm("a"), vm("b", "medium", volumes=user_data), vm("c", labels={"x": "y"}, run_strategy="Halted")]
    task("virtual_machine", virtual_machines=entries, wait=True)
    # The captured spec counts, for both.
    grow(task)
    result = task("virtual_machine_info", include=["expansion"])
    assert [(item["name"], item["expansion"]["equal"]) for item in result["virtual_machines"]] == [
        ("a", True),
        ("b", True),
        ("c", True),
    ]
    assert not any("resources" in item for item in result["virtual_machines"])
    first = result["virtual_machines"][0]["expansion"]
    assert first["server"] == first["resolver"]
    assert first["server"]["template"]["spec"]["domain"]["memory"] == {"guest": "2Gi"}
    assert "instancetype" not in first["server"]
    assert "hunter2" not in str(result)
    some = task.vms(include=["expansion"], label_selectors=["x=y"])
    assert list(some) == ["c"] and some["c"]["expansion"]["equal"]


def test_server_and_resolver_refuse_for_the_same_reason(task: Task, shop: str) -> None:
    task("virtual_machine", **vm("web", "nowhere", preference=None), preflight="off")
    item = task.vms(include=["expansion"], name="web")["web"]["expansion"]
    assert item["server_error"] == f"Internal error occurred: {item['resolver_error']}"
    assert (item["equal"], item["differences"], "server" in item) == (True, [], False)


def test_an_unknown_name(task: Task, shop: str) -> None:
    assert task.vms(include=["expansion"], names=["web"]) == {}
