"""Builds the programs of a cluster once, caches them, and reports progress.

Programs of one module file are built together. Their folder is named by the hash of everything that determines them: a
change of the sources creates a new folder, and no program is overwritten.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_cluster import versions
from local_cluster.errors import LauncherError
from local_cluster.locking import Lock
from local_cluster.paths import CONTROL_PLANE_SOURCES, program_cache
from local_cluster.toolchain import find_go

REPORT_EVERY = 5.0  # seconds
_STARTED = "# started "
_POLL = 0.2  # seconds
_BEGINS_WITHIN = 3.0  # seconds
WHEEL = "virtshape_local_cluster"
"""The folder of packages with programs that somebody else has built (tools/wheel.py makes them)."""
UNUSED = 30 * 24 * 3600.0
"""Seconds after which the next build removes unused programs."""

_PACKAGES = {"go.mod": 2950}
"""Module file → how many packages it compiles, as `go build -v` counts them."""
_PACKAGES_OF_KUBEVIRT = 830
"""Of another release, after the default's: they share the standard library and a part of the modules."""
_KUBEVIRT = {
    "kubevirt": "./kubevirt",
    "virt-api": "kubevirt.io/kubevirt/cmd/virt-api",
    "virt-controller": "kubevirt.io/kubevirt/cmd/virt-controller",
}
_OPTIMIZED = (
    "std",
    "k8s.io/api/...",
    "k8s.io/apimachinery/...",
    "k8s.io/apiserver/...",
    "go.etcd.io/...",
    "sigs.k8s.io/...",
)
"""Much of what every request runs through. The rest compiles in less time without optimization, and starts no later."""
_COMPILER = ["-gcflags=all=-dwarf=false -N -l", *(f"-gcflags={packages}=-dwarf=false" for packages in _OPTIMIZED)]
"""How packages are compiled; the last match counts. The linker drops the data for debuggers, so none are made."""
_VERSION_PACKAGES = {"kubernetes": "k8s.io/component-base/version", "kubevirt": "kubevirt.io/client-go/version"}
_REMEDIES = {
    r"GOPROXY=off|: (40[0-9]|410|451|5\d\d) ": (
        "set GOPROXY to a module proxy that has it, or unset it for the default one"
    ),
    r"x509: ": "set SSL_CERT_FILE to the certificates of your proxy's authority",
    r"dial tcp|no such host|connection re|i/o timeout|TLS handshake|proxyconnect|network is unreachable": (
        "set GOPROXY or HTTPS_PROXY to a proxy that this machine reaches"
    ),
    r"checksum mismatch|SECURITY ERROR": "set GOPROXY to one that passes modules on unchanged",
    r"no space left on device": "free some space, or set GOCACHE, GOMODCACHE and XDG_CACHE_HOME to where there is more",
}
"""What go build says → what the user can do."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Programs:
    """What is built of one module file (see `versions`): the programs of a Kubernetes, of a KubeVirt, or of both."""

    module_file: str
    sources: Path = CONTROL_PLANE_SOURCES
    guest: bool = False
    """Whether this is the program that makes the domains of guests, which is built for who asks for it, and alone."""

    @property
    def releases(self) -> dict[str, str]:
        """Which of "kubernetes" and "kubevirt" the programs are of → its version."""
        return versions.versions_of(self.sources / self.module_file)

    @property
    def packages(self) -> dict[str, str]:
        """Name of the program → its package."""
        if self.guest:
            return {"guest": "./guest"}
        releases = self.releases
        return {
            **({"control-plane": "."} if "kubernetes" in releases else {}),
            **({"cdi": "./cdi"} if len(releases) == 2 else {}),
            **(_KUBEVIRT if "kubevirt" in releases else {}),
        }

    @property
    def files(self) -> list[str]:
        """The names of the sources that determine the programs."""
        own = {
            ".": ["main.go"],
            "./cdi": ["cdi/main.go"],
            "./kubevirt": ["kubevirt/main.go"],
            "./guest": ["guest/main.go"],
        }
        code = [name for package in self.packages.values() for name in own.get(package, [])]
        stand_ins = sorted(path.relative_to(self.sources) for path in (self.sources / "stand_ins").rglob("*.*"))
        modules = [self.module_file, str(Path(self.module_file).with_suffix(".sum"))]
        uses_stand_ins = "./stand_ins" in (self.sources / self.module_file).read_text()
        return [*code, *modules, *(map(str, stand_ins) if uses_stand_ins else ())]

    @property
    def flags(self) -> list[str]:
        """The flags of `go build`."""
        variables: dict[str, str] = {}
        for name, version in self.releases.items():
            major, minor, _patch = version.split(".")
            # Otherwise the servers would report versions that clients cannot parse, such as v0.0.0-master.
            values = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
            variables |= {f"{_VERSION_PACKAGES[name]}.{field}": value for field, value in values.items()}
        defined = " ".join(f"-X {name}={value}" for name, value in variables.items())
        modules = [] if self.module_file == "go.mod" else [f"-modfile={self.module_file}"]
        how = ["-v", "-trimpath", "-mod=readonly", "-buildvcs=false", *_COMPILER]
        return [*how, *modules, "-ldflags", f"-s -w {defined}"]

    @property
    def folder(self) -> Path:
        """The folder of the programs, whether or not they are built: of the cache, else of an installed wheel."""
        digest = hashlib.sha256("\n".join([sys.platform, platform.machine(), *self.flags]).encode())
        for name in self.files:
            text = (self.sources / name).read_bytes()
            digest.update(f"\n{name} {len(text)}\n".encode() + text)
        cached = program_cache() / digest.hexdigest()[:16]
        return cached if (cached / "complete").is_file() else _wheel_folder(cached.name) or cached

    @property
    def complete(self) -> Path:
        """The file that appears when all programs and manifests of the folder are there."""
        return self.folder / "complete"


def _wheel_folder(name: str) -> Path | None:
    """The folder of the installed wheel with this name, if it has one."""
    wheel = importlib.util.find_spec(WHEEL)
    folders = [Path(root) / name for root in (wheel and wheel.submodule_search_locations) or ()]
    return next((folder for folder in folders if (folder / "complete").is_file()), None)


@dataclass(frozen=True)
class ProgramSet:
    """The programs of a cluster, in the folders of their module files.

    Raises LauncherError for a version that cannot be built.
    """

    kubernetes_version: str
    kubevirt_version: str = ""
    """Empty for a cluster without KubeVirt."""
    sources: Path = CONTROL_PLANE_SOURCES
    guests: bool = False
    """Whether QEMU runs guests."""

    def __post_init__(self) -> None:
        self.parts()

    def parts(self) -> list[Programs]:
        """What is built, one entry for each module file."""
        names = versions.module_files(self.kubernetes_version, self.kubevirt_version, self.sources)
        return [
            *(Programs(name, self.sources) for name in names),
            *([Programs(versions.DEFAULT, self.sources, guest=True)] if self.guests else ()),
        ]

    def is_built(self) -> bool:
        return all(part.complete.is_file() for part in self.parts())

    def control_plane(self) -> Path:
        return self.parts()[0].folder / "control-plane"

    def kubevirt(self) -> Path:
        """The folder with virt-api, virt-controller and kubevirt.json, what virt-operator installs."""
        file = versions.kubevirt(self.sources)[self.kubevirt_version]
        return Programs(file, self.sources).folder

    def cdi(self) -> Path:
        """The folder with cdi and cdi.json, what CDI's operator installs."""
        return Programs("go.mod", self.sources).folder

    def guest(self) -> Path:
        """The program that makes the domains of guests: that of the default release, whatever the cluster's."""
        return Programs(versions.DEFAULT, self.sources, guest=True).folder / "guest"

    def folders(self) -> list[str]:
        return [str(part.folder) for part in self.parts()]


