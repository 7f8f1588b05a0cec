"""Settings of a cluster's KubeVirt for running guests."""

from dataclasses import replace
from typing import Any

import pytest

from plugins.module_utils._resolver.api import release
from plugins.module_utils._resolver.kubevirt import gates
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt, at_release, kubevirt_of

DECLARED, REQUESTED, NETWORKS = "DeclarativeHotplugVolumes", "HotplugVolumes", "LiveUpdateNADRef"


@pytest.mark.parametrize(
    ("version", "developer", "expected"),
    [
        ("1.9.0", {}, True),
        ("1.9.0", {"disabledFeatureGates": [DECLARED]}, False),
        ("1.9.0", {"featureGates": [DECLARED], "disabledFeatureGates": [DECLARED]}, True),
        ("1.9.0", {"featureGates": [REQUESTED]}, False),
        ("1.9.0", {"featureGates": [REQUESTED, DECLARED]}, False),
        ("1.8.4", {}, False),
        ("1.8.4", {"featureGates": [DECLARED]}, True),
        ("1.6.0", {"featureGates": [DECLARED]}, True),
        # A release that does not know the gate.
        ("1.5.0", {"featureGates": [DECLARED]}, False),
    ],
)
def test_declared_volumes_are_plugged_in(version: str, developer: dict[str, Any], expected: bool) -> None:
    manifest = {"spec": {"configuration": {"developerConfiguration": developer}}}
    assert kubevirt_of(manifest, version).plugs_volumes is expected


def test_requested_volumes_are_plugged_in() -> None:
    manifest = {"spec": {"configuration": {"developerConfiguration": {"featureGates": [REQUESTED]}}}}
    assert replace(kubevirt_of(manifest, "1.5.0"), requests_plugs=True).plugs_volumes


@pytest.mark.parametrize(
    ("version", "opened", "expected"),
    [
        ("1.9.0", [], True),
        ("1.8.4", [], False),
        ("1.8.4", [NETWORKS], True),
        # Releases that do not know the gate.
        ("1.7.0", [NETWORKS], False),
    ],
)
def test_networks_of_running_guests_change(version: str, opened: list[str], expected: bool) -> None:
    manifest = {"spec": {"configuration": {"developerConfiguration": {"featureGates": opened}}}}
    assert kubevirt_of(manifest, version).changes_networks is expected


def test_malformed_configuration_raises_value_error() -> None:
    with pytest.raises(ValueError, match="malformed"):
        KubeVirt(release.NEWEST, {"permittedHostDevices": "x"}).check()


def test_closed_gates_depend_on_release() -> None:
    def closed(version: str, *opened: str) -> frozenset[str]:
        spec = {"configuration": {"developerConfiguration": {"featureGates": list(opened)}}}
        return kubevirt_of({"spec": spec}, version).closed_gates

    assert closed("1.9.0") == closed("1.8.0") == frozenset()
    assert closed("1.7.4") == closed("1.6.6") == {gates.MULTI_ARCHITECTURE}
    assert closed("1.7.4", gates.MULTI_ARCHITECTURE) == frozenset()
    assert closed("1.5.3") == {gates.MULTI_ARCHITECTURE, gates.PERSISTENT_STATE, gates.REFERENCE_POLICY}
    assert kubevirt_of(None, "1.7.4", "no right").closed_gates == {gates.MULTI_ARCHITECTURE}


def test_the_next_release_opens_a_gate() -> None:
    versions = ("v1.9.3", "v1.10.0")
    assert [kubevirt_of({}, text).has_gate("DecentralizedLiveMigration") for text in versions] == [False, True]


def test_a_general_feature_cannot_be_switched_off() -> None:
    disabled = {
        "spec": {"configuration": {"developerConfiguration": {"disabledFeatureGates": ["VmiMemoryOverheadReport"]}}}
    }
    reported = [kubevirt_of(disabled, text).has_gate("VmiMemoryOverheadReport") for text in ("v1.9.3", "v1.10.0")]
    assert reported == [False, True]


def test_an_upgrade_to_the_next_release_is_assumed() -> None:
    assert at_release(KubeVirt(release.NEWEST), "v1.10").assumption == (
        "KubeVirt v1.10 is not released yet; the task takes it as its sources were on 22 August 2026;"
        " with 1.10, KubeVirt supports only the newest three minor versions"
    )
    assert at_release(KubeVirt(release.NEWEST), "1.9.3").assumption == ""


def test_gates_that_are_no_texts_are_malformed() -> None:
    configuration = {"developerConfiguration": {"featureGates": [[]]}}
    assert "malformed" in kubevirt_of({"spec": {"configuration": configuration}}, "v1.9.0").assumption


def test_devices_without_a_name_permit_nothing() -> None:
    configuration = {"permittedHostDevices": {"usb": [{"resourceName": None}, {"resourceName": "a"}]}}
    assert kubevirt_of({"spec": {"configuration": configuration}}, "v1.9.0").permitted_devices == {"", "a"}
