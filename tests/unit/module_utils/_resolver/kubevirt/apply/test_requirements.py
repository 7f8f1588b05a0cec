"""Requirements of preferences, beyond what the vectors show."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import Panic
from plugins.module_utils._resolver.api.release import parse_release
from plugins.module_utils._resolver.kubevirt.apply import requirements


def test_vcpus_overflow_at_32_bits() -> None:
    preference = {"cpu": {"preferredCPUTopology": "any"}, "requirements": {"cpu": {"guest": 1}}}
    for sockets, message in ((2**16, "insufficient CPU resources of 0 vCPU"), (2**16 + 1, "")):
        spec = {"domain": {"cpu": {"cores": 2**16, "sockets": sockets, "threads": 1}}}
        unmet = requirements.unmet(None, preference, spec)
        assert (unmet.message if unmet is not None else "").startswith(message)
        assert (unmet is None) == (message == "")


def test_only_instancetype_memory_counts_until_1_5_0() -> None:
    preference = {"requirements": {"memory": {"guest": "2Gi"}}}
    instancetype = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    own: dict[str, Any] = {"domain": {"memory": {"guest": "4Gi"}}}
    before = requirements.unmet(instancetype, preference, own, parse_release("1.5.0"))
    assert before is not None
    assert before.message == ("insufficient Memory resources of 1Gi provided by instance type, preference requires 2Gi")
    assert before.conflicts == ("spec.instancetype",)
    assert requirements.unmet(instancetype, preference, own, parse_release("1.5.1")) is None

    assert requirements.unmet(None, preference, own, parse_release("1.5.0")) is None
    assert requirements.unmet(None, preference, {"domain": {}}, parse_release("1.5.0")) is None
    after = requirements.unmet(None, preference, {"domain": {}}, parse_release("1.5.1"))
    assert after is not None
    assert after.message == "insufficient Memory resources of 0 provided by VirtualMachine, preference requires 2Gi"
    needs = "^a VM with a memory object needs guest memory where the preference requires memory$"
    with pytest.raises(Panic, match=needs):
        requirements.unmet(None, preference, {"domain": {"memory": {}}}, parse_release("1.5.0"))


def test_unknown_topology_is_not_checked() -> None:
    preference = {"cpu": {"preferredCPUTopology": "dice"}, "requirements": {"cpu": {"guest": 4}}}
    assert requirements.unmet(None, preference, {"domain": {"cpu": {"cores": 2, "sockets": 1}}}) is None
