"""A cluster whose disk gets full and is freed again; run in a mount namespace of its own: `full_disk.py DIRECTORY`.

Prints what happened as JSON; `test_launcher_full_disk` looks at it.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import urllib3
from kubernetes import client, config

SIZE = 200  # MiB; etcd takes some 125 at first


def main(root: Path) -> dict[str, Any]:
    """The launcher's answers before, with and after a full disk, and the cluster's objects at the end."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}m", "tmpfs", str(root)], check=True)
    directory = root / "cluster"
    start = ("start", "--no-kubevirt", "--dir", str(directory))
    try:
        result = {"started": _launch(*start)}
        core = client.CoreV1Api(config.new_client_from_config(str(directory / "kubeconfig")))
        core.create_namespace({"metadata": {"name": "kept"}})
        _fill(root / "filler")
        result["written"] = _write_until_it_fails(core)
        result["full"] = _launch(*start)
        (root / "filler").unlink()
        result["freed"] = _launch(*start)
        result["namespaces"] = [item.metadata.name for item in core.list_namespace().items]
        return result
    finally:
        (root / "filler").unlink(missing_ok=True)
        _launch("stop", "--remove", "--dir", str(directory))


def _launch(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", "local_cluster", *arguments], stdout=subprocess.PIPE, check=False)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _fill(file: Path) -> None:
    with file.open("wb", buffering=0) as output:
        try:
            while True:
                output.write(b"x" * 2**16)
        except OSError:
            return


def _write_until_it_fails(core: client.CoreV1Api) -> int:
    """The number of objects of 900 kB that the disk takes."""
    for number in range(SIZE):
        content = {"metadata": {"name": f"large-{number}"}, "data": {"text": "x" * 900_000}}
        try:
            core.create_namespaced_config_map("kept", content, _request_timeout=60)
        except (client.ApiException, urllib3.exceptions.HTTPError):
            return number
    return SIZE


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
