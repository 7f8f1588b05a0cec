"""Builds what real nodes are made of, once: a root of Debian packages, programs of Go modules, and images.

    root       Debian with containerd, runc, libvirt and QEMU: of nodes and of the image of virt-launcher
    programs   kubelet of the local cluster's Kubernetes; virt-handler, virt-launcher and what they call of its KubeVirt
    multus     Multus, which gives pods more than one network
    images     docker archives for `ctr images import`

Each is a folder in the user's cache, named by the hash of what determines it. KubeVirt's configuration files come from
its module.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from local_cluster import versions
from local_cluster.locking import Lock
from local_cluster.paths import CONTROL_PLANE_SOURCES, program_cache
from local_cluster.toolchain import find_go
from real_node import images

HERE = Path(__file__).resolve().parent
SUITE = "trixie"
PACKAGES = (
    *("ca-certificates", "containerd", "runc", "containernetworking-plugins", "iproute2", "iptables", "nftables"),
    *("conntrack", "socat", "kmod", "procps", "util-linux", "e2fsprogs", "xfsprogs", "ethtool", "acl"),
    *("libvirt-daemon", "libvirt-daemon-system", "libvirt-daemon-driver-qemu", "libvirt-clients"),
    *("qemu-system-x86", "qemu-utils", "xorriso", "swtpm", "swtpm-tools", "ovmf", "passt"),
    *("libvirt-dev", "libc6-dev"),
)
"""What the root has; the last row is for the compiler."""
_UNUSED = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*")
_OF_KUBEVIRT = (
    *("virt-handler", "virt-chroot", "virt-launcher", "virt-launcher-monitor", "virt-launcher/libvirt-hook-client"),
    *("virt-freezer", "virt-probe", "virt-tail"),
)
_PLAIN = ("-v", "-p=1", "-trimpath", "-mod=mod", "-buildvcs=false")
_COMPILER = ("-gcflags=all=-dwarf=false -N -l", "-gcflags=std=-dwarf=false")
_SHARED = ("k8s.io/api/...", "k8s.io/apimachinery/...", "k8s.io/apiserver/...", "go.etcd.io/...", "sigs.k8s.io/...")
"""As the role compiles them, so that both share what is compiled."""
_ORDERED = ("kubevirt.io/kubevirt/pkg/monitoring/...", "github.com/rhobs/...")
"""Their variables are initialized in the right order only by an optimizing compiler."""
_KUBERNETES = "k8s.io/kubernetes"
_KUBEVIRT = "kubevirt.io/kubevirt"
_LIBNBD = "libguestfs.org/libnbd"
_KUBELET_API = "k8s.io/kubelet"
_MULTUS = "gopkg.in/k8snetworkplumbingwg/multus-cni.v4"
_MULTUS_VERSION = "4.2.3"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Parts:
    """Where the parts of a node are."""

    root: Path
    programs: Path
    multus: Path
    images: Path


def build(guest: Path, progress: Progress) -> Parts:
    """Build what is not there yet. guest: the disk that the guests boot from, a qcow2."""
    sources = {name: (CONTROL_PLANE_SOURCES / name).read_text() for name in ("go.mod", "go.sum")}
    own = {path.name: path.read_text() for path in (*sorted((HERE / "libnbd").iterdir()), HERE / "pause.c")}
    root = _once("root", {"suite": SUITE, "packages": " ".join(PACKAGES)}, _make_root, progress)
    flags = " ".join((*_PLAIN, *_COMPILER, *_SHARED, *_ORDERED, *_OF_KUBEVIRT))
    key = {**sources, **own, "flags": flags, "root": root.name, **({} if _has_dummies() else {"dummies": "bridges"})}
    programs = _once("programs", key, lambda folder: _make_programs(folder, root), progress)
    multus_key = {**sources, "flags": flags, "version": _MULTUS_VERSION}
    multus = _once("multus", multus_key, _make_multus, progress)
    code = (HERE / "images.py").read_text()
    disk = f"{guest.name} {guest.stat().st_size}"
    made = _once(
        "images",
        {"programs": programs.name, "code": code, "guest": disk},
        lambda folder: images.make(folder, root, programs, module(_KUBEVIRT), guest),
        progress,
    )
    return Parts(root, programs, multus, made)


def kubevirt_version() -> str:
    """The release of KubeVirt, such as 1.9.0."""
    return versions.default_kubevirt()


def module(path: str) -> Path:
    """The folder of KubeVirt's, Kubernetes' or Multus' module, in Go's cache."""
    used = {_KUBEVIRT: kubevirt_version(), _KUBERNETES: versions.default_kubernetes(), _MULTUS: _MULTUS_VERSION}
    downloaded = _run(_go(), "mod", "download", "-json", f"{path}@v{used[path]}", cwd=Path("/"))
    return Path(json.loads(downloaded)["Dir"])


def _once(name: str, key: Mapping[str, str], make: Callable[[Path], None], progress: Progress) -> Path:
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    folder = program_cache().parent / "real-node" / f"{name}-{digest}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = Lock(folder.with_suffix(".lock"))
    lock.acquire(None)
    try:
        if not folder.is_dir():
            progress(f"making {name}")
            with tempfile.TemporaryDirectory(prefix=f"{name}.", dir=folder.parent) as temporary:
                made = Path(temporary) / "made"
                made.mkdir()
                make(made)
                made.rename(folder)
    finally:
        lock.release()
    return folder


def _make_root(folder: Path) -> None:
    excluded = [f"--dpkgopt=path-exclude={pattern}" for pattern in _UNUSED]
    include = f"--include={','.join(PACKAGES)}"
    _run("mmdebstrap", "--quiet", "--variant=apt", *excluded, include, SUITE, str(folder))


def _make_programs(folder: Path, root: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        kubernetes = _sources(Path(temporary) / "kubernetes", _KUBERNETES)
        compiler = _compiler()
        version = f"-X k8s.io/component-base/version.gitVersion=v{versions.default_kubernetes()}"
        _go_build(kubernetes, folder, [*compiler, f"-ldflags=-s -w {version}"], [f"{_KUBERNETES}/cmd/kubelet"], {})

        kubevirt = _sources(Path(temporary) / "kubevirt", _KUBEVIRT)
        shutil.copytree(HERE / "libnbd", kubevirt / "libnbd")
        cgroups = "github.com/opencontainers/cgroups"
        for path, found in {cgroups: f"{cgroups}@{_required(cgroups, _KUBEVIRT)}", _LIBNBD: "./libnbd"}.items():
            _run(_go(), "mod", "edit", "-replace", f"{path}={found}", cwd=kubevirt)
        _run(_go(), "mod", "edit", "-require", f"{_LIBNBD}@{_required(_LIBNBD, _KUBEVIRT)}", cwd=kubevirt)
        version = f"-X kubevirt.io/client-go/version.gitVersion=v{kubevirt_version()}"
        flags = [*compiler, "-tags=netgo,osusergo", f"-ldflags=-s -w {version}"]
        if not _has_dummies():
            _make_bridges_for_dummies(kubevirt)
        packages = [f"{_KUBEVIRT}/cmd/{name}" for name in _OF_KUBEVIRT]
        _go_build(kubevirt, folder, flags, packages, _compiler_of(root))
    gcc = ["gcc", f"--sysroot={root}", "-static", "-O2"]
    container_disk = module(_KUBEVIRT) / "cmd/container-disk-v2alpha/main.c"
    for program, source in {"container-disk": container_disk, "pause": HERE / "pause.c"}.items():
        _run(*gcc, "-o", str(folder / program), str(source))


def _has_dummies() -> bool:
    """Whether the kernel has the driver of network devices that do nothing."""
    command = ["unshare", "--net", "ip", "link", "add", "try0", "type", "dummy"]
    return not subprocess.run(command, capture_output=True, check=False).returncode


def _make_bridges_for_dummies(sources: Path) -> None:
    """Have virt-handler make empty bridges instead, and tell them by their names from those that it makes itself."""
    netlink = "github.com/vishvananda/netlink"
    found = _run(_go(), "list", "-mod=mod", "-m", "-f", "{{.Dir}}", netlink, cwd=sources).strip()
    shutil.copytree(found, sources / "netlink", copy_function=shutil.copyfile)
    is_own = 'len(bridge.Name) >= 4 && bridge.Name[:4] == "k6t-"'
    bridge = "func (bridge *Bridge) Type() string {\n"
    changes = {
        "link.go": {bridge: f'{bridge}\tif !({is_own}) {{\n\t\treturn "dummy"\n\t}}\n'},
        "link_linux.go": {"link.Type())": 'strings.Replace(link.Type(), "dummy", "bridge", 1))'},
    }
    for name, texts in changes.items():
        path = sources / "netlink" / name
        for before, after in texts.items():
            path.write_text(path.read_text().replace(before, after))
    _run(_go(), "mod", "edit", "-replace", f"{netlink}=./netlink", cwd=sources)


def _make_multus(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        sources = _sources(Path(temporary) / "multus", _MULTUS)
        # Newer ones name a field otherwise.
        kubelet_api = f"{_KUBELET_API}={_KUBELET_API}@{_required(_KUBELET_API, _MULTUS)}"
        required = f"{_MULTUS}@v{_MULTUS_VERSION}"
        _run(_go(), "mod", "edit", "-replace", kubelet_api, "-require", required, cwd=sources)
        _go_build(sources, folder, [*_compiler(), "-ldflags=-s -w"], [f"{_MULTUS}/cmd/multus"], {})


def _compiler() -> list[str]:
    return [*_COMPILER, *(f"-gcflags={packages}=-dwarf=false" for packages in (*_SHARED, *_ORDERED))]


def _sources(folder: Path, of: str) -> Path:
    """A folder with the local cluster's module file and all checksums that a module of it knows."""
    folder.mkdir()
    shutil.copytree(CONTROL_PLANE_SOURCES / "stand_ins", folder / "stand_ins")
    shutil.copy(CONTROL_PLANE_SOURCES / "go.mod", folder)
    sums = [(place / "go.sum").read_text().splitlines() for place in (CONTROL_PLANE_SOURCES, module(of))]
    (folder / "go.sum").write_text("".join(f"{line}\n" for line in sorted({line for lines in sums for line in lines})))
    return folder


