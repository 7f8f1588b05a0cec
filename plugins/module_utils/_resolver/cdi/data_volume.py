"""What CDI's webhooks check in a DataVolume's spec, and in a volume's source (``validateDataVolumeSpec``)."""

from __future__ import annotations

from typing import Any, Final

from ..api.quantity import parse
from . import checksum
from .go_url import UrlError, printed, scheme
from .refusal import Cause, too_long

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_MIN_SIZE: Final = 2**20
_MAX_NAME: Final = 253


def problems(spec: dict[str, Any], field: str) -> list[Cause]:
    """The causes for a spec whose quantities are valid. field: ``spec``; in a DataImportCron ``Template``."""
    pvc, storage = spec.get("pvc"), spec.get("storage")
    if pvc is None and storage is None:
        return [Cause("Missing Data volume PVC", f"{field}.PVC")]
    if pvc is not None and storage is not None:
        message = "Duplicate storage definition, both target storage and target pvc defined"
        return [Cause(message, f"{field}.PVC.Storage")]
    volume: dict[str, Any] = storage if pvc is None else pvc  # type: ignore[assignment]
    causes = _size(spec, volume, "Storage" if pvc is None else "PVC", field)
    causes = causes or too_long(volume.get("storageClassName") or "", _MAX_NAME)
    causes = causes or _access_modes(volume.get("accessModes") or [], pvc is not None, field)
    if causes:
        return causes
    source, reference = spec.get("source"), spec.get("sourceRef")
    populators = {name: volume[name] for name in ("dataSource", "dataSourceRef") if volume.get(name) is not None}
    if populators:
        return _populated(populators, source is not None or reference is not None, field)
    if (source is None) is (reference is None):
        message = "Data volume should have either Source or SourceRef, or be externally populated"
        return [Cause(message, f"{field}.source")]
    if reference is not None:
        return _reference(reference, f"{field}.sourceRef")
    return source_problems(source or {}, spec.get("contentType") or "", field)


def _size(spec: dict[str, Any], volume: dict[str, Any], name: str, field: str) -> list[Cause]:
    size = ((volume.get("resources") or {}).get("requests") or {}).get("storage")
    source = spec.get("source") or {}
    clone = spec.get("sourceRef") is not None or any(source.get(kind) is not None for kind in ("pvc", "snapshot"))
    problem = ""
    if size is None:
        # A clone has its source's size, which CDI looks up only for `storage`.
        problem = "" if clone and name == "Storage" else "is missing"
    elif parse(str(size).strip()).value <= 0:
        problem = "can't be equal or less than zero"
    elif parse(str(size).strip()).value < _MIN_SIZE:
        problem = "should be at least 1MiB"
    return [Cause(f"{name} size {problem}", f"{field}.{name}.resources.requests.size")] if problem else []


def _access_modes(modes: list[str], exactly_one: bool, field: str) -> list[Cause]:
    problem = ""
    if exactly_one and not modes:
        problem = "Required value: at least 1 access mode is required"
    elif exactly_one and len(modes) > 1:
        problem = "PVC multiple accessModes"
    elif any(mode not in _ACCESS_MODES for mode in modes):
        supported = ", ".join(f'"{mode}"' for mode in _ACCESS_MODES)
        # CDI names the first of several modes, even if another is invalid.
        problem = f'Unsupported value: "{modes[0]}": supported values: {supported}'
    return [Cause(problem, f"{field}.PVC.accessModes")] if problem else []


def _reference(reference: dict[str, Any], path: str) -> list[Cause]:
    kind = reference.get("kind") or ""
    if not kind:
        return [Cause("Missing sourceRef kind", f"{path}.Kind")]
    if kind != "DataSource":
        message = f"Unsupported sourceRef kind {kind}, currently only DataSource is supported"
        return [Cause(message, f"{path}.Kind")]
    return [] if reference.get("name") else [Cause("Missing sourceRef name", f"{path}.Name")]


def _populated(populators: dict[str, dict[str, Any]], has_source: bool, field: str) -> list[Cause]:
    """Causes for a volume that something other than CDI fills."""
    causes = []
    if has_source:
        causes.append(Cause("External population is incompatible with Source and SourceRef", f"{field}.source"))
    if len(populators) > 1:
        # CDI compares two Go types, which are never equal.
        causes.append(Cause("DataSourceRef and DataSource must match"))
    for name, populator in populators.items():
        causes += _populator(populator, name[0].upper() + name[1:], f"{field}.{name}")
    return causes


