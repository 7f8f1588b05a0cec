"""The diagnosis of what a real control plane said of VMs with faults."""

import json
from pathlib import Path
from typing import Any

import pytest
from remedies import checked, patch

from plugins.module_utils._capacity.placement.reasons import node_reasons
from plugins.module_utils._diagnosis.offline import diagnoses
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt

Manifest = dict[str, Any]

RECORDED = json.loads((Path(__file__).parent / "recorded_faults.json").read_text(encoding="utf-8"))
LINKS = {
    "missing class": "storage_class",
    "missing claim": "claim",
    "missing type": "instancetype",
    "missing preference": "preference",
    "missing revision": "revision",
    "missing DataSource": "data_source",
    "import that fails": "import",
    "quota": "quota",
    "limit range": "limit_range",
    "GPU that no node has": "device",
    "taint": "scheduling",
    "selector": "scheduling",
    "4Mi": "memory",
    "wrong network": "network",
    "port of masquerade": "port",
    "image that cannot be pulled": "image",
    "paused": "paused",
    "RestartRequired": "restart",
    "crash loop": "crash",
    "finalizer that hangs": "deletion",
    "webhook down": "webhook",
    "node gone": "node",
    "migration stuck": "migration",
    "obsolete type": "obsolete",
    "policy that denies": "policy",
}


def of(name: str, *more: Manifest, at: str = "") -> Manifest:
    """The diagnosis of a recorded VM."""
    objects = [*RECORDED["common"], *RECORDED["faults"][name], *more]
    [found] = diagnoses(objects, KubeVirt(NEWEST), at, node_reasons)
    return checked(found["diagnosis"])


@pytest.mark.parametrize("name", LINKS)
def test_the_recorded_fault_is_named(name: str) -> None:
    found = of(name)
    assert found.get("link") == LINKS[name], found
    assert found["evidence"] and all(item["name"] and item["reason"] for item in found["evidence"])
    assert found["remedy"] and found["otherwise"] and len(found["task"]) == 2


@pytest.mark.parametrize("name", ["missing claim", "paused"])
def test_the_vm_alone_names_the_fault(name: str) -> None:
    objects = [item for item in RECORDED["faults"][name] if item["kind"] == "VirtualMachine"]
    [found] = diagnoses(objects, KubeVirt(NEWEST))
    assert checked(found["diagnosis"])["link"] == LINKS[name]


def test_a_target_pod_is_not_the_guests() -> None:
    objects = [item for item in RECORDED["faults"]["migration stuck"] if item["kind"] != "VirtualMachineInstance"]
    [found] = diagnoses([*RECORDED["common"], *objects], KubeVirt(NEWEST), "", node_reasons)
    assert found["diagnosis"]["state"] == "running"


def test_a_recorded_healthy_vm_runs() -> None:
    found = of("healthy")
    assert (found["state"], found.get("link")) == ("running", None)
    assert {"controller", "scheduling", "obsolete"} <= set(found["passed"])


def test_a_silent_controller_precedes_other_faults() -> None:
    assert of("missing type", at="2036-01-01T00:00:00Z")["link"] == "controller"


def test_nodes_have_their_own_reasons() -> None:
    evidence = of("taint")["evidence"]
    assert {(item["name"], item["message"]) for item in evidence if item["source"] == "status"} == {
        ("node01", "lacks the label tier=reserved"),
        ("node02", "has the taint reserved:NoSchedule"),
    }


def test_a_quota_is_raised_by_what_is_missing() -> None:
    assert patch(of("quota"))["spec"]["hard"] == {"requests.memory": "1389760192"}


def test_all_vms_share_what_nodes_have_left() -> None:
    text = json.dumps(RECORDED["faults"]["taint"])
    other = json.loads(text.replace('"web"', '"other"').replace("virt-launcher-web", "virt-launcher-other"))
    objects = [*RECORDED["common"], *RECORDED["faults"]["taint"], *other]
    found = [item["diagnosis"] for item in diagnoses(objects, KubeVirt(NEWEST), "", node_reasons)]
    assert found[0]["problem"] == found[1]["problem"]


def test_a_source_of_another_namespace_is_named() -> None:
    fault = json.loads(json.dumps(RECORDED["faults"]["missing DataSource"]))
    [template] = fault[0]["spec"]["dataVolumeTemplates"]
    template["spec"]["sourceRef"]["namespace"] = "golden"
    fault[0]["spec"]["dataVolumeTemplates"] = [{"metadata": {"name": "a"}, "spec": {}}, template]
    [found] = diagnoses([*RECORDED["common"], *fault], KubeVirt(NEWEST))
    assert "golden/nowhere" in found["diagnosis"]["problem"]
