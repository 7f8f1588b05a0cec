"""The texts of releases, their differences, and the fields of their APIs; results are in tests/conformance."""

from types import ModuleType
from typing import Any

import pytest

from plugins.module_utils._capacity.pod import behaviour as pod_behaviour
from plugins.module_utils._resolver.api import behaviour, release, release_schema, schema
from plugins.module_utils._resolver.api.release import NEWEST, Release, parse_release
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt
from plugins.module_utils._resolver.kubevirt.vm.defaults import set_spec_defaults


def rows_of(table: ModuleType) -> dict[str, Any]:
    return {name: row for name, row in vars(table).items() if name.isupper() and name != "GATES"}


def behaviours(version: Release) -> dict[str, Any]:
    return {
        name.lower(): version.has(row) if isinstance(row, str) else version.pick(row)
        for name, row in rows_of(behaviour).items()
    }


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.6", (1, 6, 0)),
        ("v1.6", (1, 6, 0)),
        ("v1.6.2", (1, 6, 2)),
        ("1.4.0-rc.1", (1, 4, 0)),
        ("v1.5.2+build.7", (1, 5, 2)),
    ],
)
def test_valid_versions(text: str, version: tuple[int, int, int]) -> None:
    assert parse_release(text).version == version


def test_releases_are_cached_and_future_versions_are_newest() -> None:
    assert parse_release("1.6") is parse_release("v1.6.0")
    assert parse_release("1.9") is parse_release("v1.9.4") is NEWEST
    assert parse_release("v1.10.3") is parse_release("2.0") is release.UPCOMING


@pytest.mark.parametrize("text", ["", "newest", "1", "1.6.2.1", "v", 1.6, None])
def test_invalid_versions(text: Any) -> None:
    with pytest.raises(
        release.UnknownRelease, match=r"is not a version of KubeVirt; write 1\.4 or later, .* in quotes"
    ):
        parse_release(text)


@pytest.mark.parametrize("text", ["1.10", "v1.99.0", "9.9"])
def test_a_user_names_a_known_release(text: str) -> None:
    with pytest.raises(release.UnknownRelease, match=rf"does not know KubeVirt {text}; write 1\.4 to 1\.9, or a patch"):
        release.parse_known_release(text)
    assert release.parse_known_release("v1.9.7") is NEWEST and release.parse_known_release("1.6").version == (1, 6, 0)


@pytest.mark.parametrize(
    ("releases", "those"),
    [
        ("1.6", "1.6.0 1.6.3 1.9.0 1.10.0"),
        ("1.5.1", "1.5.1 1.6.0 1.6.3 1.9.0 1.10.0"),
        ("1.5-1.6", "1.5.0 1.5.1 1.6.0 1.6.3"),
        ("1.5-1.6.2", "1.5.0 1.5.1 1.6.0"),
        ("-1.5", "1.4.1 1.5.0 1.5.1"),
        ("1.10", "1.10.0"),
        ("1.4.1-1.4 1.5.1", "1.4.1 1.5.1 1.6.0 1.6.3 1.9.0 1.10.0"),
        ("-", "1.4.1 1.5.0 1.5.1 1.6.0 1.6.3 1.9.0 1.10.0"),
        ("", ""),
    ],
)
def test_periods_have_a_first_and_last_release(releases: str, those: str) -> None:
    versions = ("1.4.1", "1.5.0", "1.5.1", "1.6.0", "1.6.3", "1.9.0", "1.10.0")
    assert " ".join(version for version in versions if parse_release(version).has(releases)) == those


