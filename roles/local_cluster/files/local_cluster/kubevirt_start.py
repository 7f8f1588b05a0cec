"""Installs KubeVirt and CDI in an API server that runs, as their operators would, and starts their programs."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from local_cluster import control_plane, installation, kubevirt, ports, processes
from local_cluster.api import ApiServer, responds
from local_cluster.build import ProgramSet
from local_cluster.parts import (
    CDI,
    CONTROL_PLANE,
    NODE,
    OF_KUBEVIRT,
    PORT_ATTEMPTS,
    UPLOAD_PROXY,
    VIRT_API,
    VIRT_CONTROLLER,
    Ended,
    port_was_taken,
    wait_until,
    without_proxy,
)
from local_cluster.paths import Layout, write_json

_OPERATOR = {VIRT_API: "virt-operator", CDI: "cdi-operator"}
"""The field managers of what is installed."""
_AUTHENTICATION = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
_KINDS = {
    "kubevirt.io": "virtualmachines",
    "cdi.kubevirt.io": "datavolumes",
    "snapshot.storage.k8s.io": "volumesnapshots",
    "k8s.cni.cncf.io": "network-attachment-definitions",
}
"""Group → a kind that programs look for when they start."""
_APIS = {
    VIRT_API: "/apis/subresources.kubevirt.io/v1",
    CDI: "/apis/upload.cdi.kubevirt.io/v1beta1",
}
"""Program → the aggregated API that it serves."""


def start(
    layout: Layout,
    settings: Any,
    programs: ProgramSet,
    api: ApiServer,
    progress: Callable[[str], None],
    timeout: float,
) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Install and start all parts of KubeVirt. Return their ports and command lines.

    settings: see `cluster.Settings`. timeout: seconds for each part. If another process takes a port meanwhile, all
    parts start again on others.
    """
    for attempt in range(PORT_ATTEMPTS):
        chosen = dict(zip((*OF_KUBEVIRT, UPLOAD_PROXY), ports.choose_several(len(OF_KUBEVIRT) + 1)))
        attempted = _Start(layout, settings, programs, api, chosen, timeout)
        try:
            attempted.run(progress)
        except Ended:
            taken = any(port_was_taken(layout, part) for part in OF_KUBEVIRT)
            if not taken or attempt == PORT_ATTEMPTS - 1:
                raise
            for part in OF_KUBEVIRT:
                processes.stop(layout.process(part), 0)
        else:
            return {part: chosen[part] for part in OF_KUBEVIRT}, attempted.commands()
    raise AssertionError("unreachable: the last attempt returns or raises")


def environment(settings: Any) -> dict[str, str]:
    """The environment of the parts. settings: see `cluster.Settings`."""
    # Fewer garbage collections, as for the control plane.
    release = kubevirt.controller_environment(settings.kubevirt_version)
    return without_proxy({"GOGC": "200", **kubevirt.environment(), **release})


