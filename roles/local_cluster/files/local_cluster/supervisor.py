"""Starts the processes of a cluster again when they end, as a kubelet would do.

It runs as a process of its own, from the end of a start until a stop: `python -m local_cluster.supervisor DIR`. Its
log has one line for each restart, and `status` counts them. A `start` brings back a supervisor that has ended itself.
"""

from __future__ import annotations

import contextlib
import datetime
import http.client
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from local_cluster import installation, kubevirt, pki, processes
from local_cluster.api import ApiServer
from local_cluster.errors import LauncherError
from local_cluster.parts import NODE, SUPERVISOR, TITLES, VIRT_CONTROLLER
from local_cluster.paths import Layout, read_json, write_json

_POLL = 0.5  # seconds
# The delays of a kubelet.
_FIRST_DELAY = 10.0
_LONGEST_DELAY = 300.0
_HEALTHY = 600.0  # seconds after which earlier restarts no longer count
BECOMES_READY = 60.0
"""The seconds in which a part that was started again may not answer yet."""


def delay(restarts: int) -> float:
    """Seconds from the end of a process to its next start, after this number of restarts in a row."""
    return min(_FIRST_DELAY * 2 ** (restarts - 1), _LONGEST_DELAY) if restarts else 0.0


def start(layout: Layout, commands: Mapping[str, Sequence[str]], port: int, env: Mapping[str, str]) -> None:
    """Start the supervisor of running parts.

    commands: part → command line. port: of the API server. env: of the supervisor and of the parts.
    """
    write_json(_config(layout), {"commands": commands, "port": port})
    _counts(layout).unlink(missing_ok=True)
    resume(layout, env)


def resume(layout: Layout, env: Mapping[str, str]) -> None:
    """Start the supervisor of a start again. env: as in `start`."""
    processes.spawn(
        [sys.executable, "-m", "local_cluster.supervisor", str(layout.root)],
        record_as=layout.process(SUPERVISOR),
        log=layout.log(SUPERVISOR),
        cwd=layout.run,
        env=env,
    )


def is_at_work(layout: Layout) -> bool:
    """Whether a supervisor runs that is about to start a part, or has just done so."""
    settings = read_json(_config(layout)) or {}
    if processes.recorded(layout.process(SUPERVISOR)) is None:
        return False
    ended = any(processes.recorded(layout.process(part)) is None for part in settings.get("commands", ()))
    recent = _now(-BECOMES_READY)
    return ended or any(restart.get("last", "") > recent for restart in restarts(layout).values())


def restarts(layout: Layout) -> dict[str, Any]:
    """Part → `count`, time and reason of the `last` restart since the last start of the cluster."""
    counts = read_json(_counts(layout))
    return counts if isinstance(counts, dict) else {}


class _State(NamedTuple):
    """A part's restarts in a row, the time of the last one, and when its end was noticed; 0 while it runs."""

    restarts: int = 0
    began: float = 0.0
    ended: float = 0.0


class Supervisor:
    """Watches the parts. start_part: starts a part again. log: takes one line."""

    def __init__(self, layout: Layout, start_part: Callable[[str], None], log: Callable[[str], None]) -> None:
        self._layout = layout
        self._start_part = start_part
        self._log = log
        self._states: dict[str, _State] = {}

    def check(self, part: str, now: float) -> None:
        """Start the part again if it has ended and its delay is over. now: monotonic seconds."""
        state = self._states.get(part, _State())
        if processes.recorded(self._layout.process(part)) is not None:
            self._states[part] = state._replace(ended=0.0)
            return
        if not state.ended:
            if now - state.began > _HEALTHY:
                state = _State()
            state = state._replace(ended=now)
            self._states[part] = state
            if wait := delay(state.restarts):
                self._log(f"{TITLES[part]} ended; it is started again in {wait:.0f} seconds")
        if now - state.ended < delay(state.restarts):
            return
        reason = processes.exit_line(self._layout.log(part))
        self._start_part(part)
        self._states[part] = _State(state.restarts + 1, now)
        self._record(part, reason)

    def _record(self, part: str, reason: str) -> None:
        counts = restarts(self._layout)
        count = counts.get(part, {}).get("count", 0) + 1
        last = _now()
        text = reason or f"no reason in its log, {self._layout.log(part)}.1"
        write_json(_counts(self._layout), {**counts, part: {"count": count, "last": last, "reason": text}})
        self._log(f"{TITLES[part]} ended and was started again, restart {count}: {text}")


def _config(layout: Layout) -> Path:
    return layout.run / "supervisor.json"


def _counts(layout: Layout) -> Path:
    return layout.run / "restarts.json"


def _start_part(layout: Layout, part: str, command: Sequence[str], port: int) -> None:
    if part == VIRT_CONTROLLER:
        # The lease of the one that died would hold up its successor. Without an API server, both wait.
        with contextlib.suppress(KeyError, OSError, LauncherError, http.client.HTTPException):
            api = ApiServer(port, layout.pki / "ca.crt", pki.token(layout.pki, "admin"))
            api.release(installation.KUBEVIRT, "virt-controller")
    if part == NODE:
        kubevirt.ready_file(layout).unlink(missing_ok=True)
    processes.spawn(command, record_as=layout.process(part), log=layout.log(part), cwd=layout.run, env=dict(os.environ))


def _log(line: str) -> None:
    print(f"{_now()} {line}", flush=True)


def _now(seconds: float = 0) -> str:
    """The time in these seconds, in RFC 3339."""
    time_ = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return time_.strftime("%Y-%m-%dT%H:%M:%SZ")


def main(root: str) -> None:
    """Watch the parts until SIGTERM, or until the cluster is gone."""
    layout = Layout(Path(root))
    stopped: list[int] = []
    # A restart under way ends first, so that a part never runs without a record.
    signal.signal(signal.SIGTERM, lambda number, _frame: stopped.append(number))
    settings = read_json(_config(layout)) or {"commands": {}}
    commands = settings["commands"]
    supervisor = Supervisor(layout, lambda part: _start_part(layout, part, commands[part], settings["port"]), _log)
    while not stopped:
        own = processes.recorded(layout.process(SUPERVISOR))
        if own is None or own.pid != os.getpid():
            return  # somebody removed the directory
        for part in commands:
            if not stopped:
                try:
                    supervisor.check(part, time.monotonic())
                except OSError as error:
                    _log(f"{TITLES[part]} cannot be started: {error}")
        time.sleep(_POLL)


if __name__ == "__main__":
    main(sys.argv[1])
