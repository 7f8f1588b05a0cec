"""Argo CD and its like beside the modules: who is refused, who is told, and what the next sync makes of a change."""

from collections.abc import Callable
from typing import Any

import pytest
from kubernetes.client import ApiException

from modules_support import Task, live, manifest, objects, pool_of, server_side_apply, vm, warned

ARGO = "argocd-controller"
INSTANCETYPE = "VirtualMachineInstancetype"
OWN = {"instancetypes": ["small"], "preferences": []}
TRACKED = "argocd.argoproj.io/tracking-id"
REVERTS = "its next sync reverts the change, unless Git has it"
SIZE = "spec.template.spec.domain.memory.guest"


def explicit(namespace: str, name: str, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    """A VM as it is in Git, of the size of the instancetype small."""
    domain = {"devices": {}, "cpu": {"sockets": 1, "cores": 1, "threads": 1}, "memory": {"guest": "2Gi"}}
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "labels": {"team": "web"}}
    if annotations:
        # The manager that declares an empty map owns it, and the API server lets no other one add to it.
        metadata["annotations"] = annotations
    spec = {"runStrategy": "Halted", "template": {"spec": {"domain": domain}}}
    return {**manifest("VirtualMachine", name, spec), "metadata": metadata}


def synced(api: Any, wanted: dict[str, Any], manager: str = ARGO) -> dict[str, Any]:
    """The objects of the cluster after a sync, which takes over the changes of others, like Argo CD and Flux."""
    applied = server_side_apply(objects(api, wanted["kind"]), wanted, manager, force_conflicts=True)
    return dict(applied.to_dict())


@pytest.mark.parametrize(
    ("manager", "mark", "words"),
    [
        (ARGO, {}, ("Argo CD", "sync", "Git")),
        ("kustomize-controller", {}, ("Flux", "sync", "Git")),
        ("helm", {"meta.helm.sh/release-name": "shop"}, ("Helm", "upgrade", "the chart")),
        # Argo CD by client-side apply: only its annotation tells.
        (
            "kubectl-client-side-apply",
            {TRACKED: "shop:kubevirt.io/VirtualMachine:shop/web"},
            ("Argo CD", "sync", "Git"),
        ),
    ],
)
def test_adoption_beside_a_writer_is_refused(
    task: Task, api: Any, shop: str, manager: str, mark: dict[str, str], words: tuple[str, str, str]
) -> None:
    theirs = explicit(shop, "web", mark)
    synced(api, theirs, manager)
    before = live(api, shop, "web")
    name, write, source = words
    fields = ", ".join(f"spec.template.spec.domain.cpu.{part}" for part in ("cores", "sockets", "threads"))
    told = (
        f"{name} declares {fields} and 1 more too: its next {write} is rejected by KubeVirt's webhook until {source}"
        f" has the instancetype; results[].manifest is the manifest for {source}"
    )
    for check in (True, False):
        refused = task.refused("virtual_machine_adopt", **OWN, check=check, results_on_failure="failed")
        assert not refused["changed"], refused
        assert refused["msg"] == f"{shop}/web: {told}; put it there first, or set force_conflicts: true"
        assert refused["results"][0]["manifest"]["spec"]["instancetype"]["name"] == "small"
    assert live(api, shop, "web")["spec"] == before["spec"]

    for check in (True, False):
        forced = task("virtual_machine_adopt", **OWN, check=check, force_conflicts=True)
        assert (forced["changed"], warned(forced)) == (True, [f"{shop}/web: {told}"]), forced
    new = forced["results"][0]["manifest"]
    assert not new["metadata"].get("annotations")
    # The judge: KubeVirt rejects what Git has, and takes the manifest of the result.
    with pytest.raises(ApiException) as rejected:
        synced(api, theirs, manager)
    assert "conflict" in str(rejected.value.body)
    adopted = live(api, shop, "web")
    assert synced(api, new, manager)["metadata"]["generation"] == adopted["metadata"]["generation"]
    again = task("virtual_machine_adopt", **OWN)
    assert (again["changed"], again["results"][0]["fits"], warned(again)) == (False, True, [])


