"""Argo CD and its like beside the modules: who is refused, who is told, and what the next sync makes of a change."""

from typing import Any

import pytest
from kubernetes.client import ApiException

from modules_support import Task, live, manifest, objects, server_side_apply, vm, warned

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
