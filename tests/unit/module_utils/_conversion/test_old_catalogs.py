"""Catalogs with objects of older API versions, and notes about deprecated fields of objects to be declared."""

from typing import Any

import pytest

from plugins.module_utils._conversion.catalogs import CURRENT
from plugins.module_utils._conversion.deprecated import deprecated_fields
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.catalog.bundle import bundle
from plugins.module_utils._resolver.catalog.errors import CatalogError

API = "instancetype.kubevirt.io/v1beta1"
OLD = "instancetype.kubevirt.io/v1alpha2"


def instancetype(**overrides: Any) -> dict[str, Any]:
    spec = {"cpu": {"guest": 1, "dedicatedCPUPlacement": False}, "memory": {"guest": "1Gi"}}
    metadata = {"name": "old"}
    return {
        "apiVersion": OLD,
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": metadata,
        "spec": spec,
    } | overrides


def test_older_api_versions_are_converted_to_current() -> None:
    result = bundle([instancetype()], conversions=(CURRENT,))
    assert result.objects[0]["apiVersion"] == API
    assert result.objects[0]["spec"]["cpu"] == {"guest": 1}
    assert result.notes == [f"document 0: VirtualMachineClusterInstancetype old: converted from {OLD} to {API}"]


def test_flavors_of_catalogs_become_instancetypes() -> None:
    spec = {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}
    flavor = instancetype(apiVersion="flavor.kubevirt.io/v1alpha1", kind="VirtualMachineClusterFlavor", spec=spec)
    [converted] = bundle([flavor], conversions=(CURRENT,)).objects
    assert (converted["kind"], converted["apiVersion"]) == ("VirtualMachineClusterInstancetype", API)


def test_object_without_current_form_names_its_place() -> None:
    with pytest.raises(CatalogError, match=r"document 0: VirtualMachineClusterInstancetype old: apiVersion: .*v9"):
        bundle([instancetype(apiVersion="instancetype.kubevirt.io/v9")], conversions=(CURRENT,))


@pytest.mark.parametrize("kind", ["VirtualMachineClusterInstancetype", "VirtualMachineClusterFlavor"])
def test_older_objects_are_errors_without_conversions(kind: str) -> None:
    with pytest.raises(CatalogError, match="document 0"):
        bundle([instancetype(kind=kind)])


def test_deprecated_fields_are_noted_with_replacements() -> None:
    spec = {"cpu": {"preferredCPUTopology": "preferSockets"}}
    preference = {"apiVersion": API, "kind": "VirtualMachineClusterPreference", "metadata": {"name": "x"}, "spec": spec}
    [note] = deprecated_fields(preference, NEWEST)
    assert (
        note.text
        == "spec.cpu.preferredCPUTopology is deprecated or has no effect: write spec.cpu.preferredCPUTopology: sockets"
    )
