"""Puts everything into the cluster that makes it look like one with KubeVirt. Running it again changes nothing."""

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

POLL = 0.05  # seconds between two looks at something that is about to be there


async def install_api(client: Client, config: Config) -> None:
    """The kinds and the namespace: what the emulation itself needs before it can serve.

    The Service comes with them, since the API server takes an APIService of an unknown Service for unavailable.
    Returns once all kinds can be listed.
    """
    await asyncio.gather(
        *(apply(client, crd) for crd in openapi.crds(release.of(config.kubevirt_version))),
        _namespace(client, config),
    )
    await asyncio.gather(*(_served(client, kind) for kind in CUSTOM))


async def create_kubevirt(client: Client) -> None:
    """The KubeVirt object and, with it, a default StorageClass and CDI; where the first is there, all stays as it is.

    So a StorageClass or a CDI that is deleted stays away. The API server lets the first objects of a new kind wait for
    two seconds: best begun early, beside the rest.
    """
    try:
        await client.create(KUBEVIRT, NAMESPACE, _kubevirt())
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise
        return
    await asyncio.gather(*(apply(client, manifest) for manifest in (_storage_class(), *cdi.objects())))


async def register(client: Client, config: Config) -> None:
    """Roles, then the emulation as webhook and aggregated API. Returns once requests are passed on to it."""
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
    """Provisions nothing. KubeVirt only wants to know where a persistent TPM or EFI would be kept."""
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {**metadata("local"), "annotations": annotations},
        "provisioner": "kubernetes.io/no-provisioner",
    }


async def apply(client: Client, manifest: Manifest) -> None:
    """Creates the object, or gives the one that is there this content; others' fields stay."""
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
            # 429 and 500: its storage is being set up.
            if error.code not in (404, 429, 500):
                raise
        await asyncio.sleep(POLL)


async def _available(client: Client) -> None:
    """Waits until the API server passes requests for the aggregated groups on."""
    for group, version in registrations.AGGREGATED:
        while True:
            try:
                await client.request("GET", f"/apis/{group}/{version}")
                break
            except ApiError as error:
                if error.code not in (404, 503):
                    raise
            await asyncio.sleep(POLL)
