"""Starts, stops and inspects a cluster.

A cluster is up to seven processes: `control-plane` (etcd, kube-apiserver, kube-controller-manager and kube-scheduler),
KubeVirt's `virt-api` and `virt-controller`, `cdi`, the simulated `node`, the `supervisor` of all these, and
`fault-proxy`. They outlive the launcher; later launchers find them by their records.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from local_cluster import (
    control_plane,
    data,
    faults,
    guests,
    kubevirt,
    kubevirt_start,
    pki,
    ports,
    processes,
    supervisor,
    versions,
)
from local_cluster.api import ApiServer, responds
from local_cluster.build import ProgramSet, build, use
from local_cluster.errors import LauncherError
from local_cluster.locking import Lock
from local_cluster.parts import (
    CONTROL_PLANE,
    FAULT_PROXY,
    GRACE,
    LAUNCHER,
    NODE,
    OF_KUBEVIRT,
    SUPERVISOR,
    TITLES,
    VIRT_API,
    Ended,
    wait_until,
    with_free_port,
    without_proxy,
)
from local_cluster.paths import Layout, is_label, read_json, write_json

_POLL = 0.2  # seconds
_GIVE_UP_ON_LAUNCHER = 45.0  # seconds until a launcher that ignores SIGTERM is killed

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    """The user's settings of a cluster; a change needs a new start."""

    name: str
    kubernetes_version: str = field(default_factory=versions.default_kubernetes)
    kubevirt: bool = True
    """Whether KubeVirt and CDI run, or an API server only."""
    kubevirt_version: str = field(default_factory=versions.default_kubevirt)
    api_port: int = 0
    """0 means any free port."""
    log_level: str = "info"
    data: str = "disk"
    """Or "memory"."""
    faults: bool = False
    """Whether a fault proxy runs too."""
    nodes: Sequence[Any] = ()
    """Nodes on which kube-scheduler puts pods; none means two nodes on which every pod fits."""
    migratable: bool = True
    """Whether guests can migrate, which a hotplug of CPUs or memory needs."""
    stop_seconds: float = 0
    """How long a guest takes to shut down."""
    guests: str = guests.SIMULATED
    """Or "qemu"."""
    images: Mapping[str, str] = field(default_factory=dict)
    """Image, or pattern of images → the file that guests of QEMU get in its place."""

    def programs(self) -> ProgramSet:
        """What has to be built. Raises LauncherError for versions that cannot be."""
        release = self.kubevirt_version if self.kubevirt else ""
        return ProgramSet(self.kubernetes_version, release, guests=self.guests == guests.QEMU)

    def parts(self) -> list[str]:
        """The processes of the cluster."""
        return [CONTROL_PLANE, *(OF_KUBEVIRT if self.kubevirt else ()), *([FAULT_PROXY] if self.faults else [])]


@dataclass(frozen=True)
class Adjustments:
    """Settings that can change while the cluster runs; None leaves one unchanged."""

    namespaces: Sequence[str] = ()
    """Namespaces to create, each with a boot source; others stay."""
    reference_policy: str | None = None
    fault_rules: Sequence[Any] | None = None
    fault_seed: int | None = None

    def check(self, settings: Settings) -> None:
        """Raise LauncherError if these settings do not permit them."""
        for name in self.namespaces:
            if not is_label(name):
                raise LauncherError(
                    f"namespaces: {name!r} cannot name a namespace; use lower-case letters, digits, '-'"
                )
        if self.reference_policy and not settings.kubevirt:
            raise LauncherError("reference_policy: the cluster has no KubeVirt; leave the option out")
        if self.fault_rules is not None and not settings.faults:
            raise LauncherError("fault_rules: the cluster has no fault proxy; set faults too")
        if self.fault_seed is not None and self.fault_rules is None:
            raise LauncherError("fault_seed: requires fault_rules; set fault_rules too, or leave fault_seed out")
        faults.check(self.fault_rules or (), self.fault_seed)


def _api(layout: Layout, port: int) -> ApiServer:
    """The API server at a port, with the administrator's credentials. Raises KeyError if they are gone."""
    return ApiServer(port, layout.pki / "ca.crt", pki.token(layout.pki, "admin"))


