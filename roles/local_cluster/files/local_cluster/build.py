"""Builds the control plane once, caches it, and reports progress.

The folder of a binary is named by the hash of everything that determines the binary. A change of the sources creates a
new folder, and no binary is overwritten.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_cluster import versions
from local_cluster.errors import LauncherError
from local_cluster.locking import Lock
from local_cluster.paths import CONTROL_PLANE_SOURCES, binary_cache
from local_cluster.toolchain import find_go

PACKAGES = "about 2,400"
"""The number of packages of the control plane, as `go build -v` counts them."""
REPORT_EVERY = 5.0  # seconds
_STARTED = "# started "
_POLL = 0.2  # seconds
_BEGINS_WITHIN = 3.0  # seconds
UNUSED = 30 * 24 * 3600.0
"""Seconds after which the next build removes an unused binary."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class ControlPlane:
    """What to build: a version of Kubernetes (see `versions`) from the given sources.

    Raises LauncherError for a version that cannot be built.
    """

    version: str
    sources: Path = CONTROL_PLANE_SOURCES

    def __post_init__(self) -> None:
        versions.module_file(self.version, self.sources)

    @property
    def modules(self) -> str:
        """The name of its Go module file."""
        return versions.module_file(self.version, self.sources)

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the sources that determine the binary."""
        return "main.go", self.modules, str(Path(self.modules).with_suffix(".sum"))

    @property
    def flags(self) -> list[str]:
        """The flags of `go build`."""
        major, minor, _patch = self.version.split(".")
        # Otherwise the server would report v0.0.0-master, which clients cannot parse.
        variables = {"gitVersion": f"v{self.version}", "gitMajor": major, "gitMinor": minor}
        defined = " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in variables.items())
        modules = [] if self.modules == "go.mod" else [f"-modfile={self.modules}"]
        return ["-v", "-trimpath", "-mod=readonly", *modules, "-buildvcs=false", "-ldflags", f"-s -w {defined}"]

    @property
    def binary(self) -> Path:
        """The path of the binary, whether or not it exists."""
        digest = hashlib.sha256("\n".join([sys.platform, platform.machine(), *self.flags]).encode())
        for name in self.files:
            text = (self.sources / name).read_bytes()
            digest.update(f"\n{name} {len(text)}\n".encode() + text)
        return binary_cache() / digest.hexdigest()[:16] / "control-plane"


def build(wanted: ControlPlane, progress: Progress) -> tuple[Path, bool]:
    """Build the control plane unless it exists. Return its path and whether it was built now.

    Of concurrent builds the second waits for the first. Afterwards, binaries that have not been used for long are
    removed. Raises LauncherError if Go is missing or fails.
    """
    binary = wanted.binary
    if use(binary):
        return binary, False
    go = find_go(versions.needed_go(wanted.version, wanted.sources))
    log = binary.with_name("build.log")
    report = _reporter(log, progress)
    lock = _lock(binary)
    lock.acquire(report)
    try:
        if use(binary):
            return binary, False
        _run_go(go, wanted, binary, log, report, lock)
    finally:
        lock.release()
    remove_unused(keep=binary.parent)
    return binary, True


def use(binary: Path) -> bool:
    """Record that the binary is in use. Return whether it exists."""
    try:
        os.utime(binary)
    except FileNotFoundError:
        return False
    return True


def remove_unused(keep: Path, now: float | None = None) -> list[Path]:
    """Remove and return the folders of binaries and failed builds that were not used for `UNUSED` seconds.

    `keep`, and folders of running builds, stay. now: seconds since the epoch.
    """
    oldest = (time.time() if now is None else now) - UNUSED
    removed = []
    for folder in sorted(binary_cache().iterdir()):
        binary = folder / "control-plane"
        used = binary if binary.exists() else folder / "build.log"
        try:
            old = used.stat().st_mtime < oldest
        except OSError:
            continue  # not a build's folder
        if old and folder != keep and not _lock(binary).is_held():
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    return removed


def _run_go(
    go: str, wanted: ControlPlane, binary: Path, log: Path, report: Callable[[float], None], lock: Lock
) -> None:
    temporary = binary.with_name(f".control-plane.{os.getpid()}")
    began = time.monotonic()
    try:
        with log.open("w") as output:
            output.write(f"{_STARTED}{time.time():.0f}\n")
            output.flush()
            process = subprocess.Popen(
                [go, "build", *wanted.flags, "-o", str(temporary), "."],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=wanted.sources,
                env=_environment(),
                start_new_session=True,
                # Go holds the lock too: if this launcher is killed, the next one waits for the build that continues.
                pass_fds=(lock.descriptor,),
            )
        try:
            while process.poll() is None:
                report(time.monotonic() - began)
                time.sleep(_POLL)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
        if process.returncode != 0:
            raise LauncherError(
                f"building the API server failed: {_complaint(log) or f'exit code {process.returncode}'} (log: {log})"
            )
        temporary.replace(binary)
    finally:
        temporary.unlink(missing_ok=True)


def _complaint(log: Path) -> str:
    """The first message of go build that is neither a package's name nor a download."""
    lines = log.read_text(errors="replace").splitlines()
    return next((line for line in lines if ": " in line and not line.startswith(("#", "go: downloading "))), "")


