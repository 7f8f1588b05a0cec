"""Reads image metadata from a registry: a client for the manifests of the OCI distribution API."""

from __future__ import annotations

import hashlib
import json
import ssl
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from ..._resolver.boot import image
from ..._resolver.boot.image import ImageError, Reference
from ..client import tls
from ..client.errors import reason_of
from ..client.libraries import urllib3
from ..client.transport import USER_AGENT

_TIMEOUT: Final = 30
_REDIRECTS: Final = 3
# Manifests and configurations are small; anything larger is invalid.
_LARGEST: Final = 4 << 20


class RegistryError(Exception):
    """The registry does not return the image metadata; the text is one line."""


class Image(NamedTuple):
    """Metadata of an image.

    digest: of the index or image that the reference names. architecture: of the image that was read.
    architectures: all in the index. environment: the image's variables, as NAME=value.
    """

    digest: str
    architecture: str
    architectures: tuple[str, ...]
    environment: tuple[str, ...]


class Registry:
    """A client for one registry.

    login: user and password, None for anonymous access. certificates: PEM, in addition to the system's. insecure:
    accept any certificate, and plain HTTP if the registry does not support TLS.
    """

    def __init__(self, login: tuple[str, str] | None = None, certificates: str = "", insecure: bool = False) -> None:
        try:
            context = tls.context(ca_text=certificates or None, check=not insecure)
        except ssl.SSLError as error:
            raise RegistryError(f"the certificates for the registry cannot be read: {reason_of(error)}") from error
        if certificates:
            context.load_default_certs()
        if insecure:
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        # A redirect leads to a storage that must not get the token; urllib3 drops it for another host.
        retries = urllib3.Retry(total=_REDIRECTS, connect=0, read=0, redirect=_REDIRECTS, status=0, other=0)
        self._pool = urllib3.PoolManager(ssl_context=context, timeout=_TIMEOUT, retries=retries)
        self._login = login
        self._schemes = ("https", "http") if insecure else ("https",)
        self._authorization = ""

    def image(self, reference: Reference, architecture: str = "amd64") -> Image:
        """The metadata of an image. architecture: the image of an index to read; a single image counts as it is.

        Raises RegistryError if the registry does not respond with it, ImageError if the image does not exist.
        """
        joint = "@" if reference.digest else ":"
        name = f"{reference.registry}/{reference.repository}{joint}{reference.version}"
        top, text = self._document(reference, f"manifests/{reference.version}", name)
        digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
        if reference.digest and digest != reference.digest:
            raise RegistryError(f"{reference.host} answered with {digest} for {name}")
        if not image.is_index(top):
            own = self._configuration(reference, top, name)
            return Image(digest, own["architecture"], (own["architecture"],), own["environment"])
        offered = image.architectures(top)
        one, _text = self._document(reference, f"manifests/{image.chosen(name, offered, architecture)}", name)
        own = self._configuration(reference, one, name)
        return Image(digest, architecture, tuple(sorted(offered)), own["environment"])

    def _configuration(self, reference: Reference, manifest: dict[str, Any], name: str) -> dict[str, Any]:
        digest = (manifest.get("config") or {}).get("digest")
        if not isinstance(digest, str):
            raise ImageError(f"{name} is no image for containers")
        found, _text = self._document(reference, f"blobs/{digest}", name)
        environment = (found.get("config") or {}).get("Env") or ()
        return {"architecture": str(found.get("architecture") or ""), "environment": tuple(map(str, environment))}

    def _document(self, reference: Reference, part: str, name: str) -> tuple[dict[str, Any], bytes]:
        path = f"/v2/{reference.repository}/{part}"
        response = self._asked(reference, path)
        if response.status == 401:
            self._authorization = self._authorized(reference, response.headers.get("WWW-Authenticate", ""))
            response = self._asked(reference, path)
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
            found = json.loads(text) if len(text) <= _LARGEST else None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise RegistryError(f"{reference.host} answered with no manifest for {name}")
        return found, text

    def _asked(self, reference: Reference, path: str) -> Any:
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

    def _authorized(self, reference: Reference, header: str) -> str:
        """The Authorization header for a registry's challenge."""
        scheme, asked = image.challenge(header)
        basic = urllib3.make_headers(basic_auth=":".join(self._login)) if self._login else {}
        if scheme == "basic" and basic:
            return str(basic["authorization"])
        if scheme != "bearer" or "realm" not in asked:
            return ""
        # Send only the parameters of the challenge; without them the token would be worthless.
        query: dict[str, str] = {part: asked[part] for part in ("service", "scope") if part in asked}
        try:
            response = self._pool.request("GET", f"{asked['realm']}?{urlencode(query)}", headers=basic)
            answer = json.loads(response.data)
            token = answer.get("token") or answer.get("access_token") if response.status == 200 else None
        except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError) as error:
            raise RegistryError(f"{reference.host} gives no token: {reason_of(error)}") from error
        if not token:
            raise RegistryError(f"{reference.host} gives no token: HTTP {response.status}; check the credentials")
        return f"Bearer {token}"
