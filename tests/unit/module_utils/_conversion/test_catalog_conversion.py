"""VMs of presets and of Templates get an instancetype and a preference, and their guests stay or it is said how not."""

import copy
from fractions import Fraction
from typing import Any

import pytest

from plugins.module_utils._adoption import adopt
from plugins.module_utils._conversion.modernize import Modernization
from plugins.module_utils._conversion.presets import EXCLUDE
from plugins.module_utils._conversion.template_bundles import ConversionSources, _carried_over, convert, preferences_of
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._templates import process
from plugins.plugin_utils._catalog_files import builtin_objects

CATALOG = builtin_objects(NEWEST)
Manifest = dict[str, Any]


def vm(domain: Manifest | None = None, labels: Manifest | None = None, **spec: Any) -> Manifest:
    template = {
        "metadata": {"labels": labels or {}},
        "spec": {"domain": {"devices": {}, **(domain or {})}},
    }
    metadata = {"name": "web", "namespace": "shop"}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": {"runStrategy": "Always", "template": template, **spec},
    }


def preset(name: str, domain: Manifest, **metadata: Any) -> Manifest:
    spec = {"selector": {"matchLabels": {"size": "small"}}, "domain": {"devices": {}, **domain}}
    return {"kind": "VirtualMachineInstancePreset", "metadata": {"name": name, **metadata}, "spec": spec}


def template(cpu: Any = 1, memory: str = "2Gi", os: str = "ubuntu", parameters: tuple[Manifest, ...] = ()) -> Manifest:
    size = {"cpu": {"sockets": cpu, "cores": 1, "threads": 1}, "memory": {"guest": memory}}
    inside = vm({**size, "devices": {"rng": {}, "autoattachPodInterface": False}})
    inside["metadata"] = {"name": "${NAME}"}
    inside["spec"]["template"]["metadata"] = {"annotations": {"vm.kubevirt.io/os": os}}
    inside["spec"]["template"]["spec"]["hostname"] = "${NAME}"
    return {
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {"name": "server", "namespace": "shop"},
        "parameters": [{"name": "NAME", "required": True}, *parameters],
        "objects": [inside],
    }


def converted(manifest: Manifest, *presets: Manifest, catalog: Any = CATALOG) -> Modernization:
    original = copy.deepcopy(manifest)
    result = convert(manifest, ConversionSources(presets, catalog))
    assert manifest == original
    return result


SMALL = {"labels": {"size": "small"}}
REQUESTS = {"resources": {"requests": {"memory": "2048Mi"}}}


def test_a_vm_of_a_preset() -> None:
    result = converted(vm(**SMALL), preset("small", {**REQUESTS, "ioThreadsPolicy": "shared"}))
    assert result.differences == [] and result.guest_before == result.guest_after
    assert result.guest_after is not None and result.guest_after["memory"] == "2Gi"
    spec = result.manifest["spec"]
    assert spec["instancetype"]["name"] == "u1.small"
    assert spec["template"]["spec"]["domain"] == {"devices": {}, "ioThreadsPolicy": "shared"}
    assert spec["template"]["metadata"] == {"labels": {"size": "small"}, "annotations": {EXCLUDE: "true"}}
    (removed,) = (change for change in result.changes if not change.new_path)
    assert removed.path == "spec.template.spec.domain.resources.requests.memory" and removed.before == "2Gi"


def test_a_preset_of_no_effect_is_kept_away() -> None:
    """Without the VM's own requests, KubeVirt would give it those of the preset."""
    own = {"resources": {"requests": {"memory": "4Gi"}}}
    result = converted(vm(own, **SMALL), preset("small", REQUESTS))
    assert result.guest_after is not None and result.guest_after["memory"] == "4Gi"
    assert result.manifest["spec"]["template"]["metadata"]["annotations"] == {EXCLUDE: "true"}


def test_preset_without_catalog_is_inlined_into_vm() -> None:
    result = converted(vm(**SMALL), preset("small", {**REQUESTS, "cpu": {"cores": 2}}), catalog=None)
    domain = result.manifest["spec"]["template"]["spec"]["domain"]
    assert domain == {"devices": {}, "cpu": {"cores": 2}, "resources": {"requests": {"memory": "2Gi"}}}
    assert result.differences is None


@pytest.mark.parametrize(
    "other",
    [
        preset("small", REQUESTS, namespace="office"),
        {**preset("small", REQUESTS), "spec": {"selector": {"matchLabels": {"size": "x"}}}},
    ],
)
def test_other_presets(other: Manifest) -> None:
    assert converted(vm(**SMALL), other, catalog=None).manifest == vm(**SMALL)


