"""CDI's webhooks for the spec of a DataVolume (``validateDataVolumeSpec``), refusals, and the default class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from .._resolver.api.errors import Cause
from .._resolver.api.name_rules import LONGEST_SUBDOMAIN
from .._resolver.api.quantity import parse
from .._resolver.api.schema import TYPES
from .cdi_parsers import ChecksumError, UrlError, parse_checksum, printed, scheme

INVALID: Final = "FieldValueInvalid"
DUPLICATE: Final = "FieldValueDuplicate"
_UNPROCESSABLE: Final = 422
_BAD_REQUEST: Final = 400


class Refusal(NamedTuple):
    """A webhook's refusal.

    code: HTTP status. message: the messages of the causes, each after a space. causes: empty for an unreadable object.
    """

    code: int
    message: str
    causes: tuple[Cause, ...] = ()


def refused(causes: Sequence[Cause]) -> Refusal | None:
    """The refusal for these causes; None without any (``toRejectedAdmissionResponse``)."""
    if not causes:
        return None
    return Refusal(_UNPROCESSABLE, "".join(f" {cause.message}" for cause in causes), tuple(causes))


def unreadable(message: str) -> Refusal:
    """The refusal of an object that CDI cannot parse."""
    return Refusal(_BAD_REQUEST, message)


def too_long(name: str, maximum: int) -> list[Cause]:
    """The cause if a name is too long, in bytes."""
    if len(name.encode()) <= maximum:
        return []
    return [Cause(INVALID, f"Name cannot be longer than {maximum} characters")]


_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_MIN_SIZE: Final = 2**20


def problems(spec: dict[str, Any], field: str) -> list[Cause]:
    """The causes for a spec whose quantities are valid. field: ``spec``; in a DataImportCron ``Template``."""
    pvc, storage = spec.get("pvc"), spec.get("storage")
    if pvc is None and storage is None:
        return [Cause(INVALID, "Missing Data volume PVC", f"{field}.PVC")]
    if pvc is not None and storage is not None:
        message = "Duplicate storage definition, both target storage and target pvc defined"
        return [Cause(INVALID, message, f"{field}.PVC.Storage")]
    volume: dict[str, Any] = storage if pvc is None else pvc  # type: ignore[assignment]
    causes = _size(spec, volume, "Storage" if pvc is None else "PVC", field)
    causes = causes or too_long(volume.get("storageClassName") or "", LONGEST_SUBDOMAIN)
    causes = causes or _access_modes(volume.get("accessModes") or [], pvc is not None, field)
    if causes:
        return causes
    source, reference = spec.get("source"), spec.get("sourceRef")
    populators = {name: volume[name] for name in ("dataSource", "dataSourceRef") if volume.get(name) is not None}
    if populators:
        return _populated(populators, source is not None or reference is not None, field)
    if (source is None) is (reference is None):
        message = "Data volume should have either Source or SourceRef, or be externally populated"
        return [Cause(INVALID, message, f"{field}.source")]
    if reference is not None:
        return _reference(reference, f"{field}.sourceRef")
    return _source_problems(source or {}, spec.get("contentType") or "", field)


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
    return [Cause(INVALID, f"{name} size {problem}", f"{field}.{name}.resources.requests.size")] if problem else []


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
    return [Cause(INVALID, problem, f"{field}.PVC.accessModes")] if problem else []


def _reference(reference: dict[str, Any], path: str) -> list[Cause]:
    kind = reference.get("kind") or ""
    if not kind:
        return [Cause(INVALID, "Missing sourceRef kind", f"{path}.Kind")]
    if kind != "DataSource":
        message = f"Unsupported sourceRef kind {kind}, currently only DataSource is supported"
        return [Cause(INVALID, message, f"{path}.Kind")]
    return [] if reference.get("name") else [Cause(INVALID, "Missing sourceRef name", f"{path}.Name")]


def _populated(populators: dict[str, dict[str, Any]], has_source: bool, field: str) -> list[Cause]:
    """Causes for a volume that something other than CDI fills."""
    causes = []
    if has_source:
        message = "External population is incompatible with Source and SourceRef"
        causes.append(Cause(INVALID, message, f"{field}.source"))
    if len(populators) > 1:
        # CDI compares two Go types, which are never equal.
        causes.append(Cause(INVALID, "DataSourceRef and DataSource must match"))
    for name, populator in populators.items():
        causes += _populator(populator, name[0].upper() + name[1:], f"{field}.{name}")
    return causes


def _populator(populator: dict[str, Any], title: str, path: str) -> list[Cause]:
    causes = []
    # A dataSource has no namespace.
    if title == "DataSourceRef" and populator.get("namespace"):
        causes.append(Cause(INVALID, "Invalid value: DataSourceRef namespace not supported", f"{path}.namespace[]"))
    if not populator.get("name"):
        causes.append(Cause(INVALID, f"Required value: {title} name", f"{path}.name[]"))
    if not populator.get("kind"):
        causes.append(Cause(INVALID, f"Required value: {title} kind", f"{path}.kind"))
    if not populator.get("apiGroup") and populator.get("kind") != "PersistentVolumeClaim":
        message = f"Required value: {title} apiGroup when kind is not 'PersistentVolumeClaim'"
        causes.append(Cause(INVALID, message, f"{path}.apiGroup[]"))
    return causes


_CONTENT_TYPES: Final = ("kubevirt", "archive")
_URL_SCHEMES: Final = ("http", "https", "gs")
_REGISTRY_SCHEMES: Final = ("docker", "oci-archive")
_PULL_METHODS: Final = ("pod", "node")


def _source_problems(source: dict[str, Any], content_type: str, field: str) -> list[Cause]:
    """The causes for a source. field: the path of the object that has the source, such as ``spec``."""
    kinds = [kind for kind in TYPES["DataVolumeImport"] if source.get(kind) is not None]
    if len(kinds) != 1:
        message = "Multiple Data volume sources" if kinds else "Missing Data volume source"
        return [Cause(INVALID, message, f"{field}.source")]
    if content_type not in ("", *_CONTENT_TYPES):
        return [Cause(INVALID, f"ContentType not one of: {', '.join(_CONTENT_TYPES)}", f"{field}.contentType")]
    (kind,) = kinds
    return _CHECKS[kind](source[kind], content_type, field) if kind in _CHECKS else []


def _http(http: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    causes = _url(http, "HTTP", field)
    if http.get("checksum"):
        try:
            parse_checksum(http["checksum"])
        except ChecksumError as error:
            causes.append(Cause(INVALID, f"Invalid checksum format: {error}", f"{field}.source.HTTP.checksum"))
    return causes


def _blank(_blank_image: dict[str, Any], content_type: str, field: str) -> list[Cause]:
    if content_type != "archive":
        return []
    return [Cause(INVALID, "SourceType cannot be blank and the contentType be archive", f"{field}.contentType")]


def _registry(registry: dict[str, Any], content_type: str, field: str) -> list[Cause]:
    if content_type not in ("", "kubevirt"):
        return [Cause(INVALID, "ContentType must be kubevirt when Source is Registry", f"{field}.contentType")]
    url, stream, method = (registry.get(name) for name in ("url", "imageStream", "pullMethod"))
    path = f"{field}.source.Registry"
    if (url is None) is (stream is None):
        return [Cause(INVALID, "Source registry should have either URL or ImageStream", path)]
    if url is not None:
        problem = _registry_url(url)
        if problem:
            return [Cause(INVALID, problem, f"{path}.URL")]
    problem = ""
    if method not in (None, *_PULL_METHODS):
        problem = f'ImportMethod {method} is neither pod, node or ""'
    elif stream == "":
        problem = "Source registry ImageStream is not valid"
    elif stream is not None and method != "node":
        problem = "Source registry ImageStream is supported only with node pull import method"
    return [Cause(INVALID, problem, f"{path}.importMethod")] if problem else []


def _registry_url(url: str) -> str:
    try:
        supported = scheme(url) in _REGISTRY_SCHEMES
    except UrlError:
        return f"Illegal registry source URL {url}"
    return "" if supported else f"Illegal registry source URL scheme {printed(url)}"


def _imageio(imageio: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    path = f"{field}.source.Imageio"
    if not imageio.get("secretRef") or not imageio.get("diskId"):
        return [Cause(INVALID, f"{path} source Imageio is not valid", path)]
    if not imageio.get("certConfigMap") and not imageio.get("insecureSkipVerify"):
        return [Cause(INVALID, f"{path} source Imageio requires CertConfigMap or InsecureSkipVerify", path)]
    return _url(imageio, "ImageIO", field)


def _vddk(vddk: dict[str, Any], _content_type: str, field: str) -> list[Cause]:
    path = f"{field}.source.VDDK"
    if not all(vddk.get(name) for name in ("secretRef", "uuid", "backingFile", "thumbprint")):
        return [Cause(INVALID, f"{path} source VDDK is not valid", path)]
    return _url(vddk, "VDDK", field)


def _clone(reference: dict[str, Any], noun: str, path: str) -> list[Cause]:
    is_named = reference.get("name") and reference.get("namespace")
    return [] if is_named else [Cause(INVALID, f"{path} {noun} is not valid", path)]


def _url(source: dict[str, Any], kind: str, field: str) -> list[Cause]:
    url, problem = source.get("url") or "", ""
    if not url:
        problem = "source URL is empty"
    else:
        try:
            if scheme(url, request=True) not in _URL_SCHEMES:
                problem = f"Invalid source URL scheme: {url}"
        except UrlError:
            problem = f"Invalid source URL: {url}"
    return [Cause(INVALID, f"{field}.source {problem}", f"{field}.source.{kind}.url")] if problem else []


_CHECKS: Final[dict[str, Callable[[dict[str, Any], str, str], list[Cause]]]] = {
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