def build(programs: ProgramSet, progress: Progress) -> bool:
    """Build the programs that do not exist. Return whether there were any.

    Of concurrent builds the second waits for the first. Afterwards, programs that have not been used for long are
    removed. Raises LauncherError if Go is missing or fails.
    """
    missing = [part for part in programs.parts() if not use(part)]
    for part in missing:
        _build(part, progress)
    if missing:
        remove_unused(keep=[part.folder for part in programs.parts()])
    return bool(missing)


def _build(part: Programs, progress: Progress) -> None:
    go = find_go(versions.go_version(part.sources / part.module_file))
    log = part.folder / "build.log"
    report = _reporter(log, progress)
    lock = _lock(part.folder)
    lock.acquire(report)
    try:
        if not use(part):
            _run_go(go, part, log, report, lock)
            _write_manifests(part)
            part.complete.touch()
    finally:
        lock.release()


def _write_manifests(part: Programs) -> None:
    """Write what the operators of the built release install, as JSON."""
    if part.guest:
        return
    if "kubevirt" in part.releases:
        tag = f"v{part.releases['kubevirt']}"
        operator = {"VIRT_OPERATOR_IMAGE": f"quay.io/kubevirt/virt-operator:{tag}", "KUBEVIRT_VERSION": tag}
        program = part.folder / "kubevirt"
        _print_to(part.folder / "kubevirt.json", [str(program)], {**os.environ, **operator})
        program.unlink()
    if "cdi" in part.packages:
        _print_to(part.folder / "cdi.json", [str(part.folder / "cdi"), "-manifests"], dict(os.environ))


