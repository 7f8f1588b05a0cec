"""Images in registries: names, the choice from an index, and labels in the environment of their configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

Manifest = dict[str, Any]

_NAME: Final = re.compile(r"[a-z0-9]+(?:[._/-]+[a-z0-9]+)*", re.ASCII)
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]+)?", re.ASCII)
_PARAMETER: Final = re.compile(r'([a-z_]+)="([^"]*)"')
_DOCKER_HUB: Final = "docker.io"
_HUB_HOST: Final = "registry-1.docker.io"
_INDEXES: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MANIFESTS: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
ACCEPTED: Final = (*_INDEXES, *_MANIFESTS)
_MARK: Final = "KUBEVIRT_IO_"
_DOMAIN: Final = "kubevirt.io/"


class ImageError(ValueError):
    """An image cannot be used; the text is CDI's."""


class Reference(NamedTuple):
    """Host and repository of an image, and its tag or digest."""

    host: str
    repository: str
    version: str


def reference(text: str) -> Reference:
    """Parses the name of an image, with or without ``docker://``. Raises ImageError."""
    name, _at, digest = text.removeprefix("docker://").partition("@")
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        host, path = first, rest
    else:
        host, path = _DOCKER_HUB, name
    path, _colon, tag = path.partition(":")
    if host == _DOCKER_HUB and "/" not in path:
        path = f"library/{path}"
    if not _HOST.fullmatch(host) or not _NAME.fullmatch(path):
        raise ImageError("Could not parse image: invalid reference format")
    return Reference(_HUB_HOST if host == _DOCKER_HUB else host, path, digest or tag or "latest")


def challenge(header: str) -> tuple[str, dict[str, str]]:
    """The scheme in lower case, and the parameters of a ``WWW-Authenticate`` header."""
    scheme, _space, rest = header.strip().partition(" ")
    return scheme.lower(), dict(_PARAMETER.findall(rest))


def is_index(document: Manifest) -> bool:
    """Whether a registry's document lists images for several architectures."""
    return document.get("mediaType") in _INDEXES or "manifests" in document


def chosen(index: Manifest, architecture: str) -> str:
    """The digest of an index' first Linux image for an architecture. Raises ImageError if there is none."""
    for entry in index.get("manifests") or []:
        platform = entry.get("platform") or {}
        if platform.get("os", "linux") == "linux" and platform.get("architecture") == architecture:
            return str(entry["digest"])
    expected = f'architecture "{architecture}", variant "", OS "linux"'
    raise ImageError(f"choosing image instance: no image found in image index for {expected}")


def labels(environment: Iterable[str]) -> dict[str, str]:
    """The labels that CDI makes of ``NAME=value`` texts; of several for one label the last counts."""
    found = {}
    for variable in environment:
        name, assigned, value = variable.partition("=")
        if assigned and _MARK in name:
            found[_label(name)] = value
    return found


def _label(name: str) -> str:
    before, _mark, after = name.partition(_MARK)
    # CDI drops the whole prefix if it begins with an underscore.
    parts = before.removesuffix("_").split("_")
    prefix = ".".join(parts) + "." if parts[0] else ""
    return f"{prefix}{_DOMAIN}{after.replace('_', '-')}".lower()
