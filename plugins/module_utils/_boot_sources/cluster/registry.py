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
from ..._cluster.client.connections import USER_AGENT
from ..._cluster.client.errors import RequestFailed, reason_of
from ..._cluster.client.session import Session
from ..._cluster.client.web import urllib3, web_pool
from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest, name_of
from .. import image
from ..image import Content, ImageError, ImageReference, credentials, reference
from ..origin import Image
from .cdi import cdi

SECRET: Final = Kind("Secret", "", "v1", "secrets", True)
CONFIG_MAP: Final = KINDS["ConfigMap"]
_CERTIFICATES: Final = (".crt", ".pem")
_TIMEOUT: Final = 30
_REDIRECTS: Final = 3
# Manifests and configurations are small; anything larger is invalid.
_LARGEST: Final = 4 << 20


class _Missing(ImageError):
    """An object that is needed to read an image does not exist."""


class RegistryImage:
    """An image in its registry.

    login: user and password, None for anonymous access. certificates: PEM, in addition to the system's. insecure:
    accept any certificate, and plain HTTP if the registry does not support TLS.
    """

    def __init__(
        self,
        reference: ImageReference,
        login: tuple[str, str] | None = None,
        certificates: str = "",
        insecure: bool = False,
    ) -> None:
        # A redirect leads to a storage that must not get the token; urllib3 drops it for another host.
        retries = urllib3.Retry(total=_REDIRECTS, connect=0, read=0, redirect=_REDIRECTS, status=0, other=0)
        try:
            self._pool = web_pool(ca_text=certificates or None, check=not insecure, timeout=_TIMEOUT, retries=retries)
        except ssl.SSLError as error:
            raise ImageError(f"the certificates for the registry cannot be read: {reason_of(error)}") from error
        self._reference = reference
        self._login = login
        self._schemes = ("https", "http") if insecure else ("https",)
        self._authorization = ""

    def content(self, architecture: str = "amd64") -> Content:
        """The content of the image. architecture: the image of an index to read; a single image counts as it is.

        Raises ImageError.
        """
        reference = self._reference
        document, text = self._document(f"manifests/{reference.digest or reference.tag}")
        digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
        if reference.digest and digest != reference.digest:
            raise ImageError(f"{reference.host} answered with {digest} for {reference.name}")
        if not image.is_index(document):
            return self._configuration(document)._replace(digest=digest)
        manifest, _text = self._document(f"manifests/{image.digest_for(reference.name, document, architecture)}")
        return self._configuration(manifest)._replace(digest=digest, architecture=architecture)

    def _configuration(self, manifest: dict[str, Any]) -> Content:
        digest = (manifest.get("config") or {}).get("digest")
        if not isinstance(digest, str):
            raise ImageError(f"{self._reference.name} is not a container image")
        configuration, _text = self._document(f"blobs/{digest}")
        environment = (configuration.get("config") or {}).get("Env") or ()
        return Content("", tuple(map(str, environment)), architecture=str(configuration.get("architecture") or ""))

    def _document(self, part: str) -> tuple[dict[str, Any], bytes]:
        host, name = self._reference.host, self._reference.name
        response = self._get(part)
        if response.status == 401:
            self._authorization = self._authorization_for(response.headers.get("WWW-Authenticate", ""))
            response = self._get(part)
        if response.status == 404:
            raise ImageError(f"{host} has no image {name}")
        if response.status in (401, 403):
            # Many registries respond like this for an image that does not exist.
            raise ImageError(f"{host} does not show {name}: check the name, or the credentials")
        if response.status != 200:
            raise ImageError(f"{host} answered {response.status} for {name}")
        text = response.read(_LARGEST + 1)
        response.release_conn()
        try:
            document = json.loads(text) if len(text) <= _LARGEST else None
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise ImageError(f"{host} answered with no manifest for {name}")
        return document, text

    def _get(self, part: str) -> Any:
        host = self._reference.host
        headers = {"Accept": ", ".join(image.ACCEPTED), "User-Agent": USER_AGENT}
        if self._authorization:
            headers["Authorization"] = self._authorization
        for scheme in self._schemes:
            try:
                url = f"{scheme}://{host}/v2/{self._reference.repository}/{part}"
                return self._pool.request("GET", url, headers=headers, preload_content=False)
            except (urllib3.exceptions.HTTPError, OSError) as error:
                problem = error
        raise ImageError(f"cannot reach {host}: {reason_of(problem)}") from problem

    def _authorization_for(self, header: str) -> str:
        """The Authorization header for a registry's challenge."""
        host = self._reference.host
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
            raise ImageError(f"{host} gives no token: {reason_of(error)}") from error
        if not token:
            raise ImageError(f"{host} gives no token: HTTP {response.status}; check the credentials")
        return f"Bearer {token}"


def contents_of(session: Session, images: Iterable[Image]) -> dict[Image, Content]:
    """The contents of images, each read once, concurrently."""
    unique = list(dict.fromkeys(images))
    return dict(zip(unique, map_concurrently(partial(content_of, session), unique)))


def content_of(session: Session, source: Image) -> Content:
    """Reads an image's metadata from its registry."""
    login, certificates = None, ""
    try:
        parsed = reference(source.name)
        if source.secret:
            login = credentials(
                _required(session, SECRET, source.namespace, source.secret, "secret_ref"), parsed.registry
            )
        if source.cert_config_map:
            config_map = _required(session, CONFIG_MAP, source.namespace, source.cert_config_map, "cert_config_map")
            certificates = _certificates(config_map)
        # CDI takes any certificate of these, and plain HTTP.
        insecure = source.insecure or parsed.host in (cdi(session).config.get("insecureRegistries") or ())
        return RegistryImage(parsed, login, certificates, insecure).content(source.architecture or "amd64")
    except (ImageError, RequestFailed) as error:
        return Content(problem=str(error), missing=isinstance(error, _Missing))


def _required(session: Session, kind: Kind, namespace: str, name: str, option: str) -> Manifest:
    live = session.get(kind, namespace, name)
    if live is None:
        raise _Missing(f"{option}: there is no {kind.kind} {namespace}/{name}")
    return live


def _certificates(config_map: Manifest) -> str:
    texts = [text for name, text in (config_map.get("data") or {}).items() if name.endswith(_CERTIFICATES)]
    encoded = (config_map.get("binaryData") or {}).items()
    texts += [base64.b64decode(text).decode() for name, text in encoded if name.endswith(_CERTIFICATES)]
    if not texts:
        raise ImageError(f"cert_config_map: {name_of(config_map)} has no key that ends in .crt or .pem")
    return "\n".join(texts)
