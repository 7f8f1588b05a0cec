"""Ended parts are started again, ever more slowly; others are left alone."""

import os
import signal
import sys
from pathlib import Path

import pytest

from local_cluster import processes, supervisor
from local_cluster.parts import NODE, SUPERVISOR
from local_cluster.paths import Layout
from local_cluster.supervisor import Supervisor


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    result = Layout(tmp_path)
    result.create_folders()
    return result


def test_delays_double_up_to_five_minutes() -> None:
    assert [supervisor.delay(count) for count in range(8)] == [0, 10, 20, 40, 80, 160, 300, 300]


def test_ended_part_waits_longer_each_time(layout: Layout) -> None:
    started: list[str] = []
    lines: list[str] = []
    layout.log(NODE).write_text("node: no such namespace\n")
    watch = Supervisor(layout, started.append, lines.append)
    # It never runs: each look finds it ended.
    times = {now: (watch.check(NODE, now), len(started))[1] for now in (1000, 1001, 1010, 1011, 1030, 1031)}
    assert times == {1000: 1, 1001: 1, 1010: 1, 1011: 2, 1030: 2, 1031: 2}
    assert supervisor.restarts(layout)[NODE]["count"] == 2
    assert supervisor.restarts(layout)[NODE]["reason"] == "node: no such namespace"
    assert lines[0] == "the node ended and was started again, restart 1: node: no such namespace"
    assert lines[1] == "the node ended; it is started again in 10 seconds"


def test_long_run_forgets_earlier_restarts(layout: Layout) -> None:
    started: list[str] = []
    watch = Supervisor(layout, started.append, lambda _line: None)
    watch.check(NODE, 1000)
    watch.check(NODE, 1700)
    assert started == [NODE, NODE]


def test_running_part_is_left_alone(layout: Layout) -> None:
    processes.record(layout.process(NODE))
    started: list[str] = []
    Supervisor(layout, started.append, lambda _line: None).check(NODE, 1000)
    assert started == [] and supervisor.restarts(layout) == {}


def test_supervisor_restarts_killed_process_until_stopped(layout: Layout) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    processes.spawn(command, record_as=layout.process(NODE), log=layout.log(NODE), cwd=layout.run, env=env)
    first = processes.recorded(layout.process(NODE))
    supervisor.start(layout, {NODE: command}, 1, env)
    try:
        assert processes.send(layout.process(NODE), signal.SIGKILL)
        while NODE not in supervisor.restarts(layout):
            assert processes.recorded(layout.process(SUPERVISOR)), layout.log(SUPERVISOR).read_text()
        assert processes.recorded(layout.process(NODE)) not in (None, first)
        processes.stop(layout.process(SUPERVISOR), 60)
        assert processes.send(layout.process(NODE), signal.SIGKILL)
        assert supervisor.restarts(layout)[NODE]["count"] == 1
    finally:
        processes.stop(layout.process(SUPERVISOR), 5)
        processes.stop(layout.process(NODE), 0)
