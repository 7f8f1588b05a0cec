"""When a VM is started and stopped, and how its revisions are decided on."""

from __future__ import annotations

from typing import Any

import pytest
from emulated import configured

from _resolver.instancetype.find.lookup import Objects
from kubevirt_emulation.controllers import run_strategy
from kubevirt_emulation.controllers.context import Work
from kubevirt_emulation.controllers.instancetype import decide

Manifest = dict[str, Any]
START = [{"action": "Start"}]
STOP = [{"action": "Stop", "uid": "u"}]


def work(strategy: str, status: Manifest | None = None, phase: str | None = None) -> Work:
    vmi = {"metadata": {"uid": "u"}, "status": {"phase": phase}} if phase else None
    return Work({"metadata": {}, "spec": {"runStrategy": strategy}, "status": status or {}}, vmi)


@pytest.mark.parametrize(
    ("strategy", "status", "starts"),
    [
        ("Always", {}, True),
        ("Halted", {}, False),
        ("Manual", {}, False),
        ("Manual", {"stateChangeRequests": START}, True),
        ("RerunOnFailure", {}, True),
        ("RerunOnFailure", {"runStrategy": "RerunOnFailure"}, False),
        ("RerunOnFailure", {"runStrategy": "RerunOnFailure", "stateChangeRequests": START}, True),
        ("Once", {}, True),
        # KubeVirt 1.9 starts one whose VMI was deleted once more.
        ("Once", {"runStrategy": "Once"}, True),
    ],
)
def test_start(strategy: str, status: Manifest, starts: bool) -> None:
    assert run_strategy._is_to_start(work(strategy, status), strategy) is starts


@pytest.mark.parametrize(
    ("strategy", "status", "phase", "stops"),
    [
        ("Always", {}, "Running", False),
        ("Always", {"stateChangeRequests": STOP}, "Running", True),
        ("Always", {"stateChangeRequests": [{"action": "Stop", "uid": "another"}]}, "Running", False),
        ("Always", {}, "Failed", True),
        ("Halted", {}, "Running", True),
        ("Manual", {}, "Succeeded", False),
        ("Once", {}, "Succeeded", False),
    ],
)
def test_stop(strategy: str, status: Manifest, phase: str, stops: bool) -> None:
    assert run_strategy._is_to_stop(work(strategy, status, phase)) is stops


INSTANCETYPE = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "small", "uid": "it", "generation": 1},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
}


def vm(**status: Any) -> Manifest:
    return {
        "metadata": {"name": "a", "namespace": "ns", "uid": "u"},
        "spec": {"instancetype": {"name": "small"}, "template": {"spec": {"domain": {"devices": {}}}}},
        "status": status,
    }


def test_a_missing_instancetype_is_told() -> None:
    decision = decide(vm(), Objects([]), configured())
    assert decision.failure is not None
    assert decision.failure[0] == "FailedFindInstancetype"


def test_by_reference_a_revision_is_stored() -> None:
    decision = decide(vm(), Objects([INSTANCETYPE]), configured())
    assert decision.stored is not None and decision.expanded is None
    assert len(decision.stored.actions) == 2


@pytest.mark.parametrize(("policy", "expands"), [("expand", False), ("expandAll", True)])
def test_a_vm_with_revisions_is_expanded_by_one_policy_only(policy: str, expands: bool) -> None:
    stored = decide(vm(), Objects([INSTANCETYPE]), configured()).stored
    assert stored is not None
    revision = {"kind": "ControllerRevision", **stored.actions[0].manifest}  # type: ignore[union-attr]
    with_revision = vm(instancetypeRef=stored.instancetype_ref)
    configuration = configured(instancetype={"referencePolicy": policy})
    decision = decide(with_revision, Objects([INSTANCETYPE, revision]), configuration)
    assert (decision.expanded is not None) is expands
    assert decide(vm(), Objects([INSTANCETYPE]), configuration).expanded is not None
