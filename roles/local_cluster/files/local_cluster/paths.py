"""The paths of the cache of built programs, and of a cluster's state directory.

    <cache>/virtshape/control-plane/<hash>/     programs, manifests, build.log
    <state>/virtshape/local-cluster/<name>/     see `Layout`

<cache> is $XDG_CACHE_HOME or ~/.cache, <state> is $XDG_STATE_HOME or ~/.local/state.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_cluster import data
from local_cluster.errors import LauncherError

FILES = Path(__file__).resolve().parent.parent
"""The role's files/ folder: it contains this package, control_plane/ (Go), node/ and fault_proxy/."""
CONTROL_PLANE_SOURCES = FILES / "control_plane"
NODE_SOURCES = FILES / "node"
FAULT_PROXY_SOURCES = FILES / "fault_proxy"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def _xdg(variable: str, fallback: str) -> Path:
    value = os.environ.get(variable, "")
    # The XDG specification: ignore a relative path.
    return Path(value) if value.startswith("/") else Path.home() / fallback


def program_cache() -> Path:
    """The folder with one folder for the programs of each module file."""
    return _xdg("XDG_CACHE_HOME", ".cache") / "virtshape" / "control-plane"


def is_label(name: str) -> bool:
    """Whether `name` is a valid name of a namespace."""
    return bool(_NAME.fullmatch(name))


def check_name(name: str) -> str:
    """Return `name` if it is a valid name of a cluster (a folder and a kubeconfig context), else raise
    LauncherError.
    """
    if not is_label(name):
        raise LauncherError(
            f"name: {name!r} cannot name a cluster; use lower-case letters, digits and '-', 63 characters at most"
        )
    return name


def default_state_dir(name: str) -> Path:
    """The default state directory of the cluster `name`."""
    return _xdg("XDG_STATE_HOME", ".local/state") / "virtshape" / "local-cluster" / check_name(name)


@dataclass(frozen=True)
class Layout:
    """A cluster's state directory. `root` is absolute; files have the mode 0600, folders 0700."""

    root: Path

    @property
    def lock(self) -> Path:
        """Locked while a launcher works on this cluster. Also marks the directory as a launcher's."""
        return self.root / "local-cluster.lock"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, for users."""
        return self.root / "kubeconfig"

    @property
    def kubeconfig_faults(self) -> Path:
        """The same through the fault proxy, if the cluster has one."""
        return self.root / "kubeconfig-faults"

    @property
    def pki(self) -> Path:
        """Keys, certificates and tokens."""
        return self.root / "pki"

    @property
    def etcd(self) -> Path:
        """etcd's data; a link if they are in memory (see `data`)."""
        return self.root / "etcd"

    @property
    def run(self) -> Path:
        """Configuration, process records, ready files and sockets of a running cluster."""
        return self.root / "run"

    @property
    def guests(self) -> Path:
        """A folder for each guest that QEMU runs."""
        return self.run / "guests"

    @property
    def volumes(self) -> Path:
        """What claims hold, for guests that QEMU runs."""
        return self.root / "volumes"

    @property
    def logs(self) -> Path:
        """One log for each process; NAME.log.1 is that of the previous run."""
        return self.root / "logs"

    @property
    def cluster(self) -> Path:
        """JSON: the settings and ports of the last complete start."""
        return self.root / "cluster.json"

    @property
    def data_kept(self) -> Path:
        """Exists if the last stop was to keep the data, which must then not be removed without a request."""
        return self.root / "data-kept"

    @property
    def unfinished(self) -> Path:
        """Exists while the data are of a first start that has not finished: half installed, and nobody's."""
        return self.root / "unfinished"

    def kept_release(self) -> str:
        """The release of KubeVirt that wrote the data; "" without data or KubeVirt.

        A start that does not name a release keeps it: an upgrade has no way back.
        """
        state = read_json(self.cluster)
        settings = (state.get("settings") if isinstance(state, dict) else None) or {}
        return str(settings["kubevirt_version"]) if settings.get("kubevirt") and data.present(self.etcd) else ""

    def process(self, part: str) -> Path:
        """The record (see `processes`) of a part of the cluster, or of `launcher`."""
        return self.run / f"{part}.process.json"

    def log(self, part: str) -> Path:
        """The log of a part of the cluster."""
        return self.logs / f"{part}.log"

    def create(self) -> None:
        """Create the directory and its folders; refuse a directory with other contents."""
        if self.root.exists() and not self.root.is_dir():
            raise LauncherError(f"dir: {self.root} is not a directory")
        if self.root.is_dir() and not self.lock.exists() and any(self.root.iterdir()):
            raise LauncherError(f"dir: {self.root} contains files of something else; set dir to an empty directory")
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.root.chmod(0o700)

    def create_folders(self) -> None:
        """Create the folders inside the directory (under the lock), except the data's (see `data.place`)."""
        for folder in (self.pki, self.run, self.logs):
            folder.mkdir(mode=0o700, exist_ok=True)

    def remove_data(self) -> None:
        """Remove etcd's data, and what claims hold."""
        data.remove(self.etcd)
        shutil.rmtree(self.volumes, ignore_errors=True)
        self.data_kept.unlink(missing_ok=True)
        self.unfinished.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove only files of launchers; the lock last, because it marks the directory as ours."""
        self.remove_data()
        for folder in (self.run, self.logs, self.pki):
            shutil.rmtree(folder, ignore_errors=True)
        for file in (self.kubeconfig, self.kubeconfig_faults, self.cluster, self.lock):
            file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty: it contains a user's files, or the lock of the next launcher
            self.root.rmdir()


def write_secret(path: Path, text: str | bytes) -> None:
    """Write `path` atomically, with mode 0600."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # the error of a full disk has the number of an open file
        raise


def write_json(path: Path, value: Any) -> None:
    """Write `value` as JSON, with `write_secret`."""
    write_secret(path, json.dumps(value, indent=2) + "\n")


def read_json(path: Path) -> Any:
    """The value in `path`; None if the file is missing or not JSON (after a crash or on a full disk)."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None