def test_one_writer_does_not_block_others(task: Task, api: Any, shop: str) -> None:
    for name in ("a", "c"):
        synced(api, explicit(shop, name))
    free = objects(api, "VirtualMachine")
    free.create(namespace=shop, body=explicit(shop, "b"))
    for check, done in ((True, "would be adopted"), (False, "adopted")):
        result = task.refused("virtual_machine_adopt", **OWN, check=check)
        assert result["changed"], result
        assert result["msg"].startswith(f"2 of 3 virtual machines failed: {shop}/a, {shop}/c: Argo CD declares ")
        assert result["msg"].endswith(f"; 1 {done}"), result["msg"]
        assert [entry["changed"] for entry in result["results"]] == [False, True, False]
        assert all("manifest" in entry for entry in result["results"])
    assert ["instancetype" in live(api, shop, name)["spec"] for name in "abc"] == [False, True, False]


def test_server_side_appliers_are_refused_too(task: Task, api: Any, shop: str) -> None:
    synced(api, explicit(shop, "web"), "kubectl")
    refused = task.refused("virtual_machine_adopt", **OWN)
    assert '"kubectl" owns spec.template.spec.domain.cpu.cores, ' in refused["msg"]
    assert "take_over" not in refused["msg"]
    assert task("virtual_machine_adopt", **OWN, force_conflicts=True)["changed"]
    with pytest.raises(ApiException):
        synced(api, explicit(shop, "web"), "kubectl")


EXPLICIT = explicit("shop", "git")["spec"]
SMALL, LARGER = ({"cpu": {"guest": 1}, "memory": {"guest": memory}} for memory in ("1Gi", "2Gi"))
# The object in Git, the same object declared in another way, and the field that differs.
DECLARED: list[Any] = [
    ("virtual_machine", "VirtualMachine", EXPLICIT, {"memory": "3Gi"}, SIZE),
    ("instancetype", INSTANCETYPE, SMALL, LARGER, "spec.memory.guest"),
    (
        "catalog",
        INSTANCETYPE,
        SMALL,
        {"source": "definitions", "definitions": [manifest(INSTANCETYPE, "git", LARGER)]},
        "spec.memory.guest",
    ),
    (
        "preference",
        "VirtualMachinePreference",
        {"devices": {"preferredDiskBus": "virtio"}},
        {"devices": {"preferred_disk_bus": "scsi"}},
        "spec.devices.preferredDiskBus",
    ),
    pytest.param(
        "virtual_machine_template",
        "VirtualMachineTemplate",
        {"message": "old", "virtualMachine": {"spec": EXPLICIT}},
        {"instructions": "new", "virtual_machine": {"spec": EXPLICIT}},
        "spec.message",
        marks=pytest.mark.needs("templates"),
    ),
    pytest.param(
        "boot_source",
        "DataSource",
        {"source": {"pvc": {"name": "old", "namespace": "default"}}},
        {"pvc": {"name": "new", "namespace": "default"}, "preflight": "off"},
        "spec.source.pvc.name",
        marks=pytest.mark.needs("cdi"),
    ),
]


@pytest.mark.parametrize(("module", "kind", "in_git", "declared", "field"), DECLARED)
def test_declared_fields_of_a_writer(
    task: Task,
    api: Any,
    shop: str,
    module: str,
    kind: str,
    in_git: dict[str, Any],
    declared: dict[str, Any],
    field: str,
) -> None:
    """The rule for all modules that declare: refused without force, told with it, and reverted by the next sync."""
    git = manifest(kind, "git", in_git, namespace=shop)
    options = {**declared, **({"namespaces": [shop]} if module == "catalog" else {"name": "git"})}
    before = synced(api, git)["spec"]
    for check in (True, False):
        refused = task.refused(module, **options, check=check)
        assert not refused["changed"], refused
        words = f'"{ARGO}" owns {field}; remove the fields from the task, or set force_conflicts: true'
        if module == "boot_source":
            # The name alone is that of a boot source.
            words = "the DataSource git exists and was not made for the boot source git"
        assert words in refused["msg"], refused["msg"]
        assert f"take_over: [{ARGO}]" in refused["msg"]
        assert f". Argo CD declares the object too: {REVERTS}" in refused["msg"]
    for check in (True, False):
        forced = task(module, **options, check=check, force_conflicts=True)
        assert forced["changed"], forced
        told = [text for text in warned(forced) if "Argo" in text]
        assert len(told) == 1 and told[0].endswith(f": Argo CD declares {field} too: {REVERTS}"), told
    assert not task(module, **options)["changed"]
    assert synced(api, git)["spec"] == before


def test_deletion_beside_a_writer_is_told(task: Task, api: Any, shop: str) -> None:
    synced(api, explicit(shop, "web"))
    for check in (True, False):
        gone = task("virtual_machine", name="web", state="absent", wait=True, check=check)
        again = "Argo CD declares the object too: its next sync creates the object again, unless Git no longer has it"
        assert (gone["changed"], warned(gone)) == (True, [f"{shop}/web: {again}"]), gone


