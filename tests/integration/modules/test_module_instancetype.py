"""instancetype and preference: declared, unchanged, changed, removed."""

from typing import Any

from modules_support import Task, manifest, objects, server_side_apply, warned

SIZE = {"name": "web", "cpu": {"guest": 2}, "memory": {"guest": "4096Mi"}, "labels": {"team": "web"}}


LARGE = {"cpu": {"guest": 8}, "memory": {"guest": "4Gi"}}


def kind(api: Any, name: str = "VirtualMachineInstancetype") -> Any:
    return objects(api, name)


def test_the_second_run_changes_nothing(task: Task, namespace: str, api: Any) -> None:
    first = task("instancetype", **SIZE)
    assert (first["changed"], first["result"]["action"]) == (True, "create")
    live = kind(api).get(name="web", namespace=namespace)
    assert live.spec.memory.guest == "4Gi"
    again = task("instancetype", **SIZE)
    assert (again["changed"], again["diff"]) == (False, [])
    assert kind(api).get(name="web", namespace=namespace).metadata.resourceVersion == live.metadata.resourceVersion


def test_check_mode_predicts_and_writes_nothing(task: Task, namespace: str, api: Any) -> None:
    planned = task("instancetype", check=True, **SIZE)
    assert (planned["changed"], planned["msg"]) == (True, "1 instancetype: would be 1 created")
    assert kind(api).get(namespace=namespace).items == []


def test_diff_shows_removed_fields_only(task: Task, namespace: str, api: Any) -> None:
    task("instancetype", **SIZE)
    changed = task("instancetype", name="web", cpu={"guest": 4}, memory={"guest": "4Gi"})
    assert changed["diff"][0]["before"] == {"metadata": {"labels": {"team": "web"}}, "spec": {"cpu": {"guest": 2}}}
    assert changed["diff"][0]["after"] == {"spec": {"cpu": {"guest": 4}}}
    assert "labels" not in kind(api).get(name="web", namespace=namespace).to_dict()["metadata"]


def test_fields_of_other_managers_stay(task: Task, namespace: str, api: Any) -> None:
    task("instancetype", **SIZE)
    kind(api).patch(
        name="web",
        namespace=namespace,
        body={"metadata": {"labels": {"theirs": "x"}}},
        content_type="application/merge-patch+json",
    )
    assert not task("instancetype", **SIZE)["changed"]
    assert kind(api).get(name="web", namespace=namespace).metadata.labels.theirs == "x"


def test_field_conflict_names_the_manager(task: Task, namespace: str, api: Any) -> None:
    theirs = manifest("VirtualMachineInstancetype", "web", LARGE, namespace=namespace)
    server_side_apply(kind(api), theirs, "other")
    refused = task.refused("instancetype", **SIZE)
    assert f'{namespace}/web: another field manager owns declared fields: "other" owns spec.cpu.guest' in refused["msg"]
    assert task("instancetype", force_conflicts=True, **SIZE)["changed"]
    assert kind(api).get(name="web", namespace=namespace).spec.cpu.guest == 2


def test_existing_objects_can_be_kept(task: Task, namespace: str, api: Any) -> None:
    for name, labels in (("theirs", {}), ("operated", {"app.kubernetes.io/managed-by": "virt-operator"})):
        kind(api).create(manifest("VirtualMachineInstancetype", name, LARGE, labels=labels), namespace)
    sizes = [{**SIZE, "name": name} for name in ("theirs", "operated", "ours")]
    kept = task("instancetype", instancetypes=sizes, existing="keep")
    assert kept["msg"] == "3 instancetypes: 1 created, 2 left unchanged"
    applied = task("instancetype", instancetypes=sizes, force_conflicts=True)
    assert [result["action"] for result in applied["results"]] == ["apply", "keep", "none"]
    reason = applied["results"][1]["skip_reason"]
    assert reason == "virt-operator manages the object and reverts other changes"
    left = f"{namespace}/operated: not as declared: {reason}; declare another name"
    for result in (kept, applied):
        assert [text for text in warned(result) if "not as declared" in text] == [left]
    # An object as declared is not told, even without our labels.
    same = {"name": "operated", "cpu": LARGE["cpu"], "memory": LARGE["memory"]}
    again = task("instancetype", **same)
    assert (again["changed"], warned(again)) == (False, [])
    definitions = [manifest("VirtualMachineInstancetype", "operated", LARGE)]
    catalog = {"source": "definitions", "catalog": "web", "namespaces": [namespace]}
    assert warned(task("catalog", **catalog, definitions=definitions)) == []
    larger = manifest("VirtualMachineInstancetype", "operated", {**LARGE, "memory": {"guest": "9Gi"}})
    assert warned(task("catalog", **catalog, definitions=[larger])) == [left]
    gone = task("instancetype", name="operated", state="absent")
    assert (gone["changed"], warned(gone)) == (False, [f"{namespace}/operated: not deleted: {reason}"])


def test_absent_list_is_awaited(task: Task, namespace: str, api: Any) -> None:
    sizes = [{**SIZE, "name": f"size-{number}"} for number in range(3)]
    assert task("instancetype", instancetypes=sizes)["msg"] == "3 instancetypes: 3 created"
    gone = task("instancetype", state="absent", wait=True, instancetypes=[*sizes, {"name": "never"}])
    assert gone["msg"] == "4 instancetypes: 3 deleted, 1 unchanged"
    assert kind(api).get(namespace=namespace).items == []


def test_a_preference_with_typed_options(task: Task, namespace: str, api: Any) -> None:
    options: dict[str, Any] = {
        "name": "windows",
        "cpu": {"preferred_cpu_topology": "sockets"},
        "devices": {"preferred_rng": {}, "preferred_disk_bus": "sata"},
        "features": {"preferred_hyperv": {"spinlocks": {"spinlocks": 8191}}},
        "firmware": {"preferred_efi": {"secure_boot": True}},
        "requirements": {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}},
        "vm_annotations": {"vm.kubevirt.io/os": "windows"},
    }
    assert task("preference", **options)["changed"]
    spec = kind(api, "VirtualMachinePreference").get(name="windows", namespace=namespace).to_dict()["spec"]
    assert spec == {
        "annotations": {"vm.kubevirt.io/os": "windows"},
        "cpu": {"preferredCPUTopology": "sockets"},
        "devices": {"preferredRng": {}, "preferredDiskBus": "sata"},
        "features": {"preferredHyperv": {"spinlocks": {"spinlocks": 8191}}},
        "firmware": {"preferredEfi": {"secureBoot": True}},
        "requirements": {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}},
    }
    assert not task("preference", **options)["changed"]


def test_object_of_a_catalog_has_a_warning(task: Task, namespace: str) -> None:
    size = {"name": "own", "cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    rendered = task("instancetype", state="rendered", **size)["rendered"]
    task("catalog", source="definitions", catalog="ours", definitions=rendered, namespaces=[namespace])
    for check in (True, False):
        (warning,) = warned(task("instancetype", check=check, **{**size, "memory": {"guest": "2Gi"}}))
        assert (
            "the object belongs to the catalog ours, whose next task changes it back; declare another name" in warning
        )
    assert warned(task("instancetype", **size)) == []
