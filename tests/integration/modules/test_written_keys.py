"""The keys of our field manager in the metadata of live objects: our own, and others that mean what we mean."""

from collections.abc import Iterator
from typing import Any

import pytest

from modules_support import Task, live, objects
from plugins.module_utils._resolver.api import keys

# These are keys of Kubernetes, KubeVirt's instancetypes and CDI, which say what they mean.
OTHERS = (keys.MANAGED_BY_LABEL, "instancetype.kubevirt.io/", "cdi.kubevirt.io/")
OWN = {value for name, value in vars(keys).items() if name.endswith(("_LABEL", "_ANNOTATION"))}


def written(item: dict[str, Any]) -> Iterator[str]:
    """The labels and annotations that our manager owns."""
    for entry in item["metadata"]["managedFields"]:
        if entry["manager"] == keys.FIELD_MANAGER:
            metadata = entry["fieldsV1"].get("f:metadata", {})
            for part in ("f:labels", "f:annotations"):
                yield from (key.removeprefix("f:") for key in metadata.get(part, {}) if key != ".")


@pytest.mark.needs("cdi_here")
def test_all_written_keys_are_listed(task: Task, shop: str, api: Any) -> None:
    size = {"cpu": 1, "memory": "1Gi", "deprecated": {"replacement": f"{shop}.b", "obsolete_from": "2099-01-01"}}
    catalog = {"series": {shop: {"sizes": {"a": size, "b": {"cpu": 2, "memory": "2Gi"}}}}}
    task("catalog", source="definitions", definitions=[catalog], catalog=shop, catalog_version="1", namespaces=[shop])
    image = f"registry.example/os@sha256:{'a' * 64}"
    task("boot_source", name="os", image=image, query_registry=False, size="1Gi")
    volumes = [
        (kind, item["metadata"]["name"]) for kind in ("DataVolume", "DataSource") for item in listed(api, kind, shop)
    ]
    types = [("VirtualMachineInstancetype", f"{shop}.{end}") for end in "ab"]
    found = {key for kind, name in (*volumes, *types) for key in written(live(api, shop, name, kind))}
    assert {key for key in found if not key.startswith(OTHERS)} <= OWN
    assert found >= {
        keys.CATALOG_LABEL,
        keys.CATALOG_VERSION_LABEL,
        keys.STATE_LABEL,
        keys.REPLACEMENT_ANNOTATION,
        keys.OBSOLETE_FROM_ANNOTATION,
        keys.BOOT_SOURCE_LABEL,
        keys.BOOT_SOURCE_IMAGE_ANNOTATION,
    }


def listed(api: Any, kind: str, namespace: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = objects(api, kind).get(namespace=namespace).to_dict()["items"]
    return items
