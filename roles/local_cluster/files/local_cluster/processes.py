"""Processes that outlive the launcher, and their records for later launchers.

A record has the process number and the start time. The number alone does not suffice: after a crash or a reboot it may
belong to a process of somebody else, which must not get a signal.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from local_cluster.paths import read_json, write_json

_POLL = 0.02  # seconds


class Process(NamedTuple):
    """A process until the machine's next reboot: its number, and the mark of its start (see `started`)."""

    pid: int
    started: str


def started(pid: int) -> str | None:
    """A mark of the start of the process `pid`, unique to the process; None if it does not exist.

    A process that has ended and is not yet waited for does not exist in this sense.
    """
    if sys.platform == "linux":
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            return None
        # proc(5): the fields after the command's name in parentheses; the 1st is the state, the 20th the start time.
        fields = stat.rpartition(")")[2].split()
        return None if fields[0] in "ZX" else f"{boot} {fields[19]}"
    shown = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _space, since = shown.stdout.strip().partition(" ")
    return since.strip() if since and not state.startswith("Z") else None


def record(path: Path, pid: int | None = None) -> None:
    """Write the record of `pid` (default: this process) to `path`."""
    pid = os.getpid() if pid is None else pid
    write_json(path, {"pid": pid, "started": started(pid)})


def recorded(path: Path) -> Process | None:
    """The process that `path` records if it still runs, else None."""
    value = read_json(path)
    if not isinstance(value, dict) or not isinstance(value.get("pid"), int) or value["pid"] <= 1:
        return None
    mark = started(value["pid"])
    return Process(value["pid"], mark) if mark is not None and mark == value.get("started") else None


def spawn(argv: Sequence[str], *, record_as: Path, log: Path, cwd: Path, env: Mapping[str, str]) -> None:
    """Start `argv` in its own session; output goes to `log`, the record to `record_as`, temporary files to `cwd`.

    The new process writes its record before it executes `argv`, so that it can always be found, even if this launcher
    is killed.
    """
    if log.exists():
        log.replace(log.with_name(log.name + ".1"))
    with log.open("wb") as output:
        log.chmod(0o600)
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            # KubeVirt's programs leave folders of certificates behind; these are removed with the cluster.
            env={**env, "TMPDIR": str(cwd)},
            start_new_session=True,
            umask=0o077,
            preexec_fn=lambda: record(record_as),
        )


def stop(record_path: Path, grace: float) -> bool:
    """Stop the recorded process and its group: SIGTERM, then SIGKILL after `grace` seconds. Remove the record.

    Return whether it was running.
    """
    process = recorded(record_path)
    if process is not None:
        _signal_group(process.pid, signal.SIGTERM)
        _signal_group(process.pid, signal.SIGCONT)  # a suspended process would not handle the other signal
        _wait(process, grace)
        # The rest of the group: the process itself or a child.
        _signal_group(process.pid, signal.SIGKILL)
        _wait(process, grace)
    record_path.unlink(missing_ok=True)
    return process is not None


def send(record_path: Path, number: signal.Signals) -> bool:
    """Send a signal to the recorded process, not to its group. Return whether it was running."""
    process = recorded(record_path)
    if process is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, number)
    return True


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def _wait(process: Process, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while started(process.pid) == process.started and time.monotonic() < deadline:
        time.sleep(_POLL)


_EXIT_LINE = re.compile(r"(panic|fatal error|control-plane|cdi|node|fault_proxy): |\w+(\.\w+)*(Error|Exception)(: |$)")
# etcd logs in JSON; its panic repeats only the message.
_ETCD_PANIC = re.compile(r'{"level":"(panic|fatal)",.*"msg":"(?P<message>[^"]*)","error":"(?P<error>[^"]*)"')


def exit_reason(log: Path) -> str:
    """Why the process that wrote `log` ended: the last line that says so, else the last lines."""
    lines = last_lines(log, 200).splitlines()
    for line in reversed(lines):
        panic = _ETCD_PANIC.match(line)
        if panic:
            return f"etcd: {panic['message']}: {panic['error']}"
    return exit_line(log) or "\n".join(lines[-8:])


def exit_line(log: Path) -> str:
    """The last line of a log that says why its process ended; "" if none does, as after a kill."""
    reasons = [line for line in last_lines(log, 200).splitlines() if _EXIT_LINE.match(line)]
    return reasons[-1] if reasons else ""


def last_lines(log: Path, count: int) -> str:
    """The last `count` non-empty lines of a log, each cut to 300 characters."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 64 * 1024))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return "(no log)"
    return "\n".join(line[:300] for line in [line for line in lines if line.strip()][-count:]) or "(the log is empty)"
