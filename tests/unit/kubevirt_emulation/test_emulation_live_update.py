"""What is done to a running VMI when its VM changes; what is to be done `_resolver` computes."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from emulated import configured

from _resolver.instancetype.vmi.live_update import Update
from kubevirt_emulation.controllers import live_update
from kubevirt_emulation.controllers.context import Work

Manifest = dict[str, Any]
SOCKETS = {"op": "add", "path": "/spec/domain/cpu/sockets", "value": 2}
TOLERATIONS = {"op": "add", "path": "/spec/tolerations", "value": []}


def patched(update: Update, *conditions: str, restart_required: bool = False) -> list[Manifest]:
    """The patch that a running VMI with these conditions gets; its VM may say already that a restart is required."""
    sent: list[Manifest] = []

    async def resolve(_compute: object) -> Update:
        return update

    async def patch_vmi(instance: Manifest, body: list[Manifest]) -> Manifest:
        sent.extend(body)
        return instance

    vm: Manifest = {"metadata": {}, "status": {}}
    if restart_required:
        vm["status"]["conditions"] = [{"type": "RestartRequired", "status": "True"}]
    found = [{"type": name, "status": "True"} for name in conditions]
    work = Work(vm, {"metadata": {}, "status": {"phase": "Running", "conditions": found}})
    context: Any = SimpleNamespace(
        objects=SimpleNamespace(resolve=resolve), patch_vmi=patch_vmi, configuration=configured()
    )
    revisions: Any = SimpleNamespace(spec=lambda _vm, _vmi: {})
    asyncio.run(live_update.sync(context, revisions, work))
    assert work.restart_required == update.restart_required
    return sent


def test_sockets_on_their_way_are_told() -> None:
    change, condition = patched(Update((SOCKETS,)), "Ready")
    assert change == SOCKETS
    assert condition["path"] == "/status/conditions/-"
    assert (condition["value"]["type"], condition["value"]["status"]) == ("HotVCPUChange", "True")


@pytest.mark.parametrize(
    ("update", "conditions"), [(Update((SOCKETS,)), ("Ready", "HotVCPUChange")), (Update((TOLERATIONS,)), ("Ready",))]
)
def test_once_and_of_sockets_only(update: Update, conditions: tuple[str, ...]) -> None:
    assert patched(update, *conditions) == list(update.patch)


def test_while_a_restart_is_asked_for_nothing_changes() -> None:
    assert patched(Update((SOCKETS,), "memory"), "Ready", restart_required=True) == []
    assert patched(Update((TOLERATIONS,), "memory"), "Ready") == [TOLERATIONS]
