"""One command as a whole: wall time, CPU time, and the peak memory of its parts."""

import os
import resource
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import NamedTuple

_POLL = 0.03  # seconds


class Measured(NamedTuple):
    """wall, cpu: seconds; cpu counts all processes that the command started and waited for.
    controller, module: peak resident MiB of the command's own process, and of the largest one below it, which executes
    the module. finished: whether it ended by itself."""

    wall: float
    cpu: float
    controller: float
    module: float
    finished: bool


def measure(command: list[str], environment: dict[str, str], output: Path, limit: float | None = None) -> Measured:
    """Runs the command; raises SystemExit with the end of its output if it fails. limit: seconds after which it is
    stopped."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    with output.open("w") as log:
        process = subprocess.Popen(
            command, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        watch = _Watch(process.pid)
        status, finished = _status(process, limit)
        wall = time.monotonic() - began
        watch.end()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if status and finished:
        raise SystemExit(f"{' '.join(command)} ended with {status}:\n{output.read_text()[-3000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(wall, cpu, watch.controller, watch.module, finished)


def _status(process: subprocess.Popen[bytes], limit: float | None) -> tuple[int, bool]:
    """The exit status, and whether the command ended by itself. If not, all of its session ends."""
    try:
        return process.wait(limit), True
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait(), False


class _Watch:
    """Looks at the peak memory of a process and of those below it until asked to end. MiB."""

    def __init__(self, root: int) -> None:
        self.controller = 0.0
        self.module = 0.0
        self._root = root
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(_POLL):
            for pid in _tree(self._root):
                peak = _peak(pid)
                if pid == self._root:
                    self.controller = max(self.controller, peak)
                else:
                    self.module = max(self.module, peak)


def _tree(root: int) -> list[int]:
    result = [root]
    for pid in result:
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                children = (task / "children").read_text()
                result.extend(int(child) for child in children.split())
        except OSError:
            continue
    return result


def _peak(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    _before, _name, rest = status.partition("VmHWM:")
    return int(rest.split()[0]) / 1024 if rest else 0.0
