"""The four sources of fields, and the values that each has overridden or kept out."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api import release, release_schema
from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.plugin_utils import _field_sources

LARGE = {"cpu": {"guest": 4}, "memory": {"guest": "8Gi"}}
CPU = "spec.domain.cpu"


def template(domain: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {"spec": {"domain": {"devices": {}, **(domain or {})}, **spec}}


def explained(
    options: dict[str, Any], instancetype: Any = None, preference: Any = None, version: str = "1.9"
) -> dict[str, _field_sources.Row]:
    older = release.parse_release(version)
    if instancetype is not None:
        instancetype = release_schema.canonical("VirtualMachineInstancetypeSpec", instancetype, older)
    if preference is not None:
        preference = release_schema.canonical("VirtualMachinePreferenceSpec", preference, older)
    rows = _field_sources.explain(options, instancetype, preference, older)
    assert len({row.field for row in rows}) == len(rows)
    return {row.field: row for row in rows}


def value_and_source(row: _field_sources.Row) -> tuple[Any, ...]:
    return row.value, row.source, tuple((other.value, other.source) for other in row.instead_of)


def test_the_four_sources() -> None:
    rows = explained(
        template(terminationGracePeriodSeconds=0),
        LARGE,
        {"machine": {"preferredMachineType": "pc"}, "preferredSubdomain": "shop"},
    )
    assert value_and_source(rows["spec.terminationGracePeriodSeconds"]) == (0, "VM", ())
    assert value_and_source(rows["spec.domain.memory.guest"]) == ("8Gi", "instancetype", ())
    assert value_and_source(rows["spec.subdomain"]) == ("shop", "preference", ())
    assert value_and_source(rows["spec.domain.machine.type"]) == ("pc", "preference", (("q35", "default"),))
    assert value_and_source(rows["spec.architecture"]) == ("amd64", "default", ())
    assert "spec.domain.resources" not in rows and "spec.domain.devices" not in rows


def test_vcpu_topology_comes_from_the_preference() -> None:
    alone = explained(template(), LARGE)
    assert value_and_source(alone[f"{CPU}.sockets"]) == (4, "instancetype", ((1, "default"),))
    # The instancetype writes it, even if the default is the same.
    assert value_and_source(alone[f"{CPU}.cores"]) == (1, "instancetype", ())
    both = explained(template(), LARGE, {"cpu": {"preferredCPUTopology": "spread"}})
    assert value_and_source(both[f"{CPU}.sockets"]) == (2, "preference", ((4, "instancetype"),))
    assert value_and_source(both[f"{CPU}.cores"]) == (2, "preference", ((1, "instancetype"),))


def test_values_that_the_vm_overrides() -> None:
    disk = {"name": "root", "disk": {"bus": "sata"}}
    options = template(
        {"machine": {"type": "pc"}, "devices": {"disks": [disk]}}, volumes=[{"name": "root", "emptyDisk": {}}]
    )
    rows = explained(options, None, {"devices": {"preferredDiskBus": "virtio"}})
    assert value_and_source(rows["spec.domain.devices.disks[0].disk.bus"]) == (
        "sata",
        "VM",
        (("virtio", "preference"),),
    )
    assert value_and_source(rows["spec.domain.machine.type"])[1] == "VM"
    # A name has to be there: nothing is instead of it.
    assert value_and_source(rows["spec.domain.devices.disks[0].name"]) == ("root", "VM", ())


def test_vm_field_may_displace_another_field() -> None:
    options = template({"firmware": {"bootloader": {"bios": {}}}})
    row = explained(options, None, {"firmware": {"preferredEfi": {"secureBoot": False}}})[
        "spec.domain.firmware.bootloader.bios"
    ]
    assert row.instead_of == (
        _field_sources.Alternative("spec.domain.firmware.bootloader.efi.secureBoot", False, "preference"),
    )


def test_preference_applies_to_a_disk_added_by_default() -> None:
    options = template(volumes=[{"name": "root", "containerDisk": {"image": "example.com/web:1"}}])
    rows = explained(options, None, {"devices": {"preferredDiskBus": "virtio"}})
    assert value_and_source(rows["spec.domain.devices.disks[0].name"]) == ("root", "default", ())
    assert value_and_source(rows["spec.domain.devices.disks[0].disk.bus"]) == ("virtio", "preference", ())


def test_a_field_of_the_vm_that_is_overridden() -> None:
    preference = {"devices": {"preferredDisableHotplug": False}}
    rows = explained(template({"devices": {"disableHotplug": True}}), None, preference)
    assert value_and_source(rows["spec.domain.devices.disableHotplug"]) == (None, "preference", ((True, "VM"),))
    rows = explained(template({"cpu": {"maxSockets": 2}}), {**LARGE, "cpu": {"guest": 4, "maxSockets": 8}})
    assert value_and_source(rows[f"{CPU}.maxSockets"]) == (8, "instancetype", ((2, "VM"),))


def test_an_instancetype_beats_a_preference() -> None:
    rows = explained(template(), {**LARGE, "annotations": {"a.b/c": "it"}}, {"annotations": {"a.b/c": "pref"}})
    assert value_and_source(rows["metadata.annotations.a.b/c"]) == ("it", "instancetype", (("pref", "preference"),))


def test_without_matchers_nothing_is_added() -> None:
    assert {row.source for row in explained(template({"cpu": {"cores": 2}})).values()} == {"VM"}


def test_conflicting_vm_is_not_expandable() -> None:
    with pytest.raises(KubeVirtError, match=r"spec.template.spec.domain.cpu.cores conflicts"):
        explained(template({"cpu": {"cores": 2}}), LARGE)


def test_features_without_instancetype() -> None:
    """KubeVirt crashes without the VM's cpu, so that there is no answer to what would be without it."""
    features = {"cpu": {"preferredCPUFeatures": [{"name": "vmx"}]}}
    rows = explained(template({"cpu": {"model": "host-model"}}), None, features)
    assert value_and_source(rows[f"{CPU}.features[0].name"]) == ("vmx", "preference", ())
    assert value_and_source(rows[f"{CPU}.model"]) == ("host-model", "VM", ())


