"""Modules about existing VMs, without a change to any: wrong options, plans, and check mode."""

import pytest

from plugins.module_utils._resolver.kubevirt.instancetype.revision_store import controller_revision
from scripted_server import Manifest, Run, Store, status

TYPES = "/apis/instancetype.kubevirt.io/v1beta1/namespaces/shop/virtualmachineinstancetypes"
KUBEVIRT = "/apis/kubevirt.io/v1/namespaces/shop"
KIND = "VirtualMachineInstancetype"


def instancetype(name: str, memory: str, generation: int = 1) -> Manifest:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": KIND,
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "generation": generation},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": memory}},
    }


def captured(name: str, memory: str, generation: int = 1) -> Manifest:
    """A revision as KubeVirt makes it, but for its name: of an instancetype as it was."""
    created = controller_revision(vm("any"), instancetype("small", memory, generation))
    return {**created, "metadata": {**created["metadata"], "name": name}}


def vm(name: str, printed: str = "Stopped", sized: bool = True, revision: str = "") -> Manifest:
    """A VM with the instancetype small, or with one vCPU and 2Gi of its own."""
    matcher = {"name": "small", "kind": KIND}
    domain: Manifest = {"devices": {}}
    if not sized:
        domain.update(cpu={"sockets": 1, "cores": 1, "threads": 1}, memory={"guest": "2Gi"})
    spec: Manifest = {"runStrategy": "Halted", "template": {"spec": {"domain": domain}}}
    result: Manifest = {"printableStatus": printed}
    if sized:
        spec["instancetype"] = matcher
        result["instancetypeRef"] = {**matcher, "controllerRevisionRef": {"name": revision}}
    metadata = {"name": name, "namespace": "shop", "uid": name, "generation": 1, "resourceVersion": "1"}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": spec,
        "status": result,
    }


def store(*vms: Manifest, types: list[Manifest] | None = None, revisions: list[Manifest] | None = None) -> Store:
    return Store(
        {
            f"{KUBEVIRT}/virtualmachines": list(vms),
            f"{KUBEVIRT}/virtualmachineinstances": [],
            TYPES: [instancetype("small", "1Gi")] if types is None else types,
            "/apis/apps/v1/namespaces/shop/controllerrevisions": revisions or [],
        }
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a"], "state": "started"}, "namespace: required with names"),
        (
            {"label_selectors": [], "namespace": "shop", "state": "started"},
            "label_selectors: an empty list would select all virtual machines; set names or a label selector",
        ),
        ({"state": "stopped", "paused": True}, "paused: only valid with state started, not with stopped"),
        (
            {"state": "started", "force": True},
            "force: only valid with the states stopped and restarted, not with started",
        ),
        (
            {"state": "started", "grace_period": 1},
            "force: only valid with the states stopped and restarted, not with started",
        ),
        (
            {"state": "stopped", "grace_period": 1},
            "grace_period: only valid with force; otherwise the grace period of the VM applies",
        ),
        (
            {"state": "restarted", "force": True, "grace_period": -1},
            "grace_period: expected 0 to 2592000 seconds, found -1; write a number between these",
        ),
        (
            {"virtual_machines": [{"name": "a"}], "state": "started"},
            "virtual_machines[0] (a): namespace: required; set the namespace of the VM",
        ),
        (
            {"virtual_machines": [{"name": "a", "state": "stopped", "paused": True}], "namespace": "shop"},
            "virtual_machines[0] (a): paused: only valid with state started, not with stopped",
        ),
        (
            {"virtual_machines": [{"name": "a"}, {"name": "a"}], "namespace": "shop", "state": "started"},
            "virtual_machines[1] (a): name: another entry names shop/a too; remove one of them",
        ),
        (
            {"virtual_machines": [{"name": "a", "state": "begun"}], "namespace": "shop"},
            "value of state must be one of: started, stopped, restarted, paused, unpaused, migrated, soft_rebooted, "
            "got: begun found in virtual_machines",
        ),
    ],
)
def test_contradictory_power_options_send_no_request(run: Run, options: Manifest, message: str) -> None:
    nothing = store(vm("a"))
    chosen = {} if {"names", "label_selectors", "virtual_machines"} & options.keys() else {"names": ["a"]}
    where = {"namespace": "shop"} if chosen else {}
    refused = run("virtual_machine_power", nothing, **chosen, **where, **options)
    assert (refused["failed"], refused["msg"], nothing.asked) == (True, message, [])


def test_a_power_state_has_to_be_given(run: Run) -> None:
    refused = run("virtual_machine_power", store(vm("a")), namespace="shop", names=["a"])
    assert refused["msg"].startswith("state: required; choose from ")


def test_names_narrow_a_label_selector(run: Run) -> None:
    chosen = {"namespace": "shop", "label_selectors": ["x"], "names": ["b"]}
    result = run("virtual_machine_power", store(vm("a"), vm("b")), state="stopped", **chosen)
    assert [item["name"] for item in result["results"]] == ["b"]


@pytest.mark.parametrize(
    ("state", "more", "after"),
    [
        ("stopped", {}, {"status": "Stopped"}),
        ("restarted", {}, {"status": "Running", "vmi": "new"}),
        ("paused", {}, {"status": "Paused", "vmi": "guest"}),
        ("started", {}, {"status": "Running", "vmi": "new"}),
        ("started", {"paused": True}, {"status": "Paused", "vmi": "new"}),
    ],
)
def test_check_mode_diff_shows_the_predicted_status(run: Run, state: str, more: Manifest, after: Manifest) -> None:
    running = state != "started"
    machine = vm("a", "Running" if running else "Stopped")
    machine["spec"]["runStrategy"] = "Always" if running else "Halted"
    cluster = store(machine)
    guest = {"metadata": {"name": "a", "namespace": "shop", "uid": "guest"}, "status": {"phase": "Running"}}
    cluster.lists["/apis/kubevirt.io/v1/namespaces/shop/virtualmachineinstances"] = [guest] if running else []
    cluster.answers["PUT", ""] = (202, {})
    result = run("virtual_machine_power", cluster, check=True, state=state, namespace="shop", names=["a"], **more)
    (diff,) = result["diff"]
    before = {"status": "Running", "vmi": "guest"} if running else {"status": "Stopped"}
    assert (diff["before"], diff["after"]) == (before, after)


def test_a_warning_about_many_vms_is_one_line(run: Run) -> None:
    cluster = store(
        *(vm(name, revision="small-1") for name in "abcdefg"),
        types=[instancetype("small", "4Gi", 2)],
        revisions=[captured("small-1", "2Gi")],
    )
    cluster.answers["PATCH", "/status"] = status(400, "the webhook does not support dry run", "BadRequest")
    result = run("controller_revision", cluster, check=True, namespace="shop")
    assert [len(item["warnings"]) for item in result["results"]] == [1] * 7
    (warning,) = result["warnings"]
    assert warning.startswith("shop/a, shop/b, shop/c, shop/d, shop/e and 2 more: the dry run could not check")


def test_guest_too_small_to_boot_gives_warning(run: Run) -> None:
    for memory, warned in (("4Mi", True), ("64Mi", False)):
        created = run("virtual_machine", store(), check=True, namespace="shop", name="a", memory=memory)
        assert not created.get("failed"), created
        assert any("4Mi is too little for a guest to boot" in warning for warning in created["warnings"]) is warned
