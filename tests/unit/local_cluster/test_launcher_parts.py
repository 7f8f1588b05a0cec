"""Parts get free ports, and say why they did not start."""

import os
import sys
from pathlib import Path

import pytest

from local_cluster import parts, processes
from local_cluster.errors import LauncherError
from local_cluster.parts import NODE, VIRT_API, Ended
from local_cluster.paths import Layout


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    result = Layout(tmp_path)
    result.create_folders()
    return result


def _start(layout: Layout, code: str) -> None:
    processes.spawn(
        [sys.executable, "-c", code],
        record_as=layout.process(VIRT_API),
        log=layout.log(VIRT_API),
        cwd=layout.root,
        env=dict(os.environ),
    )


def test_every_part_has_title_and_stop_order() -> None:
    assert set(parts.TITLES) == set(parts.GRACE)
    # Nothing is stopped before what depends on it.
    order = list(parts.GRACE)
    assert order[:2] == [parts.SUPERVISOR, parts.FAULT_PROXY]
    assert order[-1] == parts.CONTROL_PLANE
    assert set(parts.OF_KUBEVIRT) == set(order[2:-1])


def test_ended_part_is_reported_with_its_last_error(layout: Layout) -> None:
    _start(layout, "raise ValueError('no such flag')")
    with pytest.raises(Ended, match=r"^virt-api ended while starting: ValueError: no such flag \(log: .*virt-api"):
        parts.wait_until(lambda: False, layout, VIRT_API, 60)


def test_slow_part_is_reported_with_last_log_lines(layout: Layout) -> None:
    _start(layout, "import time; print('waiting for Godot', flush=True); time.sleep(600)")
    try:
        with pytest.raises(LauncherError, match=r"^virt-api was not ready after 1 seconds; .*\nwaiting for Godot"):
            parts.wait_until(lambda: False, layout, VIRT_API, 1)
    finally:
        processes.stop(layout.process(VIRT_API), 0)


def test_port_taken_meanwhile_is_replaced_by_another(layout: Layout) -> None:
    tried = []

    def run(port: int) -> None:
        tried.append(port)
        if len(tried) == 1:
            layout.log(NODE).write_text("bind: address already in use\n")
            raise Ended("taken")
        layout.log(NODE).write_text("")

    port = parts.with_free_port(layout, NODE, 0, run)
    assert tried[1:] == [port]


def test_part_failing_for_another_reason_is_not_retried(layout: Layout) -> None:
    tried = []

    def run(port: int) -> None:
        tried.append(port)
        layout.log(NODE).write_text("panic: nothing works\n")
        raise Ended("ended")

    with pytest.raises(Ended):
        parts.with_free_port(layout, NODE, 0, run)
    assert len(tried) == 1


def test_calls_on_this_machine_use_no_proxy() -> None:
    kept = parts.without_proxy({"HTTPS_PROXY": "x", "no_proxy": "y", "GOPROXY": "z", "PATH": "p"})
    assert kept == {"GOPROXY": "z", "PATH": "p"}
