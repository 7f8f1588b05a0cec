"""The cluster of a script that compares with a real API server: a given one, or a local one of its own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FILES = Path(__file__).resolve().parents[1] / "roles" / "local_cluster" / "files"


@contextmanager
def script_cluster(given: Path | None, name: str) -> Iterator[Path]:
    """The path of a kubeconfig. name: the name of the local cluster, which is started unless a kubeconfig is given."""
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory() as folder:
        options = ("--name", name, "--dir", folder)
        try:
            yield Path(json.loads(_launch("start", *options))["kubeconfig"])
        finally:
            _launch("stop", *options)


def _launch(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(_FILES), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "local_cluster", *arguments]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