def test_power_beside_a_writer_is_told(task: Task, api: Any, shop: str) -> None:
    theirs = explicit(shop, "web")
    synced(api, theirs)
    told = [f"{shop}/web: Argo CD declares spec.runStrategy too: {REVERTS}"]
    power = {"names": ["web"]}
    for check in (True, False):
        started = task("virtual_machine_power", **power, state="started", wait=True, check=check)
        assert (started["changed"], warned(started)) == (True, told), started
    restarted = task("virtual_machine_power", **power, state="restarted", wait=True)
    # A restart changes nothing that Git has.
    assert (restarted["changed"], warned(restarted)) == (True, [])
    assert synced(api, theirs)["spec"]["runStrategy"] == "Halted"


def test_moved_revisions_beside_a_writer(task: Task, api: Any, shop: str) -> None:
    assert task("virtual_machine", **vm("web", run_strategy="Halted"), wait=True)["changed"]
    spec = {
        "runStrategy": "Halted",
        "instancetype": {"name": "small", "kind": INSTANCETYPE},
        "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
        "template": {"spec": {"domain": {"devices": {}}}},
    }
    theirs = {**explicit(shop, "git"), "spec": spec}
    synced(api, theirs)
    task("virtual_machine", name="git", annotations={"captured": "yes"}, wait=True)
    revisions = {"names": ["git"], "state": "moved", "replace": {"small": "medium"}}
    told = [f"{shop}/git: Argo CD declares spec.instancetype.name too: {REVERTS}"]
    for check in (True, False):
        moved = task("controller_revision", **revisions, check=check)
        assert (moved["changed"], warned(moved)) == (True, told), moved
    assert live(api, shop, "git")["spec"]["instancetype"]["name"] == "medium"
    assert synced(api, theirs)["spec"]["instancetype"]["name"] == "small"
    assert task.vms()["git"]


OWNED = "VirtualMachinePool farm owns the object: its next update"
OWNER_REVERTS = f"{OWNED} reverts the change, unless spec.virtualMachineTemplate has it"


def change_pool(pools: Any, namespace: str, spec: dict[str, Any]) -> None:
    pools.patch(namespace=namespace, name="farm", body={"spec": spec}, content_type="application/merge-patch+json")


