"""Images of containers as the documents that a registry stores, made without a container engine."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"
_INDEX = "application/vnd.oci.image.index.v1+json"


class Document(NamedTuple):
    """folder: where a registry has it, ``blobs`` or ``manifests``."""

    folder: str
    media_type: str
    text: bytes

    @property
    def digest(self) -> str:
        return f"sha256:{hashlib.sha256(self.text).hexdigest()}"

    @property
    def descriptor(self) -> dict[str, Any]:
        return {"mediaType": self.media_type, "digest": self.digest, "size": len(self.text)}


def documents(environment: dict[str, list[str]], size: int = 0) -> Iterator[Document]:
    """The documents of an image for each architecture, each after those that it names; the last is the whole.

    environment: the variables by architecture; a single one needs no index. size: the size of a layer that is named but
    is not among the documents.
    """
    entries = []
    layers = [{"mediaType": _LAYER, "digest": f"sha256:{'0' * 64}", "size": size}] if size else []
    for architecture, variables in environment.items():
        rootfs = {"type": "layers", "diff_ids": []}
        about = {"architecture": architecture, "os": "linux", "config": {"Env": variables}, "rootfs": rootfs}
        config = _document("blobs", _CONFIG, about)
        yield config
        parts = {"config": config.descriptor, "layers": layers}
        manifest = _document("manifests", _MANIFEST, {"schemaVersion": 2, "mediaType": _MANIFEST, **parts})
        yield manifest
        entries.append({**manifest.descriptor, "platform": {"os": "linux", "architecture": architecture}})
    if len(entries) > 1:
        yield _document("manifests", _INDEX, {"schemaVersion": 2, "mediaType": _INDEX, "manifests": entries})


def _document(folder: str, media_type: str, content: dict[str, Any]) -> Document:
    return Document(folder, media_type, json.dumps(content).encode())
