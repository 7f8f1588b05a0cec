"""A kind that the cluster serves, and the CustomResourceDefinition that makes it so."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

FREE: Final[dict[str, Any]] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""The schema of an object that is stored as it comes."""
AGE: Final = ("Age", "date", ".metadata.creationTimestamp")
"""The printed column with an object's age."""


class Resource(NamedTuple):
    """A kind that the emulated cluster serves."""

    group: str
    version: str
    kind: str
    plural: str
    short_names: tuple[str, ...]
    namespaced: bool
    status: bool  # has /status; then writes to the object ignore the status, and writes to /status ignore the rest
    categories: tuple[str, ...]
    columns: tuple[tuple[str, str, str], ...]  # name, type, JSON path
    properties: dict[str, Any]
    required: tuple[str, ...]

    def manifest(self) -> dict[str, Any]:
        """The CustomResourceDefinition."""
        root: dict[str, Any] = {
            "type": "object",
            "properties": {
                "apiVersion": {"type": "string"},
                "kind": {"type": "string"},
                "metadata": {"type": "object"},
                **self.properties,
            },
            "required": list(self.required),
        }
        version: dict[str, Any] = {
            "name": self.version,
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": root},
        }
        if self.columns:
            version["additionalPrinterColumns"] = [
                {"name": name, "type": kind, "jsonPath": path} for name, kind, path in self.columns
            ]
        if self.status:
            version["subresources"] = {"status": {}}
        names: dict[str, Any] = {
            "kind": self.kind,
            "listKind": self.kind + "List",
            "plural": self.plural,
            "singular": self.kind.lower(),
            "shortNames": list(self.short_names),
        }
        if self.categories:
            names["categories"] = list(self.categories)
        manifest: dict[str, Any] = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{self.plural}.{self.group}"},
            "spec": {
                "group": self.group,
                "names": names,
                "scope": "Namespaced" if self.namespaced else "Cluster",
                "versions": [version],
            },
        }
        if self.group.endswith("k8s.io"):
            # The API server only takes definitions in its own groups that name an approval.
            manifest["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, for tests"}
        return manifest
