"""virtual_machine: created, unchanged, inferred, stopped by others, waited for, removed."""

from collections.abc import Callable
from typing import Any

from modules_support import by_name, vm

Run = Callable[..., dict[str, Any]]

MERGE = "application/merge-patch+json"


def vms(api: Any) -> Any:
    return api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")


def revisions(api: Any, namespace: str) -> list[str]:
    resource = api.resources.get(api_version="apps/v1", kind="ControllerRevision")
    return sorted(item.metadata.name for item in resource.get(namespace=namespace).items)


def power(api: Any, namespace: str, name: str, verb: str) -> None:
    path = f"/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}/{verb}"
    api.request("PUT", path, body={}, header_params={"Accept": "*/*", "Content-Type": "application/json"})


def test_created_vms_run_and_stay_unchanged(run: Run, shop: str, api: Any) -> None:
    entries = [vm("web"), vm("batch", "medium", run_strategy="Halted")]
    first = run("virtual_machine", namespace=shop, virtual_machines=entries, wait=True)
    assert first["msg"] == "2 virtual machines: 2 created"
    result = by_name(first["results"])
    assert (result["web"]["status"], result["batch"]["status"]) == ("Running", "Stopped")
    assert result["web"]["instancetype_revision"] in revisions(api, shop)
    assert result["batch"]["preference_revision"] in revisions(api, shop)
    versions = {item.metadata.name: item.metadata.generation for item in vms(api).get(namespace=shop).items}
    again = run("virtual_machine", namespace=shop, virtual_machines=entries, wait=True)
    assert (again["changed"], again["msg"]) == (False, "2 virtual machines: 2 unchanged")
    assert versions == {item.metadata.name: item.metadata.generation for item in vms(api).get(namespace=shop).items}


def test_undeclared_networks_and_disks_are_removed(run: Run, shop: str, api: Any) -> None:
    extra = {"networks": [{"name": "default"}, {"name": "storage", "multus": "storage-net"}], "labels": {"app": "web"}}
    shared = {"namespace": shop, "name": "web", "run_strategy": "Halted", "cpu": {"cores": 1}, "memory": "1Gi"}
    disk = {"volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}]}
    for before, after in (({**disk, **extra}, disk), (disk, {}), ({**disk, **extra}, {})):
        made = run("virtual_machine", **shared, **before)
        assert made.get("failed", False) is False, made
        bare = run("virtual_machine", **shared, **after)
        assert (bare["changed"], bare.get("failed", False)) == (True, False), bare
        spec = vms(api).get(namespace=shop, name="web").to_dict()["spec"]["template"]["spec"]
        assert not {"networks"} & set(spec) and "interfaces" not in spec["domain"]["devices"]
        assert ("volumes" in spec) == bool(after)
        assert run("virtual_machine", **shared, **after)["changed"] is False


def test_guest_has_the_instancetype_resources(run: Run, shop: str) -> None:
    run("virtual_machine", namespace=shop, **vm("web", "medium"), wait=True)
    result = run("virtual_machine_info", namespace=shop, names=["web"])["virtual_machines"]
    assert result[0]["vmi"]["phase"] == "Running"
    assert (result[0]["vmi"]["guest"]["vcpus"], result[0]["vmi"]["guest"]["memory"]) == (2, "4Gi")


def disk(api: Any, namespace: str, **labels: str) -> None:
    prefix = "instancetype.kubevirt.io/default-"
    api.resources.get(api_version="v1", kind="PersistentVolumeClaim").create(
        namespace=namespace,
        body={
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": "disk",
                "labels": {f"{prefix}{key.replace('_', '-')}": v for key, v in labels.items()},
            },
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        },
    )


INFERRED = {
    "name": "inferred",
    "instancetype": {"infer_from_volume": "root"},
    "preference": {"infer_from_volume": "root"},
    "volumes": [{"name": "root", "persistent_volume_claim": "disk"}],
}


