"""The status of the KubeVirt object."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.controllers.kubevirt_status import changes


def kubevirt(generation: int, **status: Any) -> dict[str, Any]:
    return {"metadata": {"generation": generation}, "status": status}


DEPLOYED = {
    "phase": "Deployed",
    "observedGeneration": 2,
    "defaultArchitecture": "amd64",
    "observedKubeVirtVersion": "v1.6.6",
    "operatorVersion": "v1.6.6",
    "targetKubeVirtVersion": "v1.6.6",
}


def test_a_new_one_is_deployed_and_available() -> None:
    patch = changes(kubevirt(1), "1.9.0")
    assert patch is not None
    assert (patch["status"]["phase"], patch["status"]["observedGeneration"]) == ("Deployed", 1)
    assert {entry["type"]: entry["status"] for entry in patch["status"]["conditions"]} == {
        "Available": "True",
        "Progressing": "False",
        "Degraded": "False",
    }


def test_what_is_followed_is_told_once() -> None:
    before = kubevirt(2, phase="Deployed", observedGeneration=1, conditions=[])
    assert changes(before, "1.6.6") == {"status": DEPLOYED}
    assert changes(kubevirt(2, **DEPLOYED), "1.6.6") is None


def test_another_release_is_told() -> None:
    patch = changes(kubevirt(2, **DEPLOYED, conditions=[]), "1.9.0")
    assert patch is not None
    assert patch["status"]["observedKubeVirtVersion"] == "v1.9.0"


def test_another_default_architecture_stays() -> None:
    assert changes(kubevirt(2, **{**DEPLOYED, "defaultArchitecture": "arm64"}), "1.6.6") is None
