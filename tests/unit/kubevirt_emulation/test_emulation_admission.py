"""VMs and VMIs are refused as the real KubeVirt refused them (tests/contract/admission)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cases import CASES, Case

from _resolver.api import schema
from _resolver.instancetype.find import find
from kubevirt_emulation.webhooks import vm_mutate, vm_validate, vmi_validate
from kubevirt_emulation.webhooks.admission import Review
from kubevirt_emulation.webhooks.rules import cluster
from kubevirt_emulation.webhooks.vmi_defaults import set_vmi_defaults

ADMISSION = Path(__file__).resolve().parents[2] / "contract" / "admission"
RECORDED: dict[str, dict[str, Any]] = json.loads((ADMISSION / "recorded.json").read_text())
# kube-apiserver itself refuses the others, by the CRDs; the contract's cluster is held to those.
OF_WEBHOOKS = [name for name, answer in RECORDED.items() if answer["code"] == 201 or answer["webhook"]]
MUTATOR, VALIDATOR = "virtualmachines-mutator.kubevirt.io", "virtualmachine-validator.kubevirt.io"
VMI_VALIDATOR = "virtualmachineinstances-create-validator.kubevirt.io"


def review(case: Case, manifest: dict[str, Any]) -> Review:
    return Review("u", "CREATE", case.kind, "default", "admin", manifest, None)


def refusal(webhook: str, status: dict[str, Any] | None) -> dict[str, Any]:
    if status is None:
        return {"code": 201}
    causes = (status.get("details") or {}).get("causes")
    return {
        "code": status["code"],
        "webhook": webhook,
        "message": status["message"],
        **({"causes": [{key: text for key, text in cause.items() if text} for cause in causes]} if causes else {}),
    }


def answer(case: Case) -> dict[str, Any]:
    """What the webhooks answer, one after the other, in the words of recorded.json."""
    manifest = case.manifest()
    known = cluster.read(case.configuration, "amd64")
    if case.kind == "VirtualMachineInstance":
        manifest["spec"] = schema.canonical("VirtualMachineInstanceSpec", manifest["spec"])
        set_vmi_defaults(manifest["spec"], known.defaults)
        response = vmi_validate.check(review(case, manifest), known)
        return refusal(VMI_VALIDATOR, None if response.allowed else response.status())
    objects = find.Objects([])
    stored = vm_mutate.stored(review(case, manifest), objects, known.defaults)
    if stored.status is not None:
        return refusal(MUTATOR, stored.status)
    response = vm_validate.check(review(case, {**manifest, "spec": stored.patch[0]["value"]}), objects, known)
    return refusal(VALIDATOR, None if response.allowed else response.status())


def test_all_cases_are_recorded() -> None:
    assert list(RECORDED) == list(CASES)


@pytest.mark.parametrize("name", OF_WEBHOOKS)
def test_answers_are_those_of_the_real_kubevirt(name: str) -> None:
    assert answer(CASES[name]) == RECORDED[name]


def test_pages_of_no_size_crash_kubevirt() -> None:
    """It divides by them; kube-apiserver then tells of a failed webhook."""
    case = Case("VirtualMachine", {"domain.memory": {"guest": "1Gi", "hugepages": {"pageSize": "0"}}}, {}, {}, {})
    assert answer(case)["code"] == 500
