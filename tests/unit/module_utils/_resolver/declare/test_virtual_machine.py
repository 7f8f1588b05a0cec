"""Manifests of VMs from options, and VMs seen beside the live ones."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api import managed_fields
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.tree import value_at
from plugins.module_utils._resolver.declare import plan
from plugins.module_utils._resolver.declare import virtual_machine as vms
from plugins.module_utils._resolver.declare.vm.manifest import manifest as as_vm

OPTIONS: dict[str, Any] = {
    "name": "web",
    "namespace": "shop",
    "labels": {"tier": "web"},
    "instancetype": {"name": "u1.small", "kind": None},
    "preference": {"name": "fedora"},
    "volumes": [
        {"name": "root", "container_disk": "fedora", "boot_order": 1},
        {"name": "init", "cloud_init": {"type": "nocloud", "user_data": "x", "network_data": None}},
        {"name": "iso", "persistent_volume_claim": "iso", "device": "cdrom", "bus": "sata"},
    ],
}


def test_manifest() -> None:
    assert as_vm(OPTIONS) == {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"tier": "web"}},
        "spec": {
            "instancetype": {"name": "u1.small"},
            "preference": {"name": "fedora"},
            "template": {
                "spec": {
                    "domain": {
                        "devices": {
                            "disks": [
                                {"name": "root", "bootOrder": 1},
                                {"name": "iso", "cdrom": {"bus": "sata"}},
                            ]
                        }
                    },
                    "volumes": [
                        {"name": "root", "containerDisk": {"image": "fedora"}},
                        {"name": "init", "cloudInitNoCloud": {"userData": "x"}},
                        {"name": "iso", "persistentVolumeClaim": {"claimName": "iso"}},
                    ],
                }
            },
        },
    }


def test_contradictory_values_of_a_field_are_an_error() -> None:
    options = {"name": "a", "memory": "1Gi", "template": {"spec": {"domain": {"memory": {"guest": "2Gi"}}}}}
    with pytest.raises(
        FieldError,
        match=r"template\.spec\.domain\.memory\.guest: is set twice, as '1Gi' and as '2Gi'; remove one of them",
    ):
        as_vm(options)


def test_empty_values_of_defaulted_fields_declare_nothing() -> None:
    """KubeVirt drops an empty node selector, and fills in an empty machine type."""
    spec = {"template": {"spec": {"domain": {"machine": {"type": ""}}}}}
    vm = as_vm({"name": "a", "memory": "1Gi", "node_selector": {}, "spec": spec})
    assert vm["spec"]["template"]["spec"] == {"domain": {"devices": {}, "machine": {}, "memory": {"guest": "1Gi"}}}
    live = applied(created({"name": "a", "memory": "1Gi", "spec": spec}))
    live["spec"]["template"]["spec"]["domain"]["machine"] = {"type": "q35"}
    assert action(vm, live) == plan.NONE


@pytest.mark.parametrize("name", [{}, []])
def test_a_volume_needs_a_text_as_name(name: Any) -> None:
    volumes = [{"name": name, "containerDisk": {"image": "a"}}]
    with pytest.raises(FieldError, match=r"volumes\[0\]\.name: expected a string"):
        as_vm({"name": "a", "memory": "1Gi", "template": {"spec": {"volumes": volumes}}})


def applied(manifest: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """The manifest as it is in the cluster once we applied it, with what others changed in its spec."""
    result = copy.deepcopy(manifest)
    fields: dict[str, Any] = {}
    for path in managed_fields.leaf_fields(manifest):
        node = fields
        for key in path:
            node = node.setdefault(f"f:{key}", {})
    result["metadata"]["managedFields"] = [{"manager": "virtshape", "operation": "Apply", "fieldsV1": fields}]
    result["spec"].update(spec)
    return result


def action(desired: dict[str, Any], live: dict[str, Any]) -> str:
    """The action of the plan; what is planned from stays as it is."""
    before = copy.deepcopy((desired, live))
    manifest, owner, _plugged = vms.with_live_values(desired, live, "virtshape")
    planned = plan.present(manifest, live, owner)
    assert (desired, live) == before
    return planned.action


def test_a_new_vm_runs_always_by_default() -> None:
    desired = as_vm(OPTIONS)
    assert vms.with_live_values(desired, None, "virtshape")[0]["spec"]["runStrategy"] == "Always"
    assert desired == as_vm(OPTIONS)
    halted = as_vm({**OPTIONS, "run_strategy": "Halted"})
    assert vms.with_live_values(halted, None, "virtshape")[0]["spec"]["runStrategy"] == "Halted"
    running = as_vm({**OPTIONS, "spec": {"running": False}})
    assert "runStrategy" not in vms.with_live_values(running, None, "virtshape")[0]["spec"]


def created(options: dict[str, Any]) -> dict[str, Any]:
    return vms.with_live_values(as_vm(options), None, "virtshape")[0]


def test_an_undeclared_run_strategy_stays_as_it_is() -> None:
    live = applied(created(OPTIONS), runStrategy="Halted")
    # virt-api has taken the field over.
    del live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:runStrategy"]
    assert action(as_vm(OPTIONS), live) == plan.NONE
    assert action(as_vm({**OPTIONS, "run_strategy": "Always"}), live) == plan.APPLY


INFERRED = {**OPTIONS, "instancetype": {"infer_from_volume": "iso"}}


def test_neither_defaults_nor_inferred_matchers_are_differences() -> None:
    assert action(as_vm(OPTIONS), applied(created(OPTIONS))) == plan.NONE
    live = applied(created(INFERRED), instancetype={"name": "u1.medium", "kind": "VirtualMachineClusterInstancetype"})
    assert action(as_vm(INFERRED), live) == plan.NONE


def test_later_apply_sends_the_inferred_name() -> None:
    live = applied(created(INFERRED), instancetype={"name": "u1.medium"})
    changed = as_vm({**INFERRED, "labels": {"tier": "db"}})
    manifest, owner, _plugged = vms.with_live_values(changed, live, "virtshape")
    assert manifest["spec"]["instancetype"] == {"name": "u1.medium"}
    assert plan.present(manifest, live, owner).action == plan.APPLY
    # And once it was sent, the next run is unchanged.
    assert action(changed, applied(manifest)) == plan.NONE


@pytest.mark.parametrize("kind", [None, "virtualmachineclusterinstancetypes", "VirtualMachineClusterInstancetype"])
def test_another_spelling_of_the_kind_is_no_difference(kind: str | None) -> None:
    live = applied(created(OPTIONS), instancetype={"name": "u1.small", **({"kind": kind} if kind else {})})
    if kind:
        live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:instancetype"]["f:kind"] = {}
    desired = as_vm({**OPTIONS, "instancetype": {"name": "u1.small", "kind": "VirtualMachineClusterInstancetype"}})
    assert action(desired, live) == plan.NONE


def test_another_kind_is_a_difference() -> None:
    live = applied(created(OPTIONS))
    desired = as_vm({**OPTIONS, "instancetype": {"name": "u1.small", "kind": "VirtualMachineInstancetype"}})
    assert action(desired, live) == plan.APPLY


def expanded() -> dict[str, Any]:
    """A VM after the reference policy `expand`: no matchers, and virt-controller owns the template's lists."""
    live = applied(created(OPTIONS))
    spec = live["spec"]
    del spec["instancetype"], spec["preference"]
    spec["template"]["spec"]["domain"]["devices"]["disks"][0]["disk"] = {"bus": "virtio"}
    spec["template"]["spec"]["domain"]["memory"] = {"guest": "2Gi"}
    fields = live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    del fields["f:instancetype"], fields["f:preference"]
    disks = fields["f:template"]["f:spec"]["f:domain"]["f:devices"].pop("f:disks")
    domain = {"f:devices": {"f:disks": disks}, "f:memory": {".": {}, "f:guest": {}}}
    return written_by_controller(live, {"f:spec": {"f:domain": domain}})


