"""Boot sources: what their images and files contain, and how they stand to registries and to the cluster.

The registry is asked for manifests by the OCI distribution API, with the credentials of the cluster.
"""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from ..._resolver.api.kinds import BY_NAME, Kind
from ..._resolver.boot import discovery, image, source
from ..._resolver.boot.discovery import BootSource, BootSourceFinding
from ..._resolver.boot.image import ImageError, Reference, credentials, reference
from ..._resolver.boot.origin import Image
from ..._resolver.cdi.texts import parse_checksum
from ..._resolver.choose.fitting import rejection_of_pair
from ..._resolver.preflight.object_keys import LookupKey
from ..client.errors import ApiError, ConnectionFailed, reason_of
from ..client.pool import map_concurrently
from ..client.session import Session
from ..client.transport import USER_AGENT, tls_context, urllib3
from .kubevirt import cdi, kubevirt
from .lookup import ClusterLookup
from .snapshot import list_if_permitted

Options = dict[str, Any]

_TIMEOUT: Final = 30
_REDIRECTS: Final = 3
# Manifests and configurations are small; anything larger is invalid.
_LARGEST: Final = 4 << 20

SECRET: Final = Kind("Secret", "", "v1", "secrets", True)
CONFIG_MAP: Final = BY_NAME["ConfigMap"]
_CERTIFICATES: Final = (".crt", ".pem")
_CHUNK: Final = 1 << 20
_MISSING: Final = "missing_default"
_UNFIT: Final = "unfit_defaults"
_OUTDATED: Final = "outdated"
_UNCHECKED: Final = "registry_unknown"


class RegistryError(Exception):
    """The registry does not return what it has of the image; the text is one line."""


class Content(NamedTuple):
    """The content of an image or a file.

    digest: of an image or a file, as sha256:HEX; "" where it is not known. environment: of an image.
    problem: why nothing is known, one line. architecture: of an image.
    """

    digest: str = ""
    environment: tuple[str, ...] = ()
    problem: str = ""
    architecture: str = ""


class Registry:
    """A client for one registry.

    login: user and password, None for anonymous access. certificates: PEM, in addition to the system's. insecure:
    accept any certificate, and plain HTTP if the registry does not support TLS.
    """

    def __init__(self, login: tuple[str, str] | None = None, certificates: str = "", insecure: bool = False) -> None:
        try:
            context = tls_context(ca_text=certificates or None, check=not insecure)
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
            raise ImageError(f"{name} is no image for containers")
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


def image_of(session: Session, options: Options) -> Content:
    """The content of a boot source's image, from its registry."""
    source = Image(
        options["image"],
        options["namespace"],
        options.get("secret") or "",
        options.get("ca_config_map") or "",
        options.get("architecture") or "",
    )
    if not options["ask_registry"]:
        digest = reference(source.name).digest
        if digest or options.get("schedule"):
            return Content(digest)
        return Content(problem="ask_registry: false needs an image with a digest, NAME@sha256:..., or a schedule")
    content = content_of(session, source, options["insecure_registry"])
    if not content.problem and source.architecture and content.architecture != source.architecture:
        return Content(problem=f"{source.name} is for {content.architecture}, not for {source.architecture}")
    return content


def contents_of(session: Session, images: Iterable[tuple[Image, bool]]) -> dict[tuple[Image, bool], Content]:
    """The contents of images, each read once, concurrently. The second part of a key is `insecure`."""
    unique = list(dict.fromkeys(images))
    return dict(zip(unique, map_concurrently(lambda key: content_of(session, *key), unique)))


def content_of(session: Session, source: Image, insecure: bool = False) -> Content:
    """Reads an image's metadata from its registry. insecure: take any certificate and plain HTTP, whatever CDI does."""
    try:
        parsed = reference(source.name)
        login, certificates = _login(session, source, parsed.registry), _certificates(session, source)
        registry = Registry(login, certificates, insecure or parsed.host in cdi(session).insecure_registries)
        return registry.image(parsed, source.architecture or "amd64")
    except (ImageError, RegistryError, ConnectionFailed) as error:
        return Content(problem=str(error))
    except ApiError as error:
        return Content(problem=str(error))


