"""Adopting VMs: what is read and written, and what becomes of a write that meets another one or loses its answer."""

import copy
from typing import Any

import pytest

from plugins.module_utils._adoption.cluster.adopt import AdoptJob, adopt
from plugins.module_utils._cluster.client.errors import TaskFailed
from plugins.module_utils._cluster.task import Task
from scripted_server import KUBEVIRT, KUBEVIRTS, listed, session_with, status

TYPES = "/apis/instancetype.kubevirt.io/v1beta1"
VM_PATH = "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines/web"
SMALL = {"metadata": {"name": "small"}, "spec": {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}}}
VM: dict[str, Any] = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "shop", "uid": "1", "generation": 3},
    "spec": {
        "runStrategy": "Halted",
        "template": {"spec": {"domain": {"devices": {}, "memory": {"guest": "2Gi"}}}},
    },
}
ADOPTED = {"kind": "VirtualMachineClusterInstancetype", "name": "small"}
TEST_FAILED = status(422, "the server rejected our request due to an error in our request", "Invalid")


class Server:
    """A cluster with one VM and one instancetype. patches: the answers to patches, None for none.

    denied: plurals that may not be listed. matcher: the instancetype of the VM when it is read again.
    """

    def __init__(self, *patches: Any, denied: tuple[str, ...] = (), matcher: Any = None) -> None:
        self._patches = list(patches)
        self._denied = denied
        self._matcher = matcher
        self.requests: list[tuple[str, str]] = []

    def answer(self, method: str, path: str, _query: dict[str, str]) -> tuple[int, Any] | None:
        plural = path.rpartition("/")[2]
        self.requests.append((method, plural))
        if method == "PATCH":
            return self._patches.pop(0)
        if plural in self._denied:
            return status(403, f"{plural} is forbidden", "Forbidden")
        if path == KUBEVIRTS:
            return 200, listed(KUBEVIRT)
        if path == VM_PATH:
            vm = copy.deepcopy(VM)
            vm["spec"]["instancetype"] = self._matcher
            return 200, vm
        return 200, listed(*([SMALL] if plural == "virtualmachineclusterinstancetypes" else []))

    def adopt(self, instancetypes: list[str] | None = None, write: bool = True) -> AdoptJob:
        with session_with(self.answer) as session:
            return adopt(
                session,
                [copy.deepcopy(VM)],
                Task(check_mode=not write, server_dry_run=False),
                instancetypes,
            )[0]


def test_adopt_without_write_only_reads() -> None:
    server = Server()
    result = server.adopt(write=False)
    assert (result.changed, result.failed) == (True, None)
    assert {method for method, _plural in server.requests} == {"GET"}
    assert len(set(server.requests)) == len(server.requests)


def test_a_vm_with_an_instancetype_costs_no_request() -> None:
    def answer(_method: str, _path: str, _query: dict[str, str]) -> None:
        raise AssertionError

    vm = {**VM, "spec": {**VM["spec"], "instancetype": {"name": "small"}}}
    with session_with(answer) as session:
        (result,) = adopt(session, [vm], Task())
    assert (result.goal.adoption, result.changed, result.failed) == (None, False, None)


def test_vm_changed_meanwhile_is_left_alone() -> None:
    result = Server(TEST_FAILED).adopt()
    assert not result.changed
    assert result.failed == "the VM changed while the task ran, so nothing was written; run the task again"
    # Somebody may even have given it an instancetype, but another one.
    assert not Server(TEST_FAILED, matcher={"name": "large"}).adopt().changed


@pytest.mark.parametrize("lost", [None, status(504, "gateway timeout"), TEST_FAILED])
def test_write_with_lost_response_counts_as_done(lost: Any) -> None:
    result = Server(lost, matcher=ADOPTED).adopt()
    assert (result.changed, result.failed) == (True, None)


def test_refused_adoption_fails_with_the_server_message() -> None:
    cause = {"reason": "FieldValueInvalid", "field": "spec.x", "message": "no"}
    refusal = {"kind": "Status", "code": 422, "reason": "Invalid", "message": "no", "details": {"causes": [cause]}}
    assert Server((422, refusal)).adopt().failed == "no"
    denied = Server(status(403, "virtualmachines is forbidden", "Forbidden")).adopt()
    assert 'resources: ["virtualmachines"]' in str(denied.failed)


def test_adopt_skips_kinds_that_may_not_be_listed() -> None:
    result = Server(denied=("virtualmachineinstancetypes", "virtualmachineclusterpreferences")).adopt(write=False)
    assert result.changed
    assert [warning.partition(":")[0] for warning in result.warnings] == [
        "cannot list VirtualMachineInstancetype, so the task ignores them",
        "cannot list VirtualMachineClusterPreference, so the task ignores them",
    ]
    without = Server(denied=("virtualmachineclusterinstancetypes",)).adopt(write=False)
    assert without.failed == "no instancetype has the CPU, memory and devices of the VM"


def test_pattern_without_a_match_is_an_error() -> None:
    assert Server().adopt(["sm*"], write=False).changed
    with pytest.raises(
        TaskFailed, match=r"^instancetypes: no instancetype that the namespace shop can use matches 'smal'$"
    ):
        Server().adopt(["smal"])
    # In check mode, an earlier task may create it.
    assert not Server().adopt(["smal"], write=False).changed