def written_by_controller(live: dict[str, Any], template: dict[str, Any]) -> dict[str, Any]:
    fields = {"f:spec": {"f:template": template}}
    entry = {"manager": "virt-controller", "operation": "Update", "fieldsV1": fields}
    live["metadata"]["managedFields"].append(entry)
    return live


def test_ordinary_virt_controller_fields_are_no_expansion() -> None:
    annotations = {".": {}, "f:kubevirt.io/pci-topology-version": {}}
    domain = {"f:firmware": {".": {}, "f:uuid": {}}}
    template = {"f:metadata": {"f:annotations": annotations}, "f:spec": {"f:domain": domain, "f:volumes": {}}}
    plain = {"name": "web", "namespace": "shop", "cpu": {"sockets": 2}, "memory": "2Gi"}
    live = written_by_controller(applied(created(plain)), template)
    without_preference = {key: value for key, value in OPTIONS.items() if key != "preference"}
    without_instancetype = {**plain, "preference": {"name": "fedora"}}
    for options in (OPTIONS, without_preference, without_instancetype):
        assert not vms.expanded(as_vm(options), live)
    disks = written_by_controller(live, {"f:spec": {"f:domain": {"f:devices": {"f:disks": {}}}}})
    assert not vms.expanded(as_vm(without_preference), disks)


