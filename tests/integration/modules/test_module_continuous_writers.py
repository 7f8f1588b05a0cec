"""Argo CD and its like beside the modules: who is refused, who is told, and what the next sync makes of a change."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from kubernetes.client import ApiException

from modules_support import by_name, vm, warned

Run = Callable[..., dict[str, Any]]

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
    return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": metadata, "spec": spec}


def synced(api: Any, manifest: dict[str, Any], manager: str = ARGO) -> dict[str, Any]:
    """The objects of the cluster after a sync, which takes over the changes of others, like Argo CD and Flux."""
    resource = api.resources.get(api_version=manifest["apiVersion"], kind=manifest["kind"])
    metadata = manifest["metadata"]
    result: dict[str, Any] = resource.patch(
        json.dumps(manifest),
        metadata["name"],
        metadata["namespace"],
        content_type="application/apply-patch+yaml",
        field_manager=manager,
        force_conflicts=True,
    ).to_dict()
    return result


def live(api: Any, namespace: str, name: str) -> dict[str, Any]:
    result: dict[str, Any] = (
        api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
        .get(name=name, namespace=namespace)
        .to_dict()
    )
    return result


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
    run: Run, api: Any, shop: str, manager: str, mark: dict[str, str], words: tuple[str, str, str]
) -> None:
    manifest = explicit(shop, "web", mark)
    synced(api, manifest, manager)
    before = live(api, shop, "web")
    name, write, source = words
    fields = ", ".join(f"spec.template.spec.domain.cpu.{part}" for part in ("cores", "sockets", "threads"))
    told = (
        f"{name} declares {fields} and 1 more too: its next {write} is rejected by KubeVirt's webhook until {source}"
        f" has the instancetype; results[].manifest is the manifest for {source}"
    )
    for check in (True, False):
        refused = run("virtual_machine_adopt", namespace=shop, **OWN, check=check, results_on_failure="failed")
        assert refused["failed"] and not refused["changed"], refused
        assert refused["msg"] == f"{shop}/web: {told}; put it there first, or set force_conflicts: true"
        assert refused["results"][0]["manifest"]["spec"]["instancetype"]["name"] == "small"
    assert live(api, shop, "web")["spec"] == before["spec"]

    for check in (True, False):
        forced = run("virtual_machine_adopt", namespace=shop, **OWN, check=check, force_conflicts=True)
        assert (forced["changed"], warned(forced)) == (True, [f"{shop}/web: {told}"]), forced
    new = forced["results"][0]["manifest"]
    assert not new["metadata"].get("annotations")
    # The judge: KubeVirt rejects what Git has, and takes the manifest of the result.
    with pytest.raises(ApiException) as rejected:
        synced(api, manifest, manager)
    assert "conflict" in str(rejected.value.body)
    adopted = live(api, shop, "web")
    assert synced(api, new, manager)["metadata"]["generation"] == adopted["metadata"]["generation"]
    again = run("virtual_machine_adopt", namespace=shop, **OWN)
    assert (again["changed"], again["results"][0]["fits"], warned(again)) == (False, True, [])


def test_one_writer_does_not_block_others(run: Run, api: Any, shop: str) -> None:
    for name in ("a", "c"):
        synced(api, explicit(shop, name))
    free = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
    free.create(namespace=shop, body=explicit(shop, "b"))
    for check, done in ((True, "would be adopted"), (False, "adopted")):
        result = run("virtual_machine_adopt", namespace=shop, **OWN, check=check)
        assert result["failed"] and result["changed"], result
        assert result["msg"].startswith(f"2 of 3 virtual machines failed: {shop}/a, {shop}/c: Argo CD declares ")
        assert result["msg"].endswith(f"; 1 {done}"), result["msg"]
        assert [entry["changed"] for entry in result["results"]] == [False, True, False]
        assert all("manifest" in entry for entry in result["results"])
    assert ["instancetype" in live(api, shop, name)["spec"] for name in "abc"] == [False, True, False]


def test_server_side_appliers_are_refused_too(run: Run, api: Any, shop: str) -> None:
    synced(api, explicit(shop, "web"), "kubectl")
    refused = run("virtual_machine_adopt", namespace=shop, **OWN)
    assert refused["failed"], refused
    assert '"kubectl" owns spec.template.spec.domain.cpu.cores, ' in refused["msg"]
    assert "take_over" not in refused["msg"]
    assert run("virtual_machine_adopt", namespace=shop, **OWN, force_conflicts=True)["changed"]
    with pytest.raises(ApiException):
        synced(api, explicit(shop, "web"), "kubectl")


def manifest_of(kind: str, group: str, namespace: str, spec: dict[str, Any], name: str = "git") -> dict[str, Any]:
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


TYPES = "instancetype.kubevirt.io/v1beta1"
# The manifest in Git, the same object declared in another way, and the field that differs.
DECLARED: list[Any] = [
    (
        "virtual_machine",
        lambda shop: explicit(shop, "git"),
        lambda shop: {"name": "git", "namespace": shop, "memory": "3Gi"},
        SIZE,
    ),
    (
        "instancetype",
        lambda shop: manifest_of(INSTANCETYPE, TYPES, shop, {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}),
        lambda shop: {"name": "git", "namespace": shop, "cpu": {"guest": 1}, "memory": {"guest": "2Gi"}},
        "spec.memory.guest",
    ),
    (
        "catalog",
        lambda shop: manifest_of(INSTANCETYPE, TYPES, shop, {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}),
        lambda shop: {
            "namespaces": [shop],
            "source": "definitions",
            "definitions": [
                manifest_of(INSTANCETYPE, TYPES, shop, {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}}),
            ],
        },
        "spec.memory.guest",
    ),
    (
        "preference",
        lambda shop: manifest_of("VirtualMachinePreference", TYPES, shop, {"devices": {"preferredDiskBus": "virtio"}}),
        lambda shop: {"name": "git", "namespace": shop, "devices": {"preferred_disk_bus": "scsi"}},
        "spec.devices.preferredDiskBus",
    ),
    pytest.param(
        "virtual_machine_template",
        lambda shop: manifest_of(
            "VirtualMachineTemplate",
            "template.kubevirt.io/v1beta1",
            shop,
            {"message": "old", "virtualMachine": {"spec": explicit(shop, "git")["spec"]}},
        ),
        lambda shop: {
            "name": "git",
            "namespace": shop,
            "instructions": "new",
            "virtual_machine": {"spec": explicit(shop, "git")["spec"]},
        },
        "spec.message",
        marks=pytest.mark.needs("templates"),
    ),
    pytest.param(
        "boot_source",
        lambda shop: manifest_of(
            "DataSource", "cdi.kubevirt.io/v1beta1", shop, {"source": {"pvc": {"name": "old", "namespace": shop}}}
        ),
        lambda shop: {"name": "git", "namespace": shop, "pvc": {"name": "new", "namespace": shop}, "preflight": "off"},
        "spec.source.pvc.name",
        marks=pytest.mark.needs("cdi"),
    ),
]


@pytest.mark.parametrize(("module", "in_git", "declared", "field"), DECLARED)
def test_declared_fields_of_a_writer(
    run: Run, api: Any, shop: str, module: str, in_git: Callable[..., Any], declared: Callable[..., Any], field: str
) -> None:
    """The rule for all modules that declare: refused without force, told with it, and reverted by the next sync."""
    manifest, options = in_git(shop), declared(shop)
    before = synced(api, manifest)["spec"]
    for check in (True, False):
        refused = run(module, **options, check=check)
        assert refused["failed"] and not refused["changed"], refused
        words = f'"{ARGO}" owns {field}; remove the fields from the task, or set force_conflicts: true'
        assert words in refused["msg"], refused["msg"]
        assert f"take_over: [{ARGO}]" in refused["msg"]
        assert f". Argo CD declares the object too: {REVERTS}" in refused["msg"]
    for check in (True, False):
        forced = run(module, **options, check=check, force_conflicts=True)
        assert forced["changed"], forced
        told = [text for text in warned(forced) if "Argo" in text]
        assert len(told) == 1 and told[0].endswith(f": Argo CD declares {field} too: {REVERTS}"), told
    assert not run(module, **options)["changed"]
    assert synced(api, manifest)["spec"] == before


def test_deletion_beside_a_writer_is_told(run: Run, api: Any, shop: str) -> None:
    synced(api, explicit(shop, "web"))
    for check in (True, False):
        gone = run("virtual_machine", namespace=shop, name="web", state="absent", wait=True, check=check)
        again = "Argo CD declares the object too: its next sync creates the object again, unless Git no longer has it"
        assert (gone["changed"], warned(gone)) == (True, [f"{shop}/web: {again}"]), gone


def test_power_beside_a_writer_is_told(run: Run, api: Any, shop: str) -> None:
    manifest = explicit(shop, "web")
    synced(api, manifest)
    told = [f"{shop}/web: Argo CD declares spec.runStrategy too: {REVERTS}"]
    power = {"namespace": shop, "names": ["web"]}
    for check in (True, False):
        started = run("virtual_machine_power", **power, state="started", wait=True, check=check)
        assert (started["changed"], warned(started)) == (True, told), started
    restarted = run("virtual_machine_power", **power, state="restarted", wait=True)
    # A restart changes nothing that Git has.
    assert (restarted["changed"], warned(restarted)) == (True, [])
    assert synced(api, manifest)["spec"]["runStrategy"] == "Halted"


def test_moved_revisions_beside_a_writer(run: Run, api: Any, shop: str) -> None:
    made = run("virtual_machine", namespace=shop, **vm("web", run_strategy="Halted"), wait=True)
    assert made["changed"], made
    spec = {
        "runStrategy": "Halted",
        "instancetype": {"name": "small", "kind": INSTANCETYPE},
        "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
        "template": {"spec": {"domain": {"devices": {}}}},
    }
    manifest = {**explicit(shop, "git"), "spec": spec}
    synced(api, manifest)
    captured = run("virtual_machine", namespace=shop, name="git", annotations={"captured": "yes"}, wait=True)
    assert not captured.get("failed"), captured["msg"]
    revisions = {"namespace": shop, "names": ["git"], "state": "moved", "replace": {"small": "medium"}}
    told = [f"{shop}/git: Argo CD declares spec.instancetype.name too: {REVERTS}"]
    for check in (True, False):
        moved = run("controller_revision", **revisions, check=check)
        assert (moved["changed"], warned(moved)) == (True, told), moved
    assert live(api, shop, "git")["spec"]["instancetype"]["name"] == "medium"
    assert synced(api, manifest)["spec"]["instancetype"]["name"] == "small"
    assert by_name(run("virtual_machine_info", namespace=shop)["virtual_machines"])["git"]
