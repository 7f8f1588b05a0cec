"""CustomResourceDefinitions: what a user of the real ones would notice."""

from __future__ import annotations

from typing import Any

import pytest

from _resolver.api import schema
from kubevirt_emulation import openapi


def crd(kind: str) -> dict[str, Any]:
    return next(manifest for manifest in openapi.crds() if manifest["spec"]["names"]["kind"] == kind)


def root(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = crd(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return found


def nodes(value: dict[str, Any]) -> list[dict[str, Any]]:
    """A schema and all schemas within."""
    below = [*value.get("properties", {}).values()]
    below += [value[key] for key in ("items", "additionalProperties") if key in value]
    return [value, *(node for entry in below for node in nodes(entry))]


@pytest.mark.parametrize("resource", openapi.resources(), ids=lambda resource: resource.kind)
def test_is_named_after_its_plural_and_group(resource: openapi.Resource) -> None:
    manifest = resource.manifest()
    names = manifest["spec"]["names"]
    assert manifest["metadata"]["name"] == f"{names['plural']}.{manifest['spec']['group']}"
    assert names["singular"] == resource.kind.lower()


@pytest.mark.parametrize("resource", openapi.resources(), ids=lambda resource: resource.kind)
def test_is_structural(resource: openapi.Resource) -> None:
    version = resource.manifest()["spec"]["versions"][0]
    for node in nodes(version["schema"]["openAPIV3Schema"]):
        free = node.get("x-kubernetes-preserve-unknown-fields") or node.get("x-kubernetes-int-or-string")
        assert "type" in node or free, node


@pytest.mark.parametrize("kind", ["VirtualMachineInstancetype", "VirtualMachineClusterInstancetype"])
def test_instancetype_needs_cpu_and_memory(kind: str) -> None:
    assert root(kind)["required"] == ["spec"]
    spec = root(kind)["properties"]["spec"]
    assert sorted(spec["required"]) == ["cpu", "memory"]
    assert spec["properties"]["cpu"]["required"] == ["guest"]
    overcommit = spec["properties"]["memory"]["properties"]["overcommitPercent"]
    assert (overcommit["minimum"], overcommit["maximum"]) == (0, 100)


def test_text_that_a_webhook_checks_is_free() -> None:
    preference = root("VirtualMachinePreference")["properties"]["spec"]["properties"]
    assert "enum" not in preference["cpu"]["properties"]["preferredCPUTopology"]


def test_reference_policies() -> None:
    configuration = root("KubeVirt")["properties"]["spec"]["properties"]["configuration"]
    policy = configuration["properties"]["instancetype"]["properties"]["referencePolicy"]
    assert policy["enum"] == ["reference", "expand", "expandAll"]


def test_all_declared_fields_are_there() -> None:
    domain = openapi.schema_of("DomainSpec")
    assert domain["properties"].keys() == schema.TYPES["DomainSpec"].keys()
    assert domain["required"] == ["devices"]


def test_what_a_preference_fills_is_not_required() -> None:
    assert openapi.schema_of("Input")["required"] == ["name"]
    assert "required" not in openapi.schema_of("Machine")


@pytest.mark.parametrize(("kind", "status"), [("VirtualMachine", True), ("VirtualMachineInstance", False)])
def test_status_subresource(kind: str, status: bool) -> None:
    assert ("subresources" in crd(kind)["spec"]["versions"][0]) is status
