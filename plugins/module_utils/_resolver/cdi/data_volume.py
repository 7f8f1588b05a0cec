"""What CDI's webhooks check in a DataVolume's spec, and in a volume's source (``validateDataVolumeSpec``)."""

from __future__ import annotations

from typing import Any, Final

from ..api.quantity import parse
from . import checksum
from .go_url import UrlError, printed, scheme
from .refusal import Cause, too_long

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_SMALLEST: Final = 2**20
_LONGEST_NAME: Final = 253


def problems(spec: dict[str, Any], field: str) -> list[Cause]:
    """The causes for a spec whose quantities are valid. field: ``spec``; in a DataImportCron ``Template``."""
    pvc, storage = spec.get("pvc"), spec.get("storage")
    if pvc is None and storage is None:
        return [Cause("Missing Data volume PVC", f"{field}.PVC")]
    if pvc is not None and storage is not None:
        message = "Duplicate storage definition, both target storage and target pvc defined"
        return [Cause(message, f"{field}.PVC.Storage")]
    target: dict[str, Any] = storage if pvc is None else pvc  # type: ignore[assignment]
    found = _size(spec, target, "Storage" if pvc is None else "PVC", field)
    found = found or too_long(target.get("storageClassName") or "", _LONGEST_NAME)
    found = found or _access_modes(target.get("accessModes") or [], pvc is not None, field)
    if found:
        return found
    source, reference = spec.get("source"), spec.get("sourceRef")
    populators = {name: target[name] for name in ("dataSource", "dataSourceRef") if target.get(name) is not None}
    if populators:
        return _populated(populators, source is not None or reference is not None, field)
    if (source is None) is (reference is None):
        message = "Data volume should have either Source or SourceRef, or be externally populated"
        return [Cause(message, f"{field}.source")]
    if reference is not None:
        return _reference(reference, f"{field}.sourceRef")
    return source_problems(source or {}, spec.get("contentType") or "", field)


def _size(spec: dict[str, Any], target: dict[str, Any], name: str, field: str) -> list[Cause]:
    size = ((target.get("resources") or {}).get("requests") or {}).get("storage")
    source = spec.get("source") or {}
    clone = spec.get("sourceRef") is not None or any(source.get(kind) is not None for kind in ("pvc", "snapshot"))
    wrong = ""
    if size is None:
        # A clone has its source's size, which CDI looks up only for `storage`.
        wrong = "" if clone and name == "Storage" else "is missing"
    elif parse(str(size).strip()).value <= 0:
        wrong = "can't be equal or less than zero"
    elif parse(str(size).strip()).value < _SMALLEST:
        wrong = "should be at least 1MiB"
    return [Cause(f"{name} size {wrong}", f"{field}.{name}.resources.requests.size")] if wrong else []


def _access_modes(modes: list[str], exactly_one: bool, field: str) -> list[Cause]:
    wrong = ""
    if exactly_one and not modes:
        wrong = "Required value: at least 1 access mode is required"
    elif exactly_one and len(modes) > 1:
        wrong = "PVC multiple accessModes"
    elif any(mode not in _ACCESS_MODES for mode in modes):
        supported = ", ".join(f'"{mode}"' for mode in _ACCESS_MODES)
        # CDI names the first of several modes, even if another is invalid.
        wrong = f'Unsupported value: "{modes[0]}": supported values: {supported}'
    return [Cause(wrong, f"{field}.PVC.accessModes")] if wrong else []


def _reference(reference: dict[str, Any], place: str) -> list[Cause]:
    kind = reference.get("kind") or ""
    if not kind:
        return [Cause("Missing sourceRef kind", f"{place}.Kind")]
    if kind != "DataSource":
        message = f"Unsupported sourceRef kind {kind}, currently only DataSource is supported"
        return [Cause(message, f"{place}.Kind")]
    return [] if reference.get("name") else [Cause("Missing sourceRef name", f"{place}.Name")]


def _populated(populators: dict[str, dict[str, Any]], has_source: bool, field: str) -> list[Cause]:
    """Causes for a volume that something other than CDI fills."""
    found = []
    if has_source:
        found.append(Cause("External population is incompatible with Source and SourceRef", f"{field}.source"))
    if len(populators) > 1:
        # CDI compares two Go types, which are never equal.
        found.append(Cause("DataSourceRef and DataSource must match"))
    for name, populator in populators.items():
        found += _populator(populator, name[0].upper() + name[1:], f"{field}.{name}")
    return found


def _populator(populator: dict[str, Any], title: str, place: str) -> list[Cause]:
    found = []
    # Of the two only a dataSourceRef has a namespace.
    if title == "DataSourceRef" and populator.get("namespace"):
        found.append(Cause("Invalid value: DataSourceRef namespace not supported", f"{place}.namespace[]"))
    if not populator.get("name"):
        found.append(Cause(f"Required value: {title} name", f"{place}.name[]"))
    if not populator.get("kind"):
        found.append(Cause(f"Required value: {title} kind", f"{place}.kind"))
    if not populator.get("apiGroup") and populator.get("kind") != "PersistentVolumeClaim":
        message = f"Required value: {title} apiGroup when kind is not 'PersistentVolumeClaim'"
        found.append(Cause(message, f"{place}.apiGroup[]"))
    return found


_KINDS: Final = ("http", "s3", "gcs", "registry", "pvc", "upload", "blank", "imageio", "vddk", "snapshot")
_CONTENT_TYPES: Final = ("kubevirt", "archive")
_URL_SCHEMES: Final = ("http", "https", "gs")
_REGISTRY_SCHEMES: Final = ("docker", "oci-archive")
_PULL_METHODS: Final = ("pod", "node")


def source_problems(source: dict[str, Any], content_type: str, field: str) -> list[Cause]:
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