def test_vm_with_only_a_preference_can_be_expanded() -> None:
    plain = {"name": "web", "namespace": "shop", "memory": "2Gi"}
    live = written_by_controller(applied(created(plain)), {"f:spec": {"f:domain": {"f:devices": {"f:disks": {}}}}})
    assert vms.expanded(as_vm({**plain, "preference": {"name": "fedora"}}), live)


def test_an_expanded_vm_still_follows_its_labels() -> None:
    desired = as_vm({**OPTIONS, "labels": {"tier": "other"}})
    manifest, owner, _plugged = vms.with_live_values(desired, expanded(), "virtshape")
    result = plan.present(manifest, expanded(), owner)
    assert result.action == plan.APPLY
    assert result.after == {"metadata": {"labels": {"tier": "other"}}}


PLAIN: dict[str, Any] = {"name": "a", "volumes": [{"persistent_volume_claim": "c"}]}
AUTO = {"instancetype": {"infer": "auto"}, "preference": {"infer": "auto"}}
REQUIRED = {"instancetype": {"infer": "required"}, "preference": {"infer": "required"}}
MEMORY = ("spec", "template", "spec", "domain", "memory")


def memory_of(vm: dict[str, Any]) -> Any:
    return value_at(vm, MEMORY)


def test_new_vm_gets_default_memory_unless_otherwise_set() -> None:
    assert memory_of(created(PLAIN)) == {"guest": "512Mi"}
    assert memory_of(created({**PLAIN, **AUTO})) == {"guest": "512Mi"}
    assert memory_of(created({**PLAIN, **REQUIRED})) is None
    assert memory_of(created({**PLAIN, "instancetype": {"name": "x"}})) is None
    assert memory_of(created({**PLAIN, "memory": "1Gi"})) == {"guest": "1Gi"}
    for part in ("requests", "limits"):
        raw = {"spec": {"domain": {"resources": {part: {"memory": "1Gi"}}}}}
        assert memory_of(created({**PLAIN, "template": raw})) is None


def test_undeclared_memory_stays() -> None:
    live = applied(created({**PLAIN, "memory": "4Gi"}))
    assert action(as_vm(PLAIN), live) == plan.NONE


def test_switching_to_or_from_instancetype_sets_no_memory() -> None:
    live = applied(created(PLAIN))
    sized = vms.with_live_values(as_vm({**PLAIN, "instancetype": {"name": "x"}}), live, "virtshape")[0]
    assert memory_of(sized) is None
    assert action(sized, live) == plan.APPLY
    back = vms.with_live_values(as_vm(PLAIN), applied(created({**PLAIN, "instancetype": {"name": "x"}})), "virtshape")[
        0
    ]
    assert memory_of(back) is None


