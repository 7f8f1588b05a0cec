"""The node ends, pauses and starts guests as virt-controller expects, and VMs then do as asked."""

from collections.abc import Callable
from typing import Any

import pytest
from waiting import wait_until

from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api import write
from plugins.module_utils._resolver.api.kinds import KINDS

Manifest = dict[str, Any]
VM, VMI = KINDS["VirtualMachine"], KINDS["VirtualMachineInstance"]
FURTHER = pytest.mark.nightly("a further run strategy")


class Guest:
    """A VM and the guest that it has, if it has one."""

    def __init__(self, session: Session, namespace: str, strategy: str) -> None:
        self._session, self._namespace = session, namespace
        template = {"spec": {"domain": {"devices": {}, "memory": {"guest": "64Mi"}}}}
        manifest = {"apiVersion": VM.api_version, "kind": VM.kind, "metadata": {"name": "a", "namespace": namespace}}
        session.request(
            "POST",
            VM.path(namespace),
            retry=True,
            body={**manifest, "spec": {"runStrategy": strategy, "template": template}},
        )

    def vm(self) -> Manifest:
        result = self._session.get(VM, self._namespace, "a")
        assert result is not None
        return result

    def instance(self) -> Manifest:
        return self._session.get(VMI, self._namespace, "a") or {}

    def ask(self, action: str, of: Any = VM, body: Manifest | None = None) -> None:
        path = of.path(self._namespace, "a", action).replace("/kubevirt.io/", "/subresources.kubevirt.io/")
        self._session.request("PUT", path, body=body or {}, final=(404, 409))

    def end(self) -> str:
        """Deletes the guest; its UID."""
        uid = str(self.instance()["metadata"]["uid"])
        self._session.write(write.delete(VMI.path(self._namespace, "a")))
        return uid

    def runs(self, but: str = "") -> bool:
        """Whether a guest runs, another than the one with this UID."""
        result = self.instance()
        ended = result.get("metadata", {}).get("deletionTimestamp")
        phase = (result.get("status") or {}).get("phase")
        return bool(result) and result["metadata"]["uid"] != but and not ended and phase == "Running"

    def has_status(self, status: str) -> bool:
        return bool((self.vm().get("status") or {}).get("printableStatus") == status)


@pytest.fixture
def make(session: Session, namespace: str) -> Callable[[str], Guest]:
    return lambda strategy: Guest(session, namespace, strategy)


@pytest.mark.parametrize("strategy", ["Always", pytest.param("RerunOnFailure", marks=FURTHER)])
def test_restart_replaces_the_vmi(make: Callable[[str], Guest], strategy: str) -> None:
    guest = make(strategy)
    wait_until(guest.runs)
    first = guest.instance()["metadata"]["uid"]
    guest.ask("restart")
    wait_until(lambda: guest.runs(but=first))
    wait_until(lambda: guest.has_status("Running"))


def test_always_replaces_a_deleted_vmi(make: Callable[[str], Guest]) -> None:
    guest = make("Always")
    wait_until(guest.runs)
    first = guest.end()
    wait_until(lambda: guest.runs(but=first))


def test_manual_makes_no_vmi_before_start(make: Callable[[str], Guest]) -> None:
    guest = make("Manual")
    wait_until(lambda: guest.has_status("Stopped"))
    guest.ask("start")
    wait_until(guest.runs)
    guest.end()
    wait_until(lambda: not guest.instance() and guest.has_status("Stopped"))
    guest.ask("start")
    wait_until(guest.runs)


@pytest.mark.parametrize(
    "strategy", ["Always", "Manual", *(pytest.param(name, marks=FURTHER) for name in ("RerunOnFailure", "Once"))]
)
def test_stop_removes_the_vmi(make: Callable[[str], Guest], strategy: str) -> None:
    guest = make(strategy)
    if strategy == "Manual":
        wait_until(lambda: guest.has_status("Stopped"))
        guest.ask("start")
    wait_until(guest.runs)
    guest.ask("stop")
    wait_until(lambda: not guest.instance() and guest.has_status("Stopped"))


def test_guest_started_paused_runs_after_unpause(make: Callable[[str], Guest]) -> None:
    guest = make("Halted")
    wait_until(lambda: guest.has_status("Stopped"))
    guest.ask("start", body={"paused": True})
    wait_until(lambda: guest.has_status("Paused"))
    assert guest.instance()["spec"]["startStrategy"] == "Paused"
    guest.ask("unpause", VMI)
    wait_until(lambda: guest.has_status("Running"))
    with pytest.raises(ApiError, match="not paused"):
        guest.ask("unpause", VMI)


def test_restarted_guest_is_not_paused(make: Callable[[str], Guest]) -> None:
    guest = make("Always")
    wait_until(lambda: guest.has_status("Running"))
    guest.ask("pause", VMI)
    wait_until(lambda: guest.has_status("Paused"))
    first = guest.instance()["metadata"]["uid"]
    guest.ask("restart")
    wait_until(lambda: guest.runs(but=first))
    wait_until(lambda: guest.has_status("Running"))
