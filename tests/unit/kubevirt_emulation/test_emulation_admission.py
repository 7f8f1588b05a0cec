"""VMs and VMIs are refused as the real KubeVirt refused them (tests/contract/admission)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from admission_cases import CASES, Case

from _resolver.admission import cluster
from _resolver.api import release
from _resolver.instancetype.find import lookup
from kubevirt_emulation.webhooks import names, vm_mutate, vm_validate, vmi_mutate, vmi_validate
from kubevirt_emulation.webhooks.admission import Review

ADMISSION = Path(__file__).resolve().parents[2] / "contract" / "admission"
RECORDED: dict[str, dict[str, Any]] = json.loads((ADMISSION / "recorded.json").read_text())
# kube-apiserver itself refuses the others, by the CRDs; the contract's cluster is held to those.
OF_WEBHOOKS = [name for name, answer in RECORDED.items() if answer["code"] == 201 or answer["webhook"]]
VM_WEBHOOKS = (names.VM_MUTATOR.name, names.VM_VALIDATOR.name)
VMI_WEBHOOKS = (names.VMI_MUTATOR.name, names.VMI_VALIDATOR.name)


def review(case: Case, manifest: dict[str, Any]) -> Review:
    return Review("u", "CREATE", case.kind, "default", "admin", (), manifest, None)


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


def answer(case: Case, version: str = "1.9.0") -> dict[str, Any]:
    """What the webhooks answer, one after the other, in the words of recorded.json."""
    manifest = case.manifest()
    known = cluster.read(case.configuration, "amd64", release.of(version))
    objects = lookup.Objects([])
    of_vmi = case.kind == "VirtualMachineInstance"
    given = review(case, manifest)
    stored = vmi_mutate.stored(given, known.defaults) if of_vmi else vm_mutate.stored(given, objects, known.defaults)
    mutator, validator = VMI_WEBHOOKS if of_vmi else VM_WEBHOOKS
    if stored.status is not None:
        return refusal(mutator, stored.status)
    given = review(case, {**manifest, "spec": stored.patch[0]["value"]})
    response = vmi_validate.check(given, known) if of_vmi else vm_validate.check(given, objects, known)
    return refusal(validator, None if response.allowed else response.status())


def test_all_cases_are_recorded() -> None:
    assert list(RECORDED) == list(CASES)


@pytest.mark.parametrize("name", OF_WEBHOOKS)
def test_answers_are_those_of_the_real_kubevirt(name: str) -> None:
    assert answer(CASES[name]) == RECORDED[name]


# Other words, and the same cause less often.
OTHERWISE = {
    "1.4.1": {"vmi network twice", "vmi old slirp", "vmi arm64"},
    "1.5.3": {"vmi old slirp", "vmi arm64"},
    "1.6.6": set(),
    "1.7.4": set(),
}


@pytest.mark.parametrize("version", OTHERWISE)
def test_vmis_are_answered_as_by_other_releases(version: str) -> None:
    recorded = RECORDED | json.loads((ADMISSION / "releases" / f"{version}.json").read_text())
    vmis = [name for name in OF_WEBHOOKS if CASES[name].kind == "VirtualMachineInstance"]
    assert {name for name in vmis if answer(CASES[name], version) != recorded[name]} == OTHERWISE[version]


def test_pages_of_no_size_crash_kubevirt() -> None:
    """It divides by them; kube-apiserver then tells of a failed webhook."""
    case = Case("VirtualMachine", {"domain.memory": {"guest": "1Gi", "hugepages": {"pageSize": "0"}}}, {}, {}, {})
    assert answer(case)["code"] == 500
