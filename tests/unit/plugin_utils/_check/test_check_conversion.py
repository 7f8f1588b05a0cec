"""The check's findings about presets, and about what a preference or one template would replace."""

from collections.abc import Callable
from typing import Any

import pytest
from checked_files import CHECKED, preference, vm

Check = Callable[..., tuple[int, list[str]]]

REMOVAL = (
    "kind: KubeVirt 2 removes presets; instancetypes and preferences replace them: the playbook modernize converts"
    " them [deprecated]"
)
NO_MEMORY = {"domain": {"devices": {}}}


def preset(name: str, domain: Any, namespace: str = "shop") -> dict[str, Any]:
    spec = {"selector": {"matchLabels": {"size": "small"}}, "domain": domain}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstancePreset", "metadata": metadata, "spec": spec}


def labeled(**spec: Any) -> dict[str, Any]:
    manifest = vm(template=NO_MEMORY, **spec)
    manifest["spec"]["template"]["spec"]["domain"].pop("memory", None)
    manifest["spec"]["template"]["metadata"] = {"labels": {"size": "small"}}
    return manifest


SMALL = preset("small", {"resources": {"requests": {"memory": "1Gi"}}})


def test_presets_count_for_the_guest(check: Check) -> None:
    assert check({"all.yml": [SMALL, labeled()]}) == (
        0,
        [
            f"all.yml:2: warning: VirtualMachineInstancePreset shop/small: {REMOVAL}",
            f"1 object {CHECKED}: 1 warning",
        ],
    )
    elsewhere = preset("small", SMALL["spec"]["domain"], "lab")
    code, lines = check({"all.yml": [elsewhere, labeled()]})
    assert code == 1 and "the guest has no memory" in lines[1] and lines[1].endswith("[never-starts]")


def test_presets_of_the_cluster_count_too(check: Check) -> None:
    check({"presets.yml": [SMALL]})
    assert check({"vm.yml": labeled()}, "--objects", "presets.yml")[0] == 0


@pytest.mark.parametrize(("strategy", "level", "code"), [("Always", "error", 1), ("Halted", "warning", 0)])
def test_presets_that_conflict_start_nothing(check: Check, strategy: str, level: str, code: int) -> None:
    other = preset("large", {"resources": {"requests": {"memory": "8Gi"}}})
    machine = labeled(runStrategy=strategy)
    machine["spec"]["template"]["spec"]["domain"]["memory"] = {"guest": "1Gi"}
    result, lines = check({"all.yml": [SMALL, other, machine]})
    assert result == code
    assert [line.partition(": ")[2] for line in lines if "never-starts" in line] == [
        f"{level}: VirtualMachine shop/web: spec.template.metadata.labels: match presets that conflict, so KubeVirt"
        " starts no guest: small and large in resources.requests.memory; change the labels [never-starts]"
    ]


def test_presets_beside_an_instancetype_are_doubtful(check: Check) -> None:
    _code, lines = check({"all.yml": [SMALL, labeled(instancetype={"name": "u1.small"})]})
    assert "labels that match presets (small); choose one of them [deprecated]" in lines[1]


def test_presets_with_errors_are_named(check: Check) -> None:
    presets = [preset("none", None), preset("wrong", {"cpu": "many"})]
    _code, lines = check({"all.yml": [*presets, labeled()]})
    assert [line.partition("error: ")[2] for line in lines if "[invalid]" in line] == [
        "VirtualMachineInstancePreset shop/none: spec.domain: is missing [invalid]",
        "VirtualMachineInstancePreset shop/wrong: spec.domain.cpu: expected an object, found 'many' [invalid]",
    ]


@pytest.mark.parametrize("spec", ["text", {"selector": "text"}, {"selector": {"matchLabels": "text"}}])
def test_malformed_presets_are_named(spec: Any, check: Check) -> None:
    _code, lines = check({"all.yml": [{**preset("none", None), "spec": spec}, labeled()]})
    assert any("VirtualMachineInstancePreset shop/none: spec" in line and "[invalid]" in line for line in lines)


HYPERV = ("relaxed", "vapic", "vpindex", "synic", "runtime", "frequencies", "reset", "tlbflush", "ipi")


def windows(name: str = "win", **annotations: str) -> dict[str, Any]:
    timers = {"hpet": {"present": False}, "pit": {"tickPolicy": "delay"}, "rtc": {"tickPolicy": "catchup"}}
    hyperv: dict[str, Any] = {feature: {} for feature in HYPERV}
    domain = {
        "clock": {"utc": {}, "timer": {**timers, "hyperv": {}}},
        "cpu": {"sockets": 2},
        "devices": {"disks": [{"name": "root", "disk": {"bus": "sata"}}]},
        "features": {
            "acpi": {},
            "apic": {},
            "hyperv": {**hyperv, "spinlocks": {"spinlocks": 8191}, "synictimer": {"direct": {}}},
        },
        "memory": {"guest": "8Gi"},
    }
    volumes = [{"name": "root", "containerDisk": {"image": f"quay.io/own/{name}:1"}}]
    machine = vm(name, template={"domain": domain, "volumes": volumes})
    machine["spec"]["template"]["metadata"] = {"annotations": annotations} if annotations else {}
    return machine


OS = "vm.kubevirt.io/os"


def replaced(lines: list[str]) -> list[str]:
    return [line.partition(": note: ")[2].removesuffix(" [replaceable]") for line in lines if "[replaceable]" in line]