def test_failed_optional_inference_is_not_retried() -> None:
    options = {**PLAIN, **AUTO}
    live = applied(created(options))
    for matcher in ("instancetype", "preference"):
        del live["spec"][matcher]
    assert action(as_vm(options), live) == plan.NONE
    # One that has to come to something is.
    assert action(as_vm({**PLAIN, **REQUIRED}), live) == plan.APPLY


def test_memory_removed_by_admission_is_no_difference() -> None:
    options = {**PLAIN, **AUTO}
    live = applied(created(options), instancetype={"name": "u1.medium"}, preference={"name": "fedora"})
    del live["spec"]["template"]["spec"]["domain"]["memory"]
    assert action(as_vm(options), live) == plan.NONE


def planned(options: dict[str, Any], live: dict[str, Any], force: bool = False, **more: Any) -> plan.Plan:
    return vms.plan_vm(as_vm(options), live, "virtshape", force, **more)[0]


def test_another_instancetype_takes_kind_and_revision_along() -> None:
    # Up to KubeVirt 1.4 virt-controller keeps the revision there.
    live = applied(created({**PLAIN, "instancetype": {"name": "x", "kind": "VirtualMachineInstancetype"}}))
    live["spec"]["instancetype"]["revisionName"] = "a-x-1"
    assert (
        planned({**PLAIN, "instancetype": {"name": "x", "kind": "VirtualMachineInstancetype"}}, live).merge_patch == {}
    )
    manifest = planned({**PLAIN, "instancetype": {"name": "y"}}, live)
    here = ("spec", "instancetype")
    kind = "VirtualMachineClusterInstancetype"
    assert manifest.merge_patch == {(*here, "name"): "y", (*here, "kind"): kind, (*here, "revisionName"): None}
    assert manifest.manifest["spec"]["instancetype"] == {"name": "y", "kind": kind}
    assert manifest.before["spec"]["instancetype"]["revisionName"] == "a-x-1"
    pinned = planned({**PLAIN, "instancetype": {"name": "y", "revision_name": "a-y-1"}}, live)
    assert pinned.merge_patch == {}


def test_a_removed_instancetype_takes_its_revision_along() -> None:
    live = applied(created({**PLAIN, "instancetype": {"name": "x"}}))
    live["spec"]["instancetype"]["revisionName"] = "a-x-1"
    manifest = planned({**PLAIN, "memory": "2Gi"}, live)
    assert manifest.merge_patch == {("spec", "instancetype"): None, (*MEMORY, "guest"): "2Gi"}


def test_a_matcher_without_its_name_is_removed() -> None:
    live = applied(created({**PLAIN, "instancetype": {"name": "x"}}))
    entry = {"manager": "Terraform", "operation": "Update", "fieldsV1": {"f:spec": {"f:instancetype": {}}}}
    live["metadata"]["managedFields"].append(entry)
    manifest = planned({**PLAIN, "memory": "2Gi"}, live)
    assert manifest.retained == ()
    assert manifest.merge_patch == {("spec", "instancetype"): None, (*MEMORY, "guest"): "2Gi"}


def test_one_patch_swaps_preference_and_memory_for_instancetype() -> None:
    live = applied(created({**PLAIN, "memory": "2Gi", "preference": {"name": "x"}}))
    live["spec"]["preference"]["revisionName"] = "a-x-1"
    manifest = planned({**PLAIN, "instancetype": {"name": "y"}}, live)
    name = ("spec", "instancetype", "name")
    assert manifest.merge_patch == {("spec", "preference"): None, MEMORY: None, name: "y"}


