"""Instancetype and preference of a VM: by name, or inferred from a volume.

KubeVirt infers, or an option of a capability. This module decides whether to infer, from which volume, and whether a
volume without the information is an error (failure policy Reject, KubeVirt's default) or not (Ignore).
"""

from __future__ import annotations

from typing import Any, Final

from ...api.errors import FieldError
from ...api.manifest import Manifest, Options, template_specs
from ...api.matcher import INSTANCETYPE, Inferring, MatcherField
from ...api.name_rules import quoted
from ...kubevirt.instancetype.infer import IGNORE
from .volumes import BOOT_VOLUME, lacks_labels

AUTO: Final = "auto"
NONE: Final = "none"

_FIELDS: Final = {"name": "name", "kind": "kind", "revision_name": "revisionName"}
_SOURCES: Final = ("pvc", "registry", "snapshot")


def matcher(matcher_field: MatcherField, options: Options, spec: Manifest, inferring: Inferring) -> Manifest | None:
    """The matcher in the field, or None.

    options: the options of the module. spec: the VM's, with its volumes. inferring: see `Table`. Raises FieldError if
    inference is required and impossible.
    """
    declared = options.get(matcher_field.name)
    if declared is None:
        decides = _boot_disk_decides(options, spec, matcher_field, inferring)
        return _inferred(matcher_field, options, spec, inferring) if decides else None
    if declared.get("name"):
        return {field: declared[option] for option, field in _FIELDS.items() if declared.get(option) is not None}
    if declared.get("name") is not None:
        raise FieldError(f"{matcher_field.name}.name", "is empty")
    infer = None if declared.get("infer_from_volume") else declared.get("infer")
    if infer == NONE or (infer == AUTO and _is_set(matcher_field, spec)):
        return None
    try:
        inferred = _inferred(matcher_field, options, spec, inferring)
    except FieldError:
        if infer == AUTO:
            return None
        raise
    return {**inferred, "inferFromVolumeFailurePolicy": IGNORE} if infer == AUTO else inferred


def _boot_disk_decides(options: Options, spec: Manifest, matcher_field: MatcherField, inferring: Inferring) -> bool:
    """Whether the boot disk can decide (by labels, or by an option that infers) and the VM does not decide itself."""
    if _is_set(matcher_field, spec):
        return False
    disk = options.get("boot") or {}
    if disk and not lacks_labels(disk):
        return True
    volumes = _volumes(spec)
    if not volumes:
        return False
    boot = BOOT_VOLUME if disk else _boot_volume(matcher_field, volumes, spec)
    return bool(infers_otherwise(options, spec, boot, inferring))


def infers_otherwise(options: Options, spec: Manifest, volume: str, inferring: Inferring) -> list[str]:
    """The options that are set and infer from a volume. spec: the VM's."""
    return options_for(spec, volume, {option: infers for option, infers in inferring.items() if options.get(option)})


def options_for(spec: Manifest, volume: str, inferring: Inferring) -> list[str]:
    """The options that could infer from a volume. spec: the VM's."""
    return [option for option, infers in inferring.items() if infers({"spec": spec}, volume)]


def _volumes(spec: Manifest) -> Manifest:
    volumes = spec["template"]["spec"].get("volumes") or ()
    # The check of the manifest reports items that are no volumes.
    return {volume["name"]: volume for volume in volumes if isinstance(volume.get("name"), str)}


def _is_set(matcher_field: MatcherField, spec: Manifest) -> bool:
    """Whether the VM has a matcher in the field, or sets what an instancetype would set."""
    domain = spec["template"]["spec"].get("domain") or {}
    sized = domain.get("memory") or any((domain.get("cpu") or {}).get(part) for part in ("sockets", "cores", "threads"))
    return spec.get(matcher_field.name) is not None or (matcher_field is INSTANCETYPE and bool(sized))


def _inferred(matcher_field: MatcherField, options: Options, spec: Manifest, inferring: Inferring) -> Manifest:
    volumes = _volumes(spec)
    name = (options.get(matcher_field.name) or {}).get("infer_from_volume")
    if not name:
        name = BOOT_VOLUME if options.get("boot") else _boot_volume(matcher_field, volumes, spec)
    elif name not in volumes:
        raise FieldError(f"{matcher_field.name}.infer_from_volume", f"the VM has no volume named {quoted(name)}")
    if not infers_otherwise(options, spec, name, inferring):
        _check(matcher_field, volumes[name], spec, inferring)
    return {"inferFromVolume": name}


def _boot_volume(matcher_field: MatcherField, volumes: Manifest, spec: Manifest) -> Any:
    """The boot volume of a VM: the one with the lowest boot order, else the first."""
    if not volumes:
        raise FieldError(f"{matcher_field.name}.infer", "requires a volume to infer from, and the VM has none")
    disks = ((spec["template"]["spec"].get("domain") or {}).get("devices") or {}).get("disks") or ()
    ordered = [disk for disk in disks if disk.get("bootOrder") and disk.get("name") in volumes]
    return min(ordered, key=lambda disk: disk["bootOrder"])["name"] if ordered else next(iter(volumes))


def _check(matcher_field: MatcherField, volume: Manifest, spec: Manifest, inferring: Inferring) -> None:
    """Raises FieldError for a volume from which KubeVirt never infers."""
    path, name = f"{matcher_field.name}.infer", volume["name"]
    if volume.get("persistentVolumeClaim") is not None:
        return
    if volume.get("dataVolume") is None:
        raise FieldError(
            path,
            f"{quoted(name)} is neither a PVC nor a DataVolume, so it has no labels to infer from; set name instead"
            + "".join(f", or {option}: true" for option in options_for(spec, name, inferring)),
        )
    template = template_specs({"spec": spec}).get(volume["dataVolume"].get("name"))
    if template is None:
        # The DataVolume exists already.
        return
    source = template.get("source") or {}
    if (template.get("sourceRef") or {}).get("kind") != "DataSource" and not any(key in source for key in _SOURCES):
        raise FieldError(
            path,
            f"{quoted(name)} has a source without labels to infer from (pvc, registry, snapshot and data_source have"
            " labels); set name instead",
        )
