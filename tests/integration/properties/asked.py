"""A server's answers to the cases of tests/virt_api, each with its configuration of KubeVirt."""

import itertools
import json
import re
from collections.abc import Mapping
from typing import Any

from waiting import wait_until

from answers import ask
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._cluster.reads.kubevirt import KUBEVIRT
from plugins.module_utils._resolver.api.kinds import KINDS
from virt_api.answer import Answer, merged, questions
from virt_api.case import Case, vmi

Manifest = dict[str, Any]

VM, VMI = KINDS["VirtualMachine"], KINDS["VirtualMachineInstance"]
_POD = re.compile(r"virt-launcher-vm-\d+-\w{5}")


def _shown(configuration: Manifest) -> str:
    return json.dumps(configuration, sort_keys=True)


def _probe(configuration: Manifest) -> Manifest:
    """A VMI that a KubeVirt of this configuration admits."""
    machine = (configuration.get("emulatedMachines") or ["q35"])[0]
    return vmi({"domain.machine": {"type": machine}, "domain.devices.autoattachPodInterface": False}).manifest(
        "default"
    )


class ConfigurableKubeVirt:
    """The KubeVirt of a cluster, whose configuration changes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        (live,) = session.list(KUBEVIRT)
        self._path = KUBEVIRT.path(live["metadata"]["namespace"], live["metadata"]["name"])
        self.configuration: Manifest = live["spec"]["configuration"]
        self._numbers = itertools.count()

    def configure(self, configuration: Manifest) -> None:
        """Adds to the configuration that the cluster started with, and waits until virt-api has it."""
        # virt-api does not say which configuration it has, but gives VMIs this model.
        model = f"model-{next(self._numbers)}"
        live: Manifest = self._session.request("GET", self._path)
        live["spec"]["configuration"] = {**merged(self.configuration, configuration), "cpuModel": model}
        self._session.request("PUT", self._path, None, live)
        wait_until(lambda: self._model(configuration) == model)

    def _model(self, configuration: Manifest) -> str | None:
        """The CPU model that virt-api gives a VMI without one."""
        stored = ask(self._session, _probe(configuration)).stored
        return None if stored is None else str(stored["spec"]["domain"].get("cpu", {}).get("model"))


def asked(session: Session, cases: Mapping[str, Case]) -> dict[str, list[Answer]]:
    """Case → what the server answers to each of its questions, as it is configured."""
    return {
        name: [ask(session, question.manifest("default")) for question in questions(case)]
        for name, case in cases.items()
    }


def asked_configured(session: Session, cases: Mapping[str, Case]) -> dict[str, list[Answer]]:
    """The same, each case with its configuration. Cases of one configuration follow each other."""
    kubevirt = ConfigurableKubeVirt(session)
    result = asked(session, {name: case for name, case in cases.items() if not case.configuration})
    configured = sorted((_shown(case.configuration), name) for name, case in cases.items() if case.configuration)
    for _configuration, group in itertools.groupby(configured, key=lambda item: item[0]):
        names = [name for _configuration, name in group]
        kubevirt.configure(cases[names[0]].configuration)
        result |= asked(session, {name: cases[name] for name in names})
    kubevirt.configure({})
    return result


def asked_pods(session: Session, namespace: str, cases: Mapping[str, Case]) -> dict[str, str]:
    """Case → why virt-controller cannot make the pod of a VM that is to run, "" if it makes it."""
    names = {f"vm-{number}": case for number, case in enumerate(cases)}
    for name, case in names.items():
        manifest = cases[case].manifest(namespace)
        manifest["metadata"]["name"] = name
        session.request("POST", VM.path(namespace), None, manifest)
    outcomes: dict[str, str] = {}

    def settled() -> bool:
        outcomes.update(filter(None, map(_outcome, session.list(VMI, namespace))))
        return set(outcomes) == set(names)

    wait_until(settled)
    return {case: _POD.sub("virt-launcher-vm", outcomes[name]) for name, case in names.items()}


def _outcome(vmi: Manifest) -> tuple[str, str] | None:
    """A VMI's name and why it has no pod; None if that is not decided."""
    status, name = vmi.get("status") or {}, vmi["metadata"]["name"]
    if status.get("activePods"):
        return name, ""
    for condition in status.get("conditions") or ():
        if condition["type"] == "Synchronized" and condition["status"] == "False":
            return name, " ".join(str(condition.get("message")).split())
    return None
