"""Reads the content of boot sources: images from their registry, with the credentials of the cluster, and files."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..._resolver.api.kinds import Kind
from ..._resolver.boot import checksum
from ..._resolver.boot.disk import Image
from ..._resolver.boot.image import ImageError, credentials, reference
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.pool import each
from ..client.session import Session
from .cdi import cdi
from .registry import Registry, RegistryError

Options = dict[str, Any]

SECRET: Final = Kind("Secret", "", "v1", "secrets", True)
CONFIG_MAP: Final = Kind("ConfigMap", "", "v1", "configmaps", True)
_CERTIFICATES: Final = (".crt", ".pem")
_CHUNK: Final = 1 << 20
_SIDE_BY_SIDE: Final = 8


class Content(NamedTuple):
    """digest: of an image or a file, as sha256:HEX; "" where it is not known. environment: of an image.
    problem: why nothing is known, one line. architecture: of an image."""

    digest: str = ""
    environment: tuple[str, ...] = ()
    problem: str = ""
    architecture: str = ""


def image_of(session: Session, options: Options) -> Content:
    """The content of a boot source's image, from its registry."""
    wanted = Image(
        options["image"],
        options["namespace"],
        options.get("secret") or "",
        options.get("ca_config_map") or "",
        options.get("architecture") or "",
    )
    if not options["ask_registry"]:
        digest = reference(wanted.name).digest
        if digest or options.get("schedule"):
            return Content(digest)
        return Content(problem="ask_registry: false needs an image with a digest, NAME@sha256:..., or a schedule")
    found = content_of(session, wanted, options["insecure_registry"])
    if not found.problem and wanted.architecture and found.architecture != wanted.architecture:
        return Content(problem=f"{wanted.name} is for {found.architecture}, not for {wanted.architecture}")
    return found


def contents_of(session: Session, wanted: Iterable[tuple[Image, bool]]) -> dict[tuple[Image, bool], Content]:
    """The contents of images, each read once, concurrently. The second part of a key is `insecure`."""
    images = list(dict.fromkeys(wanted))
    return dict(zip(images, each(lambda one: content_of(session, *one), images, _SIDE_BY_SIDE)))


def content_of(session: Session, wanted: Image, insecure: bool = False) -> Content:
    """What a registry says of an image. insecure: take any certificate, and plain HTTP, whatever CDI is set to."""
    try:
        named = reference(wanted.name)
        login, certificates = _login(session, wanted, named.registry), _certificates(session, wanted)
        registry = Registry(login, certificates, insecure or named.host in cdi(session).insecure_registries)
        found = registry.image(named, wanted.architecture or "amd64")
    except (ImageError, RegistryError, ConnectionFailed) as error:
        return Content(problem=str(error))
    except ApiError as error:
        return Content(problem=explain(error, "GET", SECRET))
    return Content(found.digest, found.environment, architecture=found.architecture)


def file_of(options: Options) -> Content:
    """The content of a file to upload."""
    path = options["upload"]["path"]
    algorithm, expected = checksum.parse(options["checksum"]) if options.get("checksum") else ("sha256", "")
    own, other = hashlib.sha256(), hashlib.new(algorithm)
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                own.update(chunk)
                other.update(chunk)
    except OSError as error:
        return Content(problem=f"upload.path {path}: {error.strerror}")
    if expected and other.hexdigest() != expected:
        return Content(problem=f"upload.path {path}: its {algorithm} is {other.hexdigest()}, not that of checksum")
    return Content(f"sha256:{own.hexdigest()}")


def _login(session: Session, wanted: Image, registry: str) -> tuple[str, str] | None:
    if not wanted.secret:
        return None
    found = session.get(SECRET, wanted.namespace, wanted.secret)
    if found is None:
        raise ImageError(f"secret: there is no Secret {wanted.namespace}/{wanted.secret}")
    return credentials(found, registry)


def _certificates(session: Session, wanted: Image) -> str:
    if not wanted.ca_config_map:
        return ""
    found = session.get(CONFIG_MAP, wanted.namespace, wanted.ca_config_map)
    if found is None:
        raise ImageError(f"ca_config_map: there is no ConfigMap {wanted.namespace}/{wanted.ca_config_map}")
    texts = [text for name, text in (found.get("data") or {}).items() if name.endswith(_CERTIFICATES)]
    encoded = (found.get("binaryData") or {}).items()
    texts += [base64.b64decode(text).decode() for name, text in encoded if name.endswith(_CERTIFICATES)]
    if not texts:
        raise ImageError(f"ca_config_map: {wanted.ca_config_map} has no key that ends in .crt or .pem")
    return "\n".join(texts)
