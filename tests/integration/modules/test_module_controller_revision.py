"""Drift and refresh."""

from collections.abc import Callable
from typing import Any

from waiting import wait_until

from modules_support import vm
from plugins.module_utils._resolver.refresh import recapture

Run = Callable[..., dict[str, Any]]

VMS = {"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"]}
READ = [
    {"apiGroups": ["kubevirt.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["instancetype.kubevirt.io"], "resources": ["*"], "verbs": ["get", "list"]},
    {"apiGroups": ["apps"], "resources": ["controllerrevisions"], "verbs": ["get", "list"]},
]


def grow(run: Run, namespace: str, cpu: int = 4, memory: str = "8Gi", **spec: Any) -> None:
    size = {"cpu": {"guest": cpu, **spec}, "memory": {"guest": memory, "max_guest": memory}}
    result = run("instancetype", namespace=namespace, name="medium", **size)
    assert result["changed"], result


def guest(run: Run, namespace: str, name: str) -> tuple[int, str]:
    result = run("virtual_machine_info", namespace=namespace, names=[name])["virtual_machines"][0]["vmi"]["guest"]
    return result["vcpus"], result["memory"]


def test_refresh_with_restart_removes_drift(run: Run, shop: str) -> None:
    run("virtual_machine", namespace=shop, virtual_machines=[vm("db", "medium"), vm("web")], wait=True)
    assert not any(item["drifted"] for item in run("virtual_machine_info", namespace=shop)["virtual_machines"])
    grow(run, shop)
    seen = {
        item["name"]: item
        for item in run("virtual_machine_info", namespace=shop, include=["refresh"])["virtual_machines"]
    }
    assert (seen["db"]["drifted"], seen["web"]["drifted"]) == (True, False)
    assert (seen["db"]["guest_before"]["vcpus"], seen["db"]["guest_after"]["vcpus"]) == (2, 4)
    assert [change["field"] for change in seen["db"]["instancetype"]["changes"]] == [
        "cpu.guest",
        "memory.guest",
        "memory.maxGuest",
    ]
    assert guest(run, shop, "db") == (2, "4Gi")

    planned = run("controller_revision", namespace=shop, check=True)
    assert [(item["name"], item["changed"]) for item in planned["results"]] == [("db", True), ("web", False)]
    assert run("virtual_machine_info", namespace=shop, names=["db"])["virtual_machines"][0]["drifted"]

    refreshed = run("controller_revision", namespace=shop, restart="if_required")
    result = {item["name"]: item for item in refreshed["results"]}
    assert (result["db"]["changed"], result["db"]["restarted"], result["db"]["method"]) == (True, True, "status"), (
        refreshed
    )
    assert result["db"]["revisions"]["instancetype"].endswith("-2")
    assert guest(run, shop, "db") == (4, "8Gi")
    assert not run("controller_revision", namespace=shop)["changed"]


def test_terminating_vm_is_skipped(run: Run, shop: str, api: Any) -> None:
    run("virtual_machine", namespace=shop, virtual_machines=[vm("db", "medium"), vm("old", "medium")], wait=True)
    machines = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
    hold = {"metadata": {"name": "old", "finalizers": ["example.com/held"]}}
    machines.patch(namespace=shop, body=hold, content_type="application/merge-patch+json")
    run("virtual_machine", namespace=shop, name="old", state="absent")
    grow(run, shop)
    refreshed = run("controller_revision", namespace=shop, restart="if_required", wait_timeout=20)
    result = {item["name"]: (item["changed"], item["failed"], item["restarted"]) for item in refreshed["results"]}
    hold["metadata"]["finalizers"] = None  # type: ignore[assignment]
    machines.patch(namespace=shop, body=hold, content_type="application/merge-patch+json")
    assert result == {"db": (True, False, True), "old": (False, False, False)}, refreshed


def test_refreshed_vm_stays_stopped(run: Run, shop: str) -> None:
    run("virtual_machine", namespace=shop, **vm("db", "medium", run_strategy="Halted"), wait=True)
    grow(run, shop)
    refreshed = run("controller_revision", namespace=shop, names=["db"], restart="always")
    assert (refreshed["changed"], refreshed["results"][0]["restarted"]) == (True, False), refreshed
    result = run("virtual_machine_info", namespace=shop, names=["db"])["virtual_machines"][0]
    assert (result["run_strategy"], result["status"]) == ("Halted", "Stopped")


def test_patching_vms_is_enough(run: Run, shop: str, user_with: Callable[..., dict[str, Any]]) -> None:
    run("virtual_machine", namespace=shop, **vm("db", "medium", run_strategy="Halted"), wait=True)
    grow(run, shop)
    user = user_with(*READ, {**VMS, "verbs": ["patch"]})
    refreshed = run("controller_revision", namespace=shop, names=["db"], **user)
    assert (refreshed["changed"], refreshed["results"][0]["method"]) == (True, "kind"), refreshed
    # The other spelling of the kind is no difference to the play that declared the VM.
    assert not run("virtual_machine", namespace=shop, **vm("db", "medium", run_strategy="Halted"))["changed"]


def test_missing_rights_are_both_named(run: Run, shop: str, user_with: Callable[..., dict[str, Any]]) -> None:
    run("virtual_machine", namespace=shop, **vm("db", "medium", run_strategy="Halted"), wait=True)
    grow(run, shop)
    refused = run("controller_revision", namespace=shop, names=["db"], **user_with(*READ))
    assert refused["failed"]
    assert "virtualmachines/status" in refused["msg"]
    assert 'resources: ["virtualmachines"]' in refused["msg"]


def test_refresh_that_fails_preflight_writes_nothing(run: Run, shop: str) -> None:
    entry = vm("db", "medium", run_strategy="Halted", cpu={"model": "host-model"})
    assert run("virtual_machine", namespace=shop, **entry, wait=True)["changed"]
    grow(run, shop, model="EPYC")
    before = run("virtual_machine_info", namespace=shop)["virtual_machines"][0]["instancetype"]["revision"]
    refused = run("controller_revision", namespace=shop)
    assert "domain.cpu.model conflicts with selected instance type; nothing was changed" in refused["msg"]
    assert run("virtual_machine_info", namespace=shop)["virtual_machines"][0]["instancetype"]["revision"] == before


def test_an_unknown_name(run: Run, shop: str) -> None:
    assert run("controller_revision", namespace=shop, names=["nobody"])["msg"] == (
        f"names: no such virtual machine in {shop}: nobody"
    )


def revision_of(run: Run, namespace: str, name: str) -> str:
    seen = run("virtual_machine_info", namespace=namespace, names=[name], include=["refresh"])["virtual_machines"][0]
    return str(seen["instancetype"]["revision"])


def test_roll_back_and_forward_again(run: Run, shop: str) -> None:
    run("virtual_machine", namespace=shop, **vm("db", "medium"), wait=True)
    first = revision_of(run, shop, "db")
    grow(run, shop)
    assert run("controller_revision", namespace=shop, restart="if_required")["changed"]
    second = revision_of(run, shop, "db")
    assert guest(run, shop, "db") == (4, "8Gi")

    back = {
        "namespace": shop,
        "names": ["db"],
        "state": "pinned",
        "revision": "previous",
        "revisions_of": "instancetype",
    }
    planned = run("controller_revision", **back, check=True)
    assert (planned["changed"], planned["results"][0]["guest_after"]["memory"]) == (True, "4Gi"), planned
    done = run("controller_revision", **back, restart="if_required")
    assert (done["changed"], done["results"][0]["revisions"]) == (True, {"instancetype": first}), done
    assert guest(run, shop, "db") == (2, "4Gi")
    # Twice back is where once back was.
    assert not run("controller_revision", **back, restart="if_required")["changed"]
    named = {**back, "revision": first}
    assert not run("controller_revision", **named)["changed"]
    # A play that declares the VM leaves the pin alone.
    assert not run("virtual_machine", namespace=shop, **vm("db", "medium"))["changed"]

    refused = run("controller_revision", namespace=shop, names=["db"])
    assert "is pinned by revisionName; unpin it first" in refused["msg"]
    assert run("controller_revision", namespace=shop, names=["db"], state="unpinned")["changed"]
    assert not run("controller_revision", namespace=shop, names=["db"], state="unpinned")["changed"]
    assert revision_of(run, shop, "db") == first
    assert run("controller_revision", namespace=shop, names=["db"], restart="if_required")["changed"]
    assert (revision_of(run, shop, "db"), guest(run, shop, "db")) == (second, (4, "8Gi"))


def test_pin_names_the_captured_revision(run: Run, shop: str, api: Any) -> None:
    run("virtual_machine", namespace=shop, **vm("db", "medium"), wait=True)
    has = revision_of(run, shop, "db")
    grow(run, shop)
    pin = {"namespace": shop, "names": ["db"], "state": "pinned", "revision": "current"}
    pinned = run("controller_revision", **pin, restart="if_required")
    assert pinned["changed"] and not pinned["results"][0]["restarted"], pinned
    assert pinned["results"][0]["revisions"]["instancetype"] == has
    assert not run("controller_revision", **pin)["changed"]
    # A snapshot of a stopped VM keeps its spec alone.
    stored = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine").get(name="db", namespace=shop)
    assert stored.spec.instancetype.revisionName == has
    assert guest(run, shop, "db") == (2, "4Gi")


def test_an_unknown_revision(run: Run, shop: str) -> None:
    run("virtual_machine", namespace=shop, **vm("db", "medium", run_strategy="Halted"), wait=True)
    refused = run("controller_revision", namespace=shop, state="pinned", revision="nowhere")
    assert f"{shop}/db: the VM's instancetype and preference have no revision nowhere" in refused["msg"]


def test_prune_keeps_referenced_revisions(run: Run, shop: str, api: Any) -> None:
    run("virtual_machine", namespace=shop, **vm("db", "medium", run_strategy="Halted"), wait=True)
    names = [revision_of(run, shop, "db")]
    for cpu in (3, 4, 5):
        grow(run, shop, cpu)
        assert run("controller_revision", namespace=shop)["changed"]
        names.append(revision_of(run, shop, "db"))
    info = run("virtual_machine_info", namespace=shop, include=["refresh"])
    assert [entry["name"] for entry in info["unreferenced"]] == names[:3]
    planned = run("controller_revision", namespace=shop, state="pruned", keep=1, check=True)
    assert [entry["name"] for entry in planned["results"]] == names[:2]
    assert run("controller_revision", namespace=shop, state="pruned", keep=1)["changed"]
    resource = api.resources.get(api_version="apps/v1", kind="ControllerRevision")
    left = {item.metadata.name for item in resource.get(namespace=shop).items}
    assert left >= set(names[2:])
    assert not left & set(names[:2])
    assert not run("controller_revision", namespace=shop, state="pruned", keep=1)["changed"]


def test_prune_keeps_what_a_pool_pins(run: Run, shop: str, api: Any) -> None:
    """The template of a pool names the revision; the pool has no VM yet."""
    run("virtual_machine", namespace=shop, **vm("db", "medium", run_strategy="Halted"), wait=True)
    names = [revision_of(run, shop, "db")]
    for cpu in (3, 4):
        grow(run, shop, cpu)
        assert run("controller_revision", namespace=shop)["changed"]
        names.append(revision_of(run, shop, "db"))
    pinned, unused, _current = names
    labels = {"pool": "b"}
    matcher = {"name": "medium", "kind": "VirtualMachineInstancetype", "revisionName": pinned}
    machine = {
        "instancetype": matcher,
        "runStrategy": "Halted",
        "template": {"metadata": {"labels": labels}, "spec": {"domain": {"devices": {}}}},
    }
    pool = {
        "apiVersion": "pool.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePool",
        "metadata": {"name": "b", "namespace": shop},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "virtualMachineTemplate": {"metadata": {"labels": labels}, "spec": machine},
        },
    }
    pools = api.resources.get(api_version=pool["apiVersion"], kind=pool["kind"])
    pools.create(body=pool, namespace=shop)
    prune = {"namespace": shop, "state": "pruned", "keep": 0}
    assert [entry["name"] for entry in run("controller_revision", **prune)["results"]] == [unused]
    assert not run("controller_revision", **prune)["changed"]
    pools.delete(name="b", namespace=shop)
    wait_until(lambda: not pools.get(namespace=shop).items)
    assert [entry["name"] for entry in run("controller_revision", **prune)["results"]] == [pinned]


def test_prune_needs_rights_to_list_every_referrer(
    run: Run, shop: str, user_with: Callable[..., dict[str, Any]]
) -> None:
    run("virtual_machine", namespace=shop, **vm("db", "medium", run_strategy="Halted"), wait=True)
    grow(run, shop)
    assert run("controller_revision", namespace=shop)["changed"]
    delete = {"apiGroups": ["apps"], "resources": ["controllerrevisions"], "verbs": ["delete"]}
    result = run("controller_revision", namespace=shop, state="pruned", **user_with(*READ, delete))
    # The API server says it of a kind that it does not serve, too.
    assert result["failed"] and "virtualmachinepools" in result["msg"], result
    assert result["msg"].endswith("nothing was pruned, because a VM that the task cannot see may use a revision")
    assert len(run("virtual_machine_info", namespace=shop, include=["refresh"])["unreferenced"]) == 1


def test_refresh_replaces_a_lost_revision(run: Run, shop: str, api: Any) -> None:
    run("virtual_machine", namespace=shop, **vm("db", "medium", run_strategy="Halted"), wait=True)
    lost = revision_of(run, shop, "db")
    api.resources.get(api_version="apps/v1", kind="ControllerRevision").delete(name=lost, namespace=shop)
    seen = run("virtual_machine_info", namespace=shop, names=["db"], include=["refresh"])["virtual_machines"][0]
    assert seen["instancetype"]["state"] == "revision_lost"
    healed = run("controller_revision", namespace=shop)
    assert (healed["changed"], healed["results"][0]["revisions"]["instancetype"]) == (True, lost), healed
    seen = run("virtual_machine_info", namespace=shop, names=["db"], include=["refresh"])["virtual_machines"][0]
    assert seen["instancetype"]["state"] == "current"


def test_next_run_finishes_an_interrupted_refresh(run: Run, shop: str) -> None:
    run("virtual_machine", namespace=shop, **vm("db", "medium"), wait=True)
    grow(run, shop)
    # This stands for a run that was cut off between the refresh and the restart.
    assert run("controller_revision", namespace=shop, restart="never")["changed"]
    # The running guest has what it was started with.
    assert guest(run, shop, "db")[1] == "4Gi"
    done = run("controller_revision", namespace=shop, restart="if_required")
    assert (done["changed"], done["results"][0]["restarted"]) == (True, True), done
    assert guest(run, shop, "db") == (4, "8Gi")
    assert not run("controller_revision", namespace=shop, restart="if_required")["changed"]


def test_next_run_removes_the_refresh_annotation(run: Run, shop: str, api: Any) -> None:
    run("virtual_machine", namespace=shop, **vm("db", "medium"), wait=True)
    grow(run, shop)
    # This stands for a run that was cut off between the two patches that raise the generation.
    vms = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
    vms.patch(recapture.BUMP_PATCHES[0], "db", shop, content_type="application/merge-patch+json")
    assert run("controller_revision", namespace=shop, restart="if_required")["changed"]
    assert recapture.REFRESH_ANNOTATION not in str(vms.get(name="db", namespace=shop).to_dict()["spec"])
    assert not run("controller_revision", namespace=shop, restart="if_required")["changed"]
