"""VMs of presets and of Templates get an instancetype and a preference, and their guests stay or it is said how not."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST, of
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.succession import (
    Sources,
    Succession,
    _carried_over,
    _value,
    preferences_of,
    succeed,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.template import process
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.presets import EXCLUDE
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils import _builtin_catalog

CATALOG = _builtin_catalog.objects(NEWEST)
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


def converted(manifest: Manifest, *presets: Manifest, catalog: Any = CATALOG) -> Succession:
    original = copy.deepcopy(manifest)
    found = succeed(manifest, Sources(presets, catalog))
    assert manifest == original
    return found


SMALL = {"labels": {"size": "small"}}
REQUESTS = {"resources": {"requests": {"memory": "2048Mi"}}}


def test_a_vm_of_a_preset() -> None:
    found = converted(vm(**SMALL), preset("small", {**REQUESTS, "ioThreadsPolicy": "shared"}))
    assert found.differences == () and found.guest_before == found.guest_after
    assert found.guest_after is not None and found.guest_after["memory"] == "2Gi"
    spec = found.manifest["spec"]
    assert spec["instancetype"]["name"] == "u1.small"
    assert spec["template"]["spec"]["domain"] == {"devices": {}, "ioThreadsPolicy": "shared"}
    assert spec["template"]["metadata"] == {"labels": {"size": "small"}, "annotations": {EXCLUDE: "true"}}
    (removed,) = (change for change in found.changes if not change.now_path)
    assert removed.path == "spec.template.spec.domain.resources.requests.memory" and removed.was == "2Gi"


def test_a_preset_of_no_effect_is_kept_away() -> None:
    """Without the VM's own requests, KubeVirt would give it those of the preset."""
    own = {"resources": {"requests": {"memory": "4Gi"}}}
    found = converted(vm(own, **SMALL), preset("small", REQUESTS))
    assert found.guest_after is not None and found.guest_after["memory"] == "4Gi"
    assert found.manifest["spec"]["template"]["metadata"]["annotations"] == {EXCLUDE: "true"}


def test_preset_without_catalog_is_inlined_into_vm() -> None:
    found = converted(vm(**SMALL), preset("small", {**REQUESTS, "cpu": {"cores": 2}}), catalog=None)
    domain = found.manifest["spec"]["template"]["spec"]["domain"]
    assert domain == {"devices": {}, "cpu": {"cores": 2}, "resources": {"requests": {"memory": "2Gi"}}}
    assert found.differences is None


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
    (left,) = converted(vm(**SMALL), *presets).left
    assert "one of the presets a and b, by chance" in left.note


def test_firmware_of_a_preset_never_reaches_a_vm() -> None:
    """virt-controller gives each VMI of a VM the UUID of its firmware before."""
    found = converted(vm(**SMALL), preset("a", {"firmware": {"bootloader": {"efi": {}}}}), catalog=None)
    assert "firmware" not in found.manifest["spec"]["template"]["spec"]["domain"]


def test_preset_matching_a_typed_vm_is_reported() -> None:
    given = vm(**SMALL, instancetype={"name": "u1.small"})
    found = converted(given, preset("a", REQUESTS))
    assert found.manifest == given and "labels that match presets (a)" in found.left[0].note


def test_a_template() -> None:
    found = converted(template())
    spec = found.manifest["spec"]
    assert found.manifest["kind"] == "VirtualMachineTemplate" and found.differences == ()
    assert spec["virtualMachine"]["spec"]["instancetype"]["name"] == "u1.small"
    assert spec["virtualMachine"]["spec"]["preference"]["name"] == "ubuntu"
    assert spec["virtualMachine"]["metadata"] == {"name": "${NAME}"}
    assert spec["virtualMachine"]["spec"]["template"]["spec"] == {
        "domain": {"devices": {"autoattachPodInterface": False}},
        "hostname": "${NAME}",
    }
    assert not process.review(found.manifest).faults
    assert succeed(found.manifest, Sources((), CATALOG)).manifest == found.manifest


def test_nearest_instancetype_is_chosen_with_its_differences() -> None:
    found = converted(template(memory="1536Mi"))
    assert found.manifest["spec"]["virtualMachine"]["spec"]["instancetype"]["name"] == "u1.small"
    assert found.differences == ({"field": "domain.memory.guest", "before": "1536Mi", "after": "2Gi"},)


