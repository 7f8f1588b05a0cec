"""What is computed of VirtualMachineInstancePresets is what the running KubeVirt makes of VMIs."""

from __future__ import annotations

import time
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session
from answers import Answer, ask
from preset_cases import CASES, CPU, GIB, PARTS, Case

# The last preset that virt-api hears of.
LAST = "the last one"
KNOWN = {**CASES, LAST: Case({"a": CPU}, GIB, {}, CPU, ("a",))}


def asked(session: Session, namespace: str, name: str) -> Answer:
    case, label = KNOWN[name], labelled(name)
    metadata = {
        "name": "guest",
        "namespace": namespace,
        "labels": {"case": label},
        "annotations": dict(case.annotations),
    }
    domain = {"devices": {}, **case.domain}
    vmi = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "metadata": metadata}
    return ask(session, {**vmi, "spec": {"domain": domain}})


def labelled(name: str) -> str:
    return name.replace(" ", "-")


def marks(answer: Answer) -> list[str]:
    annotations = (answer.stored or {"metadata": {}})["metadata"].get("annotations", {})
    return sorted(key for key in annotations if key.startswith("virtualmachinepreset."))


@pytest.fixture
def declared(session: Session, namespace: str) -> str:
    """A namespace with the presets of all cases, of which virt-api has heard."""
    path = f"/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachineinstancepresets"
    for number, (name, case) in enumerate(KNOWN.items()):
        for manifest in case.manifests(namespace, labelled(name)):
            manifest["metadata"]["name"] += f"-{number}"
            session.request("POST", path, body=manifest)
    while not marks(asked(session, namespace, LAST)):
        time.sleep(0.2)
    return namespace


def test_presets(session: Session, declared: str) -> None:
    different: dict[str, Any] = {}
    for number, (name, case) in enumerate(CASES.items()):
        answer, found = asked(session, declared, name), case.answer(labelled(name))
        if answer.stored is None or found.conflicts:
            both = answer.stored is None and "VirtualMachinePresets cannot be applied" in answer.messages[0]
            if not (both and found.conflicts):
                different[name] = answer
            continue
        mine = sorted(f"{key}-{number}" for key in found.annotations if key.startswith("virtualmachinepreset."))
        domain = answer.stored["spec"]["domain"]
        # KubeVirt's defaults are added to what presets and VMI say.
        said = {part: found.domain[part] for part in PARTS if part in found.domain}
        within = all(contains(domain[part], value) for part, value in said.items())
        requests = domain["resources"].get("requests") == found.domain["resources"].get("requests")
        watchdog = domain["devices"].get("watchdog") == found.domain["devices"].get("watchdog")
        if not (marks(answer) == mine and within and requests and watchdog):
            different[name] = answer
    assert not different


def contains(whole: Any, part: Any) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and contains(whole[key], value) for key, value in part.items())
    return bool(whole == part)
