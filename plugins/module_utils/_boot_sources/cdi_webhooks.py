"""Whether CDI's webhooks accept a DataVolume or a DataImportCron, in CDI's words."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

from .._resolver.api import schema
from .._resolver.api.errors import Cause, FieldError, go_reason
from .._resolver.api.name_rules import LONGEST_LABEL, LONGEST_SUBDOMAIN
from . import data_volume
from .cdi_parsers import is_schedule
from .data_volume import DUPLICATE, INVALID, Refusal, refused, too_long, unreadable

_GARBAGE_COLLECT: Final = (None, "Never", "Outdated")


def data_volume_refusal(new: dict[str, Any], old: dict[str, Any] | None = None) -> Refusal | None:
    """The refusal of a DataVolume; None if it is accepted. old: the object before an update."""
    spec = new.get("spec") or {}
    try:
        changed = _changed("DataVolumeSpec", spec, old, _next_stage(spec))
    except FieldError as error:
        return unreadable(go_reason(error))
    if changed:
        return refused([Cause(DUPLICATE, "Cannot update DataVolume Spec", "DataVolume.Spec")])
    causes = too_long((new.get("metadata") or {}).get("name") or "", LONGEST_SUBDOMAIN)
    return refused(causes or data_volume.problems(spec, "spec"))


def data_import_cron_refusal(
    new: dict[str, Any], old: dict[str, Any] | None = None, zones: Container[str] | None = None
) -> Refusal | None:
    """The refusal of a DataImportCron; None if it is accepted. For zones and Panic see `cdi_parsers.is_schedule`."""
    spec = new.get("spec") or {}
    try:
        changed = _changed("DataImportCronSpec", spec, old)
    except FieldError as error:
        return unreadable(go_reason(error))
    causes = too_long((new.get("metadata") or {}).get("name") or "", LONGEST_LABEL)
    if not causes and old is not None:
        if changed:
            causes = [Cause(DUPLICATE, "Cannot update DataImportCron Spec", "DataImportCron.Spec")]
        return refused(causes)
    return refused(causes or _cron_problems(spec, zones))


def _cron_problems(spec: dict[str, Any], zones: Container[str] | None) -> list[Cause]:
    template = (spec.get("template") or {}).get("spec") or {}
    source = template.get("source") or {}
    if source.get("registry") is None and source.get("pvc") is None:
        return [Cause(INVALID, "Missing source", "spec.Template")]
    if template.get("sourceRef") is not None or any(
        template.get(field) for field in ("contentType", "checkpoints", "finalCheckpoint")
    ):
        message = "Unsettable fields: SourceRef, ContentType, Checkpoints, FinalCheckpoint"
        return [Cause(INVALID, message, "spec.Template")]
    return data_volume.problems(template, "Template") or _cron_field_problems(spec, zones)


def _cron_field_problems(spec: dict[str, Any], zones: Container[str] | None) -> list[Cause]:
    if spec.get("schedule") and not is_schedule(spec["schedule"], zones):
        return [Cause(INVALID, "Illegal cron schedule", "spec.Schedule")]
    if (spec.get("importsToKeep") or 0) < 0:
        return [Cause(INVALID, "Illegal ImportsToKeep value", "spec.ImportsToKeep")]
    if spec.get("garbageCollect") not in _GARBAGE_COLLECT:
        return [Cause(INVALID, "Illegal GarbageCollect value", "spec.GarbageCollect")]
    data_source = spec.get("managedDataSource") or ""
    if not data_source:
        return [Cause(INVALID, "Illegal ManagedDataSource value", "spec.ManagedDataSource")]
    return too_long(data_source, LONGEST_LABEL)


def _next_stage(spec: dict[str, Any]) -> tuple[str, ...]:
    """The fields of a DataVolume that may change: an import in several stages continues with new checkpoints."""
    source = spec.get("source") or {}
    staged = spec.get("checkpoints") and any(source.get(kind) is not None for kind in ("vddk", "imageio"))
    return ("checkpoints", "finalCheckpoint") if staged else ()


def _changed(
    type_name: str, spec: dict[str, Any], old: dict[str, Any] | None, changeable: tuple[str, ...] = ()
) -> bool:
    """Whether an update changes a spec, but for its free fields. Raises FieldError for a spec that CDI cannot read."""
    after, before = (schema.canonical(type_name, part) for part in (spec, (old or {}).get("spec")))
    for field in changeable:
        before[field] = after.get(field)
    return old is not None and not schema.equal(type_name, after, before)
