"""instancetype and preference: declared, unchanged, changed, removed."""

from collections.abc import Callable
from typing import Any

from modules_support import server_side_apply

Run = Callable[..., dict[str, Any]]

SIZE = {"name": "web", "cpu": {"guest": 2}, "memory": {"guest": "4096Mi"}, "labels": {"team": "web"}}


def kind(api: Any, name: str = "VirtualMachineInstancetype") -> Any:
    return api.resources.get(api_version="instancetype.kubevirt.io/v1beta1", kind=name)


def test_the_second_run_changes_nothing(run: Run, namespace: str, api: Any) -> None:
    first = run("instancetype", namespace=namespace, **SIZE)
    assert (first["changed"], first["result"]["action"]) == (True, "create")
    live = kind(api).get(name="web", namespace=namespace)
    assert live.spec.memory.guest == "4Gi"
    again = run("instancetype", namespace=namespace, **SIZE)
    assert (again["changed"], again["diff"]) == (False, [])
    assert kind(api).get(name="web", namespace=namespace).metadata.resourceVersion == live.metadata.resourceVersion


def test_check_mode_predicts_and_writes_nothing(run: Run, namespace: str, api: Any) -> None:
    planned = run("instancetype", namespace=namespace, check=True, **SIZE)
    assert (planned["changed"], planned["msg"]) == (True, "1 instancetype: would be 1 created")
    assert kind(api).get(namespace=namespace).items == []


def test_diff_shows_removed_fields_only(run: Run, namespace: str, api: Any) -> None:
    run("instancetype", namespace=namespace, **SIZE)
    changed = run("instancetype", namespace=namespace, name="web", cpu={"guest": 4}, memory={"guest": "4Gi"})
    assert changed["diff"][0]["before"] == {"metadata": {"labels": {"team": "web"}}, "spec": {"cpu": {"guest": 2}}}
    assert changed["diff"][0]["after"] == {"spec": {"cpu": {"guest": 4}}}
    assert "labels" not in kind(api).get(name="web", namespace=namespace).to_dict()["metadata"]


def test_fields_of_other_managers_stay(run: Run, namespace: str, api: Any) -> None:
    run("instancetype", namespace=namespace, **SIZE)
    kind(api).patch(
        name="web",
        namespace=namespace,
        body={"metadata": {"labels": {"theirs": "x"}}},
        content_type="application/merge-patch+json",
    )
    assert not run("instancetype", namespace=namespace, **SIZE)["changed"]
    assert kind(api).get(name="web", namespace=namespace).metadata.labels.theirs == "x"


def test_field_conflict_names_the_manager(run: Run, namespace: str, api: Any) -> None:
    manifest = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"cpu": {"guest": 8}, "memory": {"guest": "4Gi"}},
    }
    server_side_apply(kind(api), manifest, "other")
    refused = run("instancetype", namespace=namespace, **SIZE)
    assert refused["failed"]
    assert f'{namespace}/web: another field manager owns declared fields: "other" owns spec.cpu.guest' in refused["msg"]
    taken = run("instancetype", namespace=namespace, force_conflicts=True, **SIZE)
    assert taken["changed"]
    assert kind(api).get(name="web", namespace=namespace).spec.cpu.guest == 2


def test_existing_objects_can_be_kept(run: Run, namespace: str, api: Any) -> None:
    for name, labels in (("theirs", {}), ("operated", {"app.kubernetes.io/managed-by": "virt-operator"})):
        kind(api).create(
            namespace=namespace,
            body={
                "apiVersion": "instancetype.kubevirt.io/v1beta1",
                "kind": "VirtualMachineInstancetype",
                "metadata": {"name": name, "labels": labels},
                "spec": {"cpu": {"guest": 8}, "memory": {"guest": "4Gi"}},
            },
        )
    sizes = [{**SIZE, "name": name} for name in ("theirs", "operated", "ours")]
    kept = run("instancetype", namespace=namespace, instancetypes=sizes, existing="keep")
    assert kept["msg"] == "3 instancetypes: 1 created, 2 left unchanged"
    applied = run("instancetype", namespace=namespace, instancetypes=sizes, force_conflicts=True)
    assert [result["action"] for result in applied["results"]] == ["apply", "keep", "none"]
    assert "virt-operator" in applied["results"][1]["skip_reason"]


def test_absent_list_is_awaited(run: Run, namespace: str, api: Any) -> None:
    sizes = [{**SIZE, "name": f"size-{number}"} for number in range(3)]
    assert run("instancetype", namespace=namespace, instancetypes=sizes)["msg"] == "3 instancetypes: 3 created"
    gone = run(
        "instancetype", namespace=namespace, state="absent", wait=True, instancetypes=[*sizes, {"name": "never"}]
    )
    assert gone["msg"] == "4 instancetypes: 3 deleted, 1 unchanged"
    assert kind(api).get(namespace=namespace).items == []


def test_a_preference_with_typed_options(run: Run, namespace: str, api: Any) -> None:
    options: dict[str, Any] = {
        "name": "windows",
        "cpu": {"preferred_cpu_topology": "sockets"},
        "devices": {"preferred_rng": {}, "preferred_disk_bus": "sata"},
        "features": {"preferred_hyperv": {"spinlocks": {"spinlocks": 8191}}},
        "firmware": {"preferred_efi": {"secure_boot": True}},
        "requirements": {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}},
        "vm_annotations": {"vm.kubevirt.io/os": "windows"},
    }
    assert run("preference", namespace=namespace, **options)["changed"]
    spec = kind(api, "VirtualMachinePreference").get(name="windows", namespace=namespace).to_dict()["spec"]
    assert spec == {
        "annotations": {"vm.kubevirt.io/os": "windows"},
        "cpu": {"preferredCPUTopology": "sockets"},
        "devices": {"preferredRng": {}, "preferredDiskBus": "sata"},
        "features": {"preferredHyperv": {"spinlocks": {"spinlocks": 8191}}},
        "firmware": {"preferredEfi": {"secureBoot": True}},
        "requirements": {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}},
    }
    assert not run("preference", namespace=namespace, **options)["changed"]
