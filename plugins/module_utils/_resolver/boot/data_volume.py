"""What CDI's webhooks check in a DataVolume's spec (``validateDataVolumeSpec``)."""

from __future__ import annotations

from typing import Any, Final

from ..api.quantity import parse
from . import sources
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
    return sources.problems(source or {}, spec.get("contentType") or "", field)


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
