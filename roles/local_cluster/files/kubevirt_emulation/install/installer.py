"""Installs everything that makes the cluster look like one with KubeVirt. Running it again changes nothing."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

from _resolver.api import release
from kubevirt_emulation import openapi
from kubevirt_emulation.cdi import install as cdi
from kubevirt_emulation.client import ApiError, Client
from kubevirt_emulation.config import Config
from kubevirt_emulation.install import registrations, roles
from kubevirt_emulation.install.names import NAMESPACE, metadata
from kubevirt_emulation.resources import CUSTOM, KINDS, KUBEVIRT

Manifest = dict[str, Any]

POLL = 0.05  # seconds between two reads


async def install_api(client: Client, config: Config) -> None:
    """Installs the kinds and the namespace, which the emulation needs before it can serve.

    Also the Service, because the API server treats an APIService without one as unavailable. Returns once all kinds can
    be listed.
    """
    await asyncio.gather(
        *(apply(client, crd) for crd in openapi.crds(release.of(config.kubevirt_version))),
        _namespace(client, config),
    )
    await asyncio.gather(*(_served(client, kind) for kind in CUSTOM))


async def create_kubevirt(client: Client) -> None:
    """Creates the KubeVirt object, a default StorageClass and CDI. If the KubeVirt object exists, changes nothing.

    A deleted StorageClass or CDI therefore stays deleted. The API server delays the first objects of a new kind by two
    seconds, so start this early and concurrently.
    """
    try:
        await client.create(KUBEVIRT, NAMESPACE, _kubevirt())
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise
        return
    await asyncio.gather(*(apply(client, manifest) for manifest in (_storage_class(), *cdi.objects())))


async def register(client: Client, config: Config) -> None:
    """Installs the roles, and registers webhooks and the aggregated APIs. Returns once requests arrive."""
    await asyncio.gather(*(apply(client, manifest) for manifest in (*roles.manifests(), *cdi.manifests())))
    ca_bundle = base64.b64encode(Path(config.ca_file).read_bytes()).decode()
    await asyncio.gather(
        *(apply(client, manifest) for manifest in registrations.api_services(config.port, ca_bundle)),
        *(apply(client, manifest) for manifest in registrations.webhook_configurations(config.port, ca_bundle)),
    )
    await _available(client)


async def _namespace(client: Client, config: Config) -> None:
    await apply(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata(NAMESPACE)})
    await apply(client, registrations.service(config.port))


def _kubevirt() -> Manifest:
    return {
        "apiVersion": KUBEVIRT.api_version,
        "kind": KUBEVIRT.kind,
        "metadata": metadata("kubevirt", NAMESPACE),
        "spec": {"configuration": {"developerConfiguration": {"useEmulation": True}}},
    }


def _storage_class() -> Manifest:
    """A StorageClass that provisions nothing.

    KubeVirt only needs to know where a persistent TPM or EFI would be stored.
    """
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {**metadata("local"), "annotations": annotations},
        "provisioner": "kubernetes.io/no-provisioner",
    }


async def apply(client: Client, manifest: Manifest) -> None:
    """Creates or updates the object; fields of other managers stay."""
    resource = KINDS[manifest["kind"]]
    meta = manifest["metadata"]
    path = resource.path(meta.get("namespace", ""), meta["name"])
    await client.request(
        "PATCH", f"{path}?fieldManager=kubevirt-emulation&force=true", manifest, "application/apply-patch+yaml"
    )


async def _served(client: Client, kind: str) -> None:
    """Waits until the kind can be listed."""
    while True:
        try:
            await client.request("GET", f"{KINDS[kind].path()}?limit=1")
            return
        except ApiError as error:
            # 429 and 500: the storage of the kind is being set up.
            if error.code not in (404, 429, 500):
                raise
        await asyncio.sleep(POLL)


async def _available(client: Client) -> None:
    """Waits until the API server forwards requests for the aggregated groups."""
    for group, version in registrations.AGGREGATED:
        while True:
            try:
                await client.request("GET", f"/apis/{group}/{version}")
                break
            except ApiError as error:
                if error.code not in (404, 503):
                    raise
            await asyncio.sleep(POLL)
