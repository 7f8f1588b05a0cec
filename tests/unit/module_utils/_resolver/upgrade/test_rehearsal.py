"""What becomes of VMs, instancetypes and preferences by an upgrade, and what there is to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import UnknownRelease
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.labels import CATALOG_LABEL
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import (
    Cluster,
    KubeVirt,
    kubevirt_of,
    upgraded,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.upgrade.machine import (
    Machine,
    refusal,
    rehearse,
    side,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.upgrade.objects import (
    Held,
    deployed,
    objects,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.upgrade.steps import settings, steps

Manifest = dict[str, Any]

KIND = {"kind": "VirtualMachineClusterInstancetype"}
SEV = {"developerConfiguration": {"featureGates": ["WorkloadEncryptionSEV"]}}
MULTI = {"developerConfiguration": {"featureGates": ["MultiArchitecture"]}}


def known(version: str, configuration: Manifest | None = None) -> KubeVirt:
    return kubevirt_of({"spec": {"configuration": configuration or {}}}, version)


def instancetype(name: str = "small", guest: int = 2, **more: Any) -> Manifest:
    spec = {"cpu": {"guest": guest}, "memory": {"guest": "1Gi"}, **more.pop("spec", {})}
    return {"kind": "VirtualMachineClusterInstancetype", "metadata": {"name": name, **more}, "spec": spec}


def preference(name: str = "linux", **spec: Any) -> Manifest:
    return {"kind": "VirtualMachineClusterPreference", "metadata": {"name": name}, "spec": spec}


def vm(name: str = "web", domain: Manifest | None = None, status: Manifest | None = None, **spec: Any) -> Manifest:
    template = {"spec": {"domain": {"devices": {}, **(domain or {})}}}
    return {
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "generation": 1},
        "spec": {"runStrategy": "Always", "template": template, **spec},
        "status": status or {},
    }


def rehearsed(
    machine: Manifest, old: KubeVirt, new: KubeVirt, held: Sequence[Manifest] = (), instance: Manifest | None = None
) -> Machine:
    lookup = Objects(held)
    return rehearse(machine, instance, side(Cluster(lookup, old)), side(Cluster(lookup, new)))


def test_a_preference_is_read_otherwise() -> None:
    held = [instancetype(), preference(devices={"preferredPanicDeviceModel": "hyperv"})]
    machine = vm(instancetype={"name": "small"}, preference={"name": "linux"}, status={"created": True})
    found = rehearsed(machine, known("1.8.4"), known("1.9.0"), held)
    assert found.changes == ({"field": "domain.devices.panicDevices", "before": None, "after": [{"model": "hyperv"}]},)
    assert (found.effect, found.asked, found.refusal, found.lost) == ("restart", "", "", ())
    assert (
        found.before.guest == found.after.guest == {"vcpus": 2, "sockets": 2, "cores": 1, "threads": 1, "memory": "1Gi"}
    )
    halted = {**machine, "spec": {**machine["spec"], "runStrategy": "Halted"}}
    assert rehearsed(halted, known("1.8.4"), known("1.9.0"), held).effect == "nothing"
    assert rehearsed(machine, known("1.9.0"), known("1.9.0"), held).changes == ()


def test_secrets_stay_hidden() -> None:
    volume = {"name": "init", "cloudInitNoCloud": {"userData": "password: x"}}
    machine = vm()
    machine["spec"]["template"]["spec"]["volumes"] = [volume]
    found = rehearsed(machine, known("1.3.0"), known("1.9.0"))
    assert "password" not in str(found.changes)


def test_requirements_and_gates_that_come_and_go() -> None:
    encrypted = instancetype(spec={"memory": {"guest": "1Gi", "maxGuest": "4Gi"}, "launchSecurity": {"sev": {}}})
    efi = {"firmware": {"bootloader": {"efi": {"secureBoot": False}}}}
    machine = vm(domain=efi, instancetype={"name": "small"})
    found = rehearsed(machine, known("1.5.3", SEV), known("1.9.0"), [encrypted])
    assert (found.refusal_before, found.refusal) == ("", "Memory hotplug is not compatible with encrypted VMs")
    (step, *_rest) = steps([found], [], known("1.5.3"), known("1.9.0"))
    assert step.text == "Change VMs that the new KubeVirt rejects at their next change"
    needy = [preference(requirements={"memory": {"guest": "1Gi"}})]
    found = rehearsed(vm(preference={"name": "linux"}), known("1.5.0"), known("1.9.0"), needy)
    assert found.refusal == (
        "failure checking preference requirements: insufficient Memory resources of 0 provided by VirtualMachine,"
        " preference requires 1Gi"
    )
    foreign = vm()
    foreign["spec"]["template"]["spec"]["architecture"] = "arm64"
    found = rehearsed(foreign, known("1.7.0"), known("1.9.0"))
    assert ("MultiArchitecture" in found.refusal_before, found.refusal) == (True, "")


SHARED = {"volumes": [{"name": "v", "configMap": {"name": "c"}}]}
UNBOUND = {"networks": [{"name": "n", "pod": {}}]}
BLOCKS = {"custom": {"logical": 4096, "physical": 4096}}
RULES: list[tuple[str, str, Manifest, Manifest, str]] = [
    ("1.8.0", "1.9.0", {"interfaces": [{"name": "n"}]}, UNBOUND, "interface must have exactly one binding method"),
    (
        "1.6.0",
        "1.7.0",
        {"disks": [{"name": "v", "disk": {"bus": "sata"}, "blockSize": BLOCKS}]},
        SHARED,
        "Logical size 4096 must be 512 for SATA devices",
    ),
    ("1.5.0", "1.6.0", {"video": {"type": "vga"}}, {}, "the VideoConfig feature gate is not enabled"),
    ("1.4.0", "1.5.0", {"filesystems": [{"name": "v", "virtiofs": {}}]}, SHARED, "not enabled for config volumes"),
]


@pytest.mark.parametrize(("old", "new", "devices", "spec", "message"), RULES)
def test_rules_of_admission_that_are_new(old: str, new: str, devices: Manifest, spec: Manifest, message: str) -> None:
    """They refuse every later change of a stored VM, even that by which virtctl starts it."""
    machine = vm(domain={"devices": devices, "memory": {"guest": "1Gi"}})
    machine["spec"]["template"]["spec"].update(spec)
    found = rehearsed(machine, known(old), known(new))
    assert found.refusal_before == ""
    assert message in found.refusal


def test_what_is_forbidden_to_new_vms_only() -> None:
    machine = vm(domain={"devices": {"interfaces": [{"name": "n", "slirp": {}}]}, "memory": {"guest": "1Gi"}})
    machine["spec"]["template"]["spec"].update(UNBOUND)
    here = Cluster(Objects([]), known("1.8.0"))
    assert (refusal(machine, here), "discontinued" in refusal(machine, here, new=True)) == ("", True)


def test_a_vm_on_which_kubevirt_crashes() -> None:
    machine = vm(domain={"memory": {"guest": "1Gi", "hugepages": {"pageSize": "0"}}})
    assert rehearsed(machine, known("1.8.0"), known("1.9.0")).refusal == "integer divide by zero"


def test_old_revisions_are_not_read_any_more() -> None:
    data = {"apiVersion": "instancetype.kubevirt.io/v1alpha2", **instancetype()}
    kept = {"kind": "ControllerRevision", "metadata": {"name": "old", "namespace": "shop"}, "data": data}
    machine = vm(instancetype={"name": "small", "revisionName": "old"})
    old, new = known("1.6.6"), known("1.9.0")
    found = rehearsed(machine, old, new, [kept])
    assert (found.before.problem, found.after.spec, found.after.guest) == ("", None, {})
    assert 'no kind "VirtualMachineClusterInstancetype" is registered' in found.after.problem
    (step,) = [one for one in steps([found], [], old, new) if one.virtual_machines]
    assert (step.when, step.virtual_machines) == ("before", ("shop/web",))
    assert "state: upgraded" in step.text


class Alone(Machine):
    """One that is not compared with others, which takes long."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("machines are compared")


