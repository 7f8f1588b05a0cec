"""The check and preflight agree with the running KubeVirt about VMs that depend on its configuration."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from admission_agreement import check_agrees, findings_agree, start_failure_agrees
from admission_cases import CASES, vmi
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.reads.kubevirt import KUBEVIRT
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.config.cluster import (
    KubeVirt,
    kubevirt_of,
    version_of,
)
from answers import ask
from modules_support import wait_until

pytestmark = [pytest.mark.own_cluster, pytest.mark.nightly("configures the KubeVirt of a cluster two dozen times")]

Manifest = dict[str, Any]


def _shown(configuration: Manifest) -> str:
    return json.dumps(configuration, sort_keys=True)


# Cases of one configuration follow each other, so that it is applied once.
CONFIGURED = sorted(
    (name for name, case in CASES.items() if case.configuration), key=lambda name: _shown(CASES[name].configuration)
)
VMS = [name for name in CONFIGURED if CASES[name].kind == "VirtualMachine"]


def probe(configuration: Manifest) -> Manifest:
    """A VMI that a KubeVirt of this configuration admits."""
    machine = (configuration.get("emulatedMachines") or ["q35"])[0]
    return vmi({"domain.machine": {"type": machine}, "domain.devices.autoattachPodInterface": False}).manifest(
        "default"
    )


def merged(base: Manifest, changes: Manifest) -> Manifest:
    both = {name: merged(base[name], value) for name, value in changes.items() if isinstance(base.get(name), dict)}
    return {**base, **changes, **both}


class Configured:
    """The KubeVirt of a cluster, whose configuration changes."""

    def __init__(self, session: Session) -> None:
        self.session = session
        (live,) = session.list(KUBEVIRT)
        self._path = KUBEVIRT.path(live["metadata"]["namespace"], live["metadata"]["name"])
        self._base: Manifest = live["spec"]["configuration"]
        self._applied = ""
        self._numbers = itertools.count()

    def kubevirt(self, configuration: Manifest) -> KubeVirt:
        """What the collection reads of the KubeVirt, once virt-api has the configuration."""
        live: Manifest = self.session.request("GET", self._path)
        if self._applied != _shown(configuration):
            # virt-api does not say which configuration it has, but gives VMIs this model.
            model = f"model-{next(self._numbers)}"
            live["spec"]["configuration"] = {**merged(self._base, configuration), "cpuModel": model}
            live = self.session.request("PUT", self._path, None, live)
            wait_until(lambda: self._model(configuration) == model)
            self._applied = _shown(configuration)
        return kubevirt_of(live, version_of(live) or "")

    def _model(self, configuration: Manifest) -> str | None:
        """The CPU model that virt-api gives a VMI without one."""
        stored = ask(self.session, probe(configuration)).stored
        return None if stored is None else str(stored["spec"]["domain"].get("cpu", {}).get("model"))


@pytest.fixture(scope="module")
def configured(launch: Callable[..., dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Configured]:
    place = ("--name", "configured", "--dir", str(tmp_path_factory.mktemp("configured") / "cluster"))
    try:
        yield Configured(Session({"kubeconfig": launch("start", *place)["kubeconfig"], "retry_timeout": 30}))
    finally:
        launch("stop", "--remove", *place, check=False)


@pytest.mark.parametrize("name", CONFIGURED)
def test_configured_cases_agree_with_the_server(name: str, configured: Configured) -> None:
    case, session = CASES[name], configured.session
    known = configured.kubevirt(case.configuration)
    if name in VMS:
        check_agrees(case, session, known)
        findings_agree(case, session, known)
    else:
        start_failure_agrees(case, session, known)
