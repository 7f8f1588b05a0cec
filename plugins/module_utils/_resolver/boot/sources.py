"""What CDI's webhooks check in a volume's source."""

from __future__ import annotations

from typing import Any, Final

from . import checksum
from .go_url import UrlError, printed, scheme
from .refusal import Cause

_KINDS: Final = ("http", "s3", "gcs", "registry", "pvc", "upload", "blank", "imageio", "vddk", "snapshot")
_CONTENT_TYPES: Final = ("kubevirt", "archive")
_URL_SCHEMES: Final = ("http", "https", "gs")
_REGISTRY_SCHEMES: Final = ("docker", "oci-archive")
_PULL_METHODS: Final = ("pod", "node")


def problems(source: dict[str, Any], content_type: str, field: str) -> list[Cause]:
    """The causes for a source. field: of the object with the source, such as ``spec``."""
    given = [kind for kind in _KINDS if source.get(kind) is not None]
    if len(given) != 1:
        return [
            Cause(f"{'Multiple' if given else 'Missing'} Data volume source{'s' if given else ''}", f"{field}.source")
        ]
    if content_type not in ("", *_CONTENT_TYPES):
        return [Cause(f"ContentType not one of: {', '.join(_CONTENT_TYPES)}", f"{field}.contentType")]
    (kind,) = given
    return _CHECKS[kind](source[kind], content_type, field) if kind in _CHECKS else []


def _http(http: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    found = _url(http.get("url") or "", "HTTP", field)
    if http.get("checksum"):
        try:
            checksum.parse(http["checksum"])
        except checksum.ChecksumError as error:
            found.append(Cause(f"Invalid checksum format: {error}", f"{field}.source.HTTP.checksum"))
    return found


def _s3(s3: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    return _url(s3.get("url") or "", "S3", field)


def _gcs(gcs: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    return _url(gcs.get("url") or "", "GCS", field)


def _blank(_blank_image: dict[str, Any], content_type: str, field: str) -> list[Cause]:
    if content_type != "archive":
        return []
    return [Cause("SourceType cannot be blank and the contentType be archive", f"{field}.contentType")]


def _registry(registry: dict[str, Any], content_type: str, field: str) -> list[Cause]:
    if content_type not in ("", "kubevirt"):
        return [Cause("ContentType must be kubevirt when Source is Registry", f"{field}.contentType")]
    url, stream, method = (registry.get(name) for name in ("url", "imageStream", "pullMethod"))
    place = f"{field}.source.Registry"
    if (url is None) is (stream is None):
        return [Cause("Source registry should have either URL or ImageStream", place)]
    if url is not None:
        wrong = _registry_url(url)
        if wrong:
            return [Cause(wrong, f"{place}.URL")]
    wrong = ""
    if method not in (None, *_PULL_METHODS):
        wrong = f'ImportMethod {method} is neither pod, node or ""'
    elif stream == "":
        wrong = "Source registry ImageStream is not valid"
    elif stream is not None and method != "node":
        wrong = "Source registry ImageStream is supported only with node pull import method"
    return [Cause(wrong, f"{place}.importMethod")] if wrong else []


def _registry_url(url: str) -> str:
    try:
        known = scheme(url) in _REGISTRY_SCHEMES
    except UrlError:
        return f"Illegal registry source URL {url}"
    return "" if known else f"Illegal registry source URL scheme {printed(url)}"


def _imageio(imageio: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    place = f"{field}.source.Imageio"
    if not imageio.get("secretRef") or not imageio.get("diskId"):
        return [Cause(f"{place} source Imageio is not valid", place)]
    if not imageio.get("certConfigMap") and not imageio.get("insecureSkipVerify"):
        return [Cause(f"{place} source Imageio requires CertConfigMap or InsecureSkipVerify", place)]
    return _url(imageio.get("url") or "", "ImageIO", field)


def _vddk(vddk: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    place = f"{field}.source.VDDK"
    if not all(vddk.get(name) for name in ("secretRef", "uuid", "backingFile", "thumbprint")):
        return [Cause(f"{place} source VDDK is not valid", place)]
    return _url(vddk.get("url") or "", "VDDK", field)


def _pvc(pvc: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    return _clone(pvc, "source PVC", f"{field}.source.PVC")


def _snapshot(snapshot: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    return _clone(snapshot, "source snapshot", f"{field}.source.Snapshot")


def _clone(reference: dict[str, Any], what: str, place: str) -> list[Cause]:
    named = reference.get("name") and reference.get("namespace")
    return [] if named else [Cause(f"{place} {what} is not valid", place)]


def _url(url: str, kind: str, field: str) -> list[Cause]:
    wrong = _source_url(url)
    return [Cause(f"{field}.source {wrong}", f"{field}.source.{kind}.url")] if wrong else []


def _source_url(url: str) -> str:
    if not url:
        return "source URL is empty"
    try:
        known = scheme(url, request=True) in _URL_SCHEMES
    except UrlError:
        return f"Invalid source URL: {url}"
    return "" if known else f"Invalid source URL scheme: {url}"


_CHECKS: Final = {
    "http": _http,
    "s3": _s3,
    "gcs": _gcs,
    "blank": _blank,
    "registry": _registry,
    "imageio": _imageio,
    "vddk": _vddk,
    "pvc": _pvc,
    "snapshot": _snapshot,
}