class _Cluster:
    """A cluster's directory, and the state of its parts."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        state = read_json(layout.cluster)
        self.state: dict[str, Any] = state if isinstance(state, dict) else {}

    def running(self) -> dict[str, int]:
        """Part → process number of each running part."""
        records = {part: processes.recorded(self.layout.process(part)) for part in GRACE}
        return {part: process.pid for part, process in records.items() if process is not None}

    def port(self, part: str) -> int:
        """The port of `part` in the last complete start; 0 if unknown."""
        value = self.state.get("ports", {}).get(part, 0)
        return value if isinstance(value, int) else 0

    def parts(self) -> list[str]:
        """The processes of the last complete start."""
        return list(self.state.get("ports", {}))

    def server(self) -> str:
        return f"https://{ports.HOST}:{self.port(CONTROL_PLANE)}"

    def api(self) -> ApiServer:
        """The running API server."""
        return _api(self.layout, self.port(CONTROL_PLANE))

    def fault_control(self) -> faults.FaultControl:
        """The faults of the running proxy."""
        return faults.FaultControl(self.layout, self.port(FAULT_PROXY))

    def unhealthy_reason(self) -> str:
        """Why this cluster does not run as it was started; "" if it does."""
        if not self.state:
            return "it was not started"
        running = self.running()
        for part in (*self.parts(), SUPERVISOR):
            if part not in running:
                return f"{TITLES[part]} does not run"
        ca = self.layout.pki / "ca.crt"
        try:
            api = self.api()
        except KeyError:
            return "its tokens are gone"
        for file in (ca, self.layout.kubeconfig):
            if not file.is_file():
                return f"its file {file.name} is gone"
        if not api.is_ready():
            return f"{TITLES[CONTROL_PLANE]} is not ready"
        for part in self.parts():
            signer = self.layout.pki / "services-ca.crt" if part in OF_KUBEVIRT else ca
            client = self.layout.pki / "virt-handler-client.crt" if part == NODE else None
            if part != CONTROL_PLANE and not responds(self.port(part), signer, client):
                return f"{TITLES[part]} does not answer"
        return ""


def start(
    layout: Layout,
    settings: Settings,
    adjustments: Adjustments,
    progress: Progress,
    timeout: float,
    check: bool = False,
) -> dict[str, Any]:
    """Make the cluster run with `settings` and `adjustments`; each part has `timeout` seconds to become ready.

    A cluster that already does so is unchanged; different adjustments do not restart it. Otherwise everything left of
    an earlier run is stopped first; data that a stop has kept are reused. check: only report.
    """
    began = time.monotonic()
    adjustments.check(settings)
    guests.check(settings.guests, settings.images, kubevirt=settings.kubevirt)
    programs = settings.programs()
    if check:
        cluster = _Cluster(layout)
        reason = _start_reason(cluster, settings, programs, cluster.unhealthy_reason())
        changed = bool(reason) or _adjust(cluster, settings, adjustments, timeout, check=True)
        planned = {"name": settings.name, "kubevirt": settings.kubevirt, "built": programs.is_built()}
        return _result(cluster, changed=changed, reason=reason, **planned)
    layout.create()
    with _locked(layout, starting=True):
        cluster = _Cluster(layout)
        mended, unhealthy = _mended(cluster, settings, progress, timeout)
        reason = _start_reason(cluster, settings, programs, unhealthy)
        if not reason:
            for part in programs.parts():
                use(part)
        else:
            build(programs, progress)
            if settings.kubevirt or settings.faults:
                kubevirt.check_installed()
            try:
                _stop_parts(layout)
                if layout.unfinished.exists():
                    layout.remove_data()  # a launcher was killed
                data.place(layout.etcd, settings.data)
                if not data.present(layout.etcd):
                    layout.unfinished.touch(mode=0o600)
                _start_parts(layout, cluster, settings, programs, progress, timeout)
                layout.unfinished.unlink(missing_ok=True)
            except BaseException:
                # After any failure, including Ctrl-C and `stop`, stop the parts that have started.
                with _signals_ignored():
                    _stop_parts(layout)
                    if layout.unfinished.exists():
                        layout.remove_data()
                raise
        cluster = _Cluster(layout)
        adjusted = _adjust(cluster, settings, adjustments, timeout)
    seconds = round(time.monotonic() - began, 1)
    changed = bool(reason or mended or adjusted)
    return _result(cluster, changed=changed, reason=reason or mended, state="running", seconds=seconds)


def _mended(cluster: _Cluster, settings: Settings, progress: Progress, timeout: float) -> tuple[str, str]:
    """Bring back a supervisor that has ended, and wait for the parts that it starts again, so that no other part is
    started again. Return what was wrong and is right again, and what is wrong still; "" for nothing.
    """
    reason = began = cluster.unhealthy_reason()
    running = cluster.running()
    if cluster.state and running and SUPERVISOR not in running:
        progress(f"{TITLES[SUPERVISOR]} does not run; starting it again")
        supervisor.resume(cluster.layout, kubevirt_start.environment(settings))
        reason = cluster.unhealthy_reason()
    deadline = time.monotonic() + min(timeout, supervisor.BECOMES_READY)
    while reason and supervisor.is_at_work(cluster.layout) and time.monotonic() < deadline:
        time.sleep(_POLL)
        reason = cluster.unhealthy_reason()
    return ("", reason) if reason else (began, "")


def _adjust(
    cluster: _Cluster, settings: Settings, adjustments: Adjustments, timeout: float, *, check: bool = False
) -> bool:
    """Change the settings that can change while the cluster runs. Return whether there were any."""
    missing = [name for name in adjustments.namespaces if not cluster.api().has_namespace(name)]
    changed = bool(missing)
    for name in missing:
        if not check:
            cluster.api().create_namespace(name)
            if settings.kubevirt:
                cluster.api().create_boot_source(name)
    if adjustments.reference_policy and adjustments.reference_policy != cluster.api().reference_policy():
        changed = True
        if not check:
            cluster.api().set_reference_policy(adjustments.reference_policy)
    if adjustments.fault_rules is not None:
        changed |= set_faults(cluster.fault_control(), adjustments.fault_rules, adjustments.fault_seed, check=check)
    return changed


def set_faults(control: faults.FaultControl, rules: Sequence[Any], seed: int | None, *, check: bool = False) -> bool:
    """Replace the rules of a proxy unless it has these. Return whether it had others."""
    current = control.show()
    if (current["rules"], current["seed"]) == (list(rules), seed):
        return False
    if not check:
        control.set(rules, seed)
    return True


def running_faults(layout: Layout) -> faults.FaultControl:
    """The faults of the cluster's running proxy. Raises LauncherError if there is none."""
    cluster = _Cluster(layout)
    if FAULT_PROXY not in cluster.running():
        raise LauncherError(
            f"faults: the cluster in {layout.root} runs without a fault proxy; start the cluster with faults"
        )
    return cluster.fault_control()