def _required(path: str, of: str) -> str:
    """The version of a module that the module file of another requires."""
    lines = (module(of) / "go.mod").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.strip().startswith(f"{path} "))


def _compiler_of(root: Path) -> dict[str, str]:
    """The environment in which this machine's compiler uses the headers and libraries of the root."""
    found = f"{root}/usr/lib/x86_64-linux-gnu/pkgconfig:{root}/usr/share/pkgconfig"
    sysroot = {"PKG_CONFIG_SYSROOT_DIR": str(root), "PKG_CONFIG_LIBDIR": found}
    return {"CGO_ENABLED": "1", "CC": f"gcc --sysroot={root}", **sysroot}


def _go_build(sources: Path, folder: Path, flags: list[str], packages: list[str], environment: dict[str, str]) -> None:
    command = [_go(), "build", *_PLAIN, *flags, "-o", f"{folder}{os.sep}", *packages]
    _run(*command, cwd=sources, environment=environment)


def _go() -> str:
    return find_go(versions.go_version(CONTROL_PLANE_SOURCES / "go.mod"))


def _run(*command: str, cwd: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    go = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    env = {**os.environ, **go, **(environment or {})}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-15:])
        raise RuntimeError(f"{' '.join(command[:6])} ended with {done.returncode}:\n{said}")
    return done.stdout
