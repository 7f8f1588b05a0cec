"""The files behind the disks of a VMI. Whether there are enough to boot from decides whether it is simulated."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, Final

from node.api.client import Client
from node.api.resources import CONFIG_MAP, SECRET
from node.cdi import quantity
from node.guests import images
from node.guests.domain import Drive, Unsupported
from node.guests.store import Store

Manifest = dict[str, Any]

CLOUD_INIT: Final = ("cloudInitNoCloud", "cloudInitConfigDrive")
_LABELS: Final = {"sysprep": "unattendCD", "secret": "cfgdata", "configMap": "cfgdata"}
_EMPTY: Final = ("emptyDisk", *CLOUD_INIT, *_LABELS)
"""Volumes from which nothing boots."""


class Disks:
    """Finds and makes the files. client: reads Secrets and ConfigMaps."""

    def __init__(self, client: Client, store: Store) -> None:
        self._client = client
        self._store = store

    def check(self, vmi: Manifest) -> None:
        """Raises Unsupported for a VMI without a system, or with a volume whose contents nobody knows."""
        boots = [self._boots(vmi, volume) for volume in attached(vmi)]
        if not any(boots):
            raise Unsupported("no disk of it holds a system")

    def _boots(self, vmi: Manifest, volume: Manifest) -> bool:
        image, claim = (volume.get("containerDisk") or {}).get("image"), claim_of(volume)
        if image:
            if self._store.images.find(image) is None:
                raise Unsupported(f"no entry of local_cluster_images matches {image}")
            return True
        if claim:
            return self._store.holds(vmi["metadata"]["namespace"], claim)
        if any(volume.get(kind) is not None for kind in _EMPTY):
            return False
        kinds = ", ".join(name for name in volume if name != "name")
        raise Unsupported(f"volume {volume['name']} is of the kind {kinds}")

    async def make(self, vmi: Manifest, folder: Path) -> dict[str, Drive]:
        """The files of a VMI, by volume, but for those of cloud-init. folder: for what lasts as long as the VMI."""
        drives = {}
        for volume in attached(vmi):
            if not any(volume.get(kind) is not None for kind in CLOUD_INIT):
                drives[volume["name"]] = await self.drive(vmi, volume, folder)
        return drives

    async def drive(self, vmi: Manifest, volume: Manifest, folder: Path) -> Drive:
        """The file of one volume."""
        namespace, file = vmi["metadata"]["namespace"], folder / f"disk-{volume['name']}"
        image, claim = (volume.get("containerDisk") or {}).get("image"), claim_of(volume)
        if image:
            return await images.create(file, backing=self._store.images.find(image))
        if claim:
            drive = await self._store.drive(namespace, claim)
            return drive if volume.get("ephemeral") is None else await images.create(file, backing=drive)
        if volume.get("emptyDisk") is not None:
            return await images.create(file, int(quantity.parse(volume["emptyDisk"]["capacity"])))
        return await self._files(namespace, volume, file)

    async def _files(self, namespace: str, volume: Manifest, file: Path) -> Drive:
        """A CD-ROM with the values of a Secret or a ConfigMap."""
        kind = next(name for name in _LABELS if volume.get(name) is not None)
        source = volume[kind]
        contents = file.with_suffix(".files")
        secret = (source.get("secret") or {}).get("name") if kind == "sysprep" else source.get("secretName")
        config_map = (source.get("configMap") or {}).get("name") if kind == "sysprep" else source.get("name")
        await self._write(namespace, secret or "", config_map or "", contents)
        return await images.cdrom(file, source.get("volumeLabel") or _LABELS[kind], contents)

    async def write_secrets(self, vmi: Manifest, folder: Path) -> None:
        """Writes the Secrets that cloud-init reads to where KubeVirt's own program looks for them."""
        namespace = vmi["metadata"]["namespace"]
        for volume in vmi["spec"].get("volumes") or []:
            source: Manifest = next((volume[kind] for kind in CLOUD_INIT if volume.get(kind) is not None), {})
            for field in ("secretRef", "networkDataSecretRef"):
                if source.get(field):
                    await self._write(namespace, source[field]["name"], "", folder / volume["name"])
        for credential in vmi["spec"].get("accessCredentials") or []:
            keys = (credential.get("sshPublicKey") or {}).get("source") or {}
            name = (keys.get("secret") or {}).get("secretName")
            if name:
                await self._write(namespace, name, "", folder / f"{name}-access-cred")

    async def secret(self, namespace: str, name: str) -> dict[str, bytes]:
        """The values of a Secret. Raises ApiError."""
        found = await self._client.get(SECRET, namespace, name)
        return {key: base64.b64decode(value) for key, value in (found.get("data") or {}).items()}

    async def _write(self, namespace: str, secret: str, config_map: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        kind, name = (SECRET, secret) if secret else (CONFIG_MAP, config_map)
        found = await self._client.get(kind, namespace, name)
        encoded = {**(found.get("binaryData") or {}), **((found.get("data") or {}) if secret else {})}
        values = {key: base64.b64decode(value) for key, value in encoded.items()}
        if not secret:
            values |= {key: value.encode() for key, value in (found.get("data") or {}).items()}
        for key, value in values.items():
            (folder / key).write_bytes(value)


def attached(vmi: Manifest) -> list[Manifest]:
    """The volumes of the VMI's disks."""
    disks = {entry["name"] for entry in vmi["spec"]["domain"].get("devices", {}).get("disks") or []}
    return [volume for volume in vmi["spec"].get("volumes") or [] if volume["name"] in disks]


def claim_of(volume: Manifest) -> str:
    """The claim of a volume; "" for none."""
    claim = volume.get("persistentVolumeClaim") or (volume.get("ephemeral") or {}).get("persistentVolumeClaim") or {}
    return str(claim.get("claimName") or (volume.get("dataVolume") or {}).get("name") or "")