def stop(layout: Layout, *, keep_data: bool = False, remove: bool = False, check: bool = False) -> dict[str, Any]:
    """Stop the cluster, even while it starts.

    Its data are removed unless `keep_data`; with `remove`, also its kubeconfig, certificates and logs.
    """
    cluster = _Cluster(layout)
    unkept = data.present(layout.etcd) and not keep_data
    changed = bool(cluster.running() or processes.recorded(layout.process(LAUNCHER)) or unkept)
    if remove:
        changed = layout.lock.exists()
    if check or not layout.lock.exists():
        state = "absent" if remove else "stopped"
        return _result(cluster, changed=changed, state=state)
    with _locked(layout, starting=False):
        _stop_parts(layout)
        if remove:
            layout.remove()
        elif not keep_data:
            layout.remove_data()
        elif layout.etcd.is_dir():
            layout.data_kept.touch(mode=0o600)
    return _result(cluster, changed=changed, state="absent" if remove else "stopped")


def status(layout: Layout) -> dict[str, Any]:
    """The state of the cluster: `state` is running, stopped, broken (some parts run) or absent; `reason` says why.

    `restarts`: see `supervisor.restarts`.
    """
    cluster = _Cluster(layout)
    running = cluster.running()
    reason = cluster.unhealthy_reason()
    if not layout.lock.exists():
        state = "absent"
    elif processes.recorded(layout.process(LAUNCHER)):
        state = "starting"
    else:
        state = "broken" if running and reason else "running" if running else "stopped"
    return _result(
        cluster, changed=False, state=state, reason=reason, processes=running, restarts=supervisor.restarts(layout)
    )


