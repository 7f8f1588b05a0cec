"""Resolves ``fromBundle`` references of the vectors to objects of common-instancetypes v1.7.0."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from checkout import CHECKOUT

from _resolver.catalog.objects import expand_catalog

RELEASE = "v1.7.0"
CATALOG = CHECKOUT / "roles" / "common_instancetypes" / "files" / "catalog"
# The parameter that a reference stands for tells its kind where the reference itself does not.
KINDS = {"instancetype": "VirtualMachineClusterInstancetype", "preference": "VirtualMachineClusterPreference"}


def default_directory() -> Path | None:
    """The directory of the published bundles: $VIRTSHAPE_SHARED, or ``shared`` beside the checkout; None if neither
    exists."""
    shared = Path(os.environ.get("VIRTSHAPE_SHARED") or CHECKOUT.parent / "shared")
    directory = shared / "upstream" / "common-instancetypes" / RELEASE
    return directory if directory.is_dir() else None


class Bundles:
    """Objects by kind and name, read when the first is asked for.

    directory: the directory of the published YAML bundles; None takes the collection's built-in catalog.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self._objects: dict[tuple[str, str], dict[str, Any]] | None = None

    def resolve(self, value: Any, key: str = "") -> Any:
        """The value with every reference replaced: by the object if it names a kind, else by the object's spec.

        Raises LookupError for an object that is not there.
        """
        if isinstance(value, list):
            return [self.resolve(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        if "fromBundle" not in value:
            return {name: self.resolve(entry, name) for name, entry in value.items()}
        kind = value.get("kind") or KINDS[key]
        result = self._get(kind, value["fromBundle"])
        return result if "kind" in value else result["spec"]

    def _get(self, kind: str, name: str) -> dict[str, Any]:
        if self._objects is None:
            self._objects = self._read()
        try:
            return self._objects[kind, name]
        except KeyError:
            source = self._directory or "the built-in catalog"
            raise LookupError(f"{kind} {name} is not in {source}") from None

    def _read(self) -> dict[tuple[str, str], dict[str, Any]]:
        objects = _published(self._directory) if self._directory else _built_in()
        return {(entry["kind"], entry["metadata"]["name"]): entry for entry in objects}


def _published(directory: Path) -> list[dict[str, Any]]:
    return _documents(directory.glob("*.yaml"))


def _built_in() -> list[dict[str, Any]]:
    return expand_catalog(*_documents(CATALOG.glob("*.yml")))


def _documents(files: Iterable[Path]) -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    result: list[dict[str, Any]] = []
    for file in sorted(files):
        with file.open(encoding="utf-8") as stream:
            result += [document for document in yaml.load_all(stream, loader) if document]
    return result
