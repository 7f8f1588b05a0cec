"""What changes of a running VM mean."""

from __future__ import annotations

from typing import Any

import pytest

from _resolver.defaults import Configuration
from _resolver.find import Objects
from kubevirt_emulation.controllers.live_update import Update, compare

Manifest = dict[str, Any]
SELECTOR = {"op": "add", "path": "/spec/nodeSelector", "value": {"a": "b"}}
SOCKETS = {"op": "add", "path": "/spec/domain/cpu/sockets", "value": 2}


def spec(guest: str = "1Gi", cpu: Manifest | None = None, **template: Any) -> Manifest:
    domain = {"devices": {}, "memory": {"guest": guest}, "cpu": cpu or {"sockets": 1, "cores": 1, "threads": 1}}
    return {"runStrategy": "Always", "template": {"spec": {"domain": domain, **template}}}


def instance(sockets: int = 1, most: int = 4, **fields: Any) -> Manifest:
    domain = {"cpu": {"sockets": sockets, "maxSockets": most}, "memory": {"guest": "1024Mi"}}
    return {"spec": {"domain": domain, **fields}}


@pytest.mark.parametrize(
    ("now", "running", "expected"),
    [
        (spec(), instance(), Update()),
        (spec(cpu={"sockets": 2, "cores": 1, "threads": 1}), instance(), Update((SOCKETS,))),
        (spec(cpu={"sockets": 2, "cores": 1, "threads": 1}), instance(2), Update()),
        (
            spec(nodeSelector={"a": "b"}),
            instance(),
            Update((SELECTOR,)),
        ),
        (spec(nodeSelector={"a": "b"}), instance(nodeSelector={"a": "b"}), Update()),
        (spec(), instance(tolerations=[{"key": "a"}]), Update(({"op": "remove", "path": "/spec/tolerations"},))),
    ],
)
def test_live(now: Manifest, running: Manifest, expected: Update) -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": now}
    assert compare(vm, spec(), running, Objects([]), Configuration()) == expected


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (spec("2Gi"), "memory updated"),
        (spec(terminationGracePeriodSeconds=5), "non-live-updatable"),
        (spec(cpu={"sockets": 1, "cores": 2, "threads": 1}), "non-live-updatable"),
        (spec(cpu={"sockets": 9, "cores": 1, "threads": 1}), "higher than"),
    ],
)
def test_restart_required(now: Manifest, reason: str) -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": now}
    update = compare(vm, spec(), instance(), Objects([]), Configuration())
    assert update.patch == ()
    assert reason in (update.restart_required or "")


def test_fewer_sockets_than_the_guest_has() -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec()}
    update = compare(vm, spec(), instance(2), Objects([]), Configuration())
    assert "Reduction" in (update.restart_required or "")


def test_sockets_with_multiqueue() -> None:
    now = spec(cpu={"sockets": 2, "cores": 1, "threads": 1})
    started = spec()
    for entry in (now, started):
        entry["template"]["spec"]["domain"]["devices"] = {"networkInterfaceMultiqueue": True}
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": now}
    update = compare(vm, started, instance(), Objects([]), Configuration())
    assert update.patch == () and "NetworkInterfaceMultiQueue" in (update.restart_required or "")


def test_sockets_change_beside_memory_that_needs_a_restart() -> None:
    now = spec("2Gi", cpu={"sockets": 2, "cores": 1, "threads": 1})
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": now}
    update = compare(vm, spec(), instance(), Objects([]), Configuration())
    assert update.patch == (SOCKETS,)
    assert "memory updated" in (update.restart_required or "")