def status(wanted: ControlPlane) -> dict[str, Any]:
    """Whether the control plane is `built`, `underway` or neither, and the progress."""
    binary = wanted.binary
    log = binary.with_name("build.log")
    built = binary.is_file()
    underway = not built and _lock(binary).is_held()
    return {
        "built": built,
        "underway": underway,
        "progress": describe(log) if underway else "",
        "kubernetes_version": f"v{wanted.version}",
        "binary": str(binary),
        "log": str(log),
    }


def wait(wanted: ControlPlane, seconds: float) -> None:
    """Return when the running build ends, or after `seconds`.

    A build that was just requested may take `_BEGINS_WITHIN` seconds to begin.
    """
    deadline = time.monotonic() + seconds
    last_seen = time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - last_seen < _BEGINS_WITHIN:
        now = status(wanted)
        if now["built"]:
            return
        if now["underway"]:
            last_seen = time.monotonic()
        time.sleep(_POLL)


def _lock(binary: Path) -> Lock:
    return Lock(binary.with_name("build.lock"))


def _environment() -> dict[str, str]:
    """The user's environment (GOPROXY, GOFLAGS, GOCACHE, ...) without variables that would change the result."""
    kept = {name: value for name, value in os.environ.items() if name not in ("GOOS", "GOARCH")}
    return {**kept, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GO111MODULE": "on", "GOWORK": "off"}


def _reporter(log: Path, progress: Progress) -> Callable[[float], None]:
    """A function of the seconds so far that reports the progress every `REPORT_EVERY` seconds."""
    said = 0.0

    def report(seconds: float) -> None:
        nonlocal said
        if seconds - said >= REPORT_EVERY:
            said = seconds
            progress(describe(log))

    return report


def describe(log: Path, now: float | None = None) -> str:
    """The progress of the build that writes `log`, such as "compiled 512 of about 2,400 packages (1 min 10 s)".

    now: seconds since the epoch.
    """
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return "waiting for the build to begin"
    began = next((float(line[len(_STARTED) :]) for line in lines if line.startswith(_STARTED)), None)
    downloads = sum(line.startswith("go: downloading ") for line in lines)
    compiled = sum(not line.startswith(("#", "go: ")) for line in lines)
    if not compiled:
        # Go's cache may contain all packages; then only linking is left.
        text = f"downloaded {downloads} modules" if downloads else "looking for packages to compile"
    else:
        text = f"compiled {compiled:,} of {PACKAGES} packages"
    if began is None:
        return text
    seconds = max(0, int((time.time() if now is None else now) - began))
    took = f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"
    return f"{text} ({took})"
