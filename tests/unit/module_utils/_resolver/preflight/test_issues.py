"""What the cluster will say to a VM, and the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST, of
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare import plan
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import (
    Objects,
    Problem,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import (
    Cluster,
    KubeVirt,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.preflight import predict as preflight
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.preflight.admit import admit

CLUSTER = "VirtualMachineClusterInstancetype"
OWN = "VirtualMachineInstancetype"


def instancetype(name: str, cpu: int, memory: str, kind: str = CLUSTER) -> dict[str, Any]:
    namespace = {"namespace": "shop"} if kind == OWN else {}
    spec = {"cpu": {"guest": cpu}, "memory": {"guest": memory}}
    return {"kind": kind, "metadata": {"name": name, **namespace}, "spec": spec}


def preference(name: str, **spec: Any) -> dict[str, Any]:
    return {"kind": "VirtualMachineClusterPreference", "metadata": {"name": name}, "spec": spec}


TODAY = KubeVirt(NEWEST)
THERE = (
    instancetype("u1.small", 1, "1Gi"),
    instancetype("u1.odd", 3, "4Gi"),
    instancetype("u1.large", 4, "8Gi"),
    instancetype("m1.large", 2, "16Gi"),
    instancetype("own", 2, "16Gi", OWN),
    preference("windows", requirements={"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}}),
    preference("spread", cpu={"preferredCPUTopology": "spread"}),
    preference("picky", cpu={"preferredCPUFeatures": [{"name": "vmx"}]}),
    preference("arm", requirements={"cpu": {"guest": 2}, "architecture": "arm64"}),
    preference("huge", requirements={"cpu": {"guest": 64}}),
)


class Lookup(Objects):
    """Objects, of which one kind may not be read."""

    def __init__(self, objects: Iterable[dict[str, Any]], forbidden: str = "") -> None:
        super().__init__(objects)
        self.forbidden = forbidden

    def get(self, kind: str, namespace: str, name: str) -> Any:
        if kind == self.forbidden:
            return Problem(f"may not read {name}", "Forbidden", 403)
        return super().get(kind, namespace, name)


def vm(domain: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    template = {"spec": {"domain": {"devices": {}, **(domain or {})}}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"runStrategy": "Always", "template": template, **spec},
    }


def issues(
    manifest: dict[str, Any],
    live: dict[str, Any] | None = None,
    forbidden: str = "",
    there: Iterable[dict[str, Any]] = THERE,
    kubevirt: KubeVirt = TODAY,
) -> list[preflight.Issue]:
    def listed(kind: str, namespace: str) -> list[dict[str, Any]]:
        return [one for one in there if (one["kind"], one["metadata"].get("namespace", "")) == (kind, namespace)]

    planned = plan.present(manifest, live, None)
    cluster = Cluster(Lookup(there, forbidden), kubevirt)
    return preflight.issues(admit(plan.merged(planned, live), live, cluster), live, cluster, listed)


def told(*arguments: Any, **options: Any) -> str:
    (issue,) = issues(*arguments, **options)
    assert issue.certain
    return issue.text


def test_nothing_is_wrong() -> None:
    assert issues(vm(instancetype={"name": "u1.large"}, preference={"name": "windows"})) == []


def test_a_name_that_is_nearly_right() -> None:
    assert told(vm(instancetype={"name": "u1.larg"})) == (
        'spec.instancetype.name: virtualmachineclusterinstancetypes.instancetype.kubevirt.io "u1.larg" not found;'
        " did you mean u1.large, m1.large or u1.small?"
    )
    assert told(vm(instancetype={"name": "nothing-like-it", "kind": OWN})).endswith(f"; the cluster has 1 {OWN}s")


def test_both_names_are_told() -> None:
    fields = [
        issue.text.partition(":")[0] for issue in issues(vm(instancetype={"name": "x"}, preference={"name": "y"}))
    ]
    assert fields == ["spec.instancetype.name", "spec.preference.name"]


def test_a_kind_or_a_revision_that_is_not_there() -> None:
    assert told(vm(instancetype={"name": "u1.large", "kind": "Flavor"})) == (
        "spec.instancetype.name: got unexpected kind in InstancetypeMatcher: Flavor"
    )
    assert told(vm(instancetype={"name": "u1.large", "revisionName": "r"})) == (
        'spec.instancetype.revisionName: controllerrevisions.apps "r" not found'
    )


@pytest.mark.parametrize(
    ("strategy", "created", "certain"),
    [("Always", True, False), ("Halted", True, False), ("Halted", False, False), ("Always", False, True)],
)
@pytest.mark.parametrize("name", ["u1.large", "u1.small"])
def test_a_captured_revision_that_was_deleted(strategy: str, created: bool, certain: bool, name: str) -> None:
    """As seen with KubeVirt 1.8.4, also if the VM names another instancetype."""
    reference = {"name": "u1.large", "controllerRevisionRef": {"name": "lost-1"}}
    live = {**vm(instancetype={"name": "u1.large"}), "status": {"created": created, "instancetypeRef": reference}}
    planned = vm(instancetype={"name": name}, runStrategy=strategy)
    (issue,) = issues(planned, live)
    assert issue.text.startswith("spec.instancetype: the captured revision lost-1 was deleted")
    assert "refresh the VM (controller_revision, state: refreshed)" in issue.text
    assert (issue.certain, issue.missing) == (certain, certain)
    # Recorded: the requirements of a preference are compared with what is left.
    picky = vm(instancetype={"name": name}, preference={"name": "windows"}, runStrategy=strategy)
    (refused,) = issues(picky, live)
    assert refused.certain and "insufficient" in refused.text and refused.text.endswith(issue.text)
    (refused,) = issues(planned, live, kubevirt=KubeVirt(of("1.5.2")))
    assert refused.certain and "not found" in refused.text


def test_what_may_not_be_read_is_not_certain() -> None:
    (issue,) = issues(vm(instancetype={"name": "u1.large"}), forbidden=CLUSTER)
    assert issue == preflight.Issue("spec.instancetype: could not be checked: may not read u1.large", certain=False)


def test_fields_that_the_instancetype_decides() -> None:
    assert told(vm({"cpu": {"cores": 2}, "memory": {"guest": "1Gi"}}, instancetype={"name": "u1.large"})) == (
        "spec.template.spec.domain.cpu.cores, spec.template.spec.domain.memory.guest: VM field(s)"
        " spec.template.spec.domain.cpu.cores conflicts with selected instance type, VM field(s)"
        " spec.template.spec.domain.memory.guest conflicts with selected instance type;"
        " remove these fields from the VM, or remove its instancetype"
    )


def test_an_instancetype_that_is_too_small() -> None:
    text = told(vm(instancetype={"name": "u1.small"}, preference={"name": "windows"}))
    # Those of the series first.
    assert text.endswith(" preference requires 2 vCPU; use for example u1.odd, u1.large or m1.large")


def test_what_would_do_is_of_the_kind_and_the_namespace_that_the_vm_names() -> None:
    wanted = vm(instancetype={"name": "tiny", "kind": OWN}, preference={"name": "windows"})
    there = [instancetype("tiny", 1, "1Gi", OWN), *THERE]
    assert told(wanted, there=there).endswith(" preference requires 2 vCPU; use for example own")
    elsewhere = [{**one, "metadata": {**one["metadata"], "namespace": "office"}} for one in there if one["kind"] == OWN]
    here = [one for one in there if one["metadata"]["name"] != "own"]
    assert told(wanted, there=[*here, *elsewhere]).endswith(" preference requires 2 vCPU")
    typo = vm(instancetype={"name": "ownn", "kind": OWN})
    assert told(typo, there=there).endswith("; did you mean own?")


def test_what_the_vm_itself_gets_wrong_no_instancetype_mends() -> None:
    for architecture, would_do in (("arm64", "; use for example u1.odd, u1.large or m1.large"), ("amd64", "")):
        wanted = vm(instancetype={"name": "u1.small"}, preference={"name": "arm"})
        wanted["spec"]["template"]["spec"]["architecture"] = architecture
        assert told(wanted).endswith(f"preference requires 2 vCPU{would_do}")


def test_what_cannot_be_inferred_from_either() -> None:
    volumes = [{"name": "root", "dataVolume": {"name": "none"}}]
    wanted = vm(instancetype={"inferFromVolume": "root"}, preference={"inferFromVolume": "root"})
    wanted["spec"]["template"]["spec"]["volumes"] = volumes
    assert told(wanted) == (
        'spec.instancetype.inferFromVolume, spec.preference.inferFromVolume: persistentvolumeclaims "none" not found;'
        " create the PersistentVolumeClaim none in the namespace shop first, or name another PersistentVolumeClaim"
    )


def test_where_nothing_would_do_nothing_is_said() -> None:
    assert told(vm(instancetype={"name": "u1.large"}, preference={"name": "huge"})).endswith(
        "preference requires 64 vCPU"
    )


def test_a_crash_of_kubevirt_has_no_remedy() -> None:
    assert told(vm(preference={"name": "picky"})) == (
        "preferred CPU features need an instancetype or a cpu object in the VM"
    )


def test_vcpus_that_cannot_be_spread() -> None:
    text = told(vm(instancetype={"name": "u1.odd"}, preference={"name": "spread"}))
    assert text.startswith("instancetype.spec.cpu.guest: 3 vCPUs provided by the instance type are not divisible")
    assert text.endswith("; use for example u1.large or m1.large")


def test_a_vm_without_instancetype_that_has_too_little() -> None:
    text = told(vm({"cpu": {"sockets": 2}}, preference={"name": "windows"}))
    assert text.startswith("spec.template.spec.domain.memory: failure checking preference requirements:")
    assert "; add instancetype.name, for example " in text


def test_a_change_is_judged_as_the_vm_will_be() -> None:
    live = vm(instancetype={"name": "u1.large"}, preference={"name": "windows"})
    wanted = vm({"memory": {"guest": "1Gi"}}, instancetype={"name": "u1.large"}, preference={"name": "windows"})
    assert told(wanted, live).startswith("spec.template.spec.domain.memory.guest: ")
    assert issues(live, live) == []


def test_the_result_of_a_plan() -> None:
    live = vm({"cpu": {"cores": 2}}, instancetype={"name": "u1.large"})
    live["metadata"]["labels"] = {"team": "a"}
    taken = plan.Plan(
        plan.APPLY,
        {"metadata": {"labels": {"tier": "b"}}, "spec": {"template": {"spec": {"domain": {"devices": {}}}}}},
        before={"metadata": {"labels": {"team": "a"}}},
        after={},
        merge_patch={("spec", "template", "spec", "domain", "cpu"): None, ("spec", "runStrategy"): "Halted"},
    )
    found = plan.merged(taken, live)
    assert found["metadata"]["labels"] == {"tier": "b"}
    assert found["spec"]["template"]["spec"]["domain"] == {"devices": {}}
    assert (found["spec"]["runStrategy"], found["spec"]["instancetype"]) == ("Halted", {"name": "u1.large"})
    assert live["metadata"]["labels"] == {"team": "a"}


def test_a_name_of_the_other_scope_is_named() -> None:
    here = [
        {**one, "kind": one["kind"].replace("Cluster", ""), "metadata": {**one["metadata"], "namespace": "shop"}}
        for one in THERE
        if one["metadata"]["name"] == "u1.large"
    ]
    assert told(vm(instancetype={"name": "u1.large"}), there=here).endswith(
        "a VirtualMachineInstancetype has this name; set instancetype.kind to VirtualMachineInstancetype"
    )


NEVER = "; KubeVirt accepts the VM, but cannot start it"
QXL = {"devices": {"video": {"type": "qxl"}}, "memory": {"guest": "1Gi"}}
NO_QXL = (
    "spec.template.spec.domain.devices.video.type: video model 'qxl' is not supported on amd64 architecture" + NEVER
)


def test_a_vm_without_memory_never_starts() -> None:
    path = "spec.template.spec.domain"
    assert told(vm()) == (
        f"no memory requested, at least one of '{path}.memory.guest', '{path}.memory.hugepages.pageSize' or"
        f" '{path}.resources.requests.memory' must be set{NEVER}"
    )


def test_the_bus_that_only_the_vmi_gets_counts() -> None:
    """As KubeVirt 1.9.0 does: it sets SATA in the VMI, which cannot have such a thread."""
    disk = {"name": "root", "disk": {}, "dedicatedIOThread": True}
    manifest = vm({"devices": {"disks": [disk]}, "memory": {"guest": "1Gi"}})
    manifest["spec"]["template"]["spec"]["volumes"] = [{"name": "root", "emptyDisk": {"capacity": "1Gi"}}]
    assert "IOThreads are not supported for disks on a sata bus" in told(manifest)


def test_what_the_controller_cannot_make_is_told_in_its_words() -> None:
    own = {"kubevirt.io/cluster-instancetype-name": "other"}
    odd = instancetype("odd", 1, "1Gi")
    odd["spec"]["annotations"] = own
    assert told(vm(instancetype={"name": "odd"}), there=[odd]) == (
        f"VMI conflicts with instancetype spec in fields: [annotations.{next(iter(own))}]{NEVER}"
    )


@pytest.mark.parametrize("run_strategy", ["Halted", "Manual"])
def test_a_vm_that_is_not_started_yet_may_change_first(run_strategy: str) -> None:
    (issue,) = issues(vm(QXL, runStrategy=run_strategy))
    assert issue == preflight.Issue(NO_QXL, certain=False, starts=False)


def test_a_running_guest_is_not_started_again() -> None:
    live = vm(QXL)
    running = {**live, "status": {"created": True}}
    assert [issue.certain for issue in issues(live, running)] == [False]
    assert [issue.certain for issue in issues(live, live)] == [True]


@pytest.mark.parametrize(("version", "certain"), [("v1.9.7", True), ("v1.10.0", False), ("", True), ("main", True)])
def test_a_newer_kubevirt_may_permit_more(version: str, certain: bool) -> None:
    assert [issue.certain for issue in issues(vm(QXL), kubevirt=TODAY._replace(version=version))] == [certain]


def test_an_unknown_configuration_leaves_a_doubt() -> None:
    assert [issue.certain for issue in issues(vm(QXL), kubevirt=TODAY._replace(doubt="unreadable"))] == [False]


def test_kubevirt_crashes_on_a_vm_before_it_starts() -> None:
    assert issues(vm({"memory": {"guest": "1Gi", "hugepages": {"pageSize": "0"}}})) == []