def file_of(options: Options) -> Content:
    """The content of a file to upload."""
    path = options["upload"]["path"]
    algorithm, expected = parse_checksum(options["checksum"]) if options.get("checksum") else ("sha256", "")
    sha256, declared = hashlib.sha256(), hashlib.new(algorithm)
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                sha256.update(chunk)
                declared.update(chunk)
    except OSError as error:
        return Content(problem=f"upload.path {path}: {error.strerror}")
    if expected and declared.hexdigest() != expected:
        return Content(problem=f"upload.path {path}: its {algorithm} is {declared.hexdigest()}, not that of checksum")
    return Content(f"sha256:{sha256.hexdigest()}")


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


Manifest = dict[str, Any]


class LabelProblem(NamedTuple):
    """An error in the default labels of a boot source.

    text: one line. missing: an object does not exist; else KubeVirt rejects an existing one.
    """

    text: str
    missing: bool


class Defaults:
    """Instancetypes and preferences of the cluster: one LIST for each kind and namespace, on first use."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lookup = ClusterLookup(session)

    def problems(self, namespace: str, labels: Mapping[str, str], architecture: str = "") -> list[LabelProblem]:
        """The errors in the default labels, for VMs in the namespace. Unreadable objects count as right.

        architecture: of the image, "" if unknown.
        """
        objects: dict[str, Manifest] = {}
        problems = []
        for role, (kind, name) in source.matchers(labels).items():
            live = self._lookup.get(kind, namespace, name) if kind in BY_NAME else None
            if live is None:
                problems.append(LabelProblem(f"{role}: there is no {kind} {name}", missing=True))
            elif isinstance(live, dict):
                objects[role] = live
        if len(objects) == 2:
            problem = rejection_of_pair(
                objects["instancetype"], objects["preference"], architecture, kubevirt(self._session).release
            )
            names = " and ".join(f"the {role} {manifest['metadata']['name']}" for role, manifest in objects.items())
            problems += [LabelProblem(f"{names} do not go together: {problem}", missing=False)] if problem else []
        return problems


def boot_sources(
    session: Session,
    namespace: str | None,
    names: list[str] | None,
    registry: bool,
    insecure: bool,
    warnings: list[str],
) -> list[BootSource]:
    """Boot sources with all findings. A kind that the user may not read adds a warning.

    namespace, names: None for all. registry: ask registries. insecure: see contents_of.
    One LIST for each kind, however many boot sources there are. Raises RequestFailed.
    """
    objects: dict[str, list[Manifest]] = {}
    unread = []
    for kind in discovery.KINDS:
        warning_count = len(warnings)
        objects[kind] = list(list_if_permitted(session, BY_NAME[kind], warnings, namespace) or ())
        unread += [kind] if len(warnings) > warning_count else []
    _add_targets(session, objects, discovery.external_targets(objects, namespace))
    sources = [
        boot_source
        for boot_source in discovery.discover(objects, unread)
        if namespace in (None, boot_source.namespace) and (names is None or boot_source.name in names)
    ]
    defaults = Defaults(session)
    for boot_source in sources:
        problems = defaults.problems(boot_source.namespace, boot_source.labels)
        boot_source.findings += [
            BootSourceFinding(_MISSING if problem.missing else _UNFIT, problem.text) for problem in problems
        ]
    if registry:
        _check_registries(session, sources, insecure)
    return sources


def _add_targets(session: Session, objects: dict[str, list[Manifest]], keys: list[discovery.Key]) -> None:
    lookup = ClusterLookup(session)
    lookup.gather(LookupKey(kind, namespace, name, namespace) for kind, namespace, name in keys)
    for kind, namespace, name in keys:
        live = lookup.get(kind, namespace, name)
        if isinstance(live, dict):
            objects[kind].append(live)


def _check_registries(session: Session, sources: list[BootSource], insecure: bool) -> None:
    images = {
        (boot_source.kind, boot_source.namespace, boot_source.name): image
        for boot_source in sources
        if (image := boot_source.image_to_check) is not None
    }
    contents = contents_of(session, ((image, insecure) for image in images.values()))
    for boot_source in sources:
        image = images.get((boot_source.kind, boot_source.namespace, boot_source.name))
        if image is None:
            continue
        content = contents[image, insecure]
        if content.problem:
            boot_source.findings.append(BootSourceFinding(_UNCHECKED, content.problem))
        elif content.digest != boot_source.origin.digest:
            text = f"{image.name} is now {content.digest}; the boot source has {boot_source.origin.digest}"
            boot_source.findings.append(BootSourceFinding(_OUTDATED, text))
