"""Requirements of preferences, beyond what the vectors show."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import Crash
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import of
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.apply import requirements


def test_releases_before_1_3_count_a_spread_as_cores_and_sockets() -> None:
    preference = {"cpu": {"preferredCPUTopology": "preferSpread"}, "requirements": {"cpu": {"guest": 4}}}
    spec = {"domain": {"cpu": {"cores": 2, "sockets": 1}}}
    old, new = (requirements.unmet(None, preference, spec, of(version)) for version in ("1.2", "1.3"))
    assert old is not None and new is not None
    assert old.message.endswith("preference requires 4 vCPU provided as cores and sockets")
    assert old.conflicts == ("spec.template.spec.domain.cpu.cores", "spec.template.spec.domain.cpu.sockets")
    assert new.message.endswith("preference requires 4 vCPU provided as SocketsCores")
    assert new.conflicts == ("spec.template.spec.domain.cpu.sockets", "spec.template.spec.domain.cpu.cores")


def test_counts_are_multiplied_as_go_does() -> None:
    preference = {"cpu": {"preferredCPUTopology": "any"}, "requirements": {"cpu": {"guest": 1}}}
    for sockets, told in ((2**16, "insufficient CPU resources of 0 vCPU"), (2**16 + 1, "")):
        spec = {"domain": {"cpu": {"cores": 2**16, "sockets": sockets, "threads": 1}}}
        found = requirements.unmet(None, preference, spec)
        assert (found.message if found is not None else "").startswith(told)
        assert (found is None) == (told == "")


def test_until_1_5_0_only_the_instancetype_s_memory_counted() -> None:
    preference = {"requirements": {"memory": {"guest": "2Gi"}}}
    instancetype = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    own: dict[str, Any] = {"domain": {"memory": {"guest": "4Gi"}}}
    old = requirements.unmet(instancetype, preference, own, of("1.5.0"))
    assert old is not None
    assert old.message == ("insufficient Memory resources of 1Gi provided by instance type, preference requires 2Gi")
    assert old.conflicts == ("spec.instancetype",)
    assert requirements.unmet(instancetype, preference, own, of("1.5.1")) is None

    assert requirements.unmet(None, preference, own, of("1.5.0")) is None
    assert requirements.unmet(None, preference, {"domain": {}}, of("1.5.0")) is None
    now = requirements.unmet(None, preference, {"domain": {}}, of("1.5.1"))
    assert now is not None
    assert now.message == "insufficient Memory resources of 0 provided by VirtualMachine, preference requires 2Gi"
    needs = "^a VM with a memory object needs guest memory where the preference requires memory$"
    with pytest.raises(Crash, match=needs):
        requirements.unmet(None, preference, {"domain": {"memory": {}}}, of("1.5.0"))


def test_a_topology_that_the_release_does_not_know_is_not_counted() -> None:
    preference = {"cpu": {"preferredCPUTopology": "cores"}, "requirements": {"cpu": {"guest": 4}}}
    spec = {"domain": {"cpu": {"cores": 2, "sockets": 1}}}
    assert requirements.unmet(None, preference, spec, of("1.3")) is None
    found = requirements.unmet(None, preference, spec, of("1.4"))
    assert found is not None
    assert found.conflicts == ("spec.template.spec.domain.cpu.cores",)