def _result(cluster: _Cluster, *, changed: bool, **more: Any) -> dict[str, Any]:
    layout = cluster.layout
    result = {
        "changed": changed,
        "dir": str(layout.root),
        "kubeconfig": str(layout.kubeconfig),
        "logs": {part: str(layout.log(part)) for part in GRACE},
    }
    if cluster.state:
        result["server"] = cluster.server()
        result["kubernetes_version"] = cluster.state.get("kubernetes_version")
        result["name"] = cluster.state.get("settings", {}).get("name")
        result["kubevirt"] = VIRT_API in cluster.parts()
        if result["kubevirt"]:
            result["kubevirt_version"] = cluster.state["settings"]["kubevirt_version"]
        if FAULT_PROXY in cluster.parts():
            result["kubeconfig_faults"] = str(layout.kubeconfig_faults)
    return {**result, **more}


def _start_reason(cluster: _Cluster, settings: Settings, programs: ProgramSet, unhealthy: str) -> str:
    """Why the cluster must be started (again) to run with `settings`; "" if it does.

    unhealthy: what is wrong with its parts.
    """
    if unhealthy:
        return unhealthy
    if cluster.state.get("settings") != json.loads(json.dumps(asdict(settings))):
        return "the settings changed"
    if cluster.state.get("programs") != programs.folders():
        return "the sources of the programs changed"
    if settings.kubevirt and cluster.state.get("node_sources") != kubevirt.sources_hash():
        return "the sources of the node changed"
    if settings.faults and cluster.state.get("fault_proxy_sources") != faults.sources_hash():
        return "the sources of the fault proxy changed"
    return ""


@contextmanager
def _locked(layout: Layout, *, starting: bool) -> Iterator[None]:
    """Hold the cluster's lock. A starting launcher is recorded, so that a stopping one can end it."""
    lock = Lock(layout.lock)
    lock.acquire(None if starting else _Interrupter(layout))
    try:
        layout.create_folders()
        if starting:
            processes.record(layout.process(LAUNCHER))
        yield
    finally:
        if starting:
            layout.process(LAUNCHER).unlink(missing_ok=True)
        lock.release()


class _Interrupter:
    """Ends the launcher that holds the lock to start the cluster; waits for one that stops it."""

    def __init__(self, layout: Layout) -> None:
        self._record = layout.process(LAUNCHER)
        self._sent = 0.0

    def __call__(self, seconds: float) -> None:
        if not self._sent:
            if processes.send(self._record, signal.SIGTERM):
                self._sent = seconds
        elif seconds - self._sent > _GIVE_UP_ON_LAUNCHER:
            processes.send(self._record, signal.SIGKILL)


