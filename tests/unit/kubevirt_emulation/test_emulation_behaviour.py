"""What releases of KubeVirt do differently, part by part; that it is as recorded, `tests/contract` shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from emulated import configured

from _resolver.admission import devices, older_gates
from _resolver.api import release, schema
from _resolver.instancetype.vmi.vmi_defaults import select_nodes
from kubevirt_emulation import behaviour, config, go_metadata, openapi, releases
from kubevirt_emulation.webhooks.vm_mutate import set_identity

Manifest = dict[str, Any]

OLDEST = releases.KNOWN[-1]


def behaves(version: str) -> behaviour.Behaviour:
    return behaviour.of(release.of(version))


def test_the_newest_has_no_differences() -> None:
    assert behaves(releases.NEWEST) == behaviour.Behaviour()


@pytest.mark.parametrize("version", [*releases.KNOWN, "1.6.0", "1.4.99"])
def test_recorded_minor_versions_can_be_had(version: str) -> None:
    assert releases.problem(version) == ""


@pytest.mark.parametrize("version", ["1.3.1", "1.10.0", "1.6", "v1.6.6", "latest", ""])
def test_others_are_refused_in_one_line_that_names_those_there_are(version: str, tmp_path: Path) -> None:
    problem = releases.problem(version)
    assert "\n" not in problem
    assert all(known in problem for known in releases.KNOWN)
    file = tmp_path / "config.json"
    values = dict.fromkeys(("kubeconfig", "host", "tls_cert", "tls_key", "ca_file", "ready_file"), "x")
    file.write_text(json.dumps({**values, "port": 1, "kubevirt_version": version}))
    with pytest.raises(config.ConfigError, match="kubevirt_version"):
        config.load(str(file))


@pytest.mark.parametrize(("version", "live"), [("1.5.3", False), ("1.6.6", True)])
def test_rollout_strategy_where_none_is_set(version: str, live: bool) -> None:
    assert configured(version).live_updates is live
    assert configured(version, vmRolloutStrategy="LiveUpdate").live_updates
    assert not configured(version, vmRolloutStrategy="Stage").live_updates


def test_reference_policies_need_a_gate_until_1_5() -> None:
    policy: Manifest = {"instancetype": {"referencePolicy": "expand"}}
    assert configured("1.5.3", **policy).reference_policy == "reference"
    assert configured("1.5.3", [release.REFERENCE_POLICY], **policy).reference_policy == "expand"
    assert configured("1.6.6", **policy).reference_policy == "expand"


@pytest.mark.parametrize(
    ("version", "firmware", "annotated"),
    [("1.4.1", set(), False), ("1.5.3", {"serial"}, False), ("1.6.6", {"uuid", "serial"}, True)],
)
def test_what_a_new_vm_is_given(version: str, firmware: set[str], annotated: bool) -> None:
    template: Manifest = {"metadata": {}, "spec": {"domain": {"machine": {"type": "q35"}}}}
    set_identity(template, behaves(version))
    assert set(template["spec"]["domain"].get("firmware", {})) == firmware
    assert bool(template["metadata"]) is annotated


def test_null_timestamps() -> None:
    spec = {"template": {"metadata": {}}, "dataVolumeTemplates": [{"metadata": {"name": "d"}}]}
    written = go_metadata.of_spec(spec, behaves("1.7.4"))
    assert written["template"]["metadata"] == {"creationTimestamp": None}
    assert written["dataVolumeTemplates"] == [{"metadata": {"name": "d", "creationTimestamp": None}}]
    assert go_metadata.of_spec(spec, behaves("1.8.4")) == spec


def test_gates_of_older_releases() -> None:
    spec: Manifest = {
        "architecture": "arm64",
        "domain": {"devices": {"tpm": {"persistent": True}}, "firmware": {"bootloader": {"efi": {"persistent": True}}}},
    }

    def fields(version: str, *gates: str) -> list[str]:
        cluster = configured(version, list(gates)).cluster
        rules = (older_gates.architecture, older_gates.persistent_state)
        return [cause.field.removeprefix("spec.") for rule in rules for cause in rule(spec, "spec", cluster)]

    state = ["domain.devices.tpm.persistent", "domain.firmware.bootloader.efi.persistent"]
    assert fields("1.5.3") == ["architecture", *state]
    assert fields("1.5.3", "MultiArchitecture") == state
    assert fields("1.7.4") == ["architecture"]
    assert fields("1.8.4") == []


def test_io_threads_policies() -> None:
    domain: Manifest = {"ioThreadsPolicy": "supplementalPool", "devices": {}, "resources": {}}

    def messages(version: str) -> list[str]:
        return [cause.message for cause in devices.io_threads({"domain": domain}, "spec", configured(version).cluster)]

    assert messages(OLDEST) == ["Invalid IOThreadsPolicy (supplementalPool)"]
    assert messages("1.5.3") == ["the number of iothreads needs to be set and positive for the dedicated policy"]
    domain["ioThreads"] = {"supplementalPoolThreadCount": 2}
    assert messages("1.5.3") == []


def test_nodes_are_selected_for_special_guests() -> None:
    spec: Manifest = {"domain": {"cpu": {"realtime": {}}, "launchSecurity": {"sev": {"policy": {}}}}}
    select_nodes(spec)
    assert spec["nodeSelector"] == {"kubevirt.io/realtime": "", "kubevirt.io/sev": ""}
    plain: Manifest = {"domain": {"cpu": {}}}
    select_nodes(plain)
    assert "nodeSelector" not in plain


def test_crds_have_the_fields_that_the_release_knows() -> None:
    oldest = release.of(OLDEST)
    assert "preferredArchitecture" not in openapi.schema_of("VirtualMachinePreferenceSpec", oldest)["properties"]
    assert "preferredArchitecture" in openapi.schema_of("VirtualMachinePreferenceSpec")["properties"]
    # What Go wrote even when it was empty, the CRDs asked for.
    assert openapi.schema_of("GPU", oldest)["required"] == ["name", "deviceName"]
    assert openapi.schema_of("GPU")["required"] == ["name"]


def test_crds_of_a_release_are_no_larger() -> None:
    for kind in schema.TYPES:
        if kind != "ObjectMeta":
            older = openapi.schema_of(kind, release.of(OLDEST)).get("properties", {})
            assert older.keys() <= openapi.schema_of(kind).get("properties", {}).keys()
