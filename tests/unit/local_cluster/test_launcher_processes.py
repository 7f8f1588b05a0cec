"""A recorded process is known again, and never taken for another one."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import wait_until

from local_cluster import processes


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that only waits, leader of a group of its own."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_running_process_is_found_by_its_record(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    processes.record(tmp_path / "record", sleeper.pid)
    process = processes.recorded(tmp_path / "record")
    assert process is not None
    assert process.pid == sleeper.pid


def test_zombie_process_is_not_running(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    processes.record(tmp_path / "record", sleeper.pid)
    sleeper.kill()
    wait_until(lambda: processes.recorded(tmp_path / "record") is None)
    assert sleeper.returncode is None  # nobody waited: its number still exists
    os.kill(sleeper.pid, 0)


def test_reused_process_id_is_left_alone(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    record = tmp_path / "record"
    processes.record(record, sleeper.pid)
    value = json.loads(record.read_text())
    record.write_text(json.dumps({**value, "started": value["started"] + "1"}))
    assert processes.recorded(record) is None
    assert not processes.send(record, signal.SIGKILL)
    assert not processes.stop(record, grace=5)
    assert sleeper.poll() is None
    assert not record.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "7"}', '{"pid": 1, "started": "x"}', '{"pid": -1}'])
def test_truncated_record_is_no_process(tmp_path: Path, text: str) -> None:
    (tmp_path / "record").write_text(text)
    assert processes.recorded(tmp_path / "record") is None
    assert not processes.stop(tmp_path / "record", grace=5)


def _spawn(folder: Path, code: str) -> processes.Process:
    processes.spawn(
        [sys.executable, "-c", code],
        record_as=folder / "record",
        log=folder / "log",
        cwd=folder,
        env=dict(os.environ),
    )
    process = processes.recorded(folder / "record")
    assert process is not None
    return process


def test_spawned_process_has_record_session_and_private_log(tmp_path: Path) -> None:
    code = "import pathlib,time; print('hello', flush=True); pathlib.Path('file').touch(); time.sleep(600)"
    process = _spawn(tmp_path, code)
    try:
        wait_until((tmp_path / "file").exists)
        assert os.getsid(process.pid) == process.pid != os.getsid(0)
        assert (tmp_path / "log").read_text() == "hello\n"
        for name in ("record", "log", "file"):
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    finally:
        assert processes.stop(tmp_path / "record", grace=10)
    assert processes.started(process.pid) is None


def test_temporary_files_stay_in_the_cluster(tmp_path: Path) -> None:
    _spawn(tmp_path, "import tempfile; print(tempfile.mkdtemp(), flush=True)")
    wait_until(lambda: str(tmp_path) in (tmp_path / "log").read_text())


def test_process_ignoring_sigterm_is_killed_with_children(tmp_path: Path) -> None:
    code = (
        "import os,signal,subprocess,sys,time,pathlib\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "pathlib.Path('child.tmp').write_text(str(child.pid)); os.rename('child.tmp', 'child')\n"
        "time.sleep(600)\n"
    )
    process = _spawn(tmp_path, code)
    wait_until((tmp_path / "child").exists)
    child = int((tmp_path / "child").read_text())
    assert processes.stop(tmp_path / "record", grace=0.3)
    assert processes.started(process.pid) is None
    wait_until(lambda: processes.started(child) is None)


def test_previous_log_is_kept(tmp_path: Path) -> None:
    for text in ("first", "second"):
        _spawn(tmp_path, f"print({text!r}, flush=True); import time; time.sleep(600)")
        wait_until(lambda text=text: text in (tmp_path / "log").read_text())
        processes.stop(tmp_path / "record", grace=10)
    assert (tmp_path / "log").read_text() == "second\n"
    assert (tmp_path / "log.1").read_text() == "first\n"


def test_last_lines_skip_empty_and_truncate_long(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n\n" for number in range(100)) + "x" * 1000 + "\n")
    assert processes.last_lines(log, 3).splitlines() == ["line 98", "line 99", "x" * 300]
    assert processes.last_lines(tmp_path / "missing", 3) == "(no log)"


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("I1 x\npanic: no space left\n\ngoroutine 1 [running]:\nmain.run()\n\tmain.go:1", "panic: no space left"),
        (
            '{"level":"panic","ts":"t","msg":"failed to create WAL","error":"no space left on device"}\npanic: failed',
            "etcd: failed to create WAL: no space left on device",
        ),
        ("control-plane: unknown flag: --bogus\nI1 bye", "control-plane: unknown flag: --bogus"),
        ("Traceback (most recent call last):\n  File\na.b.SomeError: text\n", "a.b.SomeError: text"),
        ("one\ntwo", "one\ntwo"),
    ],
)
def test_last_words_are_the_line_with_the_reason(tmp_path: Path, log: str, words: str) -> None:
    (tmp_path / "log").write_text(log)
    assert processes.exit_reason(tmp_path / "log") == words
