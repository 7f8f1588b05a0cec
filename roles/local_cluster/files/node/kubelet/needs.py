"""What a pod needs before its containers are created: claims, Secrets, ConfigMaps and networks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from node.api.client import ApiError, Client
from node.api.informer import Informer
from node.api.resources import CONFIG_MAP, NETWORK, SECRET, Resource

Manifest = dict[str, Any]

NETWORKS = "k8s.v1.cni.cncf.io/networks"
DEFAULT_NETWORK = "v1.multus-cni.io/default-network"


class Needs:
    """Looks for what pods need. claims: a cache."""

    def __init__(self, client: Client, claims: Informer) -> None:
        self._client = client
        self._claims = claims

    async def missing(self, pod: Manifest) -> str:
        """What the pod lacks, in the words of kubelet or Multus; "" if it can run."""
        namespace = pod["metadata"]["namespace"]
        for name in claims(pod):
            claim = self._claims.get((namespace, name))
            if claim is None:
                return f'persistentvolumeclaim "{name}" not found'
            if (claim.get("status") or {}).get("phase") != "Bound":
                return f'persistentvolumeclaim "{name}" is not bound'
        for kind, name in files(pod):
            if not await self._exists(kind, namespace, name):
                return f'MountVolume.SetUp failed for volume: {kind.kind.lower()} "{name}" not found'
        for place, name in networks(pod):
            if not await self._exists(NETWORK, place, name):
                return f"cannot find a network-attachment-definition ({name}) in namespace ({place})"
        return ""

    async def _exists(self, kind: Resource, namespace: str, name: str) -> bool:
        try:
            await self._client.get(kind, namespace, name)
        except ApiError as error:
            if error.code != 404:
                raise
            return False
        return True


def unreachable_image(pod: Manifest) -> str:
    """The first image from a registry whose name can never be resolved (RFC 2606); "" if all can be pulled."""
    spec = pod["spec"]
    images = [entry.get("image", "") for entry in (*(spec.get("initContainers") or ()), *spec["containers"])]
    images += [(volume.get("image") or {}).get("reference", "") for volume in spec.get("volumes") or ()]
    return next((image for image in images if image.partition("/")[0].endswith(".invalid")), "")


def claims(pod: Manifest) -> list[str]:
    """The claims of the pod's volumes."""
    volumes = pod["spec"].get("volumes") or []
    return [entry["persistentVolumeClaim"]["claimName"] for entry in volumes if entry.get("persistentVolumeClaim")]


def files(pod: Manifest) -> Iterator[tuple[Resource, str]]:
    """The Secrets and ConfigMaps of the pod's volumes and environment that must be there."""
    for container in pod["spec"]["containers"]:
        for entry in container.get("env") or []:
            reference = (entry.get("valueFrom") or {}).get("secretKeyRef")
            if reference and not reference.get("optional"):
                yield SECRET, reference["name"]
    for volume in pod["spec"].get("volumes") or []:
        for source in [volume, *((volume.get("projected") or {}).get("sources") or [])]:
            secret, config_map = source.get("secret"), source.get("configMap")
            if secret and not secret.get("optional"):
                yield SECRET, secret.get("secretName") or secret["name"]
            if config_map and not config_map.get("optional"):
                yield CONFIG_MAP, config_map["name"]


def elements(pod: Manifest) -> list[Manifest]:
    """The networks that the pod asks Multus for, from an annotation in any of its two forms."""
    text = (pod["metadata"].get("annotations") or {}).get(NETWORKS, "").strip()
    if text.startswith("["):
        entries: list[Manifest] = json.loads(text)
        return entries
    return [_element(entry.strip()) for entry in text.split(",") if entry.strip()]


def networks(pod: Manifest) -> list[tuple[str, str]]:
    """Namespace and name of each NetworkAttachmentDefinition."""
    default = (pod["metadata"].get("annotations") or {}).get(DEFAULT_NETWORK)
    requested = elements(pod) + ([_element(default)] if default else [])
    return [(entry.get("namespace") or pod["metadata"]["namespace"], entry["name"]) for entry in requested]


def _element(text: str) -> Manifest:
    """``NAMESPACE/NAME@INTERFACE``, of which only the name must be there."""
    name, _at, interface = text.partition("@")
    namespace, slash, network = name.partition("/")
    element = {"namespace": namespace, "name": network} if slash else {"name": name}
    return {**element, "interface": interface} if interface else element
