"""virtual_machine: created, unchanged, inferred, stopped by others, waited for, removed."""

from typing import Any

from modules_support import Task, by_name, claim_of, live, objects, vm

MERGE = "application/merge-patch+json"


def vms(api: Any) -> Any:
    return objects(api, "VirtualMachine")


def revisions(api: Any, namespace: str) -> list[str]:
    resource = objects(api, "ControllerRevision")
    return sorted(item.metadata.name for item in resource.get(namespace=namespace).items)


def power(api: Any, namespace: str, name: str, verb: str) -> None:
    path = f"/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}/{verb}"
    api.request("PUT", path, body={}, header_params={"Accept": "*/*", "Content-Type": "application/json"})


def test_created_vms_run_and_stay_unchanged(task: Task, shop: str, api: Any) -> None:
    entries = [vm("web"), vm("batch", "medium", run_strategy="Halted")]
    first = task("virtual_machine", virtual_machines=entries, wait=True)
    assert first["msg"] == "2 virtual machines: 2 created"
    result = by_name(first["results"])
    assert (result["web"]["status"], result["batch"]["status"]) == ("Running", "Stopped")
    assert result["web"]["instancetype_revision"] in revisions(api, shop)
    assert result["batch"]["preference_revision"] in revisions(api, shop)
    versions = {item.metadata.name: item.metadata.generation for item in vms(api).get(namespace=shop).items}
    again = task("virtual_machine", virtual_machines=entries, wait=True)
    assert (again["changed"], again["msg"]) == (False, "2 virtual machines: 2 unchanged")
    assert versions == {item.metadata.name: item.metadata.generation for item in vms(api).get(namespace=shop).items}


