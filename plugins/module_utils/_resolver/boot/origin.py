"""The registry image behind a volume, a cron or a DataSource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from .disk import Image, imported
from .image import ImageError, reference

Manifest = dict[str, Any]

IMAGE: Final = "boot-source.virtshape.dev/image"
"""The annotation of a DataSource with the declared image, because its volume names only the digest."""
# CDI's own annotations of claims.
_ENDPOINT: Final = "cdi.kubevirt.io/storage.import.endpoint"
_SECRET: Final = "cdi.kubevirt.io/storage.import.secretName"
_CERTIFICATES: Final = "cdi.kubevirt.io/storage.import.certConfigMap"


class Origin(NamedTuple):
    """image: None if the content is not from a registry. digest: of the imported image, "" if unknown."""

    image: Image | None = None
    digest: str = ""


def origin_of(content: Manifest, namespace: str, source: Manifest | None = None) -> Origin:
    """The image of a DataVolume, a DataImportCron or a claim. source: the DataSource that leads to it."""
    annotations = _annotations(content)
    image = imported(_registry(content) or _import_of(annotations), namespace)
    if image is None:
        return Origin()
    try:
        digest = reference(image.name).digest
    except ImageError:
        return Origin()
    declared = _annotations(source or {}).get(IMAGE) or annotations.get(IMAGE)
    if (content.get("spec") or {}).get("managedDataSource"):
        imports: list[Manifest] = (content.get("status") or {}).get("currentImports") or [{}]
        digest = str(imports[0].get("digest") or digest)
    return Origin(image._replace(name=str(declared or image.name)), digest)


def _registry(content: Manifest) -> Manifest:
    spec: Manifest = content.get("spec") or {}
    inner: Manifest = (spec.get("template") or {}).get("spec") or spec
    return (inner.get("source") or {}).get("registry") or {}


def _import_of(annotations: Mapping[str, str]) -> dict[str, str]:
    endpoint = annotations.get(_ENDPOINT) or ""
    if not endpoint.startswith("docker://"):
        return {}
    return {
        "url": endpoint,
        "secretRef": annotations.get(_SECRET) or "",
        "certConfigMap": annotations.get(_CERTIFICATES) or "",
    }


def _annotations(one: Manifest) -> dict[str, str]:
    return (one.get("metadata") or {}).get("annotations") or {}
