"""What is said of VMs at the limits of what KubeVirt admits.

The words are those that KubeVirt answers. tests/integration/properties asks the running one about all of them, also
about VMs that depend on its configuration (`test_admission_configured`), and about those whose pods are refused
(`test_refused_pods`).
"""

from __future__ import annotations

import json

from local_findings import causes, errors, issues

import approved
from admission_cases import CASES, PODS, Case
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.config.cluster import (
    kubevirt_of,
)

NEWEST = "1.9.0"
OTHERS = ("1.4.0", "1.5.0", "1.6.0", "1.7.0", "1.8.4")
VMS = {name: case for name, case in CASES.items() if case.kind == "VirtualMachine"}
VMIS = {name: case for name, case in CASES.items() if name not in VMS}


def checked(case: Case, version: str) -> list[str]:
    kubevirt = kubevirt_of({"spec": {"configuration": case.configuration}}, f"v{version}")
    result = errors(case.manifest("default"), kubevirt)
    lines = [f"{item.field}: {item.message}" for item in result]
    # Where the form is wrong, the check reads no further.
    malformed = any(item.rule == "invalid" for item in result)
    return [
        *lines,
        *(f"KubeVirt: {text}" for text in (causes(case.manifest("default"), kubevirt) if malformed else ())),
    ]


def foreseen(case: Case, version: str = NEWEST) -> list[str]:
    """What preflight is sure of; the cluster has none of the objects that a VM may name."""
    kubevirt = kubevirt_of({"spec": {"configuration": case.configuration}}, f"v{version}")
    result = issues(case.manifest("default"), kubevirt)
    return [issue.text for issue in result if issue.certain and not issue.missing]


def test_check_findings_of_each_release_are_approved() -> None:
    """Each entry is a VM's name and what is wrong with it, and what it is in another release where that differs."""
    results: dict[str, list[str]] = {}
    for name, case in VMS.items():
        results[name] = checked(case, NEWEST)
        for version in OTHERS:
            if (other := checked(case, version)) != results[name]:
                results[f"{name} in {version}"] = other
    approved.check("admission.json", shown(results))


def test_preflight_findings_of_unstartable_vms_are_approved() -> None:
    """Of VMIs that are refused, as VMs that make them, and of VMs whose pods are."""
    started = {name: case._replace(kind="VirtualMachine", vm={"runStrategy": "Always"}) for name, case in VMIS.items()}
    approved.check("starts.json", shown({name: foreseen(case) for name, case in {**started, **PODS}.items()}))


def shown(results: dict[str, list[str]]) -> str:
    return json.dumps(results, indent=1, ensure_ascii=False) + "\n"