def test_presets_that_conflict() -> None:
    presets = preset("a", {"cpu": {"cores": 1}}), preset("b", {"cpu": {"cores": 2}}, namespace="shop")
    with pytest.raises(FieldError, match=r"match presets that conflict.*: b and a in cpu; change the labels"):
        converted(vm(**SMALL), *presets)


def test_random_choice_between_presets_is_reported() -> None:
    presets = preset("a", REQUESTS), preset("b", {"resources": {"requests": {"cpu": "1"}}})
    (remaining,) = converted(vm(**SMALL), *presets).remaining
    assert "one of the presets a and b, by chance" in remaining.note


def test_firmware_of_a_preset_never_reaches_a_vm() -> None:
    """virt-controller gives each VMI of a VM the UUID of its firmware before."""
    result = converted(vm(**SMALL), preset("a", {"firmware": {"bootloader": {"efi": {}}}}), catalog=None)
    assert "firmware" not in result.manifest["spec"]["template"]["spec"]["domain"]


def test_preset_matching_a_typed_vm_is_reported() -> None:
    source = vm(**SMALL, instancetype={"name": "u1.small"})
    result = converted(source, preset("a", REQUESTS))
    assert result.manifest == source and "labels that match presets (a)" in result.remaining[0].note


def test_a_template() -> None:
    result = converted(template())
    spec = result.manifest["spec"]
    assert result.manifest["kind"] == "VirtualMachineTemplate" and result.differences == []
    assert spec["virtualMachine"]["spec"]["instancetype"]["name"] == "u1.small"
    assert spec["virtualMachine"]["spec"]["preference"]["name"] == "ubuntu"
    assert spec["virtualMachine"]["metadata"] == {"name": "${NAME}"}
    assert spec["virtualMachine"]["spec"]["template"]["spec"] == {
        "domain": {"devices": {"autoattachPodInterface": False}},
        "hostname": "${NAME}",
    }
    assert not process.validate(result.manifest).errors
    assert convert(result.manifest, ConversionSources((), CATALOG)).manifest == result.manifest


def test_nearest_instancetype_is_chosen_with_its_differences() -> None:
    result = converted(template(memory="1536Mi"))
    assert result.manifest["spec"]["virtualMachine"]["spec"]["instancetype"]["name"] == "u1.small"
    assert result.differences == [{"field": "domain.memory.guest", "before": "1536Mi", "after": "2Gi"}]


def test_modernize_and_adoption_propose_the_same_pair() -> None:
    source = vm({"cpu": {"sockets": 2}, "memory": {"guest": "6Gi"}})
    result = converted(source)
    offered: list[list[Manifest]] = [
        [item for item in CATALOG if item["kind"] == kind]
        for kind in ("VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference")
    ]
    proposal = adopt.adopt(source, *offered, Cluster(Objects(CATALOG), KubeVirt(NEWEST))).proposal
    assert proposal is not None and proposal.vm == result.manifest
    assert proposal.instancetype["name"] == "u1.large"


def test_no_instancetype_of_another_class_is_chosen() -> None:
    catalog = [item for item in CATALOG if item["metadata"]["name"].startswith(("n1.", "cx1."))]
    source = vm({"cpu": {"sockets": 3}, "memory": {"guest": "6Gi"}})
    result = converted(source, catalog=catalog)
    assert result.manifest == source
    assert "smaller or changes its class: n1.large, the nearest in size, adds " in result.remaining[0].note


def test_a_much_larger_instancetype_is_not_chosen() -> None:
    source = vm({"cpu": {"cores": 4}, "memory": {"guest": "8Gi"}})
    kept = converted(source)
    assert kept.manifest == source
    assert kept.remaining[0].note == (
        "No instancetype fits: u1.xlarge, the nearest, has 4 vCPUs, 16Gi; create one with 4 vCPUs (4 cores), 8Gi"
    )
    asked = convert(source, ConversionSources((), CATALOG, Fraction(1)))
    assert asked.manifest["spec"]["instancetype"]["name"] == "u1.xlarge"
    assert asked.guest_after is not None and asked.guest_after["vcpus"] == 4