def _print_to(file: Path, command: list[str], env: dict[str, str]) -> None:
    done = subprocess.run(command, env=env, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise LauncherError(f"{Path(command[0]).name} does not print its manifests: {' '.join(last)}")
    file.write_bytes(done.stdout)


def use(part: Programs) -> bool:
    """Record that the programs are in use. Return whether they exist."""
    with contextlib.suppress(OSError):  # missing, or in a wheel that somebody else has installed
        os.utime(part.complete)
    return part.complete.is_file()


def remove_unused(keep: Sequence[Path], now: float | None = None) -> list[Path]:
    """Remove and return the folders of programs and failed builds that were not used for `UNUSED` seconds.

    `keep`, and folders of running builds, stay. now: seconds since the epoch.
    """
    oldest = (time.time() if now is None else now) - UNUSED
    removed = []
    for folder in sorted(program_cache().iterdir()):
        complete = folder / "complete"
        used = complete if complete.exists() else folder / "build.log"
        try:
            old = used.stat().st_mtime < oldest
        except OSError:
            continue  # not a build's folder
        if old and folder not in keep and not _lock(folder).is_held():
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    return removed


def _run_go(go: str, part: Programs, log: Path, report: Callable[[float], None], lock: Lock) -> None:
    temporary = part.folder / f".building.{os.getpid()}"
    temporary.mkdir(exist_ok=True)
    began = time.monotonic()
    try:
        with log.open("w") as output:
            output.write(f"{_STARTED}{time.time():.0f} {_PACKAGES.get(part.module_file, _PACKAGES_OF_KUBEVIRT)}\n")
            output.flush()
            process = subprocess.Popen(
                [go, "build", *part.flags, "-o", f"{temporary}{os.sep}", *part.packages.values()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=part.sources,
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
                f"building {_title(part)} failed: {_first_error(log) or f'exit code {process.returncode}'} (log: {log})"
            )
        for program in temporary.iterdir():
            program.replace(part.folder / program.name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _title(part: Programs) -> str:
    if part.guest:
        return "the program for guests"
    titles = {"kubernetes": "the API server", "kubevirt": "KubeVirt"}
    return " and ".join(titles[name] for name in part.releases)


def _first_error(log: Path) -> str:
    """The first message of go build that is neither a package's name nor a download, with the remedy if it is known."""
    lines = log.read_text(errors="replace").splitlines()
    said = next((line for line in lines if ": " in line and not line.startswith(("#", "go: downloading "))), "")
    remedy = next((text for pattern, text in _REMEDIES.items() if re.search(pattern, said)), "")
    return f"{said}; {remedy}" if remedy else said


def status(programs: ProgramSet) -> dict[str, Any]:
    """Whether the programs are `built`, their build is `underway` or neither, and the progress."""
    missing = [part for part in programs.parts() if not part.complete.is_file()]
    running = next((part for part in missing if _lock(part.folder).is_held()), None)
    return {
        "built": not missing,
        "underway": running is not None,
        "progress": describe(running.folder / "build.log") if running else "",
        "kubernetes_version": f"v{programs.kubernetes_version}",
        "kubevirt_version": f"v{programs.kubevirt_version}" if programs.kubevirt_version else None,
        "folders": programs.folders(),
    }


def wait(programs: ProgramSet, seconds: float) -> None:
    """Return when the running build ends, or after `seconds`.

    A build that was just requested may take `_BEGINS_WITHIN` seconds to begin.
    """
    deadline = time.monotonic() + seconds
    last_seen = time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - last_seen < _BEGINS_WITHIN:
        current = status(programs)
        if current["built"]:
            return
        if current["underway"]:
            last_seen = time.monotonic()
        time.sleep(_POLL)


def _lock(folder: Path) -> Lock:
    return Lock(folder / "build.lock")


def _environment() -> dict[str, str]:
    """The user's environment (GOPROXY, GOFLAGS, GOCACHE, ...) without variables that would change the result."""
    environment = {name: value for name, value in os.environ.items() if name not in ("GOOS", "GOARCH")}
    return {**environment, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GO111MODULE": "on", "GOWORK": "off"}


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
    first = next((line[len(_STARTED) :].split() for line in lines if line.startswith(_STARTED)), [])
    began, packages = (float(first[0]), int(first[1])) if len(first) == 2 else (None, 0)
    downloads = sum(line.startswith("go: downloading ") for line in lines)
    compiled = sum(not line.startswith(("#", "go: ")) for line in lines)
    if not compiled:
        # Go's cache may contain all packages; then only linking is left.
        text = f"downloaded {downloads} modules" if downloads else "looking for packages to compile"
    else:
        text = f"compiled {compiled:,} of about {packages:,} packages"
    if began is None:
        return text
    seconds = max(0, int((time.time() if now is None else now) - began))
    took = f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"
    return f"{text} ({took})"