def test_an_older_release() -> None:
    rows = explained(template(), LARGE, {"devices": {"preferredVideoType": "vga"}})
    assert value_and_source(rows["spec.domain.devices.video.type"]) == ("vga", "preference", ())
    assert "spec.domain.devices.video.type" not in explained(
        template(), LARGE, {"devices": {"preferredVideoType": "vga"}}, "1.6"
    )


def test_inputs_stay() -> None:
    options = template({"machine": {"type": "pc"}}, nodeSelector={"a": "b"})
    before = copy.deepcopy(options)
    explained(options, LARGE, {"machine": {"preferredMachineType": "q35"}})
    assert options == before


def test_table_has_four_aligned_columns() -> None:
    rows = [
        _field_sources.Row("spec.a", 2, "VM", ()),
        _field_sources.Row(
            "spec.boolean", None, "preference", (_field_sources.Alternative("spec.boolean", True, "VM"),)
        ),
        _field_sources.Row("spec.c", "", "VM", (_field_sources.Alternative("spec.d", {}, "default"),)),
    ]
    assert _field_sources.table(rows) == [
        "FIELD         VALUE      SOURCE      INSTEAD OF",
        "spec.a        2          VM",
        "spec.boolean  (removed)  preference  true (VM)",
        'spec.c        ""         VM          spec.d {} (default)',
    ]


def test_a_list_entry_without_fields_stays() -> None:
    rows = explained(template(tolerations=[{"operator": "Exists"}, {"key": "a"}]), LARGE)
    assert value_and_source(rows["spec.tolerations[0].operator"]) == ("Exists", "VM", ())
    assert value_and_source(rows["spec.tolerations[1].key"]) == ("a", "VM", ())


def test_a_template_with_a_single_field() -> None:
    preference = {"machine": {"preferredMachineType": "q35"}}
    rows = explained({"spec": {"domain": {"machine": {"type": "pc"}}}}, None, preference)
    assert value_and_source(rows["spec.domain.machine.type"]) == ("pc", "VM", (("q35", "preference"),))
