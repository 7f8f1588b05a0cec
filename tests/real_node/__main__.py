"""Runs a cluster with real nodes: `python -m real_node {compare,hold}` in tests/, as root on Linux.

    compare FILE   run each scenario on a simulated and on a real node; write what was seen as JSON
    hold           keep the cluster until Ctrl-C; the line that says how to enter its namespaces comes first

This process builds and cleans up; the cluster is in the namespaces of a child, which starts this program again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
_IMPORTED = (".cache/collections", "roles/local_cluster/files", "tests", "tests/integration/modules")
sys.path[:0] = [str(CHECKOUT / folder) for folder in _IMPORTED]

from local_cluster.paths import program_cache  # noqa: E402
from real_node.build import Parts, build  # noqa: E402
from real_node.cluster import Cluster  # noqa: E402
from real_node.requirements import lacking  # noqa: E402

_NAMESPACES = ("--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc")
LOGS = CHECKOUT / ".cache" / "real-node"
"""The logs of the last run."""
_BEGAN = time.monotonic()


def main() -> int:
    parser = argparse.ArgumentParser(prog="real_node", description=str(__doc__).partition("\n")[0])
    parser.add_argument("command", choices=["compare", "hold"])
    parser.add_argument("out", nargs="?", type=Path, help="where compare writes what it saw")
    parser.add_argument("--scenario", action="append", default=[], metavar="NAME", help="one of those to compare")
    parser.add_argument("--guest", type=Path, metavar="FILE", help="the guests' disk, a qcow2, instead of make_guest's")
    parser.add_argument("--inside", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupted)
    return _inside(options) if options.inside else _outside(options)


def _outside(options: argparse.Namespace) -> int:
    why = lacking()
    if why:
        print(f"real_node: {why}", file=sys.stderr)
        return 2
    parts = build(options.guest or _guest(), _progress)
    with tempfile.TemporaryDirectory(prefix="run.", dir=program_cache().parent / "real-node") as name:
        folder = Path(name)
        given = {"folder": name, **{key: str(path) for key, path in vars(parts).items()}}
        own = [sys.executable, "-m", "real_node", *sys.argv[1:], "--inside", json.dumps(given)]
        child = subprocess.Popen(
            ["unshare", *_NAMESPACES, *own], env={**os.environ, "PYTHONPATH": str(CHECKOUT / "tests")}
        )
        try:
            return child.wait()
        finally:
            # Ends all processes of the namespaces, and with them the mounts.
            child.kill()
            child.wait()
            _keep_logs(folder)
            for node in Cluster(folder, parts, _progress).nodes:
                node.remove_cgroups()


def _guest() -> Path:
    _progress("making the guest")
    minimal = [sys.executable, str(CHECKOUT / "tools/make_guest.py"), "--minimal"]
    return Path(subprocess.run(minimal, check=True, stdout=subprocess.PIPE, text=True).stdout.strip())


def _inside(options: argparse.Namespace) -> int:
    given = {key: Path(path) for key, path in options.inside.items()}
    folder = given.pop("folder")
    cluster = Cluster(folder, Parts(**given), _progress)
    try:
        cluster.start()
        _progress("the cluster is ready")
        if options.command == "hold":
            print(f"KUBECONFIG={cluster.kubeconfig}", flush=True)
            signal.pause()
        from plugins_by_path import install

        install()
        from real_node.compare import compare

        found = compare(cluster, options.scenario, _progress)
        options.out.write_text(json.dumps(found, indent=1))
    finally:
        cluster.stop()
    return 0


def _keep_logs(folder: Path) -> None:
    shutil.rmtree(LOGS, ignore_errors=True)
    for pattern in ("cluster/logs/*.log", "node?/node.log", "node?/node/*.log"):
        for log in folder.glob(pattern):
            kept = LOGS / log.relative_to(folder)
            kept.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(OSError):
                shutil.copy(log, kept)


def _progress(line: str) -> None:
    print(f"{time.monotonic() - _BEGAN:4.0f} s  {line}", file=sys.stderr, flush=True)


def _interrupted(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
