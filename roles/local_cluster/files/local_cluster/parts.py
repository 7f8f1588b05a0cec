"""The parts of a cluster: their names, and what starting any of them needs."""

from __future__ import annotations

import time
from collections.abc import Callable

from local_cluster import ports, processes
from local_cluster.errors import LauncherError
from local_cluster.paths import Layout

CONTROL_PLANE = "control-plane"
VIRT_API = "virt-api"
VIRT_CONTROLLER = "virt-controller"
CDI = "cdi"
NODE = "node"
FAULT_PROXY = "fault-proxy"
SUPERVISOR = "supervisor"
LAUNCHER = "launcher"
GRACE = {
    SUPERVISOR: 5.0,
    FAULT_PROXY: 5.0,
    NODE: 5.0,
    VIRT_CONTROLLER: 5.0,
    VIRT_API: 0.3,
    CDI: 5.0,
    CONTROL_PLANE: 10.0,
}
"""The parts in the order of stopping → seconds until each is killed.

The supervisor is first, because it would start the others again. virt-api has nothing to save and drains for long.
"""
TITLES = {
    CONTROL_PLANE: "the API server",
    VIRT_API: "virt-api",
    VIRT_CONTROLLER: "virt-controller",
    CDI: "CDI",
    NODE: "the node",
    FAULT_PROXY: "the fault proxy",
    SUPERVISOR: "the supervisor",
}
OF_KUBEVIRT = (VIRT_API, VIRT_CONTROLLER, CDI, NODE)
UPLOAD_PROXY = "upload-proxy"
"""A second port of the node."""
PORT_ATTEMPTS = 5
_POLL = 0.05  # seconds


class Ended(LauncherError):
    """A part ended before it was ready."""


def with_free_port(
    layout: Layout, part: str, preferred: int, run: Callable[[int], None], *, fixed: bool = False
) -> int:
    """Call `run` with a free port, and again with another if that was taken meanwhile. Return the port."""
    for attempt in range(PORT_ATTEMPTS):
        port = ports.choose(preferred if attempt == 0 or fixed else 0)
        try:
            run(port)
        except Ended:
            if attempt == PORT_ATTEMPTS - 1 or not port_was_taken(layout, part):
                raise
        else:
            return port
    raise AssertionError("unreachable: the last attempt returns or raises")


def port_was_taken(layout: Layout, part: str) -> bool:
    """Whether a part ended because another process took its port."""
    return "address already in use" in processes.last_lines(layout.log(part), 20)


def wait_until(ready: Callable[[], bool], layout: Layout, part: str, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    record, log = layout.process(part), layout.log(part)
    while not ready():
        if processes.recorded(record) is None:
            raise Ended(f"{TITLES[part]} ended while starting: {processes.exit_reason(log)} (log: {log})")
        if time.monotonic() > deadline:
            raise LauncherError(
                f"{TITLES[part]} was not ready after {timeout:.0f} seconds; its log, {log}, ends with\n"
                f"{processes.last_lines(log, 8)}"
            )
        time.sleep(_POLL)


def without_proxy(env: dict[str, str]) -> dict[str, str]:
    """The environment without proxies: the API server calls webhooks by their Service's name, but all are on
    loopback.
    """
    return {name: value for name, value in env.items() if not name.lower().endswith("_proxy")}
