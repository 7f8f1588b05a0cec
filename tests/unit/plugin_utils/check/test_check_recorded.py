"""The check beside the answers of the real KubeVirt to VMs (tests/contract/admission)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from admission_cases import CASES

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi.cluster import (
    kubevirt_of,
)
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils.check import judge
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils.check.findings import ERROR, Finding, Place

ADMISSION = Path(__file__).resolve().parents[3] / "contract" / "admission"
RECORDED: dict[str, dict[str, Any]] = json.loads((ADMISSION / "recorded.json").read_text())
VALIDATOR = "virtualmachine-validator.kubevirt.io"
VMS = [name for name, case in CASES.items() if case.kind == "VirtualMachine"]

# By the schema in virt-api or in the CRD alone, which the check reads less closely.
OF_SCHEMAS = {
    "empty disk without capacity",
    "probe without a port",
    "pull policy",
    "dns policy empty",
    "container path relative",
    "container path writable",
    "257 volumes",
    "reboot policy",
    "users twice",
}
# What the check says otherwise for other releases.
OTHERWISE = {
    "1.4.1": {"service account bad", "port ranges bad", "binding plugin"},
    "1.5.3": {"service account bad", "port ranges bad", "acpi secret"},
    "1.6.6": {"service account bad", "port ranges bad", "host devices by claim and name", "claims of one name"},
    "1.7.4": {"service account bad", "port ranges bad", "host devices by claim and name", "claims of one name"},
}
# Refused for another reason than the check says: gates that are gone, and older words.
UNTOLD = {
    "1.4.1": {"old passt", "binding plugin", "dedicated, no memory", "interface sriov down"},
    "1.5.3": {"old passt", "acpi empty", "acpi secret", "dedicated, no memory"},
    "1.6.6": {"old passt", "gpus by claim and by name"},
    "1.7.4": {"old passt", "gpus by claim and by name"},
}
# KubeVirt looks at the ports of some interfaces only; the check finds a port that no cluster uses.
TOO_STRICT = {"ports on multus are not looked at"}


def errors(name: str, version: str = "1.9.0") -> list[Finding]:
    case = CASES[name]
    manifest = case.manifest()
    manifest["metadata"]["namespace"] = "default"
    kubevirt = kubevirt_of({"spec": {"configuration": case.configuration}}, f"v{version}")
    found: list[Finding] = []
    for entry in judge.declared(Place("vm.yaml"), manifest, kubevirt.release, "default"):
        if isinstance(entry, Finding):
            found.append(entry)
        else:
            found += judge.judge([entry], judge.Known([entry.manifest]), kubevirt, accept_unknown=False)
    return [finding for finding in found if finding.level == ERROR]


@pytest.mark.parametrize("name", VMS)
def test_errors_are_for_what_kubevirt_refuses(name: str) -> None:
    refused = RECORDED[name]["code"] != 201
    # An entry of the exceptions goes once it holds.
    assert (bool(errors(name)) == refused) != (name in OF_SCHEMAS | TOO_STRICT)


@pytest.mark.parametrize("version", OTHERWISE)
def test_other_releases(version: str) -> None:
    answers = RECORDED | json.loads((ADMISSION / "releases" / f"{version}.json").read_text())
    wrong = {name for name in VMS if bool(errors(name, version)) != (answers[name]["code"] != 201)}
    assert wrong - OF_SCHEMAS - TOO_STRICT == OTHERWISE[version]


@pytest.mark.parametrize("name", [name for name in VMS if RECORDED[name].get("webhook") == VALIDATOR])
def test_each_cause_is_a_finding(name: str) -> None:
    assert not untold(RECORDED[name], errors(name))


@pytest.mark.parametrize("version", OTHERWISE)
def test_each_cause_of_other_releases_is_a_finding(version: str) -> None:
    answers = json.loads((ADMISSION / "releases" / f"{version}.json").read_text())
    refused = [name for name in VMS if answers.get(name, {}).get("webhook") == VALIDATOR]
    assert len(refused) > 10
    missed = {name for name in refused if untold(answers[name], errors(name, version))}
    assert missed == UNTOLD[version]


def untold(answer: dict[str, Any], found: list[Finding]) -> list[str]:
    """The recorded causes that no finding tells."""
    if any(finding.rule == "invalid" for finding in found):
        # The check reads no further, and has words of its own.
        return []
    causes = [" ".join(cause["message"].split()) for cause in answer["causes"]]
    return [cause for cause in causes if not any(cause in finding.message for finding in found)]