@dataclass(frozen=True)
class _Start:
    layout: Layout
    settings: Any
    programs: ProgramSet
    api: ApiServer
    ports: Mapping[str, int]
    timeout: float

    def run(self, progress: Callable[[str], None]) -> None:
        progress(f"installing KubeVirt {self.settings.kubevirt_version} and CDI")
        kubevirt.ready_file(self.layout).unlink(missing_ok=True)
        # The lease of one that died would hold up its successor.
        self.api.release(installation.KUBEVIRT, "virt-controller")
        manifests = {
            VIRT_API: json.loads((self.programs.kubevirt() / "kubevirt.json").read_text()),
            CDI: json.loads((self.programs.cdi() / "cdi.json").read_text()),
        }
        self._install_accounts(manifests)
        # virt-api describes its API for seconds before it asks for the first object.
        self._spawn(VIRT_API)
        self._install_kinds(manifests)
        self._install_objects()
        progress("starting virt-controller, CDI and the node")
        self._spawn(VIRT_CONTROLLER, CDI, NODE)
        self._register(manifests)
        progress("creating the common instancetypes and preferences")
        self.api.replace(installation.catalog(manifests[VIRT_API]), _OPERATOR[VIRT_API], self.timeout)
        self._wait(VIRT_CONTROLLER, lambda: bool(self.api.holder(installation.KUBEVIRT, "virt-controller")))
        self._wait(NODE, kubevirt.ready_file(self.layout).exists)

    def _install_accounts(self, manifests: Mapping[str, list[dict[str, Any]]]) -> None:
        self._apply(list(map(installation.namespace, (installation.KUBEVIRT, installation.CDI))), VIRT_API)
        for operator, own in manifests.items():
            namespace, services = self._namespace(operator), self._services(operator)
            self._apply(installation.base(own, namespace, self._ca(), services), operator)
        self._wait(CONTROL_PLANE, partial(self.api.serves, _AUTHENTICATION))

    def _install_kinds(self, manifests: Mapping[str, list[dict[str, Any]]]) -> None:
        own = [kind for operator in manifests for kind in installation.kinds(manifests[operator])]
        # Server-side apply would take seconds for schemas of this size.
        self.api.replace([*own, *installation.foreign_kinds()], _OPERATOR[VIRT_API], self.timeout)
        if not self.layout.unfinished.exists():
            # A launcher may have been killed while it added kinds to data of an earlier release.
            self._wait(CONTROL_PLANE, self.api.establish_kinds)
        # The garbage collector reads the kinds every 30 seconds; its first read must include KubeVirt's.
        for group, resource in _KINDS.items():
            self._wait(CONTROL_PLANE, partial(self.api.discovers, group, resource))
        control_plane.start_controllers_file(self.layout).touch(mode=0o600)

    def _install_objects(self) -> None:
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        object_ = installation.kubevirt_object()
        self._apply([object_], VIRT_API)
        status = installation.kubevirt_status(self.settings.kubevirt_version, self.api.generation(object_), now)
        self.api.set_status(object_, status)
        objects = installation.cdi_objects(self.ports[UPLOAD_PROXY], self._ca())
        self._apply([*objects, *installation.storage()], CDI)
        self.api.set_status(objects[0], installation.cdi_status(now))

    def commands(self) -> dict[str, list[str]]:
        """The command line of each part. Writes their configuration."""
        release, level = self.settings.kubevirt_version, self.settings.log_level
        folder, layout = self.programs.kubevirt(), self.layout
        cdi, node = layout.run / "cdi.json", layout.run / "node.json"
        write_json(cdi, kubevirt.cdi(layout, self.ports[CDI], self.ports[UPLOAD_PROXY]))
        write_json(node, kubevirt.node(layout, self.ports[NODE], self.ports[UPLOAD_PROXY], self.settings))
        return {
            VIRT_API: kubevirt.virt_api(folder, layout, self.ports[VIRT_API], self.ports[NODE], level),
            VIRT_CONTROLLER: kubevirt.virt_controller(folder, layout, self.ports[VIRT_CONTROLLER], release, level),
            CDI: [str(self.programs.cdi() / "cdi"), str(cdi)],
            NODE: kubevirt.node_command(node),
        }

    def _spawn(self, *parts: str) -> None:
        commands, layout = self.commands(), self.layout
        for part in parts:
            processes.spawn(
                commands[part],
                record_as=layout.process(part),
                log=layout.log(part),
                cwd=layout.run,
                env=environment(self.settings),
            )

    def _register(self, manifests: Mapping[str, list[dict[str, Any]]]) -> None:
        for operator in _APIS:
            self._wait(operator, partial(responds, self.ports[operator], self._authority()))
            services = self._services(operator)
            own = installation.registrations(manifests[operator], self._ca(), services)
            self._apply(own, operator)
        for operator, path in _APIS.items():
            self._wait(operator, partial(self.api.serves, path))

    def _apply(self, manifests: list[dict[str, Any]], operator: str) -> None:
        self.api.apply(manifests, _OPERATOR[operator], self.timeout)

    def _wait(self, part: str, ready: Callable[[], bool]) -> None:
        wait_until(ready, self.layout, part, self.timeout)

    def _services(self, operator: str) -> dict[str, int]:
        names = {VIRT_API: {"virt-api": VIRT_API}, CDI: {"cdi-api": CDI, "cdi-uploadproxy": UPLOAD_PROXY}}
        return {name: self.ports[part] for name, part in names[operator].items()}

    @staticmethod
    def _namespace(operator: str) -> str:
        return installation.KUBEVIRT if operator == VIRT_API else installation.CDI

    def _authority(self) -> Path:
        return self.layout.pki / "services-ca.crt"

    def _ca(self) -> str:
        return self._authority().read_text()
