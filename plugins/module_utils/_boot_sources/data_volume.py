"""CDI's rules for the spec of a DataVolume (``validateDataVolumeSpec``), in CDI's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .._resolver.api.errors import Cause, FieldError
from .._resolver.api.manifest import Manifest
from .._resolver.api.name_rules import LONGEST_SUBDOMAIN
from .._resolver.api.quantity import parse
from .._resolver.api.schema import TYPES
from .cdi_parsers import UrlError, parse_checksum, printed, scheme

INVALID: Final = "FieldValueInvalid"
_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_MIN_SIZE: Final = 2**20
_CONTENT_TYPES: Final = ("kubevirt", "archive")
_URL_SCHEMES: Final = ("http", "https", "gs")
_REGISTRY_SCHEMES: Final = ("docker", "oci-archive")
_PULL_METHODS: Final = ("pod", "node")


def invalid(message: str, field: str = "") -> list[Cause]:
    """The only cause of a refusal."""
    return [Cause(INVALID, message, field)]


def too_long(name: str, maximum: int) -> list[Cause]:
    """The cause if a name is too long, in bytes."""
    return invalid(f"Name cannot be longer than {maximum} characters") if len(name.encode()) > maximum else []


def problems(spec: Manifest, field: str) -> list[Cause]:
    """The causes for a spec whose quantities are valid. field: ``spec``; in a DataImportCron ``Template``."""
    pvc: Any = spec.get("pvc")
    storage: Any = spec.get("storage")
    if pvc is None and storage is None:
        return invalid("Missing Data volume PVC", f"{field}.PVC")
    if pvc is not None and storage is not None:
        message = "Duplicate storage definition, both target storage and target pvc defined"
        return invalid(message, f"{field}.PVC.Storage")
    volume = storage if pvc is None else pvc
    return (
        _size(spec, volume, "Storage" if pvc is None else "PVC", field)
        or too_long(volume.get("storageClassName") or "", LONGEST_SUBDOMAIN)
        or _access_modes(volume.get("accessModes") or [], pvc is not None, field)
        or _content(spec, volume, field)
    )


def _size(spec: Manifest, volume: Manifest, name: str, field: str) -> list[Cause]:
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
    return invalid(f"{name} size {problem}", f"{field}.{name}.resources.requests.size") if problem else []


def _access_modes(modes: list[str], exactly_one: bool, field: str) -> list[Cause]:
    path = f"{field}.PVC.accessModes"
    if exactly_one and not modes:
        return invalid("Required value: at least 1 access mode is required", path)
    if exactly_one and len(modes) > 1:
        return invalid("PVC multiple accessModes", path)
    if all(mode in _ACCESS_MODES for mode in modes):
        return []
    supported = ", ".join(f'"{mode}"' for mode in _ACCESS_MODES)
    # CDI names the first of several modes, even if another is invalid.
    return invalid(f'Unsupported value: "{modes[0]}": supported values: {supported}', path)


def _content(spec: Manifest, volume: Manifest, field: str) -> list[Cause]:
    """The causes for what fills a volume."""
    source: Any = spec.get("source")
    reference: Any = spec.get("sourceRef")
    populators = {name: volume[name] for name in ("dataSource", "dataSourceRef") if volume.get(name) is not None}
    if populators:
        return _populated(populators, source is not None or reference is not None, field)
    if (source is None) is (reference is None):
        message = "Data volume should have either Source or SourceRef, or be externally populated"
        return invalid(message, f"{field}.source")
    if reference is not None:
        return _reference(reference, f"{field}.sourceRef")
    kinds = [kind for kind in TYPES["DataVolumeImport"] if source.get(kind) is not None]
    if len(kinds) != 1:
        message = "Multiple Data volume sources" if kinds else "Missing Data volume source"
        return invalid(message, f"{field}.source")
    content_type = spec.get("contentType") or ""
    if content_type not in ("", *_CONTENT_TYPES):
        return invalid(f"ContentType not one of: {', '.join(_CONTENT_TYPES)}", f"{field}.contentType")
    (kind,) = kinds
    return _CHECKS[kind](source[kind], content_type, field) if kind in _CHECKS else []


def _reference(reference: Manifest, path: str) -> list[Cause]:
    kind = reference.get("kind") or ""
    if not kind:
        return invalid("Missing sourceRef kind", f"{path}.Kind")
    if kind != "DataSource":
        return invalid(f"Unsupported sourceRef kind {kind}, currently only DataSource is supported", f"{path}.Kind")
    return [] if reference.get("name") else invalid("Missing sourceRef name", f"{path}.Name")


def _populated(populators: dict[str, Manifest], has_source: bool, field: str) -> list[Cause]:
    """The causes for a volume that something other than CDI fills."""
    causes = []
    if has_source:
        causes += invalid("External population is incompatible with Source and SourceRef", f"{field}.source")
    if len(populators) > 1:
        # CDI compares two Go types, which are never equal.
        causes += invalid("DataSourceRef and DataSource must match")
    for name, populator in populators.items():
        title, path, kind = name[0].upper() + name[1:], f"{field}.{name}", populator.get("kind")
        # A dataSource has no namespace.
        if title == "DataSourceRef" and populator.get("namespace"):
            causes += invalid("Invalid value: DataSourceRef namespace not supported", f"{path}.namespace[]")
        if not populator.get("name"):
            causes += invalid(f"Required value: {title} name", f"{path}.name[]")
        if not kind:
            causes += invalid(f"Required value: {title} kind", f"{path}.kind")
        if not populator.get("apiGroup") and kind != "PersistentVolumeClaim":
            message = f"Required value: {title} apiGroup when kind is not 'PersistentVolumeClaim'"
            causes += invalid(message, f"{path}.apiGroup[]")
    return causes


def _http(http: Manifest, _content_type: str, field: str) -> list[Cause]:
    causes = _url(http, "HTTP", field)
    if http.get("checksum"):
        try:
            parse_checksum(http["checksum"])
        except FieldError as error:
            causes += invalid(f"Invalid checksum format: {error.reason}", f"{field}.source.HTTP.checksum")
    return causes


def _blank(_blank_image: Manifest, content_type: str, field: str) -> list[Cause]:
    if content_type != "archive":
        return []
    return invalid("SourceType cannot be blank and the contentType be archive", f"{field}.contentType")


def _registry(registry: Manifest, content_type: str, field: str) -> list[Cause]:
    if content_type not in ("", "kubevirt"):
        return invalid("ContentType must be kubevirt when Source is Registry", f"{field}.contentType")
    url, stream, method = (registry.get(name) for name in ("url", "imageStream", "pullMethod"))
    path, problem = f"{field}.source.Registry", ""
    if (url is None) is (stream is None):
        return invalid("Source registry should have either URL or ImageStream", path)
    try:
        if url is not None and scheme(url) not in _REGISTRY_SCHEMES:
            return invalid(f"Illegal registry source URL scheme {printed(url)}", f"{path}.URL")
    except UrlError:
        return invalid(f"Illegal registry source URL {url}", f"{path}.URL")
    if method not in (None, *_PULL_METHODS):
        problem = f'ImportMethod {method} is neither pod, node or ""'
    elif stream == "":
        problem = "Source registry ImageStream is not valid"
    elif stream is not None and method != "node":
        problem = "Source registry ImageStream is supported only with node pull import method"
    return invalid(problem, f"{path}.importMethod") if problem else []


def _imageio(imageio: Manifest, _content_type: str, field: str) -> list[Cause]:
    path = f"{field}.source.Imageio"
    if not imageio.get("secretRef") or not imageio.get("diskId"):
        return invalid(f"{path} source Imageio is not valid", path)
    if not imageio.get("certConfigMap") and not imageio.get("insecureSkipVerify"):
        return invalid(f"{path} source Imageio requires CertConfigMap or InsecureSkipVerify", path)
    return _url(imageio, "ImageIO", field)


def _vddk(vddk: Manifest, _content_type: str, field: str) -> list[Cause]:
    path = f"{field}.source.VDDK"
    if not all(vddk.get(name) for name in ("secretRef", "uuid", "backingFile", "thumbprint")):
        return invalid(f"{path} source VDDK is not valid", path)
    return _url(vddk, "VDDK", field)


def _clone(reference: Manifest, noun: str, path: str) -> list[Cause]:
    is_named = reference.get("name") and reference.get("namespace")
    return [] if is_named else invalid(f"{path} {noun} is not valid", path)


def _url(source: Manifest, kind: str, field: str) -> list[Cause]:
    url, problem = source.get("url") or "", ""
    try:
        if not url:
            problem = "source URL is empty"
        elif scheme(url, request=True) not in _URL_SCHEMES:
            problem = f"Invalid source URL scheme: {url}"
    except UrlError:
        problem = f"Invalid source URL: {url}"
    return invalid(f"{field}.source {problem}", f"{field}.source.{kind}.url") if problem else []


_CHECKS: Final[dict[str, Callable[[Manifest, str, str], list[Cause]]]] = {
    "http": _http,
    "s3": lambda source, _content_type, field: _url(source, "S3", field),
    "gcs": lambda source, _content_type, field: _url(source, "GCS", field),
    "blank": _blank,
    "registry": _registry,
    "imageio": _imageio,
    "vddk": _vddk,
    "pvc": lambda source, _content_type, field: _clone(source, "source PVC", f"{field}.source.PVC"),
    "snapshot": lambda source, _content_type, field: _clone(source, "source snapshot", f"{field}.source.Snapshot"),
}
