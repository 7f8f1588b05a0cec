"""Preflight beside the answers of a real KubeVirt 1.9.0 to VMs (tests/contract/admission)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from admission_cases import CASES

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
LIVE_UPDATES = [name for name in VMS if name.startswith("maxGuest") and RECORDED[name]["code"] != 201]


def certain(name: str) -> list[str]:
    """What preflight is sure that the cluster refuses. The cluster has none of the objects that a VM may name."""
    case = CASES[name]
    manifest = case.manifest()
    manifest["metadata"]["namespace"] = "default"
    kubevirt = kubevirt_of({"spec": {"configuration": case.configuration}}, "v1.9.0")
    cluster = Cluster(Objects([]), kubevirt)
    future = admit(plan.present(manifest, None, None).manifest, None, cluster)
    return [
        issue.text
        for issue in preflight.issues(future, None, cluster, lambda *_: [])
        if issue.certain and not issue.missing
    ]


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
