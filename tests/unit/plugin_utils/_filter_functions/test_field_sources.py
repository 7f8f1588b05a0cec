"""The four sources of fields. test_approved has the answers for VMs that virt-api expands, with all further rules."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api import release_schema
from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.plugin_utils._filter_functions import _field_sources

LARGE = {"cpu": {"guest": 4}, "memory": {"guest": "8Gi"}}
CPU = "spec.domain.cpu"


def template(domain: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {"spec": {"domain": {"devices": {}, **(domain or {})}, **spec}}


def explained(
    options: dict[str, Any], instancetype: Any = None, preference: Any = None
) -> dict[str, _field_sources.FieldSource]:
    if instancetype is not None:
        instancetype = release_schema.canonical("VirtualMachineInstancetypeSpec", instancetype, NEWEST)
    if preference is not None:
        preference = release_schema.canonical("VirtualMachinePreferenceSpec", preference, NEWEST)
    rows = _field_sources.explain(options, instancetype, preference, NEWEST)
    assert len({row.field for row in rows}) == len(rows)
    return {row.field: row for row in rows}


def value_and_source(row: _field_sources.FieldSource) -> tuple[Any, ...]:
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


def test_vm_field_may_displace_another_field() -> None:
    options = template({"firmware": {"bootloader": {"bios": {}}}})
    row = explained(options, None, {"firmware": {"preferredEfi": {"secureBoot": False}}})[
        "spec.domain.firmware.bootloader.bios"
    ]
    assert row.instead_of == (
        _field_sources.Alternative("spec.domain.firmware.bootloader.efi.secureBoot", False, "preference"),
    )


def test_a_field_of_the_vm_that_is_overridden() -> None:
    preference = {"devices": {"preferredDisableHotplug": False}}
    rows = explained(template({"devices": {"disableHotplug": True}}), None, preference)
    assert value_and_source(rows["spec.domain.devices.disableHotplug"]) == (None, "preference", ((True, "VM"),))
    rows = explained(template({"cpu": {"maxSockets": 2}}), {**LARGE, "cpu": {"guest": 4, "maxSockets": 8}})
    assert value_and_source(rows[f"{CPU}.maxSockets"]) == (8, "instancetype", ((2, "VM"),))


def test_conflicting_vm_is_not_expandable() -> None:
    with pytest.raises(KubeVirtError, match=r"spec.template.spec.domain.cpu.cores conflicts"):
        explained(template({"cpu": {"cores": 2}}), LARGE)


def test_inputs_stay() -> None:
    options = template({"machine": {"type": "pc"}}, nodeSelector={"a": "b"})
    before = copy.deepcopy(options)
    explained(options, LARGE, {"machine": {"preferredMachineType": "q35"}})
    assert options == before


def test_table_has_four_aligned_columns() -> None:
    rows = [
        _field_sources.FieldSource("spec.a", 2, "VM", ()),
        _field_sources.FieldSource(
            "spec.boolean", None, "preference", (_field_sources.Alternative("spec.boolean", True, "VM"),)
        ),
        _field_sources.FieldSource("spec.c", "", "VM", (_field_sources.Alternative("spec.d", {}, "default"),)),
    ]
    assert _field_sources.table(rows) == [
        "FIELD         VALUE      SOURCE      INSTEAD OF",
        "spec.a        2          VM",
        "spec.boolean  (removed)  preference  true (VM)",
        'spec.c        ""         VM          spec.d {} (default)',
    ]