def _populator(populator: dict[str, Any], title: str, path: str) -> list[Cause]:
    causes = []
    # Of the two only a dataSourceRef has a namespace.
    if title == "DataSourceRef" and populator.get("namespace"):
        causes.append(Cause("Invalid value: DataSourceRef namespace not supported", f"{path}.namespace[]"))
    if not populator.get("name"):
        causes.append(Cause(f"Required value: {title} name", f"{path}.name[]"))
    if not populator.get("kind"):
        causes.append(Cause(f"Required value: {title} kind", f"{path}.kind"))
    if not populator.get("apiGroup") and populator.get("kind") != "PersistentVolumeClaim":
        message = f"Required value: {title} apiGroup when kind is not 'PersistentVolumeClaim'"
        causes.append(Cause(message, f"{path}.apiGroup[]"))
    return causes


_KINDS: Final = ("http", "s3", "gcs", "registry", "pvc", "upload", "blank", "imageio", "vddk", "snapshot")
_CONTENT_TYPES: Final = ("kubevirt", "archive")
_URL_SCHEMES: Final = ("http", "https", "gs")
_REGISTRY_SCHEMES: Final = ("docker", "oci-archive")
_PULL_METHODS: Final = ("pod", "node")


def source_problems(source: dict[str, Any], content_type: str, field: str) -> list[Cause]:
    """The causes for a source. field: of the object with the source, such as ``spec``."""
    kinds = [kind for kind in _KINDS if source.get(kind) is not None]
    if len(kinds) != 1:
        return [
            Cause(f"{'Multiple' if kinds else 'Missing'} Data volume source{'s' if kinds else ''}", f"{field}.source")
        ]
    if content_type not in ("", *_CONTENT_TYPES):
        return [Cause(f"ContentType not one of: {', '.join(_CONTENT_TYPES)}", f"{field}.contentType")]
    (kind,) = kinds
    return _CHECKS[kind](source[kind], content_type, field) if kind in _CHECKS else []


def _http(http: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    causes = _url(http.get("url") or "", "HTTP", field)
    if http.get("checksum"):
        try:
            checksum.parse(http["checksum"])
        except checksum.ChecksumError as error:
            causes.append(Cause(f"Invalid checksum format: {error}", f"{field}.source.HTTP.checksum"))
    return causes


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
    path = f"{field}.source.Registry"
    if (url is None) is (stream is None):
        return [Cause("Source registry should have either URL or ImageStream", path)]
    if url is not None:
        problem = _registry_url(url)
        if problem:
            return [Cause(problem, f"{path}.URL")]
    problem = ""
    if method not in (None, *_PULL_METHODS):
        problem = f'ImportMethod {method} is neither pod, node or ""'
    elif stream == "":
        problem = "Source registry ImageStream is not valid"
    elif stream is not None and method != "node":
        problem = "Source registry ImageStream is supported only with node pull import method"
    return [Cause(problem, f"{path}.importMethod")] if problem else []


def _registry_url(url: str) -> str:
    try:
        supported = scheme(url) in _REGISTRY_SCHEMES
    except UrlError:
        return f"Illegal registry source URL {url}"
    return "" if supported else f"Illegal registry source URL scheme {printed(url)}"


def _imageio(imageio: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    path = f"{field}.source.Imageio"
    if not imageio.get("secretRef") or not imageio.get("diskId"):
        return [Cause(f"{path} source Imageio is not valid", path)]
    if not imageio.get("certConfigMap") and not imageio.get("insecureSkipVerify"):
        return [Cause(f"{path} source Imageio requires CertConfigMap or InsecureSkipVerify", path)]
    return _url(imageio.get("url") or "", "ImageIO", field)


def _vddk(vddk: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    path = f"{field}.source.VDDK"
    if not all(vddk.get(name) for name in ("secretRef", "uuid", "backingFile", "thumbprint")):
        return [Cause(f"{path} source VDDK is not valid", path)]
    return _url(vddk.get("url") or "", "VDDK", field)


def _pvc(pvc: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    return _clone(pvc, "source PVC", f"{field}.source.PVC")


def _snapshot(snapshot: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    return _clone(snapshot, "source snapshot", f"{field}.source.Snapshot")


def _clone(reference: dict[str, Any], what: str, path: str) -> list[Cause]:
    is_named = reference.get("name") and reference.get("namespace")
    return [] if is_named else [Cause(f"{path} {what} is not valid", path)]


def _url(url: str, kind: str, field: str) -> list[Cause]:
    problem = _source_url(url)
    return [Cause(f"{field}.source {problem}", f"{field}.source.{kind}.url")] if problem else []


def _source_url(url: str) -> str:
    if not url:
        return "source URL is empty"
    try:
        supported = scheme(url, request=True) in _URL_SCHEMES
    except UrlError:
        return f"Invalid source URL: {url}"
    return "" if supported else f"Invalid source URL scheme: {url}"


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
