"""Defaults that only a VMI gets."""

from __future__ import annotations

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import (
    Configuration,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.defaults import (
    set_vmi_defaults,
)


def test_evmcs_overrides_policy_of_vmx() -> None:
    cpu = {"features": [{"name": "vmx", "policy": "forbid"}]}
    domain = {"devices": {}, "cpu": cpu, "features": {"hyperv": {"evmcs": {}}}}
    spec = schema.canonical("VirtualMachineInstanceSpec", {"domain": domain})
    set_vmi_defaults(spec, Configuration())
    assert spec["domain"]["cpu"]["features"] == [{"name": "vmx", "policy": "require"}]
    assert "uuid" not in spec["domain"]["firmware"]