def test_inferred_vm_stays_unchanged_in_later_runs(run: Run, shop: str, api: Any) -> None:
    disk(
        api,
        shop,
        instancetype="medium",
        instancetype_kind="VirtualMachineInstancetype",
        preference="linux",
        preference_kind="VirtualMachinePreference",
    )
    first = run("virtual_machine", namespace=shop, **INFERRED, wait=True)
    assert first["changed"], first
    assert vms(api).get(name="inferred", namespace=shop).spec.instancetype.name == "medium"
    for _time in range(2):
        assert not run("virtual_machine", namespace=shop, **INFERRED)["changed"]
    changed = run("virtual_machine", namespace=shop, **INFERRED, labels={"a": "b"})
    assert (changed["changed"], changed["diff"][0]["after"]) == (True, {"metadata": {"labels": {"a": "b"}}}), changed
    assert not run("virtual_machine", namespace=shop, **INFERRED, labels={"a": "b"})["changed"]


def test_failed_inference_is_reported_before_requests(run: Run, shop: str, api: Any) -> None:
    disk(api, shop)
    refused = run("virtual_machine", namespace=shop, **INFERRED)
    assert "unable to find required instancetype.kubevirt.io/default-instancetype label" in refused["msg"]
    assert "spec.instancetype.inferFromVolume" in refused["msg"]
    assert vms(api).get(namespace=shop).items == []


def test_stopped_vm_starts_only_when_declared(run: Run, shop: str, api: Any) -> None:
    run("virtual_machine", namespace=shop, **vm("web"), wait=True)
    power(api, shop, "web", "stop")
    again = run("virtual_machine", namespace=shop, **vm("web"), wait=True)
    assert (again["changed"], again["result"]["run_strategy"]) == (False, "Halted")
    started = run("virtual_machine", namespace=shop, **vm("web", run_strategy="Always"), wait=True)
    assert (started["changed"], started["result"]["status"]) == (True, "Running"), started


def test_a_removed_label_disk_and_another_instancetype(run: Run, shop: str, api: Any) -> None:
    two = [{"name": "root", "container_disk": "a"}, {"name": "data", "empty_disk": "1024Mi", "bus": "sata"}]
    run("virtual_machine", namespace=shop, **vm("web", labels={"a": "1", "b": "2"}, volumes=two, run_strategy="Halted"))
    changed = run(
        "virtual_machine",
        namespace=shop,
        **vm("web", "medium", labels={"a": "1"}, volumes=two[:1], run_strategy="Halted"),
    )
    assert changed["changed"], changed["msg"]
    live = vms(api).get(name="web", namespace=shop).to_dict()
    assert live["metadata"]["labels"] == {"a": "1"}
    assert live["spec"]["instancetype"]["name"] == "medium"
    assert [volume["name"] for volume in live["spec"]["template"]["spec"]["volumes"]] == ["root"]
    assert "disks" not in live["spec"]["template"]["spec"]["domain"]["devices"]
    assert "labels" not in live["spec"]["template"].get("metadata", {})


def test_wait_fails_at_once_with_reason(run: Run, shop: str) -> None:
    entry = vm("web", "nowhere", preference=None)
    failed = run("virtual_machine", namespace=shop, **entry, preflight="off", wait=True, wait_timeout=60)
    assert failed["failed"]
    assert "FailedFindInstancetype" in failed["msg"]
    assert '"nowhere" not found' in failed["msg"]


def test_preflight_can_warn_only(run: Run, shop: str, api: Any) -> None:
    entry = vm("web", "nowhere", preference=None, run_strategy="Halted")
    warned = run("virtual_machine", namespace=shop, **entry, preflight="warn")
    assert warned["changed"]
    assert '"nowhere" not found' in warned["result"]["warnings"][0]
    assert vms(api).get(name="web", namespace=shop).spec.instancetype.name == "nowhere"


def test_missing_referenced_object_is_named(run: Run, shop: str, api: Any) -> None:
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
    foreseen = run("virtual_machine", check=True, **entry)
    assert [item.partition("; check mode")[0] for item in foreseen["result"]["warnings"]] == [result], foreseen
    created = run("virtual_machine", **entry)
    assert created["changed"] and created["result"]["warnings"] == [result], created
    maps = api.resources.get(api_version="v1", kind="ConfigMap")
    maps.create(body={"metadata": {"name": "users"}, "data": {"users": "ada"}}, namespace=shop)
    changed = run("virtual_machine", **entry, labels={"tier": "web"})
    assert changed["changed"] and "warnings" not in changed["result"], changed


