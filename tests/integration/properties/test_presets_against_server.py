"""The running KubeVirt makes the same of VMIs as the computation of VirtualMachineInstancePresets."""

import time
from typing import Any

import pytest

from answers import ask
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._conversion.template_bundles import ConversionSources, convert
from plugins.module_utils._resolver.kubevirt.vm.vmi import guest_figures
from preset_cases import CASES, CPU, GIB, PARTS, Case
from virt_api.answer import Answer

# The last preset that virt-api hears of.
LAST = "the last one"
ONE = Case({"small": {"cpu": {"sockets": 2}, **GIB, "ioThreadsPolicy": "shared"}})
KNOWN = {**CASES, LAST: Case({"a": CPU}, GIB, {}, CPU, ("a",))}


def asked(session: Session, namespace: str, name: str) -> Answer:
    case, label = KNOWN.get(name, ONE), labelled(name)
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
    return marked(answer.stored or {"metadata": {}})


def marked(vmi: dict[str, Any]) -> list[str]:
    annotations = vmi["metadata"].get("annotations", {})
    return sorted(key for key in annotations if key.startswith("virtualmachinepreset."))


@pytest.fixture
def declared(session: Session, namespace: str) -> str:
    """A namespace with the presets of all cases, of which virt-api has heard."""
    path = f"/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachineinstancepresets"
    for number, (name, case) in enumerate(KNOWN.items()):
        for manifest in case.manifests(namespace, labelled(name)):
            manifest["metadata"]["name"] += f"-{number}"
            session.request("POST", path, body=manifest)
    await_marks(session, namespace, LAST)
    return namespace


def await_marks(session: Session, namespace: str, name: str) -> None:
    """Waits until virt-api has heard of the presets of a case."""
    while not marks(asked(session, namespace, name)):
        time.sleep(0.2)


def test_presets_change_vmis_as_the_server_does(session: Session, declared: str) -> None:
    different: dict[str, Any] = {}
    for number, (name, case) in enumerate(CASES.items()):
        answer, result = asked(session, declared, name), case.answer(labelled(name))
        if answer.stored is None or result.conflicts:
            both = answer.stored is None and "VirtualMachinePresets cannot be applied" in answer.messages[0]
            if not (both and result.conflicts):
                different[name] = answer
            continue
        mine = sorted(f"{key}-{number}" for key in result.annotations if key.startswith("virtualmachinepreset."))
        domain = answer.stored["spec"]["domain"]
        # KubeVirt's defaults are added to what presets and VMI say.
        said = {part: result.domain[part] for part in PARTS if part in result.domain}
        within = all(contains(domain[part], value) for part, value in said.items())
        requests = domain["resources"].get("requests") == result.domain["resources"].get("requests")
        watchdog = domain["devices"].get("watchdog") == result.domain["devices"].get("watchdog")
        if not (marks(answer) == mine and within and requests and watchdog):
            different[name] = answer
    assert not different


def contains(whole: Any, part: Any) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and contains(whole[key], value) for key, value in part.items())
    return bool(whole == part)


def test_a_successor_has_the_same_guest(session: Session, namespace: str) -> None:
    """This holds while the preset still exists, too, which would add its requests to a VM with an instancetype."""
    (preset,) = ONE.manifests(namespace, "old")
    path = f"/apis/kubevirt.io/v1/namespaces/{namespace}"
    session.request("POST", f"{path}/virtualmachineinstancepresets", body=preset)
    size = {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}
    instancetype = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "small", "namespace": namespace},
        "spec": size,
    }
    instancetypes = f"/apis/instancetype.kubevirt.io/v1beta1/namespaces/{namespace}/virtualmachineinstancetypes"
    session.request("POST", instancetypes, body=instancetype)
    old = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "old", "namespace": namespace},
        "spec": {
            "runStrategy": "Always",
            "template": {"metadata": {"labels": {"case": "old"}}, "spec": {"domain": {"devices": {}}}},
        },
    }
    await_marks(session, namespace, "old")
    result = convert(old, ConversionSources([preset], [instancetype]))
    assert result.differences == []
    new = {**result.manifest, "metadata": {"name": "new", "namespace": namespace}}
    for vm in (old, new):
        session.request("POST", f"{path}/virtualmachines", body=vm)
    before, after = (vmi_of(session, path, name) for name in ("old", "new"))
    assert guest_figures(before["spec"]) == guest_figures(after["spec"]) == result.guest_after
    assert marked(before) == ["virtualmachinepreset.kubevirt.io/small"] and not marked(after)
    domains = [{**vmi["spec"]["domain"], "firmware": {}} for vmi in (before, after)]
    for domain in domains:
        # The preset provided as a request what the instancetype provides as memory; both are the pod's request.
        domain.pop("resources")
        domain["cpu"] = {"cores": 1, "threads": 1, **domain["cpu"]}
    assert domains[0] == domains[1]


def vmi_of(session: Session, path: str, name: str) -> dict[str, Any]:
    while True:
        items = session.request("GET", f"{path}/virtualmachineinstances")["items"]
        for vmi in items:
            if vmi["metadata"]["name"] == name:
                return dict(vmi)
        time.sleep(0.2)