def test_a_preference_gives_the_lines_of_windows(check: Check) -> None:
    (text,) = replaced(check({"vm.yml": windows(**{OS: "win2k22"})})[1])
    assert text == (
        "VirtualMachine shop/win: spec.template.spec.domain: the preference windows.2k22 gives 28 lines of the manifest"
        " (domain.clock, domain.devices.disks[0].disk.bus, domain.features); the guest differs in"
        " domain.devices.autoattachInputDevice nothing -> True, domain.devices.inputs, domain.devices.interfaces and 5"
        " more"
    )


@pytest.mark.parametrize(
    ("name", "annotation", "preference"),
    [
        ("win", "windows11", "windows.11"),
        ("win11-desk", "", "windows.11"),
        ("windows-server-2019", "", "windows.2k19"),
        ("winserver2008", "", "windows.2k8"),
        ("build", "win2k25", "windows.2k25"),
    ],
)
def test_versions_of_windows_by_annotation_or_name(check: Check, name: str, annotation: str, preference: str) -> None:
    (text,) = replaced(check({"vm.yml": windows(name, **({OS: annotation} if annotation else {}))})[1])
    assert f"the preference {preference} gives" in text


def test_linux_with_hyperv_is_no_windows(check: Check) -> None:
    assert replaced(check({"vm.yml": windows("win11", **{OS: "rhel9"})})[1]) == []


def test_cores_alone_take_an_instancetype_too(check: Check) -> None:
    """Without a topology, a preference counts sockets only."""
    machine = windows("win10")
    machine["spec"]["template"]["spec"]["domain"]["cpu"] = {"cores": 2}
    (text,) = replaced(check({"vm.yml": machine})[1])
    assert "; it takes an instancetype, too: failure checking preference requirements: insufficient CPU" in text


def test_each_windows_vm_is_told(check: Check) -> None:
    texts = replaced(check({"vm.yml": [windows("a"), windows("b"), vm("linux")]})[1])
    assert [text.partition(":")[0] for text in texts] == ["VirtualMachine shop/a", "VirtualMachine shop/b"]
    assert texts[0].replace("shop/a", "shop/b") == texts[1] and "a preference such as windows." in texts[0]


def test_vms_with_errors_get_no_preference(check: Check) -> None:
    broken, without_memory = windows(), windows("b")
    broken["spec"]["template"]["spec"]["domain"]["cpu"] = {"cores": "two"}
    without_memory["spec"]["preference"] = {"name": "windows.11"}
    assert replaced(check({"vm.yml": [broken, without_memory]})[1]) == []
    assert replaced(check({"vm.yml": windows()}, "--catalog", "none")[1]) == []


def test_a_preference_that_changes_nothing_says_so(check: Check) -> None:
    features = {"preferredHyperv": {"relaxed": {}}}
    own = preference("own", "shop", features=features, firmware={"preferredUseBios": True})
    domain = {
        "devices": {},
        "features": {"hyperv": {"relaxed": {}}},
        "firmware": {"bootloader": {"bios": {}}},
        "memory": {"guest": "4Gi"},
    }
    assert replaced(check({"all.yml": [own, vm(template={"domain": domain})]}, "--catalog", "none")[1]) == [
        "VirtualMachine shop/web: spec.template.spec.domain: a preference such as own gives 6 lines of the manifest"
        " (domain.features, domain.firmware); the guest stays the same"
    ]


def template(name: str, memory: str, system: str, cores: int = 1, **devices: Any) -> dict[str, Any]:
    domain = {"cpu": {"cores": cores}, "devices": {"rng": {}, **devices}, "memory": {"guest": memory}}
    machine = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "${NAME}"},
        "spec": {
            "runStrategy": "Halted",
            "template": {"metadata": {"annotations": {OS: system}}, "spec": {"domain": domain}},
        },
    }
    return {
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {"name": name},
        "objects": [machine],
        "parameters": [{"name": "NAME", "value": name}],
    }


def test_templates_that_differ_in_size_are_one(check: Check) -> None:
    templates = [
        template("rhel8-small", "2Gi", "rhel8"),
        template("rhel8-large", "8Gi", "rhel8", 2, networkInterfaceMultiqueue=True),
        template("rhel9-small", "2048Mi", "rhel9"),
        template("rhel9-large", "3Gi", "rhel9"),
        template("rhel9-tiny", "512Mi", "rhel9"),
        template("gui", "2Gi", "rhel9", inputs=[{"name": "tablet", "type": "tablet", "bus": "usb"}]),
    ]
    texts = replaced(check({"all.yml": templates})[1])
    assert texts == [
        "these 6 templates are 2 templates and 4 instancetypes (u1.small; u1.large; 1 vCPU, 3Gi; u1.nano); the playbook"
        " modernize converts them",
        "Template rhel8-small: is one with rhel8-large, rhel9-small, rhel9-large and 1 more: the VMs differ only in"
        " size (u1.small; u1.large; 1 vCPU, 3Gi; u1.nano) and system (rhel8; rhel9) and multiqueue",
    ]


def test_equal_templates_are_one(check: Check) -> None:
    pair = [template("a", "2Gi", "rhel9"), template("b", "2Gi", "rhel9")]
    assert replaced(check({"all.yml": pair})[1])[1] == "Template a: is one with b: the VMs are the same"
    assert replaced(check({"all.yml": pair[0]})[1]) == []
