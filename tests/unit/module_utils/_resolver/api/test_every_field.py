"""The fields that an object sets."""

from __future__ import annotations

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release_schema import every_field


def test_unknown_fields_are_left_out() -> None:
    spec = {"runStrategy": "Always", "nonsense": {"runStrategy": "Always"}}
    assert list(every_field("VirtualMachineSpec", spec, "spec")) == [
        ("VirtualMachineSpec", "runStrategy", "spec.runStrategy", "Always")
    ]