def test_values_have_one_period_for_each_release() -> None:
    rows = [*rows_of(behaviour).values(), *rows_of(pod_behaviour).values()]
    for values in [row for row in rows if isinstance(row, dict)]:
        for version in ("1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "1.10"):
            assert sum(parse_release(version).has(releases) for releases in values) == 1, values


def test_releases_before_1_4_are_not_supported() -> None:
    with pytest.raises(release.UnknownRelease, match=r"KubeVirt v1\.3\.1 is not supported"):
        parse_release("v1.3.1")


def test_releases_differ_only_in_recorded_changes() -> None:
    minors = [f"1.{minor}" for minor in range(4, 10)]
    changed = {
        older: {
            name
            for name, value in behaviours(parse_release(older)).items()
            if value != behaviours(parse_release(newer))[name]
        }
        for older, newer in zip(minors, minors[1:])
    }
    assert {version: " ".join(sorted(names)) for version, names in changed.items()} == {
        "1.4": "acpi architectures captures_in_status conflict_cause conflict_list crashes_without_matcher"
        " external_population filesystem_gates leaves_empty_machine link_states old_gates_refused"
        " supplemental_pool",
        "1.5": "bare_launch_security checks_captured_name device_needed empty_cdroms machine_without_slash msdm"
        " plugs_only_scsi refuses_unknown_objects secure_execution serves_old_versions stages_volumes"
        " updates_live_by_default vm_memory_counts wait_as_receiver",
        "1.6": "any_memory_conflicts named_and_inferred one_launch_security reads_old_revisions replaces_volumes"
        " requests_guest_memory sata_blocks sets_matcher_kind takes_architecture_of_sources",
        "1.7": "bindings_discontinued crashes_without_matcher host_device_claims keeps_restart_condition"
        " page_size_field restarts_for_pod_network",
        "1.8": "binding_needed claims_checked creates_panic_device infers_from_snapshots nvidia_grace port_field"
        " reservation_setting tdx_without_smm unclaimed_permitted warns_of_launch_security",
    }


@pytest.mark.parametrize(
    ("version", "requests"),
    [
        ("1.4.0", True),
        ("1.6.1", True),
        ("1.6.2", False),
        ("1.6.3", True),
        ("1.6.4", False),
        ("1.7.0", False),
    ],
)
def test_memory_requests_by_release(version: str, requests: bool) -> None:
    assert parse_release(version).has(behaviour.REQUESTS_GUEST_MEMORY) is requests


def test_patch_releases_have_their_own_differences() -> None:
    assert not parse_release("1.5.0").has(behaviour.VM_MEMORY_COUNTS)
    assert parse_release("1.5.1").has(behaviour.VM_MEMORY_COUNTS)
    assert not parse_release("1.5.1").has(behaviour.CHECKS_CAPTURED_NAME)
    assert parse_release("1.5.2").has(behaviour.CHECKS_CAPTURED_NAME)


def test_memory_request_is_divided_by_overcommit() -> None:
    spec: dict[str, Any] = {"domain": {"resources": {}, "devices": {}, "memory": {"guest": "3Gi"}}}

    assert (
        set_spec_defaults(spec, KubeVirt(parse_release("1.6"), {"developerConfiguration": {"memoryOvercommit": 150}}))
        is None
    )

    assert spec["domain"]["resources"]["requests"] == {"memory": "2Gi"}


INSTANCETYPE = {
    "cpu": {"guest": 2, "maxSockets": 4},
    "memory": {"guest": "1Gi"},
    "gpus": [{"name": "a", "claimName": ""}, {"name": "b", "deviceName": "x/y", "bogus": 1}],
    "launchSecurity": {"snp": {}},
}


def test_unknown_fields_of_a_release_are_dropped() -> None:
    spec = release_schema.canonical("VirtualMachineInstancetypeSpec", INSTANCETYPE, parse_release("1.4"))

    assert spec == {
        "cpu": {"guest": 2, "maxSockets": 4},
        "memory": {"guest": "1Gi"},
        "gpus": [{"name": "a", "deviceName": ""}, {"name": "b", "deviceName": "x/y"}],
        "launchSecurity": {},
    }
    unknown = release_schema.unknown("VirtualMachineInstancetypeSpec", INSTANCETYPE, parse_release("1.4"))
    assert {field.path: field.value for field in unknown} == {
        "gpus[0].claimName": "",
        "gpus[1].bogus": 1,
        "launchSecurity.snp": {},
    }


def test_older_releases_write_empty_values() -> None:
    for version, gpu in (
        ("1.5", {"name": "a", "deviceName": ""}),
        ("1.6", {"name": "a", "claimName": ""}),
        ("1.8", {"name": "a", "claimName": ""}),
        ("1.9", {"name": "a"}),
    ):
        spec = release_schema.canonical("VirtualMachineInstancetypeSpec", INSTANCETYPE, parse_release(version))
        assert spec["gpus"][0] == gpu, version


def test_notes_of_fields_are_versions() -> None:
    for fields in schema.TYPES.values():
        for declaration in fields.values():
            notes = dict(schema.field_notes(declaration))
            assert notes.pop("empty", "undeclared") == "undeclared"
            assert notes.pop("values", "a") != ""
            assert set(notes) <= {"since", "written", "kept"}
            for releases in notes.values():
                assert NEWEST.has(releases) is not release.OLDEST.has(releases)


@pytest.mark.parametrize(
    ("version", "known"), [("1.4.0", False), ("1.4.1", True), ("1.5.0", False), ("1.5.3", True), ("1.6.0", True)]
)
def test_has_field_knows_backports(version: str, known: bool) -> None:
    assert release_schema.has_field("TPMDevice", "enabled", parse_release(version)) is known


# The fields that an object sets.


def test_fields_inside_of_unknown_fields_are_left_out() -> None:
    spec = {"runStrategy": "Always", "nonsense": {"runStrategy": "Always"}}
    known, unknown = release_schema.fields("VirtualMachineSpec", spec, path="spec")
    assert known == ("spec.runStrategy", "VirtualMachineSpec", "runStrategy", "Always", "string")
    assert (unknown.path, unknown.expression) == ("spec.nonsense", "")


def test_values_of_a_wrong_shape_have_no_fields() -> None:
    for expression, value in (("VirtualMachineSpec", [1]), ("[]Disk", {"name": "a"}), ("string", {"a": 1})):
        assert list(release_schema.fields(expression, value)) == []
        assert list(release_schema.unknown(expression, value, NEWEST)) == []
        assert release_schema.without_unknown_fields(expression, value, NEWEST) == value
        assert list(release_schema.missing_fields(expression, value, NEWEST, scalars=True)) == []