@contextmanager
def _signals_ignored() -> Iterator[None]:
    """Ignore a second Ctrl-C during the cleanup after the first."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop_parts(layout: Layout) -> None:
    for part, grace in GRACE.items():
        processes.stop(layout.process(part), grace)
    guests.stop_all(layout)


def _start_parts(
    layout: Layout, cluster: _Cluster, settings: Settings, programs: ProgramSet, progress: Progress, timeout: float
) -> None:
    pki.ensure(layout.pki)
    used: dict[str, int] = {}
    progress("starting etcd, kube-apiserver and kube-controller-manager")
    used[CONTROL_PLANE] = _start_control_plane(layout, cluster, settings, programs, progress, timeout)
    commands = {CONTROL_PLANE: _control_plane_command(layout, programs.control_plane())}
    api = _api(layout, used[CONTROL_PLANE])
    if settings.kubevirt:
        own_ports, own_commands = kubevirt_start.start(layout, settings, programs, api, progress, timeout)
        used |= own_ports
        commands |= own_commands
    control_plane.start_controllers_file(layout).touch(mode=0o600)
    if settings.faults:
        used[FAULT_PROXY] = with_free_port(
            layout,
            FAULT_PROXY,
            cluster.port(FAULT_PROXY),
            lambda port: _run_fault_proxy(layout, port, used[CONTROL_PLANE], settings, timeout),
        )
    else:
        layout.kubeconfig_faults.unlink(missing_ok=True)
    write_json(
        layout.cluster,
        {
            "settings": asdict(settings),
            "ports": used,
            "programs": programs.folders(),
            "node_sources": kubevirt.sources_hash() if settings.kubevirt else None,
            "fault_proxy_sources": faults.sources_hash() if settings.faults else None,
            "kubernetes_version": api.version(),
        },
    )
    supervisor.start(layout, commands, used[CONTROL_PLANE], kubevirt_start.environment(settings))


def _start_control_plane(
    layout: Layout, cluster: _Cluster, settings: Settings, programs: ProgramSet, progress: Progress, timeout: float
) -> int:
    """Start the control plane and return its port."""
    if settings.api_port and not ports.is_free(settings.api_port):
        raise LauncherError(f"api_port: {ports.HOST}:{settings.api_port} is taken; set another port, or 0 for any")
    had_data = data.present(layout.etcd)
    preferred = settings.api_port or cluster.port(CONTROL_PLANE)

    def run(port: int) -> None:
        _run_control_plane(layout, port, settings, programs.control_plane(), timeout)

    try:
        return with_free_port(layout, CONTROL_PLANE, preferred, run, fixed=bool(settings.api_port))
    except Ended:
        if not had_data or layout.data_kept.exists():
            raise
        # A crash or a full disk may have damaged data that nobody asked to keep.
        progress("the data of an earlier run is unusable; starting without data")
        layout.remove_data()
        layout.unfinished.touch(mode=0o600)
        data.place(layout.etcd, settings.data)
        return with_free_port(layout, CONTROL_PLANE, preferred, run, fixed=bool(settings.api_port))


def _run_control_plane(layout: Layout, port: int, settings: Settings, binary: Path, timeout: float) -> None:
    server = f"https://{ports.HOST}:{port}"
    users = {
        "admin": layout.kubeconfig,
        "controller-manager": control_plane.controller_manager_kubeconfig(layout),
        **{user: kubevirt.kubeconfig(layout, user) for user in kubevirt.USERS},
    }
    for user, path in users.items():
        pki.write_kubeconfig(layout.pki, path, context=f"local-cluster-{settings.name}", server=server, user=user)
    write_json(_control_plane_config(layout), control_plane.config(layout, port, schedules=bool(settings.nodes)))
    control_plane.start_controllers_file(layout).unlink(missing_ok=True)
    processes.spawn(
        _control_plane_command(layout, binary),
        record_as=layout.process(CONTROL_PLANE),
        log=layout.log(CONTROL_PLANE),
        cwd=layout.run,
        # Fewer garbage collections, which take a fifth of the CPU time while objects are created, for a third more
        # memory.
        env=without_proxy({"GOGC": "200", **os.environ}),
    )
    wait_until(_api(layout, port).is_ready, layout, CONTROL_PLANE, timeout)


def _control_plane_config(layout: Layout) -> Path:
    return layout.run / "control-plane.json"


def _control_plane_command(layout: Layout, binary: Path) -> list[str]:
    return [str(binary), str(_control_plane_config(layout))]


def _run_fault_proxy(layout: Layout, port: int, api_port: int, settings: Settings, timeout: float) -> None:
    context, server = f"local-cluster-{settings.name}-faults", f"https://{ports.HOST}:{port}"
    pki.write_kubeconfig(layout.pki, layout.kubeconfig_faults, context=context, server=server, user="admin")
    config_file = layout.run / "fault-proxy.json"
    write_json(config_file, faults.config(layout, port, api_port))
    faults.ready_file(layout).unlink(missing_ok=True)
    processes.spawn(
        faults.command(config_file),
        record_as=layout.process(FAULT_PROXY),
        log=layout.log(FAULT_PROXY),
        cwd=layout.run,
        env=without_proxy(kubevirt.environment()),
    )
    wait_until(faults.ready_file(layout).exists, layout, FAULT_PROXY, timeout)