def test_refused_vm_does_not_stop_others(run: Run, shop: str, api: Any) -> None:
    done = run("virtual_machine", namespace=shop, virtual_machines=[vm("a"), vm("b", "tiny"), vm("c")])
    assert (done["failed"], done["changed"]) == (True, True)
    assert done["msg"].startswith(f"1 of 3 virtual machines failed: {shop}/b: ")
    assert [result["failed"] for result in done["results"]] == [False, True, False]
    assert [item.metadata.name for item in vms(api).get(namespace=shop).items] == ["a", "c"]


def test_fail_fast_sends_nothing(run: Run, shop: str, api: Any) -> None:
    done = run("virtual_machine", namespace=shop, fail_fast=True, virtual_machines=[vm("a"), vm("b", "tiny")])
    assert (done["failed"], done["changed"]) == (True, False)
    assert done["results"][0]["msg"] == "not sent because another object of the task failed and fail_fast is set"
    assert vms(api).get(namespace=shop).items == []


def test_absent_waits_for_vm_and_revisions(run: Run, shop: str, api: Any) -> None:
    run("virtual_machine", namespace=shop, **vm("web"), wait=True)
    gone = run("virtual_machine", namespace=shop, name="web", state="absent", wait=True)
    assert (gone["changed"], gone["result"]["action"]) == (True, "delete"), gone
    assert vms(api).get(namespace=shop).items == []
    assert not run("virtual_machine", namespace=shop, name="web", state="absent")["changed"]


def test_cloud_init_is_never_shown(run: Run, shop: str) -> None:
    volumes = [{"name": "init", "cloud_init": {"user_data": "password: hunter2-secret"}}]
    result = run("virtual_machine", namespace=shop, **vm("web", volumes=volumes, run_strategy="Halted"))
    assert result["changed"]
    assert "hunter2-secret" not in str(result)
    listed = run("virtual_machine", namespace=shop, virtual_machines=[vm("two", volumes=volumes)], check=True)
    assert listed["changed"]
    assert "hunter2-secret" not in str(listed)


def test_kind_and_pinned_revision_follow_the_name(run: Run, shop: str, api: Any) -> None:
    namespaced = {"kind": "VirtualMachineInstancetype"}
    halted = {"preference": None, "run_strategy": "Halted", "wait": True}

    def declare(instancetype: dict[str, Any] | None, **options: Any) -> dict[str, Any]:
        entry = {**vm("web", **halted), "instancetype": instancetype, **options}
        done = run("virtual_machine", namespace=shop, **entry)
        assert "failed" not in done, done["msg"]
        return done

    def matcher() -> dict[str, Any]:
        result: dict[str, Any] = vms(api).get(name="web", namespace=shop).to_dict()["spec"].get("instancetype", {})
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
    run("instancetype", name=name, cpu={"guest": 1}, memory={"guest": "1Gi"})
    try:
        assert declare({"name": name})["changed"]
        assert matcher() == {"name": name, "kind": "VirtualMachineClusterInstancetype"}
        assert not declare({"name": name})["changed"]
    finally:
        run("instancetype", name=name, state="absent", force=True)
    # To CPUs and memory of its own, pinned by somebody else again, and back.
    patch["spec"]["instancetype"]["revisionName"] = (
        vms(api).get(name="web", namespace=shop).to_dict()["status"]["instancetypeRef"]["controllerRevisionRef"]["name"]
    )
    vms(api).patch(namespace=shop, name="web", body=patch, content_type=MERGE, field_manager="somebody")
    own = {"cpu": {"cores": 2}, "memory": "1Gi"}
    assert declare(None, **own)["changed"]
    assert matcher() == {}
    assert not declare(None, **own)["changed"]
    assert declare(None, cpu={"cores": 4}, memory="2Gi")["changed"]
    assert declare({"name": "small", **namespaced})["changed"]
    domain = vms(api).get(name="web", namespace=shop).to_dict()["spec"]["template"]["spec"]["domain"]
    assert (matcher(), "cpu" in domain, "memory" in domain) == ({"name": "small", **namespaced}, False, False)
    assert not declare({"name": "small", **namespaced})["changed"]
