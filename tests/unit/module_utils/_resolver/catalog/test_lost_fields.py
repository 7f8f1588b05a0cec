"""Fields of the built-in catalog that older releases of KubeVirt would drop, and the effect on a VM."""

from functools import cache
from typing import Any

import pytest

from crd_schemas import definitions, schema_of
from plugins.module_utils._resolver.api import release, schema
from plugins.module_utils._resolver.api.matcher import (
    INSTANCETYPE,
    MATCHER_FIELD_OF_KIND,
    MATCHER_FIELDS,
    PREFERENCE,
    MatcherField,
)
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.catalog.lost_fields import (
    LostFields,
    find_lost_fields,
    release_of,
    spec_schema,
    without_unknown,
)
from plugins.plugin_utils._catalog_files import builtin_objects

CATALOG = {item["metadata"]["name"]: item for item in builtin_objects(NEWEST)}


def older(expression: str, result: dict[str, Any], existing: release.Release) -> dict[str, Any]:
    """The schema of a type as an older release has it: without the fields that came later."""
    bare = expression.strip("*!")
    if bare.startswith("[]"):
        return {**result, "items": older(bare[2:], result["items"], existing)}
    if bare not in schema.TYPES or "properties" not in result:
        return result
    properties = {}
    for name, declaration in schema.TYPES[bare].items():
        notes = schema.field_notes(declaration)
        if "since" not in notes or existing.has(notes["since"]):
            properties[name] = older(schema.field_type(declaration), result["properties"][name], existing)
    return {**result, "properties": properties}


@cache
def cluster(version: str) -> dict[MatcherField, dict[str, Any]]:
    existing = release.parse_release(version)
    return {
        matcher_field: older(matcher_field.spec_type, schema_of(matcher_field.spec_type), existing)
        for matcher_field in MATCHER_FIELDS
    }


def on(version: str, name: str) -> LostFields | None:
    manifest, schemas = CATALOG[name], cluster(version)
    return find_lost_fields(manifest, schemas[MATCHER_FIELD_OF_KIND[manifest["kind"]]])


@pytest.mark.parametrize(
    ("version", "result"),
    [("1.4", "1.4"), ("1.5", "1.4"), ("1.6", "1.6")] + [("1.7", "1.7"), ("1.8", "1.8"), ("1.9", "1.9")],
)
def test_release_is_derived_from_the_fields(version: str, result: str) -> None:
    assert release_of(cluster(version)).version == release.parse_release(result).version


def test_everything_fits_the_newest_release() -> None:
    assert [name for name in CATALOG if on("1.9", name)] == []


def test_windows_loses_its_video_type_before_1_9() -> None:
    result = on("1.8", "windows.2k25.virtio")
    assert result is not None
    assert result.lost == ("spec.devices.preferredVideoType",)
    assert result.effects == ({"field": "domain.devices.video", "before": {"type": "virtio"}, "after": None},)
    assert result.text == (
        "the cluster's KubeVirt does not know spec.devices.preferredVideoType;"
        " a VM would have domain.devices.video {'type': 'virtio'} -> nothing"
    )
    assert "preferredVideoType" not in result.manifest["spec"]["devices"]
    assert "preferredVideoType" in CATALOG["windows.2k25.virtio"]["spec"]["devices"], "the input is left as it is"


def test_a_lost_requirement_is_reported_without_effects() -> None:
    manifest = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "a"},
        "spec": {"requirements": {"architecture": "amd64"}},
    }
    result = find_lost_fields(manifest, cluster("1.6")[PREFERENCE])
    assert result is not None
    assert (result.lost, result.effects) == (("spec.requirements.architecture",), ())
    assert "VMs come out the same" in result.text


def test_losing_launch_security_is_reported() -> None:
    manifest = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "a"},
        "spec": {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}, "launchSecurity": {"snp": {}}},
    }
    result = find_lost_fields(manifest, cluster("1.6")[INSTANCETYPE])
    assert result is not None
    assert result.lost == ("spec.launchSecurity.snp",)
    assert result.effects == ({"field": "domain.launchSecurity.snp", "before": {}, "after": None},)


def test_lists_maps_and_free_objects() -> None:
    result = {
        "properties": {
            "list": {"items": {"properties": {"a": {}}}},
            "map": {"additionalProperties": {"properties": {"a": {}}}},
            "free": {"x-kubernetes-preserve-unknown-fields": True},
        }
    }
    value = {"list": [{"a": 1, "b": 2}], "map": {"k": {"b": 1}}, "free": {"x": {"y": 1}}, "no": 1}
    retained, lost = without_unknown(value, result, "spec")
    assert retained == {"list": [{"a": 1}], "map": {"k": {}}, "free": {"x": {"y": 1}}}
    assert lost == ["spec.list[0].b", "spec.map.k.b", "spec.no"]


def test_the_schema_of_a_definition() -> None:
    [definition] = [item for item in definitions() if item["spec"]["names"]["kind"] == PREFERENCE.cluster_kind]
    assert spec_schema(definition, "v1beta1") == schema_of(PREFERENCE.spec_type)
    assert spec_schema(definition, "v1") is None


@pytest.mark.parametrize(
    "spec",
    [
        # KubeVirt crashes on it.
        {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0}}},
        {"cpu": {"preferredCPUTopology": 5}},
    ],
)
def test_preference_without_valid_vm_has_no_effects(spec: dict[str, Any]) -> None:
    manifest = {
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "a"},
        "spec": {**spec, "requirements": {"architecture": "amd64"}},
    }
    result = find_lost_fields(manifest, cluster("1.6")[PREFERENCE])
    assert result is not None
    assert (result.lost, result.effects) == (("spec.requirements.architecture",), ())


def preference(**spec: Any) -> dict[str, Any]:
    return {"kind": "VirtualMachineClusterPreference", "metadata": {"name": "a"}, "spec": spec}


def test_a_schema_without_spec_keeps_all_fields() -> None:
    served = {"name": "v1beta1", "served": True}
    for root in ({}, {"schema": {}}, {"schema": {"openAPIV3Schema": {"properties": {"spec": True}}}}):
        result = spec_schema({"spec": {"versions": [{**served, **root}]}}, "v1beta1")
        assert result == {"x-kubernetes-preserve-unknown-fields": True}
    assert spec_schema({"spec": {"versions": [{"name": "v1beta1", "served": False}]}}, "v1beta1") is None
    assert spec_schema({}, "v1beta1") is None
    retained = {"list": [{"a": 1}], "map": {"b": 2}}
    free = {"properties": {"list": {}, "map": {"additionalProperties": True}}}
    assert without_unknown(retained, free, "spec") == (retained, [])
