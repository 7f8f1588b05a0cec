"""ansible-rulebook as a process, and the events that its rules print."""

import ast
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Event = dict[str, Any]

CHECKOUT = Path(__file__).parents[2]
REQUIREMENTS = ("ansible-rulebook==1.3.2", "ansible-core", "kubernetes", "PyYAML")
# ansible-rulebook gives its actions a minute to end.
_END = 120


def java() -> str | None:
    """The home of a Java that is new enough, None without one."""
    program = shutil.which("java")
    if program is None:
        return None
    version = subprocess.run([program, "-version"], check=False, capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', version)
    return str(Path(program).resolve().parents[1]) if found and int(found[1]) >= 17 else None


class Rulebook:
    """A rulebook that is started again and again. out: what it prints, over all starts."""

    def __init__(self, programs: Path, folder: Path, rulebook: str | list[Event], *options: str, **variables: Any):
        """rulebook: its name, or its rule sets.

        options: more of ansible-rulebook. variables: the variables of the rulebook.
        """
        folder.mkdir()
        self.out = folder / "out.txt"
        self.out.touch()
        self._offset = 0
        self._events: list[Event] = []
        self._programs = programs
        (folder / "variables.yml").write_text(json.dumps(variables))
        # The rulebook of docs/events.md.
        host = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
        (folder / "inventory.yml").write_text(json.dumps({"all": {"hosts": {"localhost": host}}}))
        if isinstance(rulebook, list):
            (folder / "rulebook.yml").write_text(json.dumps(rulebook))
            rulebook = str(folder / "rulebook.yml")
        self._command = [str(programs / "ansible-rulebook"), "--rulebook", rulebook, "--vars"]
        self._command += [str(folder / "variables.yml"), "--inventory", str(folder / "inventory.yml"), *options]
        self._command += ["--persistence-id", folder.name]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = {
            **os.environ,
            "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".cache" / "collections"),
            "JAVA_HOME": str(java()),
            "PATH": f"{self._programs}:{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",
        }
        for name in ("ANSIBLE_CONFIG", "PYTHONPATH"):
            environment.pop(name, None)
        with self.out.open("ab") as out:
            self._process = subprocess.Popen(
                self._command, stdout=out, stderr=out, env=environment, cwd=self.out.parent
            )

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends it; its exit status."""
        assert self._process is not None
        self._process.send_signal(number)
        try:
            return self._process.wait(_END)
        finally:
            self._process.kill()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        self.start()
        try:
            yield
            self.stop()
        finally:
            assert self._process is not None
            self._process.kill()

    @property
    def events(self) -> list[Event]:
        """The events that `print_event` has printed so far."""
        assert self._process is None or self._process.poll() in (None, 0), self.out.read_text()[-3000:]
        with self.out.open("rb") as out:
            out.seek(self._offset)
            for line in out:
                if not line.endswith(b"\n"):
                    break
                self._offset += len(line)
                if line.startswith(b"{"):
                    self._events.append(ast.literal_eval(line.decode()))
        return self._events
