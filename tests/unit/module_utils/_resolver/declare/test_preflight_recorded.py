"""Preflight beside the answers of a real KubeVirt 1.9.0 to VMs (tests/contract/admission)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from admission_cases import CASES, Case

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare import plan, preflight
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.outlook import admit
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi.cluster import (
    Cluster,
    kubevirt_of,
)

ADMISSION = Path(__file__).resolve().parents[4] / "contract" / "admission"
RECORDED: dict[str, dict[str, Any]] = json.loads((ADMISSION / "recorded.json").read_text())
VMS = [name for name, case in CASES.items() if case.kind == "VirtualMachine"]
VMI_VALIDATOR = "virtualmachineinstances-create-validator.kubevirt.io"
# VMIs that a VM's own webhook refuses as well.
OF_VMS = {"vmi network twice", "vmi old slirp", "vmi label"}
VMIS = [name for name in CASES if RECORDED[name].get("webhook") == VMI_VALIDATOR and name not in OF_VMS]
# VMs that virt-api accepts and for which virt-controller cannot create a pod, and others.
PODS: dict[str, dict[str, Any]] = json.loads((ADMISSION / "pods.json").read_text())
LIVE_UPDATES = [name for name in VMS if name.startswith("maxGuest") and RECORDED[name]["code"] != 201]


def certain(name: str) -> list[str]:
    """What preflight is sure that the cluster refuses. The cluster has none of the objects that a VM may name."""
    return [issue.text for issue in issues(CASES[name]) if issue.certain and not issue.missing]


def issues(case: Case) -> list[preflight.Issue]:
    manifest = case.manifest()
    manifest["metadata"]["namespace"] = "default"
    kubevirt = kubevirt_of({"spec": {"configuration": case.configuration}}, "v1.9.0")
    cluster = Cluster(Objects([]), kubevirt)
    future = admit(plan.present(manifest, None, None).manifest, None, cluster)
    return preflight.issues(future, None, cluster, lambda *_: [])


def beside_warnings(case: Case) -> list[preflight.Issue]:
    """All issues but the warnings that networks and others do not exist: the cluster is empty."""
    return [issue for issue in issues(case) if issue.certain or not issue.missing]


@pytest.mark.parametrize("name", VMS)
def test_what_preflight_refuses_the_real_one_refuses(name: str) -> None:
    answer = RECORDED[name]
    if answer["code"] == 201:
        assert certain(name) == []
    else:
        parts = [answer["message"], *(cause["message"] for cause in answer.get("causes") or [])]
        assert all(any(" ".join(part.split()) in text for part in parts) for text in certain(name))


def test_some_of_them_are_of_live_updates() -> None:
    assert len(LIVE_UPDATES) > 5


@pytest.mark.parametrize("name", LIVE_UPDATES)
def test_what_a_running_guest_could_not_be_given_is_foreseen(name: str) -> None:
    assert any(RECORDED[name]["message"] in text for text in certain(name))


def test_most_refused_vmis_are_of_vms_that_are_accepted() -> None:
    assert len(VMIS) > 8


@pytest.mark.parametrize("name", VMIS)
def test_what_keeps_an_accepted_vm_from_starting_is_foreseen(name: str) -> None:
    found = beside_warnings(CASES[name]._replace(kind="VirtualMachine", vm={"runStrategy": "Always"}))
    told = "; ".join(issue.text.replace("spec.template.spec.", "spec.") for issue in found)
    assert all(issue.certain and not issue.starts for issue in found)
    assert all(cause["message"] in told for cause in RECORDED[name]["causes"])


@pytest.mark.parametrize("name", sorted(OF_VMS))
def test_what_a_vm_is_refused_for_is_not_told_of_its_start(name: str) -> None:
    assert beside_warnings(CASES[name]._replace(kind="VirtualMachine", vm={"runStrategy": "Always"})) == []


@pytest.mark.parametrize("name", PODS)
def test_what_the_api_server_refuses_of_a_pod_is_foreseen(name: str) -> None:
    disk = {"name": "a", "containerDisk": {"image": "registry.example.com/disk:1"}}
    domain = {"memory": {"guest": "1Gi"}, **PODS[name]["spec"].get("domain", {})}
    spec = {"volumes": [disk], **PODS[name]["spec"], "domain": {"devices": {}, **domain}}
    found = issues(Case("VirtualMachine", spec, {"runStrategy": "Always"}, {}, {}))
    refused = " ".join((PODS[name]["refused"] or "").split())
    told = [issue.text.partition(": ")[2].partition("; KubeVirt")[0] for issue in found]
    assert all(issue.certain and not issue.starts for issue in found)
    assert all(text in refused for text in told)
    assert bool(told) == bool(refused)
