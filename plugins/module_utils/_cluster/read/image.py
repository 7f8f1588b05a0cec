"""What a boot source's image or file is: asked of its registry, with the credentials of the cluster, or read."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..._resolver.api.kinds import Kind
from ..._resolver.boot import checksum
from ..._resolver.boot.image import ImageError, credentials, reference
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from .registry import Registry, RegistryError

Options = dict[str, Any]

_SECRET: Final = Kind("Secret", "", "v1", "secrets", True)
_CONFIG_MAP: Final = Kind("ConfigMap", "", "v1", "configmaps", True)
_CERTIFICATES: Final = (".crt", ".pem")
_CHUNK: Final = 1 << 20


class Content(NamedTuple):
    """digest: of an image or a file, as sha256:HEX; "" where it is not known. environment: of an image.
    problem: why nothing is known, one line."""

    digest: str = ""
    environment: tuple[str, ...] = ()
    problem: str = ""


def image_of(session: Session, options: Options) -> Content:
    """What the registry says of an image."""
    try:
        wanted = reference(options["image"])
        if not options["ask_registry"]:
            if not (wanted.digest or options.get("schedule")):
                return Content(
                    problem="ask_registry: false needs an image with a digest, NAME@sha256:..., or a schedule"
                )
            return Content(wanted.digest)
        registry = Registry(
            _login(session, options, wanted.registry), _certificates(session, options), options["insecure_registry"]
        )
        found = registry.image(wanted, options.get("architecture") or "amd64")
    except (ImageError, RegistryError) as error:
        return Content(problem=str(error))
    except ApiError as error:
        return Content(problem=explain(error, "GET", _SECRET))
    except ConnectionFailed as error:
        return Content(problem=str(error))
    asked = options.get("architecture")
    if asked and found.architecture != asked:
        return Content(problem=f"{options['image']} is for {found.architecture}, not for {asked}")
    return Content(found.digest, found.environment)


def file_of(options: Options) -> Content:
    """What is in a file that is to be uploaded."""
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


def _login(session: Session, options: Options, registry: str) -> tuple[str, str] | None:
    if not options.get("secret"):
        return None
    found = session.get(_SECRET, options["namespace"], options["secret"])
    if found is None:
        raise ImageError(f"secret: there is no Secret {options['namespace']}/{options['secret']}")
    return credentials(found, registry)


def _certificates(session: Session, options: Options) -> str:
    if not options.get("ca_config_map"):
        return ""
    found = session.get(_CONFIG_MAP, options["namespace"], options["ca_config_map"])
    if found is None:
        raise ImageError(f"ca_config_map: there is no ConfigMap {options['namespace']}/{options['ca_config_map']}")
    texts = [text for name, text in (found.get("data") or {}).items() if name.endswith(_CERTIFICATES)]
    encoded = (found.get("binaryData") or {}).items()
    texts += [base64.b64decode(text).decode() for name, text in encoded if name.endswith(_CERTIFICATES)]
    if not texts:
        raise ImageError(f"ca_config_map: {options['ca_config_map']} has no key that ends in .crt or .pem")
    return "\n".join(texts)
