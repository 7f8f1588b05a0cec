"""Preflight foretells the cluster's answer to a VM, with the remedy."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.finding import ERROR, NEVER_STARTS, WARNING, Finding
from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.declare import plan
from plugins.module_utils._resolver.kubevirt.admission.mutate import admit
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.preflight import findings as preflight

CLUSTER = "VirtualMachineClusterInstancetype"
OWN = "VirtualMachineInstancetype"


def instancetype(name: str, cpu: int, memory: str, kind: str = CLUSTER) -> dict[str, Any]:
    namespace = {"namespace": "shop"} if kind == OWN else {}
    spec = {"cpu": {"guest": cpu}, "memory": {"guest": memory}}
    return {"kind": kind, "metadata": {"name": name, **namespace}, "spec": spec}


def preference(name: str, **spec: Any) -> dict[str, Any]:
    return {"kind": "VirtualMachineClusterPreference", "metadata": {"name": name}, "spec": spec}


KUBEVIRT = KubeVirt(NEWEST)
CLUSTER_OBJECTS = (
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
            raise KubeVirtError(f"may not read {name}", "Forbidden", 403)
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
    there: Iterable[dict[str, Any]] = CLUSTER_OBJECTS,
    kubevirt: KubeVirt = KUBEVIRT,
) -> list[Finding]:
    def lister(kind: str, namespace: str) -> list[dict[str, Any]]:
        return [item for item in there if (item["kind"], item["metadata"].get("namespace", "")) == (kind, namespace)]

    planned = plan.present(manifest, live, None)
    cluster = Cluster(Lookup(there, forbidden), kubevirt)
    return preflight.findings(admit(plan.merged(planned, live), live, cluster), live, cluster, lister)


def issue_text(*arguments: Any, **options: Any) -> str:
    (issue,) = issues(*arguments, **options)
    assert issue.severity == ERROR
    return issue.line


def with_state(manifest: dict[str, Any], state: str, replacement: str = "", day: str = "") -> dict[str, Any]:
    annotations = {"replacement": replacement, "obsolete-from": day}
    prefix = "instancetypes.virtshape.io"
    manifest["metadata"] |= {
        "labels": {f"{prefix}/state": state},
        "annotations": {f"{prefix}/{key}": value for key, value in annotations.items()},
    }
    return manifest


OLD_OBJECTS = (
    *CLUSTER_OBJECTS,
    with_state(instancetype("old", 4, "8Gi"), "deprecated", "u1.large", "2027-03-31"),
    with_state(instancetype("gone", 4, "8Gi"), "obsolete", "u1.large"),
    with_state(instancetype("gone", 4, "8Gi", OWN), "obsolete"),
    with_state(preference("windows.7"), "obsolete"),
)


def test_deprecated_instancetype_is_a_warning_naming_its_replacement() -> None:
    (issue,) = issues(vm(instancetype={"name": "old"}), there=OLD_OBJECTS)
    assert (issue.line, issue.severity == ERROR, issue.rule) == (
        "spec.instancetype.name: old is deprecated (obsolete from 2027-03-31); use u1.large",
        False,
        "deprecated",
    )


def test_obsolete_object_is_only_for_existing_users() -> None:
    both = vm(instancetype={"name": "gone"}, preference={"name": "windows.7"})
    result = issues(both, there=OLD_OBJECTS)
    assert [(issue.line, issue.severity == ERROR, issue.rule) for issue in result] == [
        (
            "spec.instancetype.name: gone is obsolete, so only VMs that already have it may use it; use u1.large",
            True,
            "obsolete",
        ),
        (
            "spec.preference.name: windows.7 is obsolete, so only VMs that already have it may use it; use another"
            " preference",
            True,
            "obsolete",
        ),
    ]
    assert issues(both, both, there=OLD_OBJECTS) == []
    for live in (None, vm(instancetype={"name": "u1.large"})):
        (issue,) = issues(
            vm(instancetype={"name": "u1.large"}, preference={"name": "windows.7"}), live, there=OLD_OBJECTS
        )
        assert issue.field == "spec.preference.name"
    # The kind of the live matcher is spelled as the webhook stores it.
    stored = vm(instancetype={"name": "gone", "kind": CLUSTER.lower()}, preference={"name": "windows.7"})
    assert issues(both, stored, there=OLD_OBJECTS) == []
    other_kind = vm(instancetype={"name": "gone", "kind": OWN}, preference={"name": "windows.7"})
    assert len(issues(other_kind, stored, there=OLD_OBJECTS)) == 1
    (issue,) = issues(both, vm(instancetype={"name": "u1.large"}, preference={"name": "windows.7"}), there=OLD_OBJECTS)
    assert issue.line.startswith("spec.instancetype.name: gone is obsolete")


@pytest.mark.parametrize(("version", "crashes"), [("1.4.0", False), ("1.5.0", True), ("1.7.0", True), ("1.8.0", False)])
def test_removed_matcher_may_crash_virt_controller(version: str, crashes: bool) -> None:
    live = vm(instancetype={"name": "u1.large"})
    live["status"] = {"instancetypeRef": {"controllerRevisionRef": {"name": "web-u1.large-1"}}}
    cluster = replace(KUBEVIRT, release=parse_release(version))
    removed = vm({"memory": {"guest": "8Gi"}}, instancetype=None)
    assert [
        (issue.line.partition(":")[0], issue.severity == ERROR) for issue in issues(removed, live, kubevirt=cluster)
    ] == ([("spec.instancetype", False)] if crashes else [])
    kept = issues(vm(instancetype={"name": "u1.large"}), live, kubevirt=cluster)
    assert not [issue for issue in kept if "crashes" in issue.line]
    assert issues(removed, kubevirt=cluster) == []


def test_suggestions_leave_out_inactive_objects() -> None:
    text = issue_text(vm(preference={"name": "windows"}), there=[*OLD_OBJECTS[7:], *CLUSTER_OBJECTS[5:]])
    assert "for example" not in text


def test_valid_vms_have_no_issues() -> None:
    assert issues(vm(instancetype={"name": "u1.large"}, preference={"name": "windows"})) == []


def test_similar_names_are_suggested() -> None:
    assert issue_text(vm(instancetype={"name": "u1.larg"})) == (
        'spec.instancetype.name: virtualmachineclusterinstancetypes.instancetype.kubevirt.io "u1.larg" not found;'
        " did you mean u1.large, m1.large or u1.small?"
    )
    assert issue_text(vm(instancetype={"name": "nothing-like-it", "kind": OWN})).endswith(f"; the cluster has 1 {OWN}s")


@pytest.mark.parametrize(("version", "missing"), [("1.9.0", True), ("1.5.2", False)])
def test_unknown_kind(version: str, missing: bool) -> None:
    (issue,) = issues(
        vm(instancetype={"name": "u1.large", "kind": "Flavor"}), kubevirt=KubeVirt(parse_release(version))
    )
    assert issue.line == "spec.instancetype.name: got unexpected kind in InstancetypeMatcher: Flavor"
    assert (issue.severity, issue.missing) == (ERROR, missing)


def test_unknown_revision() -> None:
    assert issue_text(vm(instancetype={"name": "u1.large", "revisionName": "r"})) == (
        'spec.instancetype.revisionName: controllerrevisions.apps "r" not found'
    )


@pytest.mark.parametrize(
    ("strategy", "created", "certain"),
    [("Always", True, False), ("Halted", True, False), ("Halted", False, False), ("Always", False, True)],
)
@pytest.mark.parametrize("name", ["u1.large", "u1.small"])
def test_a_captured_revision_that_was_deleted(strategy: str, created: bool, certain: bool, name: str) -> None:
    """KubeVirt 1.8.4 did so, also for a VM that names another instancetype."""
    reference = {"name": "u1.large", "controllerRevisionRef": {"name": "lost-1"}}
    live = {**vm(instancetype={"name": "u1.large"}), "status": {"created": created, "instancetypeRef": reference}}
    planned = vm(instancetype={"name": name}, runStrategy=strategy)
    (issue,) = issues(planned, live)
    assert issue.line.startswith("spec.instancetype: the captured revision lost-1 was deleted")
    assert "refresh the VM (controller_revision, state: refreshed)" in issue.line
    assert (issue.severity == ERROR, issue.missing) == (certain, certain)
    # Recorded: the requirements of a preference are compared with what is left.
    picky = vm(instancetype={"name": name}, preference={"name": "windows"}, runStrategy=strategy)
    (refused,) = issues(picky, live)
    assert refused.severity == ERROR and "insufficient" in refused.line and refused.line.endswith(issue.line)
    assert refused.missing
    # Not for want of the object.
    (crashed,) = issues(vm(instancetype={"name": name}, preference={"name": "picky"}, runStrategy=strategy), live)
    assert crashed.line.endswith(issue.line) and not crashed.missing
    (refused,) = issues(planned, live, kubevirt=KubeVirt(parse_release("1.5.2")))
    assert refused.severity == ERROR and "not found" in refused.line


def test_a_restored_vm_names_a_lost_revision() -> None:
    """A backup restores the VM, with the revision in its spec, and not the revision."""
    restored = vm(instancetype={"name": "u1.large", "revisionName": "lost-1"}, runStrategy="Always")
    (issue,) = issues(restored, restored)
    assert issue.line == (
        "spec.instancetype: the captured revision lost-1 was deleted, so KubeVirt can neither start, stop nor restart"
        " the VM; refresh the VM (controller_revision, state: refreshed)"
    )
    assert (issue.severity == ERROR, issue.missing) == (True, True)
    # One that the task names first is an object that is missing.
    for before in ("a", "z"):
        live = vm(instancetype={"name": "u1.large", "revisionName": before})
        assert issue_text(restored, live).endswith('"lost-1" not found')


def test_unreadable_objects_are_not_certain() -> None:
    (issue,) = issues(vm(instancetype={"name": "u1.large"}), forbidden=CLUSTER)
    assert issue == Finding("could not be checked: may not read u1.large", WARNING, "spec.instancetype")


def test_conflicts_with_the_instancetype() -> None:
    assert issue_text(vm({"cpu": {"cores": 2}, "memory": {"guest": "1Gi"}}, instancetype={"name": "u1.large"})) == (
        "spec.template.spec.domain.cpu.cores, spec.template.spec.domain.memory.guest: VM field(s)"
        " spec.template.spec.domain.cpu.cores conflicts with selected instance type, VM field(s)"
        " spec.template.spec.domain.memory.guest conflicts with selected instance type;"
        " remove these fields from the VM, or remove its instancetype"
    )


def test_too_small_instancetype() -> None:
    text = issue_text(vm(instancetype={"name": "u1.small"}, preference={"name": "windows"}))
    # The instancetypes of the series come first.
    assert text.endswith(" preference requires 2 vCPU; use for example u1.odd, u1.large or m1.large")


def test_examples_share_kind_and_namespace_of_matcher() -> None:
    manifest = vm(instancetype={"name": "tiny", "kind": OWN}, preference={"name": "windows"})
    there = [instancetype("tiny", 1, "1Gi", OWN), *CLUSTER_OBJECTS]
    assert issue_text(manifest, there=there).endswith(" preference requires 2 vCPU; use for example own")
    elsewhere = [
        {**item, "metadata": {**item["metadata"], "namespace": "office"}} for item in there if item["kind"] == OWN
    ]
    here = [item for item in there if item["metadata"]["name"] != "own"]
    assert issue_text(manifest, there=[*here, *elsewhere]).endswith(" preference requires 2 vCPU")
    typo = vm(instancetype={"name": "ownn", "kind": OWN})
    assert issue_text(typo, there=there).endswith("; did you mean own?")


def test_no_examples_if_no_instancetype_helps() -> None:
    for architecture, examples in (("arm64", "; use for example u1.odd, u1.large or m1.large"), ("amd64", "")):
        manifest = vm(instancetype={"name": "u1.small"}, preference={"name": "arm"})
        manifest["spec"]["template"]["spec"]["architecture"] = architecture
        assert issue_text(manifest).endswith(f"preference requires 2 vCPU{examples}")


def test_missing_volume_of_both_inferred_matchers() -> None:
    volumes = [{"name": "root", "dataVolume": {"name": "none"}}]
    manifest = vm(instancetype={"inferFromVolume": "root"}, preference={"inferFromVolume": "root"})
    manifest["spec"]["template"]["spec"]["volumes"] = volumes
    (issue,) = issues(manifest)
    assert (issue.line, issue.missing) == (
        'spec.instancetype.inferFromVolume, spec.preference.inferFromVolume: persistentvolumeclaims "none" not found;'
        " create the PersistentVolumeClaim none in the namespace shop first, or name another PersistentVolumeClaim",
        True,
    )
    # KubeVirt infers the instancetype first.
    volumes.append({"name": "image", "containerDisk": {"image": "example.com/image"}})
    manifest["spec"]["instancetype"] = {"inferFromVolume": "image"}
    (issue,) = issues(manifest)
    assert "type is not supported" in issue.line and not issue.missing


def test_matcher_that_kubevirt_drops_is_told() -> None:
    ignored = {"inferFromVolume": "image", "inferFromVolumeFailurePolicy": "Ignore"}
    manifest = vm({"memory": {"guest": "1Gi"}, "devices": {"disks": [{"name": "image", "disk": {}}]}})
    image = {"name": "image", "containerDisk": {"image": "example.com/image"}}
    manifest["spec"] |= {"preference": ignored}
    manifest["spec"]["template"]["spec"]["volumes"] = [image]
    (issue,) = issues(manifest)
    assert (issue.severity, issue.line) == (
        WARNING,
        "spec.preference: the VM gets none, since KubeVirt is unable to infer defaults from volume image as type is not"
        " supported; add preference.name, or label the volume instancetype.kubevirt.io/default-preference",
    )
    # A volume without labels is one that the user has chosen to ignore.
    manifest["spec"]["template"]["spec"]["volumes"] = [
        {"name": "image", "persistentVolumeClaim": {"claimName": "disk"}}
    ]
    disk = {"kind": "PersistentVolumeClaim", "metadata": {"name": "disk", "namespace": "shop"}, "spec": {}}
    assert issues(manifest, there=[disk]) == []


def test_a_volume_may_be_created_later() -> None:
    manifest = vm({"memory": {"guest": "1Gi"}})
    manifest["spec"]["template"]["spec"]["volumes"] = [{"name": "a", "persistentVolumeClaim": {"claimName": "none"}}]
    (issue,) = issues(manifest)
    assert (issue.severity, issue.missing, "create it before the VM starts" in issue.line) == (WARNING, True, True)


def test_no_remedy_without_a_fitting_instancetype() -> None:
    assert issue_text(vm(instancetype={"name": "u1.large"}, preference={"name": "huge"})).endswith(
        "preference requires 64 vCPU"
    )


def test_a_crash_of_kubevirt_has_no_remedy() -> None:
    assert issue_text(vm(preference={"name": "picky"})) == (
        "preferred CPU features need an instancetype or a cpu object in the VM"
    )


def test_indivisible_spread() -> None:
    text = issue_text(vm(instancetype={"name": "u1.odd"}, preference={"name": "spread"}))
    assert text.startswith("instancetype.spec.cpu.guest: 3 vCPUs provided by the instance type are not divisible")
    assert text.endswith("; use for example u1.large or m1.large")


def test_unmet_requirements_without_instancetype() -> None:
    text = issue_text(vm({"cpu": {"sockets": 2}}, preference={"name": "windows"}))
    assert text.startswith("spec.template.spec.domain.memory: failure checking preference requirements:")
    assert "; add instancetype.name, for example " in text


def test_changes_are_judged_by_their_result() -> None:
    live = vm(instancetype={"name": "u1.large"}, preference={"name": "windows"})
    manifest = vm({"memory": {"guest": "1Gi"}}, instancetype={"name": "u1.large"}, preference={"name": "windows"})
    assert issue_text(manifest, live).startswith("spec.template.spec.domain.memory.guest: ")
    assert issues(live, live) == []


def test_merged_plan() -> None:
    live = vm({"cpu": {"cores": 2}}, instancetype={"name": "u1.large"})
    live["metadata"]["labels"] = {"team": "a"}
    planned = plan.Plan(
        plan.APPLY,
        {"metadata": {"labels": {"tier": "b"}}, "spec": {"template": {"spec": {"domain": {"devices": {}}}}}},
        before={"metadata": {"labels": {"team": "a"}}},
        after={},
        merge_patch={("spec", "template", "spec", "domain", "cpu"): None, ("spec", "runStrategy"): "Halted"},
    )
    merged = plan.merged(planned, live)
    assert merged["metadata"]["labels"] == {"tier": "b"}
    assert merged["spec"]["template"]["spec"]["domain"] == {"devices": {}}
    assert (merged["spec"]["runStrategy"], merged["spec"]["instancetype"]) == ("Halted", {"name": "u1.large"})
    assert live["metadata"]["labels"] == {"team": "a"}


def test_object_of_the_other_kind_is_suggested() -> None:
    here = [
        {**item, "kind": item["kind"].replace("Cluster", ""), "metadata": {**item["metadata"], "namespace": "shop"}}
        for item in CLUSTER_OBJECTS
        if item["metadata"]["name"] == "u1.large"
    ]
    assert issue_text(vm(instancetype={"name": "u1.large"}), there=here).endswith(
        "a VirtualMachineInstancetype has this name; set instancetype.kind to VirtualMachineInstancetype"
    )
    assert issue_text(vm(instancetype={"name": "u1.large", "kind": OWN})).endswith(
        "a VirtualMachineClusterInstancetype has this name; set instancetype.kind to VirtualMachineClusterInstancetype"
    )


NEVER = "; KubeVirt accepts the VM, but cannot start it"
QXL = {"devices": {"video": {"type": "qxl"}}, "memory": {"guest": "1Gi"}}
NO_QXL = (
    "spec.template.spec.domain.devices.video.type: type must be vga, cirrus, virtio, ramfb or bochs, not 'qxl'" + NEVER
)


def test_a_vm_without_memory_never_starts() -> None:
    assert issue_text(vm()) == f"the guest has no memory; set domain.memory.guest{NEVER}"


def test_bus_of_the_vmi_counts() -> None:
    """KubeVirt 1.9.0 sets SATA in the VMI, which cannot have such a thread."""
    disk = {"name": "root", "disk": {}, "dedicatedIOThread": True}
    manifest = vm({"devices": {"disks": [disk]}, "memory": {"guest": "1Gi"}})
    manifest["spec"]["template"]["spec"]["volumes"] = [{"name": "root", "emptyDisk": {"capacity": "1Gi"}}]
    assert "dedicatedIOThread needs the bus virtio, not sata" in issue_text(manifest)


def test_controller_failures_keep_the_message_of_kubevirt() -> None:
    own = {"kubevirt.io/cluster-instancetype-name": "other"}
    odd = instancetype("odd", 1, "1Gi")
    odd["spec"]["annotations"] = own
    assert issue_text(vm(instancetype={"name": "odd"}), there=[odd]) == (
        f"VMI conflicts with instancetype spec in fields: [annotations.{next(iter(own))}]{NEVER}"
    )


@pytest.mark.parametrize("run_strategy", ["Halted", "Manual"])
def test_stopped_vms_may_change_before_their_start(run_strategy: str) -> None:
    (issue,) = issues(vm(QXL, runStrategy=run_strategy))
    assert (issue.line, issue.severity, issue.rule) == (NO_QXL, WARNING, NEVER_STARTS)


def test_a_running_guest_is_not_started_again() -> None:
    live = vm(QXL)
    running = {**live, "status": {"created": True}}
    assert [issue.severity == ERROR for issue in issues(live, running)] == [False]
    assert [issue.severity == ERROR for issue in issues(live, live)] == [True]


@pytest.mark.parametrize(("version", "certain"), [("v1.9.7", True), ("v1.10.0", False), ("", True), ("main", True)])
def test_a_newer_kubevirt_may_permit_more(version: str, certain: bool) -> None:
    assert [issue.severity == ERROR for issue in issues(vm(QXL), kubevirt=replace(KUBEVIRT, version=version))] == [
        certain
    ]


def test_an_unknown_configuration_leaves_a_doubt() -> None:
    assert [
        issue.severity == ERROR for issue in issues(vm(QXL), kubevirt=replace(KUBEVIRT, assumption="unreadable"))
    ] == [False]


def test_malformed_maximums_are_of_no_interest() -> None:
    """KubeVirt ignores them."""
    configuration = {"vmRolloutStrategy": "LiveUpdate", "liveUpdateConfiguration": {"maxGuest": "x"}}
    assert issues(vm({"memory": {"guest": "1Gi"}}), kubevirt=KubeVirt(NEWEST, configuration)) == []


def test_kubevirt_crashes_on_a_vm_before_it_starts() -> None:
    assert issues(vm({"memory": {"guest": "1Gi", "hugepages": {"pageSize": "0"}}})) == []


GPU = {"name": "g", "deviceName": "nvidia.com/T4"}
DEVICE = {"name": "d", "deviceName": "vendor.com/nic"}
CLAIMED = {"name": "c", "claimName": "claim", "requestName": "gpu"}
LISTED = {
    "permittedHostDevices": {
        "pciHostDevices": [{"pciVendorSelector": "10DE:1111", "resourceName": "nvidia.com/OTHER"}],
        "mediatedDevices": [
            {"mdevNameSelector": "x", "resourceName": "vendor.com/mdev", "externalResourceProvider": True}
        ],
        "usb": [{"resourceName": "vendor.com/usb"}],
    }
}
UNLISTED = "is not permitted in permittedHostDevices configuration; KubeVirt accepts the VM, but cannot start it until"


def gpu_type(*devices: dict[str, Any]) -> dict[str, Any]:
    result = instancetype("gpu", 2, "4Gi")
    return {**result, "spec": {**result["spec"], "gpus": list(devices)}}


@pytest.mark.parametrize(
    ("manifest", "fields"),
    [
        (vm(instancetype={"name": "gpu"}), ["spec.instancetype: GPU nvidia.com/T4"]),
        (
            vm({"memory": {"guest": "1Gi"}, "devices": {"gpus": [GPU], "hostDevices": [DEVICE]}}),
            [
                "spec.template.spec.domain.devices.gpus[0]: GPU nvidia.com/T4",
                "spec.template.spec.domain.devices.hostDevices[0]: HostDevice vendor.com/nic",
            ],
        ),
        (
            vm({"memory": {"guest": "1Gi"}, "devices": {"hostDevices": [{**DEVICE, "deviceName": "vendor.com/usb"}]}}),
            [],
        ),
        (vm({"memory": {"guest": "1Gi"}, "devices": {"gpus": [{**GPU, "deviceName": "vendor.com/mdev"}]}}), []),
    ],
)
def test_devices_that_kubevirt_does_not_permit(manifest: dict[str, Any], fields: list[str]) -> None:
    there = [gpu_type(GPU)]
    for strategy in ("Always", "Halted"):
        manifest["spec"]["runStrategy"] = strategy
        found = issues(manifest, there=there, kubevirt=KubeVirt(NEWEST, LISTED))
        listed = "nvidia.com/OTHER, vendor.com/mdev, vendor.com/usb"
        end = f" {UNLISTED} the KubeVirt object lists the device; it lists {listed}"
        assert [item.line for item in found] == [field + end for field in fields]
        assert {(item.severity, item.rule) for item in found} <= {(WARNING, NEVER_STARTS)}
    if fields:
        # Of a longer list, the first.
        more = [{"mdevNameSelector": "x", "resourceName": f"vendor.com/{number}"} for number in range(5)]
        (issue, *_others) = issues(
            manifest, there=there, kubevirt=KubeVirt(NEWEST, {"permittedHostDevices": {"mediatedDevices": more}})
        )
        assert issue.line.endswith("it lists " + ", ".join(f"vendor.com/{number}" for number in range(5)))
        more.append({"mdevNameSelector": "x", "resourceName": "vendor.com/5"})
        (issue, *_others) = issues(
            manifest, there=there, kubevirt=KubeVirt(NEWEST, {"permittedHostDevices": {"mediatedDevices": more}})
        )
        assert issue.line.endswith("vendor.com/4 and 1 more")
    # An empty list permits none; without a list, a device plugin may have the device.
    assert (fields == []) or issues(manifest, there=there, kubevirt=KubeVirt(NEWEST, {"permittedHostDevices": {}}))
    assert issues(manifest, there=there) == []


@pytest.mark.parametrize(("version", "unclaimed"), [("1.9.0", True), ("1.8.0", False)])
def test_devices_with_claims_need_no_permission(version: str, unclaimed: bool) -> None:
    gates = {"developerConfiguration": {"featureGates": ["GPUsWithDRA"]}}
    kubevirt = KubeVirt(parse_release(version), {**LISTED, **gates})
    claims = [{"name": "claim", "resourceClaimName": "claim"}]

    def found(*devices: dict[str, Any]) -> bool:
        manifest = vm({"memory": {"guest": "1Gi"}, "devices": {"gpus": list(devices)}})
        if CLAIMED in devices:
            manifest["spec"]["template"]["spec"]["resourceClaims"] = claims
        return any(UNLISTED in item.line for item in issues(manifest, kubevirt=kubevirt))

    assert not found(CLAIMED)
    assert found(GPU) == unclaimed
