"""virtual_machine: VMs that others made, and VMs that several declare."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from kubernetes.dynamic.exceptions import ConflictError

from modules_support import Task, live, objects, server_side_apply, vm, warned

Maker = Callable[..., Any]

# A person writes other spellings of a kind and of a quantity, a label of the template, more than the play says.
MANIFEST: dict[str, Any] = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "labels": {"app": "web", "tier": "front", "note": "theirs"}},
    "spec": {
        "runStrategy": "Halted",
        "instancetype": {"name": "small", "kind": "virtualmachineinstancetype"},
        "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "domain": {"devices": {}},
                "volumes": [
                    {"name": "root", "containerDisk": {"image": "registry.example.com/disk:1"}},
                    {"name": "data", "emptyDisk": {"capacity": "1024Mi"}},
                ],
            },
        },
    },
}
KIND = "VirtualMachineInstancetype"
SIZE = "spec.template.spec.domain.memory.guest"
VOLUMES = [{"name": "root", "container_disk": "registry.example.com/disk:1"}, {"name": "data", "empty_disk": "1Gi"}]


def vms(api: Any) -> Any:
    return objects(api, "VirtualMachine")


def by_kubectl_apply(api: Any, namespace: str) -> None:
    last = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(MANIFEST)}
    body = {**MANIFEST, "metadata": {**MANIFEST["metadata"], "annotations": last}}
    vms(api).create(namespace=namespace, body=body, field_manager="kubectl-client-side-apply")


def by_kubectl_server_side(api: Any, namespace: str) -> None:
    manifest = {**MANIFEST, "metadata": {**MANIFEST["metadata"], "namespace": namespace}}
    server_side_apply(vms(api), manifest, "kubectl")


def by_kubevirt_core(api: Any, namespace: str) -> None:
    """Created without a name of its own, then merged with itself."""
    resource = vms(api)
    resource.create(namespace=namespace, body=MANIFEST)
    patch = {"metadata": {"labels": {"app": "web"}}, "spec": MANIFEST["spec"]}
    resource.patch(namespace=namespace, name="web", body=patch, content_type="application/merge-patch+json")


def by_virtctl(api: Any, namespace: str) -> None:
    vms(api).create(namespace=namespace, body=MANIFEST, field_manager="virtctl")


@pytest.mark.parametrize(
    ("made", "manager"),
    [
        (by_kubectl_apply, "kubectl-client-side-apply"),
        (by_kubectl_server_side, "kubectl"),
        (by_kubevirt_core, "OpenAPI-Generator"),
        (by_virtctl, "virtctl"),
    ],
)
def test_vm_of_other_managers(task: Task, shop: str, api: Any, made: Maker, manager: str) -> None:
    made(api, shop)

    def declare(labels: dict[str, str], volumes: list[dict[str, Any]], **options: Any) -> dict[str, Any]:
        return task.outcome("virtual_machine", **vm("web", labels=labels, volumes=volumes), **options)

    generation = live(api, shop)["metadata"]["generation"]
    labels = {"app": "web", "tier": "front"}
    taken = declare(labels, VOLUMES)
    # Only who declares it is another now.
    assert (taken["result"]["action"], taken["diff"][0]["before"], taken["diff"][0]["after"]) == ("apply", {}, {}), (
        taken
    )
    assert live(api, shop)["metadata"]["generation"] == generation
    assert not declare(labels, VOLUMES)["changed"]

    other = {"app": "shop", "tier": "front"}
    for field, options in (
        ("metadata.labels.app", {"labels": other, "volumes": VOLUMES}),
        ("spec.template.spec.volumes", {"labels": other, "volumes": VOLUMES[:1]}),
    ):
        take_over = "[kubectl]" if manager == "kubectl" else "true"
        words = (
            f'another field manager owns declared fields: "{manager}" owns {field}; remove the fields from the task, or'
            " set force_conflicts: true (takes what differs)"
            f" or take_over: {take_over} (takes all that the task declares)"
        )
        for refused in (declare(**options), declare(**options, check=True), declare(**options, preflight="off")):
            assert refused["failed"] and not refused["changed"]
            assert words in refused["msg"]
        assert declare(**options, force_conflicts=True)["changed"]
        assert not declare(**options)["changed"]
    assert [volume["name"] for volume in live(api, shop)["spec"]["template"]["spec"]["volumes"]] == ["root"]

    # A label that is ours alone goes; one that they declare too stays, unless it is taken from them.
    assert declare({"tier": "front"}, VOLUMES[:1])["diff"][0]["before"] == {"metadata": {"labels": {"app": "shop"}}}
    stays = declare({}, VOLUMES[:1], check=True)
    assert stays["diff"][0]["before"] == {}
    words = (
        f'metadata.labels.tier is no longer declared but stays, because "{manager}" owns the field too;'
        " to remove it, set force_conflicts: true (takes what differs)"
    )
    (warning,) = stays["result"]["warnings"]
    assert warning.startswith(f"{words} or take_over: "), warning
    assert declare({}, VOLUMES[:1], force_conflicts=True)["changed"]
    assert live(api, shop)["metadata"]["labels"] == {"note": "theirs"}
    # Theirs stays theirs, in the template too.
    assert live(api, shop)["spec"]["template"]["metadata"]["labels"] == {"app": "web"}
    assert not declare({}, VOLUMES[:1])["changed"]


def test_vm_with_running_field(task: Task, shop: str, api: Any) -> None:
    spec = {**MANIFEST["spec"], "running": False}
    del spec["runStrategy"]
    vms(api).create(namespace=shop, body={**MANIFEST, "spec": spec}, field_manager="kubectl-create")

    def declare(**options: Any) -> dict[str, Any]:
        return task.outcome("virtual_machine", **vm("web", volumes=VOLUMES), **options)

    assert declare(run_strategy="Halted")["diff"][0]["after"] == {}
    assert not declare(run_strategy="Halted")["changed"]
    assert not declare()["changed"]
    refused = declare(run_strategy="Manual")
    assert '"kubectl-create" owns spec.running' in refused["msg"]
    changed = declare(run_strategy="Manual", force_conflicts=True)
    assert (changed["diff"][0]["before"], changed["diff"][0]["after"]) == (
        {"spec": {"running": False}},
        {"spec": {"runStrategy": "Manual"}},
    ), changed
    assert "running" not in live(api, shop)["spec"]
    assert not declare(run_strategy="Manual")["changed"]


def by_kubectl_edit(api: Any, namespace: str, body: dict[str, Any]) -> None:
    vms(api).create(namespace=namespace, body=body, field_manager="kubectl-create")
    power = {part: body["spec"][part] for part in ("running", "runStrategy") if part in body["spec"]}
    other = {"running": not power["running"]} if "running" in power else {"runStrategy": "Manual"}
    for value in (other, power):
        vms(api).patch(
            namespace=namespace,
            name="web",
            body={"spec": value},
            content_type="application/merge-patch+json",
            field_manager="kubectl-edit",
        )


@pytest.mark.parametrize(
    ("manager", "power"),
    [
        ("OpenAPI-Generator", {"running": False}),
        ("OpenAPI-Generator", {"running": True}),
        ("OpenAPI-Generator", {"runStrategy": "Halted"}),
        ("kubectl-client-side-apply", {"running": False}),
        ("kubectl-edit", {"running": True}),
        ("kubectl-edit", {"runStrategy": "Halted"}),
        ("virtctl-v1.9.0-linux-amd64", {"running": False}),
        ("Terraform", {"running": True}),
        ("terraform-provider-kubevirt", {"runStrategy": "Always"}),
    ],
)
@pytest.mark.parametrize("differs", [False, True])
def test_takeover_takes_the_power_of_a_vm(
    task: Task, shop: str, api: Any, manager: str, power: dict[str, Any], *, differs: bool
) -> None:
    """`running` is another spelling of the declared run strategy: a VM cannot have both."""
    spec = {key: value for key, value in MANIFEST["spec"].items() if key != "runStrategy"}
    metadata = dict(MANIFEST["metadata"])
    if manager == "kubectl-client-side-apply":
        metadata["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    body = {**MANIFEST, "metadata": metadata, "spec": {**spec, **power}}
    if manager == "kubectl-edit":
        by_kubectl_edit(api, shop, body)
    else:
        vms(api).create(namespace=shop, body=body, field_manager=manager)
    declared = {"labels": {"app": "web", "tier": "front"}, "volumes": VOLUMES}
    same = power.get("runStrategy") or ("Always" if power["running"] else "Halted")
    strategy = same if not differs else "Halted" if same == "Always" else "Manual"
    foreseen, done = (
        task("virtual_machine", **vm("web", **declared), run_strategy=strategy, take_over=True, check=check)
        for check in (True, False)
    )
    for taken in (foreseen, done):
        assert manager in taken["result"]["taken_over_from"] and taken["result"]["needs"] == "nothing", taken
        before, after = (taken["diff"][0][side].get("spec", {}) for side in ("before", "after"))
        if "running" in power:
            assert (before, after) == (power, {"runStrategy": strategy})
        else:
            assert (before, after) == ((power, {"runStrategy": strategy}) if differs else ({}, {}))
    owned = {field for fields in done["result"]["owned_by_others"].values() for field in fields}
    assert not owned & {"spec.running", "spec.runStrategy"}, done
    left = live(api, shop)["spec"]
    assert (left.get("runStrategy"), "running" in left) == (strategy, False)
    assert not task("virtual_machine", **vm("web", **declared), run_strategy=strategy, take_over=True)["changed"]
    # From then on the task needs no option, whatever it declares.
    assert task("virtual_machine", **vm("web", **declared), run_strategy="RerunOnFailure")["changed"]
    assert live(api, shop)["spec"]["runStrategy"] == "RerunOnFailure"


def test_two_playbooks_own_different_fields_of_a_vm(task: Task, shop: str, api: Any) -> None:
    def one() -> dict[str, Any]:
        return task("virtual_machine", **vm("web", labels={"app": "web"}, run_strategy="Halted"))

    def other(**options: Any) -> dict[str, Any]:
        mine = {"name": "web", "field_manager": "backup"}
        return task.outcome("virtual_machine", **mine, **options)

    backup = {"annotations": {"backup": "nightly"}, "template": {"metadata": {"labels": {"backup": "yes"}}}}
    assert one()["changed"]
    assert other(**backup)["changed"]
    assert not one()["changed"]
    assert not other(**backup)["changed"]
    left = live(api, shop)
    assert (left["metadata"]["labels"], left["metadata"]["annotations"]["backup"]) == ({"app": "web"}, "nightly")
    assert left["spec"]["template"]["metadata"]["labels"] == {"backup": "yes"}
    assert left["spec"]["instancetype"]["name"] == "small"
    refused = other(**backup, labels={"app": "mine"})
    assert '"virtshape" owns metadata.labels.app' in refused["msg"]
    # A field that a manager declares no more goes, and nothing else.
    assert other(annotations={"backup": "nightly"})["changed"]
    assert not one()["changed"]
    assert "labels" not in live(api, shop)["spec"]["template"].get("metadata", {})


def by_python_put(api: Any, namespace: str) -> Any:
    """Created, then replaced as a whole with what was read."""
    resource = vms(api)
    resource.create(namespace=namespace, body=MANIFEST)
    for _attempt in range(20):
        result = resource.get(name="web", namespace=namespace).to_dict()
        body = {**result, "metadata": {**result["metadata"], "annotations": {"put": "1"}}}
        try:
            return resource.replace(namespace=namespace, body=body)
        except ConflictError:
            # virt-controller has written it meanwhile.
            continue
    raise AssertionError("the VM changes all the time")


@pytest.mark.parametrize(
    ("made", "manager", "named"),
    [
        (by_kubectl_apply, "kubectl-client-side-apply", False),
        (by_kubectl_server_side, "kubectl", True),
        (by_kubevirt_core, "OpenAPI-Generator", False),
        (by_python_put, "OpenAPI-Generator", False),
        (by_virtctl, "virtctl", True),
        (by_virtctl, "virtctl", False),
    ],
)
def test_co_ownership_ends(task: Task, shop: str, api: Any, made: Maker, manager: str, named: bool) -> None:
    made(api, shop)
    take_over: Any = [manager] if named else True

    def declare(**options: Any) -> dict[str, Any]:
        declared = {"labels": {"app": "web", "tier": "front"}, "volumes": VOLUMES, **options}
        return task("virtual_machine", **vm("web", **declared))

    before = live(api, shop)
    foreseen = task(
        "virtual_machine",
        **vm("web", labels={"app": "web", "tier": "front"}, volumes=VOLUMES),
        take_over=take_over,
        check=True,
    )
    assert (foreseen["changed"], foreseen["result"]["taken_over_from"]) == (True, [manager]), foreseen
    assert "virtshape" not in {entry["manager"] for entry in live(api, shop)["metadata"]["managedFields"]}
    taken = declare(take_over=take_over)
    assert taken["result"]["taken_over_from"] == [manager], taken
    assert (taken["diff"][0]["before"], taken["diff"][0]["after"]) == ({}, {})
    # The fields that others still own: an undeclared label, one of the template, additions of the API server.
    theirs = taken["result"]["owned_by_others"][manager]
    assert "metadata.labels.note" in theirs and "spec.template.metadata.labels.app" in theirs, theirs
    assert not any(path.startswith(("spec.instancetype", "spec.template.spec.volumes")) for path in theirs)
    after = live(api, shop)
    assert (after["metadata"]["generation"], after["spec"]) == (before["metadata"]["generation"], before["spec"])
    assert "kubectl.kubernetes.io/last-applied-configuration" not in after["metadata"].get("annotations", {})
    # Nothing is left to take over, asked or not.
    assert not declare(take_over=take_over)["changed"]
    assert not declare()["changed"]
    # Changes and removals work without force from then on.
    changed = declare(labels={"app": "shop"}, volumes=VOLUMES[:1], instancetype="medium")
    assert changed["changed"] and not changed.get("failed"), changed
    assert live(api, shop)["metadata"]["labels"] == {"app": "shop", "note": "theirs"}
    assert live(api, shop)["spec"]["instancetype"]["name"] == "medium"
    assert [volume["name"] for volume in live(api, shop)["spec"]["template"]["spec"]["volumes"]] == ["root"]
    dropped = declare(labels={}, volumes=VOLUMES[:1], instancetype="medium", preference=None)
    assert dropped["changed"] and not dropped["result"].get("warnings"), dropped
    assert "preference" not in live(api, shop)["spec"] and live(api, shop)["metadata"]["labels"] == {"note": "theirs"}


def test_changed_fields_are_taken_over_at_once(task: Task, shop: str, api: Any) -> None:
    by_kubevirt_core(api, shop)
    other = {**vm("web", "medium", volumes=VOLUMES), "namespace": shop}
    refused = task.refused("virtual_machine", **other)
    assert refused["msg"].endswith(
        '"OpenAPI-Generator" owns spec.instancetype.name; remove the fields from the task, or set force_conflicts: true'
        " (takes what differs) or take_over: true (takes all that the task declares)"
    )
    assert '"OpenAPI-Generator" owns' in task.refused("virtual_machine", **other, take_over=["kubectl-edit"])["msg"]
    taken = task("virtual_machine", **other, take_over=True)
    assert "taken_over" not in taken["result"], taken
    assert live(api, shop)["spec"]["instancetype"]["name"] == "medium"
    assert not task("virtual_machine", **other)["changed"]


def test_matchers_taken_by_force_are_removed(task: Task, shop: str, api: Any) -> None:
    """The manager before still owns the objects around the names; without contents, the VM would not start."""
    vms(api).create(namespace=shop, body=MANIFEST, field_manager="Terraform")
    own: dict[str, Any] = {"namespace": shop, "name": "web", "run_strategy": "Halted", "volumes": VOLUMES}
    task("instancetype", namespace=shop, name="other", cpu={"guest": 1}, memory={"guest": "2Gi"})
    task("preference", namespace=shop, name="other", devices={})
    other = {"name": "other", "kind": KIND}
    sized = {
        "instancetype": other,
        "preference": {**other, "kind": "VirtualMachinePreference"},
        "force_conflicts": True,
    }
    assert task("virtual_machine", **own, **sized)["changed"]
    own |= {"spec": {"template": {"spec": {"domain": {"memory": {"guest": "2Gi"}}}}}}
    for check in (True, False):
        result = task("virtual_machine", **own, check=check)
        assert result["changed"] and not [text for text in warned(result) if "no longer declared" in text]
    assert not live(api, shop, "web")["spec"].keys() & {"instancetype", "preference"}
    assert not task("virtual_machine", **own)["changed"]


def test_take_over_from_the_only_manager(task: Task, namespace: str, api: Any) -> None:
    """Without managed fields the API server would give all fields to nobody, whom no apply may take them from."""
    kind = objects(api, KIND)
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    kind.create(
        namespace=namespace,
        body={"apiVersion": kind.group_version, "kind": KIND, "metadata": {"name": "own"}, "spec": spec},
        field_manager="kubectl-create",
    )
    own = {"namespace": namespace, "name": "own", "take_over": True}
    assert task("instancetype", **own, **spec)["result"]["owned_by_others"] == {}
    result = kind.get(name="own", namespace=namespace).to_dict()["metadata"]
    assert [entry["manager"] for entry in result["managedFields"]] == ["virtshape"]
    assert task("instancetype", **own, cpu={"guest": 2}, memory={"guest": "1Gi"})["changed"]


def test_take_over_from_argo_cd_warns(task: Task, shop: str, api: Any) -> None:
    manager = "argocd-controller"
    spec = {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}}}
    metadata = {"name": "web", "namespace": shop, "labels": {"team": "web"}}
    server_side_apply(
        vms(api),
        {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": metadata, "spec": spec},
        manager,
    )
    reverted = "its next sync reverts the change, unless Git has it"

    def declare(**options: Any) -> dict[str, Any]:
        return task.outcome("virtual_machine", name="web", labels={"team": "shop"}, memory="1Gi", **options)

    for refused in (declare(take_over=True), declare(take_over=True, check=True), declare(preflight="off")):
        assert refused["failed"], refused
        assert f"take_over: [{manager}] (takes all that the task declares)" in refused["msg"]
        assert refused["msg"].endswith(f". Argo CD declares the object too: {reverted}")
    told = f"Argo CD declares metadata.labels.team, spec.template.spec.domain.devices, {SIZE} too"
    for check in (True, False):
        done = declare(take_over=[manager], check=check)
        assert (done["changed"], warned(done)) == (True, [f"{shop}/web: {told}: {reverted}"]), done
    assert warned(declare()) == []


def test_parts_of_vms_have_their_own_manager(task: Task, shop: str, api: Any) -> None:
    """A task with the instancetype alone removes what an earlier one declared with the same field manager."""
    medium = {"name": "medium", "kind": KIND}
    task("virtual_machine", **vm("web", volumes=VOLUMES, networks=[{"name": "default"}]))
    part = {"name": "web", "namespace": shop, "instancetype": medium}
    for check_mode in (True, False):
        own = task("virtual_machine", **part, field_manager="sizes", force_conflicts=True, check=True)
        assert not any("the VM loses" in text for text in warned(own))
        (lost, *_others) = warned(task("virtual_machine", **part, check=check_mode))
        assert "web: the VM loses all volumes (root, data), " in lost and ", all networks (default), " in lost
    assert "volumes" not in live(api, shop)["spec"]["template"]["spec"]
