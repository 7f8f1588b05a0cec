"""Resolves ``fromBundle`` references of the vectors to objects of common-instancetypes v1.7.0, the built-in catalog."""

from functools import cache
from typing import Any

import yaml
from checkout import CHECKOUT

from _resolver.catalog.definitions import expand_catalog

CATALOG = CHECKOUT / "roles" / "common_instancetypes" / "files" / "catalog"
# The parameter that a reference stands for tells its kind where the reference itself does not.
KINDS = {"instancetype": "VirtualMachineClusterInstancetype", "preference": "VirtualMachineClusterPreference"}


def resolved(value: Any, key: str = "") -> Any:
    """The value with every reference replaced: by the object if it names a kind, else by the object's spec."""
    if isinstance(value, list):
        return [resolved(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if "fromBundle" not in value:
        return {name: resolved(entry, name) for name, entry in value.items()}
    result = _objects()[value.get("kind") or KINDS[key], value["fromBundle"]]
    return result if "kind" in value else result["spec"]


@cache
def _objects() -> dict[tuple[str, str], dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    documents = [yaml.load(file.read_text(encoding="utf-8"), loader) for file in sorted(CATALOG.glob("*.yml"))]
    return {(entry["kind"], entry["metadata"]["name"]): entry for entry in expand_catalog(*documents)}