def with_running(value: bool, manager: str) -> dict[str, Any]:
    live = applied(created(PLAIN))
    del live["spec"]["runStrategy"]
    live["spec"]["running"] = value
    fields = {"f:spec": {"f:running": {}}}
    live["metadata"]["managedFields"].append({"manager": manager, "operation": "Update", "fieldsV1": fields})
    del live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:runStrategy"]
    return live


def test_running_is_a_spelling_of_a_run_strategy() -> None:
    for value, strategy in ((True, "Always"), (False, "Halted")):
        assert planned({**PLAIN, "run_strategy": strategy}, with_running(value, "kubectl")).action == plan.NONE
        assert planned(PLAIN, with_running(value, "kubectl")).action == plan.NONE


def test_run_strategy_replaces_running_in_one_patch() -> None:
    first = {("spec", "running"): None, ("spec", "runStrategy"): "Manual"}
    desired = {**PLAIN, "run_strategy": "Manual"}
    refused = planned(desired, with_running(True, "kubectl"))
    assert '"kubectl" owns spec.running' in str(refused.refusal)
    for manifest in (
        planned(desired, with_running(True, "kubectl"), force=True),
        # Someone's start or stop is taken back, as it is for run strategies.
        planned(desired, with_running(True, "virt-api")),
    ):
        assert (manifest.refusal, manifest.merge_patch, manifest.before) == (None, first, {"spec": {"running": True}})


def test_takeover_replaces_running() -> None:
    """Else its owner would keep it, and refuse the next change of the run strategy."""
    first = {("spec", "running"): None, ("spec", "runStrategy"): "Always"}
    live = with_running(True, "kubectl-edit")
    desired = {**PLAIN, "run_strategy": "Always"}
    taken = planned(desired, live, take_over=lambda manager: manager == "kubectl-edit")
    assert (taken.action, taken.merge_patch, taken.taken_from) == (plan.APPLY, first, ("kubectl-edit",))
    assert (taken.before, taken.after) == ({"spec": {"running": True}}, {"spec": {"runStrategy": "Always"}})
    for options, manager in ((desired, "virtctl"), (PLAIN, "kubectl-edit")):
        assert planned(options, live, take_over=lambda owner, taken=manager: owner == taken).action == plan.NONE


def test_pin_of_a_foreign_matcher_stays() -> None:
    live = applied(created(PLAIN))
    live["spec"]["instancetype"] = {"name": "x", "revisionName": "a-x-1"}
    manifest = planned({**PLAIN, "labels": {"tier": "db"}}, live)
    assert (manifest.action, manifest.merge_patch) == (plan.APPLY, {})
    assert manifest.before == {}


def test_inferred_matcher_is_taken_over_from_others() -> None:
    """The task owns no part of the matcher of a VM that others made."""
    live = applied(created({**PLAIN, "labels": {"tier": "web"}}))
    live["spec"]["instancetype"] = {"name": "u1.medium"}
    desired = as_vm({**PLAIN, "instancetype": {"infer": "required"}})
    for existing in (live, {**live, "metadata": {**live["metadata"], "managedFields": []}}):
        manifest, owner, _plugged = vms.with_live_values(desired, existing, "virtshape")
        assert manifest["spec"]["instancetype"] == {"name": "u1.medium"}
        assert ("spec", "instancetype", "name") not in (owner or ())
        assert plan.present(manifest, existing, owner).action == plan.APPLY


OWN_KIND = "VirtualMachineInstancetype"


def pinned(options: dict[str, Any]) -> dict[str, Any]:
    """The VM in the cluster, with a revision of each of its matchers."""
    live = applied(created(options))
    for matcher in ("instancetype", "preference"):
        if matcher in live["spec"]:
            live["spec"][matcher]["revisionName"] = f"a-{matcher}-1"
    return live


def test_a_pin_stays_if_its_matcher_stays() -> None:
    options = {**PLAIN, "instancetype": {"name": "x", "kind": OWN_KIND}, "preference": {"name": "p"}}
    manifest = planned({**options, "labels": {"tier": "db"}}, pinned(options))
    assert (manifest.action, manifest.merge_patch, manifest.before) == (plan.APPLY, {}, {})