def test_undeclared_networks_and_disks_are_removed(task: Task, shop: str, api: Any) -> None:
    extra = {"networks": [{"name": "default"}, {"name": "storage", "multus": "storage-net"}], "labels": {"app": "web"}}
    shared = {"namespace": shop, "name": "web", "run_strategy": "Halted", "cpu": {"cores": 1}, "memory": "1Gi"}
    disk = {"volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}]}
    for before, after in (({**disk, **extra}, disk), (disk, {}), ({**disk, **extra}, {})):
        made = task("virtual_machine", **shared, **before)
        assert made.get("failed", False) is False, made
        assert task("virtual_machine", **shared, **after)["changed"]
        spec = vms(api).get(namespace=shop, name="web").to_dict()["spec"]["template"]["spec"]
        assert not {"networks"} & set(spec) and "interfaces" not in spec["domain"]["devices"]
        assert ("volumes" in spec) == bool(after)
        assert task("virtual_machine", **shared, **after)["changed"] is False


def disk(api: Any, namespace: str, **labels: str) -> None:
    prefix = "instancetype.kubevirt.io/default-"
    claim_of(api, namespace, "disk", labels={f"{prefix}{key.replace('_', '-')}": v for key, v in labels.items()})


INFERRED = {
    "name": "inferred",
    "instancetype": {"infer_from_volume": "root"},
    "preference": {"infer_from_volume": "root"},
    "volumes": [{"name": "root", "persistent_volume_claim": "disk"}],
}


def test_inferred_vm_stays_unchanged_in_later_runs(task: Task, shop: str, api: Any) -> None:
    disk(
        api,
        shop,
        instancetype="medium",
        instancetype_kind="VirtualMachineInstancetype",
        preference="linux",
        preference_kind="VirtualMachinePreference",
    )
    assert task("virtual_machine", **INFERRED, wait=True)["changed"]
    assert vms(api).get(name="inferred", namespace=shop).spec.instancetype.name == "medium"
    for _time in range(2):
        assert not task("virtual_machine", **INFERRED)["changed"]
    changed = task("virtual_machine", **INFERRED, labels={"a": "b"})
    assert (changed["changed"], changed["diff"][0]["after"]) == (True, {"metadata": {"labels": {"a": "b"}}}), changed
    assert not task("virtual_machine", **INFERRED, labels={"a": "b"})["changed"]


def test_failed_inference_is_reported_before_requests(task: Task, shop: str, api: Any) -> None:
    disk(api, shop)
    refused = task.refused("virtual_machine", **INFERRED)
    assert "unable to find required instancetype.kubevirt.io/default-instancetype label" in refused["msg"]
    assert "spec.instancetype.inferFromVolume" in refused["msg"]
    assert vms(api).get(namespace=shop).items == []


def test_stopped_vm_starts_only_when_declared(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", **vm("web"), wait=True)
    power(api, shop, "web", "stop")
    again = task("virtual_machine", **vm("web"), wait=True)
    assert (again["changed"], again["result"]["run_strategy"]) == (False, "Halted")
    started = task("virtual_machine", **vm("web", run_strategy="Always"), wait=True)
    assert (started["changed"], started["result"]["status"]) == (True, "Running"), started


def test_a_removed_label_disk_and_another_instancetype(task: Task, shop: str, api: Any) -> None:
    two = [{"name": "root", "container_disk": "a"}, {"name": "data", "empty_disk": "1024Mi", "bus": "sata"}]
    task("virtual_machine", **vm("web", labels={"a": "1", "b": "2"}, volumes=two, run_strategy="Halted"))
    changed = task("virtual_machine", **vm("web", "medium", labels={"a": "1"}, volumes=two[:1], run_strategy="Halted"))
    assert changed["changed"], changed["msg"]
    changed = live(api, shop)
    assert changed["metadata"]["labels"] == {"a": "1"}
    assert changed["spec"]["instancetype"]["name"] == "medium"
    assert [volume["name"] for volume in changed["spec"]["template"]["spec"]["volumes"]] == ["root"]
    assert "disks" not in changed["spec"]["template"]["spec"]["domain"]["devices"]
    assert "labels" not in changed["spec"]["template"].get("metadata", {})


def test_preflight_can_warn_only(task: Task, shop: str, api: Any) -> None:
    entry = vm("web", "nowhere", preference=None, run_strategy="Halted")
    warned = task("virtual_machine", **entry, preflight="warn")
    assert warned["changed"]
    assert '"nowhere" not found' in warned["result"]["warnings"][0]
    assert vms(api).get(name="web", namespace=shop).spec.instancetype.name == "nowhere"


def test_missing_referenced_object_is_named(task: Task, shop: str, api: Any) -> None:
    users, disk = (
        {"name": "users", "configMap": {"name": "users"}},
        {"name": "users", "disk": {}},
    )
    spec = {"volumes": [users], "domain": {"devices": {"disks": [disk]}}}
    entry = {**vm("web"), "namespace": shop, "template": {"spec": spec}, "run_strategy": "Halted"}
    result = (
        "spec.template.spec.volumes[1].configMap.name: no ConfigMap users in the namespace"
        f" {shop}; create it before the VM starts"
    )
    foreseen = task("virtual_machine", check=True, **entry)
    assert [item.partition("; check mode")[0] for item in foreseen["result"]["warnings"]] == [result], foreseen
    created = task("virtual_machine", **entry)
    assert created["changed"] and created["result"]["warnings"] == [result], created
    maps = objects(api, "ConfigMap")
    maps.create(body={"metadata": {"name": "users"}, "data": {"users": "ada"}}, namespace=shop)
    changed = task("virtual_machine", **entry, labels={"tier": "web"})
    assert changed["changed"] and "warnings" not in changed["result"], changed


def test_refused_vm_does_not_stop_others(task: Task, shop: str, api: Any) -> None:
    done = task.refused("virtual_machine", virtual_machines=[vm("a"), vm("b", "tiny"), vm("c")])
    assert done["changed"]
    assert done["msg"].startswith(f"1 of 3 virtual machines failed: {shop}/b: ")
    assert [result["failed"] for result in done["results"]] == [False, True, False]
    assert [item.metadata.name for item in vms(api).get(namespace=shop).items] == ["a", "c"]


def test_fail_fast_sends_nothing(task: Task, shop: str, api: Any) -> None:
    done = task.refused("virtual_machine", fail_fast=True, virtual_machines=[vm("a"), vm("b", "tiny")])
    assert not done["changed"]
    assert done["results"][0]["msg"] == "not sent because another object of the task failed and fail_fast is set"
    assert vms(api).get(namespace=shop).items == []


def test_named_vms_are_deleted_and_others_stay(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", virtual_machines=[vm(name) for name in "abc"])
    gone = {"state": "absent", "names": ["a", "b", "never"], "wait": True}
    foreseen = task("virtual_machine", check=True, **gone)
    assert (foreseen["changed"], len(vms(api).get(namespace=shop).items)) == (True, 3)
    assert task("virtual_machine", **gone)["msg"] == "3 virtual machines: 2 deleted, 1 unchanged"
    assert [item.metadata.name for item in vms(api).get(namespace=shop).items] == ["c"]
    assert not task("virtual_machine", **gone)["changed"]


def test_vms_with_labels_are_deleted_and_others_stay(task: Task, shop: str, api: Any) -> None:
    labels = {"a": {"tier": "web"}, "b": {"tier": "web", "keep": "yes"}, "c": {"tier": "db"}, "d": {"tier": "web"}}
    halted = [vm(name, labels=labels[name], run_strategy="Halted") for name in labels]
    task("virtual_machine", virtual_machines=halted)

    def delete(*selectors: str, **options: Any) -> tuple[str, list[str]]:
        done = task("virtual_machine", state="absent", label_selectors=[*selectors], wait=True, **options)
        return done["msg"], [item.metadata.name for item in vms(api).get(namespace=shop).items]

    assert delete("tier=web", "!keep", names=["c", "d"]) == ("1 virtual machine: 1 deleted", ["a", "b", "c"])
    assert delete("tier in (web, db)", "!keep") == ("2 virtual machines: 2 deleted", ["b"])
    assert delete("tier=mail") == ("0 virtual machines", ["b"])


def test_kind_and_pinned_revision_follow_the_name(task: Task, shop: str, api: Any) -> None:
    namespaced = {"kind": "VirtualMachineInstancetype"}
    halted = {"preference": None, "run_strategy": "Halted", "wait": True}

    def declare(instancetype: dict[str, Any] | None, **options: Any) -> dict[str, Any]:
        entry = {**vm("web", **halted), "instancetype": instancetype, **options}
        return task("virtual_machine", **entry)

    def matcher() -> dict[str, Any]:
        result: dict[str, Any] = live(api, shop)["spec"].get("instancetype", {})
        return result

    first = declare({"name": "small", **namespaced})["result"]["instancetype_revision"]
    # Pinned by the play, then by somebody else.
    pinned = {"name": "small", **namespaced, "revision_name": first}
    assert declare(pinned)["changed"]
    assert not declare(pinned)["changed"]
    medium = declare({"name": "medium", **namespaced})
    assert matcher() == {"name": "medium", **namespaced}
    assert medium["diff"][0]["before"]["spec"]["instancetype"] == {"name": "small", "revisionName": first}
    second = medium["result"]["instancetype_revision"]
    patch = {"spec": {"instancetype": {"revisionName": second}}}
    vms(api).patch(namespace=shop, name="web", body=patch, content_type=MERGE, field_manager="somebody")
    assert not declare({"name": "medium", **namespaced})["changed"]
    assert declare({"name": "small", **namespaced})["changed"]
    assert matcher() == {"name": "small", **namespaced}
    # Spelled otherwise, as a refresh may do it, it is the same kind.
    spelled = {"spec": {"instancetype": {"kind": "virtualmachineinstancetype"}}}
    vms(api).patch(namespace=shop, name="web", body=spelled, content_type=MERGE, field_manager="virtshape")
    assert not declare({"name": "small", **namespaced})["changed"]
    # A cluster-wide one, whose kind may be left out.
    name = f"{shop}-large"
    task("instancetype", name=name, namespace=None, cpu={"guest": 1}, memory={"guest": "1Gi"})
    try:
        assert declare({"name": name})["changed"]
        assert matcher() == {"name": name, "kind": "VirtualMachineClusterInstancetype"}
        assert not declare({"name": name})["changed"]
    finally:
        task("instancetype", name=name, namespace=None, state="absent", force=True)
    # To CPUs and memory of its own, pinned by somebody else again, and back.
    patch["spec"]["instancetype"]["revisionName"] = live(api, shop)["status"]["instancetypeRef"][
        "controllerRevisionRef"
    ]["name"]
    vms(api).patch(namespace=shop, name="web", body=patch, content_type=MERGE, field_manager="somebody")
    own = {"cpu": {"cores": 2}, "memory": "1Gi"}
    assert declare(None, **own)["changed"]
    assert matcher() == {}
    assert not declare(None, **own)["changed"]
    assert declare(None, cpu={"cores": 4}, memory="2Gi")["changed"]
    assert declare({"name": "small", **namespaced})["changed"]
    domain = live(api, shop)["spec"]["template"]["spec"]["domain"]
    assert (matcher(), "cpu" in domain, "memory" in domain) == ({"name": "small", **namespaced}, False, False)
    assert not declare({"name": "small", **namespaced})["changed"]
