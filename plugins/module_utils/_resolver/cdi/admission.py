"""Whether CDI's webhooks accept a DataVolume or a DataImportCron, in CDI's words."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, Final

from ..api.errors import QuantityError
from ..api.quantity import parse
from . import data_volume, schedule
from .data_volume import DUPLICATE, Cause, Refusal, refused, too_long, unreadable

_MAX_SUBDOMAIN: Final = 253
_MAX_LABEL: Final = 63
_POPULATED_FOR: Final = "cdi.kubevirt.io/storage.populatedFor"
_ADOPTION: Final = "cdi.kubevirt.io/allowClaimAdoption"
_TRUE: Final = ("1", "t", "T", "true", "TRUE", "True")
_GARBAGE_COLLECT: Final = (None, "Never", "Outdated")
# Fields whose empty value differs from an absent one in Go: they, or one of their parents, are pointers.
_POINTERS: Final = {
    *("source", "upload", "blank", "pvc", "storage", "platform", "selector", "sourceRef", "template"),
    *("storageClassName", "volumeMode", "preallocation", "insecureSkipVerify"),
    *("importsToKeep", "garbageCollect", "retentionPolicy"),
}
_POINTERS_BELOW: Final = {"registry": {"url", "imageStream", "pullMethod", "secretRef", "certConfigMap"}}
_QUANTITIES: Final = ("requests", "limits")


def data_volume_refusal(
    new: dict[str, Any],
    old: dict[str, Any] | None = None,
    claim: dict[str, Any] | None = None,
    claim_adoption: bool = False,
) -> Refusal | None:
    """The refusal of a DataVolume; None if it is accepted.

    old: the object before an update. claim: the PersistentVolumeClaim of that name, which counts for a new DataVolume.
    claim_adoption: the feature gate ClaimAdoption is on.
    """
    try:
        _check_quantities(new, old)
    except QuantityError as error:
        return unreadable(str(error))
    if old is not None and not _same_volume(new.get("spec") or {}, old.get("spec") or {}):
        return refused([Cause("Cannot update DataVolume Spec", "DataVolume.Spec", DUPLICATE)])
    metadata = new.get("metadata") or {}
    causes = too_long(metadata.get("name") or "", _MAX_SUBDOMAIN)
    if not causes and old is None and claim is not None and not _may_use(claim, metadata, claim_adoption):
        key = f"{metadata.get('namespace')}/{metadata.get('name')}"
        causes = [Cause(f"Destination PVC {key} already exists", "DataVolume.Name", DUPLICATE)]
    return refused(causes or data_volume.problems(new.get("spec") or {}, "spec"))


def data_import_cron_refusal(
    new: dict[str, Any], old: dict[str, Any] | None = None, zones: Container[str] | None = None
) -> Refusal | None:
    """The refusal of a DataImportCron; None if it is accepted. For zones and Panic see `schedule.parse`."""
    try:
        _check_quantities(new, old)
    except QuantityError as error:
        return unreadable(str(error))
    causes = too_long((new.get("metadata") or {}).get("name") or "", _MAX_LABEL)
    spec = new.get("spec") or {}
    if not causes and old is not None:
        if _normalized(spec) != _normalized(old.get("spec") or {}):
            causes = [Cause("Cannot update DataImportCron Spec", "DataImportCron.Spec", DUPLICATE)]
        return refused(causes)
    return refused(causes or _cron_problems(spec, zones))


def _cron_problems(spec: dict[str, Any], zones: Container[str] | None) -> list[Cause]:
    template = (spec.get("template") or {}).get("spec") or {}
    source = template.get("source") or {}
    if source.get("registry") is None and source.get("pvc") is None:
        return [Cause("Missing source", "spec.Template")]
    if template.get("sourceRef") is not None or any(
        template.get(field) for field in ("contentType", "checkpoints", "finalCheckpoint")
    ):
        message = "Unsettable fields: SourceRef, ContentType, Checkpoints, FinalCheckpoint"
        return [Cause(message, "spec.Template")]
    return data_volume.problems(template, "Template") or _cron_field_problems(spec, zones)


def _cron_field_problems(spec: dict[str, Any], zones: Container[str] | None) -> list[Cause]:
    if spec.get("schedule"):
        try:
            schedule.parse(spec["schedule"], zones)
        except schedule.ScheduleError:
            return [Cause("Illegal cron schedule", "spec.Schedule")]
    if (spec.get("importsToKeep") or 0) < 0:
        return [Cause("Illegal ImportsToKeep value", "spec.ImportsToKeep")]
    if spec.get("garbageCollect") not in _GARBAGE_COLLECT:
        return [Cause("Illegal GarbageCollect value", "spec.GarbageCollect")]
    data_source = spec.get("managedDataSource") or ""
    if not data_source:
        return [Cause("Illegal ManagedDataSource value", "spec.ManagedDataSource")]
    return too_long(data_source, _MAX_LABEL)


def _may_use(claim: dict[str, Any], metadata: dict[str, Any], adoption: bool) -> bool:
    """Whether an existing claim is permitted: populated for the volume, to be adopted, or a DataVolume's."""
    claim_metadata = claim.get("metadata") or {}
    if (claim_metadata.get("annotations") or {}).get(_POPULATED_FOR) == metadata.get("name"):
        return True
    allowed = (metadata.get("annotations") or {}).get(_ADOPTION)
    if adoption if allowed is None else allowed in _TRUE:
        return True
    owners = [owner for owner in claim_metadata.get("ownerReferences") or () if owner.get("controller")]
    return bool(owners) and owners[0].get("kind") == "DataVolume"


def _same_volume(new: dict[str, Any], old: dict[str, Any]) -> bool:
    after, before = _normalized(new), _normalized(old)
    source = new.get("source") or {}
    # An import in several stages continues with new checkpoints.
    if new.get("checkpoints") and any(source.get(kind) is not None for kind in ("vddk", "imageio")):
        for spec in (after, before):
            spec.pop("checkpoints", None)
            spec.pop("finalCheckpoint", None)
    return bool(after == before)


def _normalized(value: Any, parent: str = "") -> Any:
    """A spec for comparison: quantities by value, without empty values that Go does not distinguish."""
    if isinstance(value, list):
        return [_normalized(entry) for entry in value]
    if parent in _QUANTITIES:
        return {name: parse(str(amount).strip()).nanos for name, amount in value.items()}
    if not isinstance(value, dict):
        return value
    pointers = _POINTERS_BELOW.get(parent, set()) | _POINTERS
    fields = {name: _normalized(child, name) for name, child in value.items() if child is not None}
    return {name: child for name, child in fields.items() if name in pointers or child not in ("", 0, [], {})}


def _check_quantities(*objects: dict[str, Any] | None) -> None:
    for manifest in objects:
        for amounts in _amounts((manifest or {}).get("spec") or {}):
            for amount in amounts.values():
                parse(str(amount).strip())


def _amounts(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    template = (spec.get("template") or {}).get("spec") or {}
    for volume in (spec, template):
        for storage in (volume.get("pvc"), volume.get("storage")):
            resources = (storage or {}).get("resources") or {}
            yield from (resources[field] for field in _QUANTITIES if resources.get(field))