def test_parameters_of_removed_fields_are_removed() -> None:
    sizes = ({"name": "MEMORY", "value": "2Gi"}, {"name": "CPUS", "value": "1"}, {"name": "LATER", "value": "x"})
    found = converted(template(cpu="${{CPUS}}", memory="${MEMORY}", parameters=sizes))
    assert [one["name"] for one in found.manifest["spec"]["parameters"]] == ["NAME", "LATER"]
    gone = {change.path for change in found.changes if change.path.startswith("spec.parameters")}
    assert gone == {"spec.parameters[MEMORY]", "spec.parameters[CPUS]"}


def test_templates_that_are_not_converted() -> None:
    several = template()
    several["objects"] *= 2
    with pytest.raises(FieldError, match=r"objects: template must contain exactly one object, found 2; split"):
        converted(several)
    undefined = template(memory="${MEMROY}")
    with pytest.raises(FieldError, match="references undefined parameter MEMROY"):
        converted(undefined)
    other = {"kind": "Template", "objects": [{"kind": "Service"}]}
    assert converted(other).manifest == other
    old = succeed(template(), Sources((), CATALOG), of("v1.6.0"))
    assert old.manifest == template() and "from 1.9 on" in old.left[0].note


def test_an_empty_catalog() -> None:
    found = converted(vm(), catalog=[])
    assert found.manifest == vm() and found.left[0].note == "No instancetype fits: the catalog has none"


def test_preferences_of_an_operating_system() -> None:
    def names(os: str) -> set[str]:
        objects = [one for one in CATALOG if one["kind"].endswith("Preference")]
        return {one["metadata"]["name"] for one in preferences_of(os, objects)}

    assert names("rhel9") >= {"rhel.9", "rhel.9.desktop", "rhel.9.s390x"} and "rhel.8" not in names("rhel9")
    assert names("centos-stream9") >= {"centos.stream9", "centos.stream9.desktop"}
    assert names("windows2k22") >= {"windows.2k22", "windows.2k22.virtio"}
    assert names("rhel") > names("rhel9") and not names("plan9")


def test_presets_that_conflict_in_a_template() -> None:
    given = template()
    given["objects"][0]["spec"]["template"]["metadata"]["labels"] = {"size": "small"}
    presets = preset("a", {"cpu": {"cores": 1}}), preset("b", {"cpu": {"cores": 2}})
    with pytest.raises(FieldError, match=r"spec\.virtualMachine.*presets that conflict"):
        converted(given, *presets)


def test_annotations_set_by_the_instancetype_are_removed() -> None:
    kind = {"apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": "VirtualMachineClusterInstancetype"}
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}, "annotations": {"acme/tier": "gold"}}
    catalog = [
        {**kind, "metadata": {"name": "old", "labels": {"instancetype.kubevirt.io/deprecated": "true"}}, "spec": spec},
        {**kind, "metadata": {"name": "gold"}, "spec": spec},
    ]
    given = vm({"memory": {"guest": "2Gi"}})
    given["spec"]["template"]["metadata"]["annotations"] = {"acme/tier": "gold"}
    found = converted(given, catalog=catalog)
    assert found.manifest["spec"]["instancetype"]["name"] == "gold"
    assert "annotations" not in found.manifest["spec"]["template"]["metadata"]


def test_last_parameter_is_removed_with_its_field() -> None:
    given = template(memory="${MEMORY}")
    given["parameters"] = [{"name": "MEMORY", "value": "2Gi"}]
    given["objects"][0]["metadata"] = {"name": "web"}
    del given["objects"][0]["spec"]["template"]["spec"]["hostname"]
    assert "parameters" not in converted(given).manifest["spec"]


def test_lists_keep_their_references() -> None:
    given = template(parameters=({"name": "BUS", "value": "virtio"},))
    disks = [{"name": "root", "disk": {"bus": "${BUS}"}}, {"name": "${NAME}", "disk": {"bus": "sata"}}]
    given["objects"][0]["spec"]["template"]["spec"]["domain"]["devices"]["disks"] = disks
    inside = converted(given).manifest["spec"]["virtualMachine"]["spec"]["template"]["spec"]
    assert inside["domain"]["devices"]["disks"][1]["name"] == "${NAME}"


def test_shortened_list_replaces_the_old_list() -> None:
    assert _carried_over(["${A}", "x"], ["a", "x"], ["a"]) == ["a"]


def test_value_of_a_missing_path_is_none() -> None:
    template = {"spec": {"domain": {"cpu": {"cores": 2}}, "volumes": [{"name": "root"}]}}
    assert _value(template, "domain.cpu.cores") == 2 and _value(template, "volumes[0].name") == "root"
    assert _value(template, "domain.memory.guest") is None