@pytest.mark.parametrize(("old", "text"), [("1.6.6", "state: upgraded"), ("1.7.0", "cannot start")])
def test_what_does_not_start_after_the_upgrade_is_told_once(old: str, text: str) -> None:
    before, after = known(old), known("1.9.0")
    found = rehearsed(vm(), before, after)
    stuck = [Alone(*found._replace(vm=vm(name), after=found.after._replace(problem="no"))) for name in "ab"]
    (step,) = [one for one in steps(stuck, [], before, after) if one.virtual_machines]
    assert (text in step.text, step.virtual_machines) == (True, ("shop/a", "shop/b"))


def test_a_captured_revision_becomes_a_pin() -> None:
    machine = vm(instancetype={"name": "small", "revisionName": "kept"})
    data = {"apiVersion": "instancetype.kubevirt.io/v1beta1", **instancetype()}
    kept = {"kind": "ControllerRevision", "metadata": {"name": "kept", "namespace": "shop"}, "data": data}
    held = [kept, instancetype(guest=4)]
    old, new = known("1.4.1"), known("1.9.0")
    found = rehearsed(machine, old, new, held)
    assert found.pinned
    assert (found.refresh.drifted, found.refresh.effect.guest_after["vcpus"]) == (True, 4)
    assert next(one.text for one in steps([found], [], old, new) if one.when == "after").startswith("Unpin VMs")
    assert not rehearsed(machine, known("1.5.3"), new, held).pinned


