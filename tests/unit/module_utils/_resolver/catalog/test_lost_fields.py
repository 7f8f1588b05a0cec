"""What older releases of KubeVirt would drop of the built-in catalog, and what that does to a VM."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release, schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.matcher import (
    INSTANCETYPE,
    PREFERENCE,
    ROLE_OF_KIND,
    ROLES,
    Role,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.lost_fields import (
    Misfit,
    misfit,
    release_of,
    spec_schema,
    without_unknown,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.objects import expand_catalog
from crd_schemas import definitions, schema_of

CATALOG = Path(__file__).resolve().parents[5] / "roles/common_instancetypes/files/catalog"


def older(expression: str, found: dict[str, Any], known: release.Release) -> dict[str, Any]:
    """The schema of a type as an older release has it: without the fields that came later."""
    bare = expression.strip("*!")
    if bare.startswith("[]"):
        return {**found, "items": older(bare[2:], found["items"], known)}
    if bare not in schema.TYPES or "properties" not in found:
        return found
    properties = {}
    for name, declaration in schema.TYPES[bare].items():
        notes = schema.field_notes(declaration)
        if "since" not in notes or known.has(notes["since"]):
            properties[name] = older(schema.field_type(declaration), found["properties"][name], known)
    return {**found, "properties": properties}


@cache
def cluster(version: str) -> dict[Role, dict[str, Any]]:
    known = release.of(version)
    return {role: older(role.spec_type, schema_of(role.spec_type), known) for role in ROLES}


@cache
def catalog() -> dict[str, dict[str, Any]]:
    documents = [one for path in sorted(CATALOG.glob("*.yml")) for one in yaml.safe_load_all(path.read_text())]
    return {one["metadata"]["name"]: one for one in expand_catalog(*documents)}


def on(version: str, name: str) -> Misfit | None:
    manifest, schemas = catalog()[name], cluster(version)
    return misfit(manifest, schemas[ROLE_OF_KIND[manifest["kind"]]], release_of(schemas))


@pytest.mark.parametrize(
    ("version", "told"),
    [("1.0", "1.0"), ("1.1", "1.1"), ("1.2", "1.1"), ("1.3", "1.3"), ("1.4", "1.4"), ("1.5", "1.4"), ("1.6", "1.6")]
    + [("1.7", "1.7"), ("1.8", "1.8"), ("1.9", "1.9")],
)
def test_the_fields_tell_the_release(version: str, told: str) -> None:
    assert release_of(cluster(version)).version == release.of(told).version


def test_everything_fits_the_newest_release() -> None:
    assert [name for name in catalog() if on("1.9", name)] == []


@pytest.mark.parametrize("version", ["1.0", "1.2", "1.3"])
def test_spread_gives_one_vcpu_before_1_4(version: str) -> None:
    found = on(version, "centos.stream9.dpdk")
    assert found is not None
    assert found.vcpus == (8, 1)
    assert "a VM with 8 vCPUs would get 1" in found.text
    assert on("1.4", "centos.stream9.dpdk") is None


def test_windows_loses_its_video_type_before_1_9() -> None:
    found = on("1.8", "windows.2k25.virtio")
    assert found is not None
    assert found.lost == ("spec.devices.preferredVideoType",)
    assert found.effects == ({"field": "domain.devices.video", "before": {"type": "virtio"}, "after": None},)
    assert found.text == (
        "the cluster's KubeVirt does not know spec.devices.preferredVideoType;"
        " a VM would have domain.devices.video {'type': 'virtio'} -> nothing"
    )
    assert "preferredVideoType" not in found.manifest["spec"]["devices"]
    assert "preferredVideoType" in catalog()["windows.2k25.virtio"]["spec"]["devices"], "the input is left as it is"


def test_a_requirement_that_is_lost_changes_no_vm_but_is_told() -> None:
    manifest = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "a"},
        "spec": {"requirements": {"architecture": "amd64"}},
    }
    found = misfit(manifest, cluster("1.6")[PREFERENCE], release_of(cluster("1.6")))
    assert found is not None
    assert (found.lost, found.effects) == (("spec.requirements.architecture",), ())
    assert "VMs come out the same" in found.text


def test_an_instancetype_that_protects_its_vms_and_would_not() -> None:
    manifest = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "a"},
        "spec": {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}, "launchSecurity": {"snp": {}}},
    }
    found = misfit(manifest, cluster("1.6")[INSTANCETYPE], release_of(cluster("1.6")))
    assert found is not None
    assert found.lost == ("spec.launchSecurity.snp",)
    assert found.effects == ({"field": "domain.launchSecurity.snp", "before": {}, "after": None},)


def test_lists_maps_and_free_objects() -> None:
    found = {
        "properties": {
            "list": {"items": {"properties": {"a": {}}}},
            "map": {"additionalProperties": {"properties": {"a": {}}}},
            "free": {"x-kubernetes-preserve-unknown-fields": True},
        }
    }
    value = {"list": [{"a": 1, "b": 2}], "map": {"k": {"b": 1}}, "free": {"x": {"y": 1}}, "no": 1}
    kept, lost = without_unknown(value, found, "spec")
    assert kept == {"list": [{"a": 1}], "map": {"k": {}}, "free": {"x": {"y": 1}}}
    assert lost == ["spec.list[0].b", "spec.map.k.b", "spec.no"]


def test_the_schema_of_a_definition() -> None:
    [definition] = [one for one in definitions() if one["spec"]["names"]["kind"] == PREFERENCE.cluster_kind]
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
def test_what_makes_no_vm_has_no_effects_to_show(spec: dict[str, Any]) -> None:
    manifest = {
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "a"},
        "spec": {**spec, "requirements": {"architecture": "amd64"}},
    }
    found = misfit(manifest, cluster("1.6")[PREFERENCE], release_of(cluster("1.6")))
    assert found is not None
    assert (found.lost, found.effects, found.vcpus) == (("spec.requirements.architecture",), (), None)


def preference(**spec: Any) -> dict[str, Any]:
    return {"kind": "VirtualMachineClusterPreference", "metadata": {"name": "a"}, "spec": spec}


def test_a_preference_is_shown_with_a_vm_that_is_large_enough_for_it() -> None:
    required = {"cpu": {"guest": 16}, "memory": {"guest": "32Gi"}}
    for requirements, vcpus in (({}, 4), (required, 16)):
        spread = preference(cpu={"preferredCPUTopology": "cores"}, requirements=requirements)
        found = misfit(spread, cluster("1.3")[PREFERENCE], release_of(cluster("1.3")))
        assert found is not None
        assert (found.vcpus, found.lost) == ((vcpus, 1), ())
        assert found.text == f"a VM with {vcpus} vCPUs would get 1"


def test_a_schema_that_says_nothing_of_a_spec_keeps_all() -> None:
    served = {"name": "v1beta1", "served": True}
    for root in ({}, {"schema": {}}, {"schema": {"openAPIV3Schema": {"properties": {"spec": True}}}}):
        found = spec_schema({"spec": {"versions": [{**served, **root}]}}, "v1beta1")
        assert found == {"x-kubernetes-preserve-unknown-fields": True}
    assert spec_schema({"spec": {"versions": [{"name": "v1beta1", "served": False}]}}, "v1beta1") is None
    assert spec_schema({}, "v1beta1") is None
    kept = {"list": [{"a": 1}], "map": {"b": 2}}
    free = {"properties": {"list": {}, "map": {"additionalProperties": True}}}
    assert without_unknown(kept, free, "spec") == (kept, [])
