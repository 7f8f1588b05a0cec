"""The registry image behind a VM's disk, a volume, a cron or a DataSource.

KubeVirt infers nothing from these: a container disk has no labels, and for an import it reads only a claim's labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from .._resolver.api.keys import BOOT_SOURCE_IMAGE_ANNOTATION
from .._resolver.api.manifest import (
    Manifest,
    annotations_of,
    data_volume_of,
    namespace_of,
    template_specs,
    volume_of,
)
from .image import ImageError, reference


class Image(NamedTuple):
    """An image in a registry.

    name: the name of the image without a scheme. namespace: where the Secret and the ConfigMap are; "" without both.
    architecture: "" if the disk does not name one. insecure: accept any certificate of the registry, and plain HTTP.
    """

    name: str
    namespace: str
    secret: str = ""
    cert_config_map: str = ""
    architecture: str = ""
    insecure: bool = False


def existing_volume(vm: Manifest, volume: str) -> str:
    """The name of a volume's DataVolume, if the VM has no template for it; else ""."""
    name = data_volume_of(volume_of(vm, volume))
    return "" if name in template_specs(vm) else name


def can_be_asked(vm: Manifest, volume: str) -> bool:
    """Whether a registry has the image of a VM's volume."""
    source = _image_source(vm, volume, {})
    return bool(source.get("image")) or str(source.get("url") or "").lower().startswith("docker://")


def image_of(vm: Manifest, volume: str, existing: Mapping[str, Manifest]) -> Image | None:
    """The image of a VM's volume; None for another source.

    existing: the cluster's DataVolumes by name. If one has labels, these count instead of its image.
    """
    source, namespace = _image_source(vm, volume, existing), namespace_of(vm)
    if source.get("image"):
        return Image(str(source["image"]), namespace, str(source.get("imagePullSecret") or ""))
    return _registry_image(source, namespace)


def _image_source(vm: Manifest, volume: str, existing: Mapping[str, Manifest]) -> Manifest:
    """The containerDisk of a VM's volume, or the registry source of its DataVolume; either names the image.

    existing: the cluster's DataVolumes by name. Returns {} for a volume from another source.
    """
    found = volume_of(vm, volume)
    container_disk: Manifest = found.get("containerDisk") or {}
    if container_disk.get("image"):
        return container_disk
    name = data_volume_of(found)
    spec = template_specs(vm).get(name) or (existing.get(name) or {}).get("spec") or {}
    registry: Manifest = (spec.get("source") or {}).get("registry") or {}
    return registry if registry.get("url") else {}


def _registry_image(registry: Manifest, namespace: str) -> Image | None:
    """The image of a registry source of CDI; None if the source names none. namespace: where its Secret
    and ConfigMap are.
    """
    if not registry.get("url"):
        return None
    return Image(
        str(registry["url"]).removeprefix("docker://"),
        namespace,
        str(registry.get("secretRef") or ""),
        str(registry.get("certConfigMap") or ""),
        str((registry.get("platform") or {}).get("architecture") or ""),
    )


# CDI's own annotations of claims.
_ENDPOINT: Final = "cdi.kubevirt.io/storage.import.endpoint"
_SECRET: Final = "cdi.kubevirt.io/storage.import.secretName"
_CERTIFICATES: Final = "cdi.kubevirt.io/storage.import.certConfigMap"


class Origin(NamedTuple):
    """The source of a volume's content.

    image: None if the content is not from a registry. digest: sha256:HEX of the imported image, "" if unknown.
    """

    image: Image | None = None
    digest: str = ""


def origin_of(content: Manifest, namespace: str, source: Manifest | None = None) -> Origin:
    """The image of a DataVolume, a DataImportCron or a claim. source: the DataSource whose target it is."""
    spec, annotations = content.get("spec") or {}, annotations_of(content)
    inner: Manifest = (spec.get("template") or {}).get("spec") or spec
    registry: Manifest = (inner.get("source") or {}).get("registry") or {}
    if not registry and (annotations.get(_ENDPOINT) or "").startswith("docker://"):
        access = {"secretRef": annotations.get(_SECRET), "certConfigMap": annotations.get(_CERTIFICATES)}
        registry = {"url": annotations[_ENDPOINT], **access}
    image = _registry_image(registry, namespace)
    if image is None:
        return Origin()
    try:
        digest = reference(image.name).digest
    except ImageError:
        return Origin()
    declared = annotations_of(source or {}).get(BOOT_SOURCE_IMAGE_ANNOTATION) or annotations.get(
        BOOT_SOURCE_IMAGE_ANNOTATION
    )
    if spec.get("managedDataSource"):
        imports: list[Manifest] = (content.get("status") or {}).get("currentImports") or [{}]
        digest = str(imports[0].get("digest") or digest)
    return Origin(image._replace(name=str(declared or image.name)), digest)
