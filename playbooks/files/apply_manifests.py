"""Applies the manifests of standard input, and says on standard output what it did, one line each.

Stands for what is there before VMs are declared, namespaces and disks; the collection leaves these to others.
"""

from __future__ import annotations

import sys

import yaml
from kubernetes import config, dynamic


def main() -> None:
    client = dynamic.DynamicClient(config.new_client_from_config())
    for manifest in yaml.safe_load_all(sys.stdin):
        metadata = manifest["metadata"]
        resource = client.resources.get(api_version=manifest["apiVersion"], kind=manifest["kind"])
        try:
            before = resource.get(name=metadata["name"], namespace=metadata.get("namespace")).metadata.resourceVersion
        except dynamic.exceptions.NotFoundError:
            before = None
        after = resource.server_side_apply(
            manifest, name=metadata["name"], namespace=metadata.get("namespace"), field_manager="virtshape-demo"
        )
        version = after.metadata.resourceVersion
        done = "created" if before is None else "unchanged" if before == version else "changed"
        # The API server writes the default class into a claim that names none.
        lacks = manifest["kind"] == "PersistentVolumeClaim" and not after.spec.storageClassName
        print(f"{manifest['kind']} {metadata['name']}: {done}{', has no storage class' if lacks else ''}")


if __name__ == "__main__":
    main()
