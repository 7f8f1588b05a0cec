"""The registry image behind a VM's disk: a container disk, or the source of a CDI import.

KubeVirt infers from neither: a container disk has no labels, and for an import it reads only a claim's labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Manifest = dict[str, Any]


class Image(NamedTuple):
    """name: of the image, without scheme.

    namespace: of the Secret and the ConfigMap; "" if the disk names none. architecture: "" if the disk does not name
    one.
    """

    name: str
    namespace: str
    secret: str = ""
    ca_config_map: str = ""
    architecture: str = ""


def existing_volume(vm: Manifest, volume: str) -> str:
    """The name of a volume's DataVolume, if the VM has no template for it; else ""."""
    name = str((_volume(vm, volume).get("dataVolume") or {}).get("name") or "")
    return "" if name in _templates(vm) else name


def image_of(vm: Manifest, volume: str, existing: Mapping[str, Manifest]) -> Image | None:
    """The image of a VM's volume; None for another source.

    existing: the cluster's DataVolumes by name. If one has labels, these count instead of its image.
    """
    found, metadata = _volume(vm, volume), vm.get("metadata") or {}
    namespace = str(metadata.get("namespace") or "")
    disk = found.get("containerDisk") or {}
    if disk.get("image"):
        return Image(str(disk["image"]), namespace, str(disk.get("imagePullSecret") or ""))
    name = str((found.get("dataVolume") or {}).get("name") or "")
    templates = _templates(vm)
    spec = templates[name] if name in templates else (existing.get(name) or {}).get("spec") or {}
    return imported((spec.get("source") or {}).get("registry") or {}, namespace)


def imported(registry: Manifest, namespace: str) -> Image | None:
    """The image of a registry source of CDI; None if the source names none. namespace: of its Secret and ConfigMap."""
    if not registry.get("url"):
        return None
    return Image(
        str(registry["url"]).removeprefix("docker://"),
        namespace,
        str(registry.get("secretRef") or ""),
        str(registry.get("certConfigMap") or ""),
        str((registry.get("platform") or {}).get("architecture") or ""),
    )


def _volume(vm: Manifest, name: str) -> Manifest:
    volumes = ((vm["spec"].get("template") or {}).get("spec") or {}).get("volumes") or ()
    return next((volume for volume in volumes if volume.get("name") == name), {})


def _templates(vm: Manifest) -> dict[str, Manifest]:
    """The specs of a VM's dataVolumeTemplates by name."""
    given = vm["spec"].get("dataVolumeTemplates") or ()
    return {str((one.get("metadata") or {}).get("name")): one.get("spec") or {} for one in given}
