"""Images in registries: names, credentials, the choice from an index, and the defaults in their environment.

Images have the names that container tools use: `fedora` is `docker.io/library/fedora:latest`. Defaults follow
``envsToLabels`` of CDI's importer, which turns environment variables into labels. CDI does not check values: an invalid
label value makes the import fail.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from .._resolver.api.manifest import Manifest, name_of

_NAME: Final = re.compile(r"[a-z0-9]+(?:[._/-]+[a-z0-9]+)*", re.ASCII)
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", re.ASCII)
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]+)?", re.ASCII)
_PARAMETER: Final = re.compile(r'([a-z_]+)="([^"]*)"')
_MARKER: Final = "KUBEVIRT_IO_"
_DOMAIN: Final = "kubevirt.io/"
_DOCKER_HUB: Final = "docker.io"
_HUB_HOST: Final = "registry-1.docker.io"
# The keys of Docker's own registry in Docker's configuration.
_HUB_KEYS: Final = ("https://index.docker.io/v1/", "index.docker.io", _DOCKER_HUB)
_INDEXES: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
ACCEPTED: Final = (
    *_INDEXES,
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
"""The media types of supported manifests."""


class ImageError(ValueError):
    """The name of an image is invalid, the image unsuitable, or its registry does not return it; one line."""


class Content(NamedTuple):
    """The content of an image or a file.

    digest: sha256:HEX, "" if unknown. environment: the variables of an image as NAME=value. problem: why nothing is
    known, one line. missing: because an object or a file does not exist. architecture: the architecture of an image, ""
    if unknown.
    """

    digest: str = ""
    environment: tuple[str, ...] = ()
    problem: str = ""
    architecture: str = ""
    missing: bool = False


class ImageReference(NamedTuple):
    """The name of an image. tag, digest: "" without one; a digest overrides a tag."""

    registry: str
    repository: str
    tag: str
    digest: str

    @property
    def host(self) -> str:
        """Host and port of the registry."""
        return _HUB_HOST if self.registry == _DOCKER_HUB else self.registry

    @property
    def name(self) -> str:
        return f"{self.registry}/{self.repository}" + (f"@{self.digest}" if self.digest else f":{self.tag}")


def reference(text: str) -> ImageReference:
    """Parses the name of an image, with or without ``docker://``. Raises ImageError."""
    name, _at, digest = text.removeprefix("docker://").partition("@")
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        registry, path = first, rest
    else:
        registry, path = _DOCKER_HUB, name
    path, _colon, tag = path.partition(":")
    if registry == _DOCKER_HUB and "/" not in path:
        path = f"library/{path}"
    valid = _HOST.fullmatch(registry) and _NAME.fullmatch(path) and (not tag or _TAG.fullmatch(tag))
    if not valid or ("@" in text and not _DIGEST.fullmatch(digest)):
        raise ImageError(f"{text!r} is not the name of an image; write it like quay.io/containerdisks/fedora:latest")
    return ImageReference(registry, path, "" if digest else tag or "latest", digest)


def challenge(header: str) -> tuple[str, dict[str, str]]:
    """The scheme in lower case, and the parameters of a ``WWW-Authenticate`` header."""
    scheme, _space, rest = header.strip().partition(" ")
    return scheme.lower(), dict(_PARAMETER.findall(rest))


def credentials(secret: Manifest, registry: str) -> tuple[str, str] | None:
    """User and password for a registry from a Secret, either ``dockerconfigjson`` or CDI's form; None without any.

    Raises ImageError for an unreadable Secret.
    """
    data = secret.get("data") or {}
    try:
        if ".dockerconfigjson" in data:
            logins = json.loads(_decoded(data[".dockerconfigjson"]))["auths"]
            keys = _HUB_KEYS if registry == _DOCKER_HUB else (registry, f"https://{registry}")
            login = next((logins[key] for key in keys if key in logins), None)
            if login is not None and login.get("auth"):
                user, _colon, password = _decoded(login["auth"]).partition(":")
                return user, password
            return None if login is None else (login["username"], login["password"])
        if "accessKeyId" in data and "secretKey" in data:
            return _decoded(data["accessKeyId"]), _decoded(data["secretKey"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ImageError(f"Secret {name_of(secret)} has no readable credentials for registries") from error
    return None


def _decoded(text: str) -> str:
    return base64.b64decode(text, validate=True).decode()


def is_index(document: Manifest) -> bool:
    """Whether a registry's document lists images for several architectures."""
    return document.get("mediaType") in _INDEXES or "manifests" in document


def digest_for(name: str, index: Manifest, architecture: str) -> str:
    """The digest of an index' first Linux image for an architecture. Raises ImageError if there is none."""
    digests: dict[str, str] = {}
    for manifest in index.get("manifests") or []:
        platform = manifest.get("platform") or {}
        # Attestations of builders are not images.
        if platform.get("os", "linux") == "linux" and platform.get("architecture") not in (None, "", "unknown"):
            digests.setdefault(platform["architecture"], manifest["digest"])
    if architecture not in digests:
        available = ", ".join(sorted(digests)) or "none"
        raise ImageError(f"{name} has no image for the architecture {architecture}; it has: {available}")
    return digests[architecture]


def labels(environment: Iterable[str]) -> dict[str, str]:
    """The labels that CDI gives the volume, from ``NAME=value`` texts; of several for one label the last counts."""
    result = {}
    for variable in environment:
        name, equals, value = variable.partition("=")
        before, marker, after = name.partition(_MARKER)
        if equals and marker:
            # CDI drops the whole prefix if it begins with an underscore.
            parts = before.removesuffix("_").split("_")
            prefix = ".".join([*parts, ""]) if parts[0] else ""
            result[f"{prefix}{_DOMAIN}{after.replace('_', '-')}".lower()] = value
    return result