@pytest.mark.parametrize(
    ("matcher", "desired"),
    [
        ("instancetype", {"name": "y", "kind": OWN_KIND}),
        ("instancetype", {"name": "x", "kind": "VirtualMachineClusterInstancetype"}),
        ("preference", {"name": "q", "kind": None}),
        ("preference", {"name": "p", "kind": "VirtualMachinePreference"}),
    ],
)
def test_only_the_changed_matcher_loses_its_pin(matcher: str, desired: dict[str, Any]) -> None:
    options = {**PLAIN, "instancetype": {"name": "x", "kind": OWN_KIND}, "preference": {"name": "p"}}
    manifest = planned({**options, matcher: desired}, pinned(options))
    assert manifest.merge_patch == {
        ("spec", matcher, field): desired.get(field) for field in ("name", "kind", "revisionName")
    }
    assert manifest.before["spec"].keys() == {matcher}
    assert manifest.before["spec"][matcher]["revisionName"] == f"a-{matcher}-1"


@pytest.mark.parametrize("mine", [True, False])
def test_inferred_matcher_keeps_its_inferred_kind(mine: bool) -> None:
    live = applied(created(INFERRED), instancetype={"name": "u1.medium", "kind": OWN_KIND})
    if not mine:
        live["metadata"]["managedFields"] = []
    manifest, owner, _plugged = vms.with_live_values(as_vm(INFERRED), live, "virtshape")
    assert manifest["spec"]["instancetype"] == {"name": "u1.medium", "kind": OWN_KIND}
    here = ("spec", "instancetype")
    assert (owner is None) is not mine
    assert {field for field in owner or () if field[:2] == here} == (
        {(*here, "name"), (*here, "kind")} if mine else set()
    )


def test_live_matcher_with_name_and_volume_keeps_inference() -> None:
    result = {"name": "u1.medium", "inferFromVolume": "iso"}
    live = applied(created(INFERRED), instancetype=result)
    manifest = vms.with_live_values(as_vm(INFERRED), live, "virtshape")[0]
    assert manifest["spec"]["instancetype"] == {"inferFromVolume": "iso"}


@pytest.mark.parametrize("kind", [None, "VirtualMachineClusterInstancetype", OWN_KIND])
def test_a_kind_of_other_managers_is_not_declared(kind: str | None) -> None:
    matcher = {"name": "u1.small", "kind": kind} if kind else {"name": "u1.small"}
    live = applied(created({**OPTIONS, "instancetype": {"name": "u1.small"}}), instancetype=matcher)
    desired = as_vm({**OPTIONS, "instancetype": {"name": "u1.small", "kind": kind}})
    assert vms.with_live_values(desired, live, "virtshape")[0]["spec"]["instancetype"] == {"name": "u1.small"}


def test_the_cluster_kind_replaces_another_kind() -> None:
    live = applied(created(OPTIONS), instancetype={"name": "u1.small", "kind": OWN_KIND})
    manifest = vms.with_live_values(as_vm(OPTIONS), live, "virtshape")[0]
    assert manifest["spec"]["instancetype"] == {"name": "u1.small", "kind": "VirtualMachineClusterInstancetype"}
    assert manifest["spec"]["preference"] == {"name": "fedora"}


def test_fields_that_the_expansion_changed_are_declared() -> None:
    """The fields that virt-controller owns are a difference, unless they are there with more beside them."""
    live = expanded()
    disks = live["spec"]["template"]["spec"]["domain"]["devices"]["disks"]
    assert action(as_vm(OPTIONS), live) == plan.NONE
    disks[0]["bootOrder"] = 7
    assert action(as_vm(OPTIONS), live) == plan.APPLY
    del disks[1:]
    disks[0]["bootOrder"] = 1
    assert action(as_vm(OPTIONS), live) == plan.APPLY
