"""What preflight says of VMs whose pods kube-apiserver refuses is what KubeVirt reports of them."""

from __future__ import annotations

from typing import Any

from admission_agreement import foreseen
from admission_cases import PODS
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.reads.kubevirt import kubevirt
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.kinds import BY_NAME
from modules_support import wait_until

VM, VMI = BY_NAME["VirtualMachine"], BY_NAME["VirtualMachineInstance"]


def test_pods_are_refused_as_foreseen(session: Session, namespace: str) -> None:
    names = {f"vm-{number}": case for number, case in enumerate(PODS)}
    for name, case in names.items():
        manifest = PODS[case].manifest(namespace)
        manifest["metadata"]["name"] = name
        session.request("POST", VM.path(namespace), None, manifest)
    outcomes: dict[str, str] = {}

    def settled() -> bool:
        outcomes.update(filter(None, map(outcome, session.list(VMI, namespace))))
        return set(outcomes) == set(names)

    wait_until(settled)
    wrong = []
    for name, case in names.items():
        result = foreseen(PODS[case], kubevirt(session))
        reasons = [text.partition(": ")[2].rpartition(";")[0] for text in result]
        if bool(result) != bool(outcomes[name]) or not all(reason in outcomes[name] for reason in reasons):
            wrong.append(f"{case}: {result}, but KubeVirt says {outcomes[name] or 'nothing'}")
    assert wrong == []


def outcome(vmi: dict[str, Any]) -> tuple[str, str] | None:
    """A VMI's name and why it has no pod, "" if it has one; None if that is not decided."""
    status, name = vmi.get("status") or {}, vmi["metadata"]["name"]
    if status.get("activePods"):
        return name, ""
    for condition in status.get("conditions") or ():
        if condition["type"] == "Synchronized" and condition["status"] == "False":
            return name, " ".join(str(condition.get("message")).split())
    return None
