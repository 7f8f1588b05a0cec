"""A client of registries (OCI distribution API), which uses the credentials and certificates of the cluster."""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
from collections.abc import Iterable
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from ..._cluster.client.concurrency import map_concurrently
from ..._cluster.client.errors import RequestFailed, reason_of
from ..._cluster.client.session import Session
from ..._cluster.client.transport import USER_AGENT, urllib3, web_pool
from ..._resolver.api.kinds import KINDS, Kind
from .. import image
from ..image import Content, ImageError, Reference, credentials, reference
from ..origin import Image
from .cdi import cdi

SECRET: Final = Kind("Secret", "", "v1", "secrets", True)
CONFIG_MAP: Final = KINDS["ConfigMap"]
_CERTIFICATES: Final = (".crt", ".pem")
_TIMEOUT: Final = 30
_REDIRECTS: Final = 3
# Manifests and configurations are small; anything larger is invalid.
_LARGEST: Final = 4 << 20


class RegistryError(Exception):
    """The registry does not return what it has of the image; the text is one line."""


class Registry:
    """A client for one registry.

    login: user and password, None for anonymous access. certificates: PEM, in addition to the system's. insecure:
    accept any certificate, and plain HTTP if the registry does not support TLS.
    """

    def __init__(self, login: tuple[str, str] | None = None, certificates: str = "", insecure: bool = False) -> None:
        # A redirect leads to a storage that must not get the token; urllib3 drops it for another host.
        retries = urllib3.Retry(total=_REDIRECTS, connect=0, read=0, redirect=_REDIRECTS, status=0, other=0)
        try:
            self._pool = web_pool(ca_text=certificates or None, check=not insecure, timeout=_TIMEOUT, retries=retries)
        except ssl.SSLError as error:
            raise RegistryError(f"the certificates for the registry cannot be read: {reason_of(error)}") from error
        self._login = login
        self._schemes = ("https", "http") if insecure else ("https",)
        self._authorization = ""

    def image(self, reference: Reference, architecture: str = "amd64") -> Content:
        """The content of an image. architecture: the image of an index to read; a single image counts as it is.

        Raises RegistryError if the registry does not respond with it, ImageError if the image does not exist.
        """
        separator = "@" if reference.digest else ":"
        name = f"{reference.registry}/{reference.repository}{separator}{reference.version}"
        document, text = self._document(reference, f"manifests/{reference.version}", name)
        digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
        if reference.digest and digest != reference.digest:
            raise RegistryError(f"{reference.host} answered with {digest} for {name}")
        if not image.is_index(document):
            return self._configuration(reference, document, name)._replace(digest=digest)
        digests = image.architectures(document)
        manifest, _text = self._document(reference, f"manifests/{image.digest_for(name, digests, architecture)}", name)
        return self._configuration(reference, manifest, name)._replace(digest=digest, architecture=architecture)

    def _configuration(self, reference: Reference, manifest: dict[str, Any], name: str) -> Content:
        digest = (manifest.get("config") or {}).get("digest")
        if not isinstance(digest, str):
            raise ImageError(f"{name} is not a container image")
        configuration, _text = self._document(reference, f"blobs/{digest}", name)
        environment = (configuration.get("config") or {}).get("Env") or ()
        return Content("", tuple(map(str, environment)), architecture=str(configuration.get("architecture") or ""))

    def _document(self, reference: Reference, part: str, name: str) -> tuple[dict[str, Any], bytes]:
        path = f"/v2/{reference.repository}/{part}"
        response = self._get(reference, path)
        if response.status == 401:
            self._authorization = self._authorization_for(reference, response.headers.get("WWW-Authenticate", ""))
            response = self._get(reference, path)
        if response.status == 404:
            raise ImageError(f"{reference.host} has no image {name}")
        if response.status in (401, 403):
            # Many registries respond like this for an image that does not exist.
            raise RegistryError(f"{reference.host} does not show {name}: check the name, or the credentials")
        if response.status != 200:
            raise RegistryError(f"{reference.host} answered {response.status} for {name}")
        text = response.read(_LARGEST + 1)
        response.release_conn()
        try:
            document = json.loads(text) if len(text) <= _LARGEST else None
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise RegistryError(f"{reference.host} answered with no manifest for {name}")
        return document, text

    def _get(self, reference: Reference, path: str) -> Any:
        headers = {"Accept": ", ".join(image.ACCEPTED), "User-Agent": USER_AGENT}
        if self._authorization:
            headers["Authorization"] = self._authorization
        for scheme in self._schemes:
            try:
                url = f"{scheme}://{reference.host}{path}"
                return self._pool.request("GET", url, headers=headers, preload_content=False)
            except (urllib3.exceptions.HTTPError, OSError) as error:
                problem = error
        raise RegistryError(f"cannot reach {reference.host}: {reason_of(problem)}") from problem

    def _authorization_for(self, reference: Reference, header: str) -> str:
        """The Authorization header for a registry's challenge."""
        scheme, parameters = image.challenge(header)
        basic = urllib3.make_headers(basic_auth=":".join(self._login)) if self._login else {}
        if scheme == "basic" and basic:
            return str(basic["authorization"])
        if scheme != "bearer" or "realm" not in parameters:
            return ""
        # Send only the parameters of the challenge; without them the token would be worthless.
        query: dict[str, str] = {name: parameters[name] for name in ("service", "scope") if name in parameters}
        try:
            response = self._pool.request("GET", f"{parameters['realm']}?{urlencode(query)}", headers=basic)
            body = json.loads(response.data)
            token = body.get("token") or body.get("access_token") if response.status == 200 else None
        except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError) as error:
            raise RegistryError(f"{reference.host} gives no token: {reason_of(error)}") from error
        if not token:
            raise RegistryError(f"{reference.host} gives no token: HTTP {response.status}; check the credentials")
        return f"Bearer {token}"


def contents_of(session: Session, images: Iterable[Image]) -> dict[Image, Content]:
    """The contents of images, each read once, concurrently."""
    unique = list(dict.fromkeys(images))
    return dict(zip(unique, map_concurrently(partial(content_of, session), unique)))


def content_of(session: Session, source: Image) -> Content:
    """Reads an image's metadata from its registry."""
    try:
        parsed = reference(source.name)
        login, certificates = _login(session, source, parsed.registry), _certificates(session, source)
        registry = Registry(login, certificates, source.insecure or parsed.host in cdi(session).insecure_registries)
        return registry.image(parsed, source.architecture or "amd64")
    except (ImageError, RegistryError, RequestFailed) as error:
        return Content(problem=str(error))


def _login(session: Session, source: Image, registry: str) -> tuple[str, str] | None:
    if not source.secret:
        return None
    secret = session.get(SECRET, source.namespace, source.secret)
    if secret is None:
        raise ImageError(f"secret: there is no Secret {source.namespace}/{source.secret}")
    return credentials(secret, registry)


def _certificates(session: Session, source: Image) -> str:
    if not source.ca_config_map:
        return ""
    config_map = session.get(CONFIG_MAP, source.namespace, source.ca_config_map)
    if config_map is None:
        raise ImageError(f"ca_config_map: there is no ConfigMap {source.namespace}/{source.ca_config_map}")
    texts = [text for name, text in (config_map.get("data") or {}).items() if name.endswith(_CERTIFICATES)]
    encoded = (config_map.get("binaryData") or {}).items()
    texts += [base64.b64decode(text).decode() for name, text in encoded if name.endswith(_CERTIFICATES)]
    if not texts:
        raise ImageError(f"ca_config_map: {source.ca_config_map} has no key that ends in .crt or .pem")
    return "\n".join(texts)