def test_windows_gets_no_preference_of_linux() -> None:
    source = vm({"cpu": {"cores": 8}, "memory": {"guest": "32Gi"}}, {"os.template.kubevirt.io/windows10": "true"})
    kept = converted(source)
    assert kept.manifest == source and "2 vCPUs instead of 8" in kept.remaining[0].note
    kind = "VirtualMachineClusterPreference"
    cores = {"kind": kind, "metadata": {"name": "cores"}, "spec": {"cpu": {"preferredCPUTopology": "cores"}}}
    result = converted(source, catalog=[*CATALOG, cores])
    assert result.manifest["spec"]["preference"] == {"kind": kind, "name": "cores"}
    assert result.guest_after is not None and result.guest_after["sockets"] == 1


def test_refusals_are_the_reason_without_an_instancetype() -> None:
    names = ("VirtualMachineClusterPreference", "demanding")
    demanding = {"kind": names[0], "metadata": {"name": names[1]}, "spec": {"requirements": {"cpu": {"guest": 64}}}}
    source = vm({"memory": {"guest": "2Gi"}}, preference={"kind": names[0], "name": names[1]})
    result = converted(source, catalog=[*CATALOG, demanding])
    assert result.manifest == source and "64 vCPU" in result.remaining[0].note


def test_templates_that_are_not_converted() -> None:
    several = template()
    several["objects"] *= 2
    with pytest.raises(FieldError, match=r"objects: has 2 VMs, and a VirtualMachineTemplate one; split"):
        converted(several)
    with pytest.raises(FieldError, match=r"^parameters: "):
        converted({**template(), "parameters": "none"})
    undefined = template(memory="${MEMROY}")
    with pytest.raises(FieldError, match="references undefined parameter MEMROY"):
        converted(undefined)
    other = {"kind": "Template", "objects": [{"kind": "Service"}]}
    assert converted(other).manifest == other
    old = convert(template(), ConversionSources((), CATALOG), parse_release("v1.6.0"))
    assert old.manifest == template() and "from 1.9 on" in old.remaining[0].note


def test_an_empty_catalog() -> None:
    source = vm({"memory": {"guest": "2Gi"}})
    result = converted(source, catalog=[])
    needed = "No instancetype fits: the catalog has none; create one with 1 vCPU, 2Gi"
    assert result.manifest == source and result.remaining[0].note == needed


def test_preferences_of_an_operating_system() -> None:
    def names(os: str) -> set[str]:
        objects = [item for item in CATALOG if item["kind"].endswith("Preference")]
        return {item["metadata"]["name"] for item in preferences_of(os, objects)}

    assert names("rhel9") >= {"rhel.9", "rhel.9.desktop", "rhel.9.s390x"} and "rhel.8" not in names("rhel9")
    assert names("centos-stream9") >= {"centos.stream9", "centos.stream9.desktop"}
    assert names("windows2k22") >= {"windows.2k22", "windows.2k22.virtio"}
    assert names("rhel") > names("rhel9") and not names("plan9")


def test_presets_that_conflict_in_a_template() -> None:
    source = template()
    source["objects"][0]["spec"]["template"]["metadata"]["labels"] = {"size": "small"}
    presets = preset("a", {"cpu": {"cores": 1}}), preset("b", {"cpu": {"cores": 2}})
    with pytest.raises(FieldError, match=r"spec\.virtualMachine.*presets that conflict"):
        converted(source, *presets)


def test_annotations_set_by_the_instancetype_are_removed() -> None:
    kind = {"apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": "VirtualMachineClusterInstancetype"}
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}, "annotations": {"acme/tier": "gold"}}
    catalog = [
        {**kind, "metadata": {"name": "old", "labels": {"instancetype.kubevirt.io/deprecated": "true"}}, "spec": spec},
        {**kind, "metadata": {"name": "gold"}, "spec": spec},
    ]
    source = vm({"memory": {"guest": "2Gi"}})
    source["spec"]["template"]["metadata"]["annotations"] = {"acme/tier": "gold"}
    result = converted(source, catalog=catalog)
    assert result.manifest["spec"]["instancetype"]["name"] == "gold"
    assert "annotations" not in result.manifest["spec"]["template"]["metadata"]


def test_lists_keep_their_references() -> None:
    source = template(parameters=({"name": "BUS", "value": "virtio"},))
    disks = [{"name": "root", "disk": {"bus": "${BUS}"}}, {"name": "${NAME}", "disk": {"bus": "sata"}}]
    source["objects"][0]["spec"]["template"]["spec"]["domain"]["devices"]["disks"] = disks
    inside = converted(source).manifest["spec"]["virtualMachine"]["spec"]["template"]["spec"]
    assert inside["domain"]["devices"]["disks"][1]["name"] == "${NAME}"


def test_shortened_list_replaces_the_old_list() -> None:
    assert _carried_over(["${A}", "x"], ["a", "x"], ["a"]) == ["a"]
