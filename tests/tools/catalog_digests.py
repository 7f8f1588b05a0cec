"""Digests of the objects of common-instancetypes, by which the built-in catalog is held equal to it.

    python tests/tools/catalog_digests.py FOLDER... >tests/unit/module_utils/_resolver/catalog/catalog_digests.json

A folder has the cluster-wide bundles of the version that it is named for. A digest is over what an object has in
common in our catalog and upstream: everything but prose. The digests are kept with the tests because the bundles
themselves are not part of this project.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import yaml

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / ".cache" / "collections"))

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.definitions import (
    expand_catalog,
)

PROSE = frozenset(
    {
        "instancetype.kubevirt.io/description",
        "instancetype.kubevirt.io/displayName",
        "openshift.io/display-name",
    }
)
"""Annotations that are written for people; those of our catalog are our own words."""


def comparable(manifest: dict[str, Any]) -> dict[str, Any]:
    """Kind, name, labels, annotations that are not prose and spec of a manifest as expand_catalog gives it."""
    metadata = manifest["metadata"]
    annotations = {key: value for key, value in metadata.get("annotations", {}).items() if key not in PROSE}
    return {
        "kind": manifest["kind"],
        "name": metadata["name"],
        "labels": metadata.get("labels", {}),
        "annotations": annotations,
        "spec": manifest["spec"],
    }


def digests(manifests: list[dict[str, Any]]) -> dict[str, str]:
    """`KIND NAME` → SHA-256 of the comparable part as JSON with sorted keys."""
    return {
        f"{manifest['kind']} {manifest['metadata']['name']}": hashlib.sha256(
            json.dumps(comparable(manifest), sort_keys=True).encode()
        ).hexdigest()
        for manifest in manifests
    }


def main() -> None:
    result = {}
    for folder in map(Path, sys.argv[1:]):
        texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.yaml"))]
        documents = [item for text in texts for item in yaml.safe_load_all(text) if item is not None]
        result[folder.name] = digests(expand_catalog(*documents))
    print(json.dumps(result, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