def test_fields_that_an_older_release_drops() -> None:
    machine = vm(domain={"devices": {"panicDevices": [{"model": "hyperv"}]}})
    old, new = known("1.9.0"), known("1.5.3")
    found = rehearsed(machine, old, new)
    assert found.lost == ("spec.template.spec.domain.devices.panicDevices",)
    assert any("drops" in one.text for one in steps([found], [], old, new))


def test_a_pod_that_cannot_be_made() -> None:
    machine = vm()
    machine["spec"]["template"]["spec"]["volumes"] = [{"name": "answers", "sysprep": {}}]
    found = rehearsed(machine, known("1.8.4"), known("1.9.0"))
    assert found.after.problem.startswith("KubeVirt cannot create a pod for the VM")


def running(machine: Manifest, sockets: int, phase: str = "Running", start: str = "start") -> Manifest:
    domain = {"cpu": {"sockets": sockets, "maxSockets": 16, "cores": 1, "threads": 1}, "memory": {"guest": "1Gi"}}
    return {
        "metadata": {"name": machine["metadata"]["name"], "namespace": "shop", "uid": "x"},
        "spec": {"architecture": "amd64", "domain": {"devices": {}, **domain}},
        "status": {"phase": phase, "virtualMachineRevisionName": start},
    }


def test_what_the_new_kubevirt_does_to_a_running_guest() -> None:
    machine = vm(
        domain={"cpu": {"sockets": 4}, "memory": {"guest": "1Gi"}},
        status={"created": True, "conditions": [{"type": "LiveMigratable", "status": "True"}]},
    )
    then = {
        **machine["spec"],
        "template": vm(domain={"cpu": {"sockets": 2}, "memory": {"guest": "1Gi"}})["spec"]["template"],
    }
    kept = {"kind": "ControllerRevision", "metadata": {"name": "start", "namespace": "shop"}, "data": {"spec": then}}
    staged, live = known("1.8.4", {"vmRolloutStrategy": "Stage"}), known("1.8.4")
    found = rehearsed(machine, live, live, [kept], running(machine, 2))
    assert (found.effect, found.asked) == ("live_update", "")
    # Its next start also gives it room to grow, which is no reason for a restart.
    found = rehearsed(machine, staged, live, [kept], running(machine, 2))
    assert (found.effect, found.asked) == ("live_update", "")
    assert [one["field"] for one in found.changes] == ["domain.cpu.maxSockets", "domain.memory.maxGuest"]
    found = rehearsed(machine, live, staged, [kept], running(machine, 2))
    assert (found.effect, found.asked) == ("restart", "a non-live-updatable field was changed in the template spec")
    waiting = rehearsed(machine, live, staged, [kept], running(machine, 2, "Scheduling"))
    assert waiting.asked == "a non-live-updatable field was changed in the template spec"
    for instance in (running(machine, 2, "Succeeded"), running(machine, 2, start="lost"), None):
        assert rehearsed(machine, live, staged, [kept], instance).asked == ""
    broken = {**machine, "spec": {**machine["spec"], "instancetype": {"name": "gone"}}}
    assert rehearsed(broken, live, staged, [kept], running(machine, 2)).asked == ""


