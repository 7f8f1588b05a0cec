"""Whether CDI's webhooks accept a DataVolume or a DataImportCron, in CDI's words."""

from __future__ import annotations

from collections.abc import Container
from typing import Final, NamedTuple

from .._resolver.api import schema
from .._resolver.api.errors import Cause, FieldError, go_reason
from .._resolver.api.manifest import Manifest, name_of
from .._resolver.api.name_rules import LONGEST_LABEL, LONGEST_SUBDOMAIN
from . import data_volume
from .cdi_parsers import is_schedule
from .data_volume import invalid, too_long

_DUPLICATE: Final = "FieldValueDuplicate"
_GARBAGE_COLLECT: Final = (None, "Never", "Outdated")


class WebhookRefusal(NamedTuple):
    """A webhook's refusal.

    code: HTTP status. message: the messages of the causes, each after a space. causes: empty for an unreadable object.
    """

    code: int
    message: str
    causes: tuple[Cause, ...] = ()


def data_volume_refusal(new: Manifest, old: Manifest | None = None) -> WebhookRefusal | None:
    """The refusal of a DataVolume; None if it is accepted. old: the object before an update."""
    spec = new.get("spec") or {}
    staged = any((spec.get("source") or {}).get(kind) is not None for kind in ("vddk", "imageio"))
    # An import in several stages continues with new checkpoints.
    changeable = ("checkpoints", "finalCheckpoint") if staged and spec.get("checkpoints") else ()
    try:
        changed = _changed("DataVolumeSpec", spec, old, changeable)
    except FieldError as error:
        return WebhookRefusal(400, go_reason(error))
    if changed:
        return _refused([Cause(_DUPLICATE, "Cannot update DataVolume Spec", "DataVolume.Spec")])
    return _refused(too_long(name_of(new), LONGEST_SUBDOMAIN) or data_volume.problems(spec, "spec"))


def data_import_cron_refusal(
    new: Manifest, old: Manifest | None = None, zones: Container[str] | None = None
) -> WebhookRefusal | None:
    """The refusal of a DataImportCron; None if it is accepted. For zones and Panic see `cdi_parsers.is_schedule`."""
    spec = new.get("spec") or {}
    try:
        changed = _changed("DataImportCronSpec", spec, old)
    except FieldError as error:
        return WebhookRefusal(400, go_reason(error))
    if causes := too_long(name_of(new), LONGEST_LABEL):
        return _refused(causes)
    if changed:
        return _refused([Cause(_DUPLICATE, "Cannot update DataImportCron Spec", "DataImportCron.Spec")])
    return _refused(_cron_problems(spec, zones)) if old is None else None


def _refused(causes: list[Cause]) -> WebhookRefusal | None:
    """The refusal for these causes; None without any (``toRejectedAdmissionResponse``)."""
    if not causes:
        return None
    return WebhookRefusal(422, "".join(f" {cause.message}" for cause in causes), tuple(causes))


def _cron_problems(spec: Manifest, zones: Container[str] | None) -> list[Cause]:
    template = (spec.get("template") or {}).get("spec") or {}
    source = template.get("source") or {}
    if source.get("registry") is None and source.get("pvc") is None:
        return invalid("Missing source", "spec.Template")
    if template.get("sourceRef") is not None or any(
        template.get(field) for field in ("contentType", "checkpoints", "finalCheckpoint")
    ):
        return invalid("Unsettable fields: SourceRef, ContentType, Checkpoints, FinalCheckpoint", "spec.Template")
    if causes := data_volume.problems(template, "Template"):
        return causes
    if spec.get("schedule") and not is_schedule(spec["schedule"], zones):
        return invalid("Illegal cron schedule", "spec.Schedule")
    if (spec.get("importsToKeep") or 0) < 0:
        return invalid("Illegal ImportsToKeep value", "spec.ImportsToKeep")
    if spec.get("garbageCollect") not in _GARBAGE_COLLECT:
        return invalid("Illegal GarbageCollect value", "spec.GarbageCollect")
    if not spec.get("managedDataSource"):
        return invalid("Illegal ManagedDataSource value", "spec.ManagedDataSource")
    return too_long(spec["managedDataSource"], LONGEST_LABEL)


def _changed(type_name: str, spec: Manifest, old: Manifest | None, changeable: tuple[str, ...] = ()) -> bool:
    """Whether an update changes a spec, but for its free fields. Raises FieldError for a spec that CDI cannot read."""
    after, before = (schema.canonical(type_name, part) for part in (spec, (old or {}).get("spec")))
    for field in changeable:
        before[field] = after.get(field)
    return old is not None and not schema.equal(type_name, after, before)