def when(api: Any, namespace: str, name: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The VM as soon as something holds of it."""
    for event in objects(api, "VirtualMachine").watch(namespace=namespace, timeout=60):
        found = dict(event["object"].to_dict())
        if event["type"] != "DELETED" and found["metadata"]["name"] == name and holds(found):
            return found
    raise AssertionError(f"{namespace}/{name} has not come so far")


def test_the_vm_of_a_pool(task: Task, api: Any, shop: str) -> None:
    pools = pool_of(api, shop, "farm", {"instancetype": {"name": "small", "kind": INSTANCETYPE}})

    change_pool(pools, shop, {"replicas": 1})
    when(api, shop, "farm-0", lambda found: bool((found.get("status") or {}).get("instancetypeRef")))
    larger = {**vm("farm-0", "medium"), "preference": None}
    for check in (True, False):
        refused = task.refused("virtual_machine", **larger, check=check)
        assert not refused["changed"], refused
        assert '"virt-controller" owns spec.instancetype.name' in refused["msg"]
        assert f"set force_conflicts: true (takes what differs). {OWNER_REVERTS}" in refused["msg"]
        assert "take_over" not in refused["msg"] and "snapshot" not in refused["msg"]
    for check in (True, False):
        forced = task("virtual_machine", **larger, force_conflicts=True, check=check)
        assert (forced["changed"], warned(forced)) == (True, [f"{shop}/farm-0: {OWNER_REVERTS}"]), forced
    # A field that the pool does not declare goes too, as does a run strategy.
    labelled = task("virtual_machine", **larger, labels={"team": "web"})
    assert (labelled["changed"], warned(labelled)) == (True, [f"{shop}/farm-0: {OWNER_REVERTS}"])
    started = task("virtual_machine_power", names=["farm-0"], state="started", wait=True)
    assert (started["changed"], warned(started)) == (True, [f"{shop}/farm-0: {OWNER_REVERTS}"])
    assert task("instancetype", name="small", cpu={"guest": 1}, memory={"guest": "3Gi"})["changed"]
    change_pool(pools, shop, {"virtualMachineTemplate": {"metadata": {"labels": {"new": "yes"}}}})
    reverted = when(api, shop, "farm-0", lambda found: found["metadata"]["labels"].get("new") == "yes")
    assert reverted["spec"]["instancetype"]["name"] == "small"
    assert (reverted["spec"]["runStrategy"], "team" in reverted["metadata"]["labels"]) == ("Halted", False)


def test_a_refreshed_vm_of_a_pool_stays(task: Task, api: Any, shop: str) -> None:
    """The pool writes no status."""
    pools = pool_of(api, shop, "farm", {"instancetype": {"name": "small", "kind": INSTANCETYPE}})
    change_pool(pools, shop, {"replicas": 1})
    captured = when(api, shop, "farm-0", lambda found: bool((found.get("status") or {}).get("instancetypeRef")))
    task("instancetype", name="small", cpu={"guest": 1}, memory={"guest": "3Gi"})
    refreshed = task("controller_revision", names=["farm-0"], state="refreshed")
    assert (refreshed["changed"], warned(refreshed)) == (True, []), refreshed
    change_pool(pools, shop, {"virtualMachineTemplate": {"metadata": {"labels": {"new": "yes"}}}})
    after = when(api, shop, "farm-0", lambda found: found["metadata"]["labels"].get("new") == "yes")
    assert after["status"]["instancetypeRef"] != captured["status"]["instancetypeRef"]
    assert not task("controller_revision", names=["farm-0"], state="refreshed")["changed"]


def test_the_vm_of_a_pool_is_not_adopted(task: Task, api: Any, shop: str) -> None:
    pools = pool_of(api, shop, "farm", explicit(shop, "farm")["spec"])
    change_pool(pools, shop, {"replicas": 1})
    when(api, shop, "farm-0", lambda _found: True)
    refused = task.refused("virtual_machine_adopt", **OWN)
    assert refused["msg"] == (
        f"{shop}/farm-0: {OWNER_REVERTS}; results[].manifest is the manifest for spec.virtualMachineTemplate; put it"
        " there first, or set force_conflicts: true"
    )


def test_the_deleted_vm_of_a_pool_comes_back(task: Task, api: Any, shop: str) -> None:
    pools = pool_of(api, shop, "farm", {})
    change_pool(pools, shop, {"replicas": 1})
    before = when(api, shop, "farm-0", lambda _found: True)["metadata"]["uid"]
    for check in (True, False):
        gone = task("virtual_machine", name="farm-0", state="absent", wait=True, check=check)
        again = f"{OWNED} creates the object again, unless spec.replicas is lower"
        assert (gone["changed"], warned(gone)) == (True, [f"{shop}/farm-0: {again}"]), gone
    assert when(api, shop, "farm-0", lambda found: found["metadata"]["uid"] != before)


@pytest.mark.parametrize(
    ("module", "kind", "options"),
    [
        ("virtual_machine", "VirtualMachine", {"instancetype": {"name": "medium", "kind": INSTANCETYPE}}),
        ("instancetype", INSTANCETYPE, {"cpu": {"guest": 1}, "memory": {"guest": "4Gi"}}),
        ("preference", "VirtualMachinePreference", {"devices": {"preferred_disk_bus": "scsi"}}),
    ],
)
def test_another_controller_and_an_owner_that_is_none(
    task: Task, api: Any, shop: str, module: str, kind: str, options: dict[str, Any]
) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "tenant"}}
    tenant = api.resources.get(api_version="v1", kind="ConfigMap").create(namespace=shop, body=body).metadata
    small = {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}} if module == "instancetype" else {}
    if module == "virtual_machine":
        small = {"instancetype": {"name": "small", "kind": INSTANCETYPE}, "run_strategy": "Halted"}
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "tenant", "uid": tenant.uid}
    merge = {"namespace": shop, "name": "web", "content_type": "application/merge-patch+json"}
    task(module, name="web", **small)
    reverts = "its next write probably reverts the change, unless the ConfigMap has it"
    for controls, told in ((False, []), (True, [f"ConfigMap tenant owns the object: {reverts}"])):
        references = {"metadata": {"ownerReferences": [{**owner, "controller": controls}]}}
        objects(api, kind).patch(body=references, **merge)
        changed = task(module, name="web", **{**small, **options}, check=True)
        assert (changed["changed"], warned(changed)) == (True, [f"{shop}/web: {text}" for text in told]), changed
        again = task(module, name="web", **small)
        assert (again["changed"], warned(again)) == (False, [])