def test_objects_of_another_catalog() -> None:
    ours = {"labels": {CATALOG_LABEL: "acme"}}
    live = [
        instancetype("same", **ours),
        instancetype("bigger", 2, **ours),
        instancetype("left", **ours),
        instancetype("foreign"),
    ]
    catalog = [instancetype("same"), instancetype("bigger", 4), instancetype("fresh")]
    old, new = known("1.9.0").release, known("1.9.0").release
    found = {one.place.name: one for one in objects(live, deployed(live, catalog), old, new)}
    assert {name: one.becomes for name, one in found.items()} == {
        "bigger": "changed",
        "foreign": "kept",
        "fresh": "new",
        "left": "gone",
        "same": "kept",
    }
    assert found["bigger"].changes == ({"field": "cpu.guest", "before": 2, "after": 4},)
    assert [name for name, one in found.items() if one.concerned] == ["bigger", "fresh", "left"]
    told = [one.text for one in steps([], list(found.values()), known("1.9.0"), known("1.9.0"))]
    assert told == [
        "Move VMs off objects that the new catalog lacks, and new VMs to others: left",
        "Refresh VMs to the changed objects of the new catalog (refresh_revisions): bigger",
    ]
    many = [Held(found["left"].place._replace(name=str(number)), "gone") for number in range(5)]
    assert steps([], many, known("1.9.0"), known("1.9.0"))[0].text.endswith(": 0, 1, 2 and 2 more")


def test_objects_of_another_release() -> None:
    live = [
        preference(devices={"preferredPanicDeviceModel": "hyperv"}),
        preference("video", devices={"preferredVideoType": "virtio"}),
    ]
    up = {one.place.name: one for one in objects(live, {}, known("1.8.4").release, known("1.9.0").release)}
    assert (up["linux"].lost, up["linux"].becomes) == ((), "kept")
    assert [one["field"] for one in up["linux"].effects] == ["domain.devices.panicDevices"]
    down = {one.place.name: one for one in objects(live, {}, known("1.9.0").release, known("1.5.3").release)}
    assert down["video"].lost == ("spec.devices.preferredVideoType",)
    assert down["linux"].lost == ("spec.devices.preferredPanicDeviceModel",)


def test_the_cluster_as_a_whole() -> None:
    old, new = known("1.4.1", MULTI), upgraded(known("1.4.1", MULTI), "1.9.0")
    assert {one["setting"]: (one["before"], one["after"]) for one in settings(old, new)} == {
        "live_updates": (False, True),
        "captured_revisions": ("spec", "status"),
        "reads_alpha_revisions": (True, False),
        "required_gates": (["InstancetypeReferencePolicy", "MultiArchitecture", "VMPersistentState"], []),
    }
    first, last = steps([], [], old, new)
    assert (first.when, "vmRolloutStrategy: Stage" in first.text) == ("before", True)
    assert (last.when, last.text) == ("after", "Remove feature gates that are no longer needed: MultiArchitecture")
    assert settings(new, new) == []
    staged = upgraded(old, "", {"vmRolloutStrategy": "Stage"})
    assert (staged.release, staged.live_updates, staged.version) == (old.release, False, "1.4.1")


def test_what_cannot_be_upgraded_to() -> None:
    with pytest.raises(UnknownRelease):
        upgraded(known("1.9.0"), "next")
    with pytest.raises(ValueError, match="malformed"):
        upgraded(known("1.9.0"), "1.9.0", {"network": "bridge"})
