"""The collections of others that tests and benchmarks run beside this one."""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PEERS = Path(__file__).resolve().parents[1] / ".cache" / "peers"
"""Where they are, as Ansible's path of collections names it."""
_PACKAGE = "ansible==12.3.0"
_COLLECTIONS = ("kubernetes/core", "kubevirt/core")


def fetch_peers() -> Path:
    """Fetches kubernetes.core and kubevirt.core once (55 MB), from the PyPI package that carries all of the
    community's, and returns where they are."""
    if not all((PEERS / "ansible_collections" / name / "MANIFEST.json").is_file() for name in _COLLECTIONS):
        with tempfile.TemporaryDirectory() as folder:
            fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, _PACKAGE]
            subprocess.run(fetch, check=True)
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                expected = tuple(f"ansible_collections/{name}/" for name in _COLLECTIONS)
                archive.extractall(PEERS, [name for name in archive.namelist() if name.startswith(expected)])
    return PEERS
