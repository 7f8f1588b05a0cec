"""Instancetype and preference of a VM: by name, or inferred from one of its volumes.

Inference is left to KubeVirt; here it is decided whether to ask for it, from which volume, and whether a volume that
says nothing is an error (the failure policy Reject, which is KubeVirt's own default) or not (Ignore).
"""

from __future__ import annotations

from typing import Any, Final

from ...api.errors import FieldError
from ...api.matcher import INSTANCETYPE, Role
from ...api.names import shown
from ...instancetype.find.infer import IGNORE

__all__ = ["AUTO", "NONE", "REQUIRED", "matcher"]

Options = dict[str, Any]
Manifest = dict[str, Any]

AUTO: Final = "auto"
REQUIRED: Final = "required"
NONE: Final = "none"

_FIELDS: Final = {"name": "name", "kind": "kind", "revision_name": "revisionName"}
_POLICY: Final = "infer_from_volume_failure_policy"
_SOURCES: Final = ("pvc", "registry", "snapshot")


def matcher(role: Role, options: Options, spec: Manifest, mode: str, first: str | None) -> Manifest | None:
    """The matcher of the role, or None for a VM that has none.

    options: those of the module. spec: the VM's, with its volumes. mode: what to do where the role's own option says
    nothing (AUTO, REQUIRED or NONE). first: the volume that counts before the one of the lowest boot order, if any.
    Raises FieldError where inference is asked for and cannot be.
    """
    given = options.get(role.matcher)
    if given is None:
        if mode == NONE or spec.get(role.matcher) is not None or (role is INSTANCETYPE and _sized(spec)):
            return None
        given = {_POLICY: IGNORE} if mode == AUTO else {}
    elif given.get("name"):
        return {field: given[option] for option, field in _FIELDS.items() if given.get(option) is not None}
    elif given.get("name") is not None:
        raise FieldError(f"{role.matcher}.name", "is empty")
    elif given.get("infer") is False:
        return None
    return _inferred(role, given, spec, first)


def _sized(spec: Manifest) -> bool:
    """Whether the VM says itself what an instancetype would say."""
    domain = spec["template"]["spec"].get("domain") or {}
    cpu = domain.get("cpu") or {}
    return bool(domain.get("memory")) or any(cpu.get(part) for part in ("sockets", "cores", "threads"))


def _inferred(role: Role, given: Options, spec: Manifest, first: str | None) -> Manifest | None:
    volumes = {volume.get("name"): volume for volume in spec["template"]["spec"].get("volumes") or ()}
    ignores = given.get(_POLICY) == IGNORE
    name = given.get("infer_from_volume")
    try:
        if name:
            if name not in volumes:
                raise FieldError(f"{role.matcher}.infer_from_volume", f"there is no volume named {shown(name)}")
        else:
            name = _default_volume(role, volumes, spec, first)
        _check(role, volumes[name], spec)
    except FieldError:
        if not ignores:
            raise
        if not given.get("infer_from_volume"):
            return None
    result = {"inferFromVolume": name}
    if given.get(_POLICY):
        result["inferFromVolumeFailurePolicy"] = given[_POLICY]
    return result


def _default_volume(role: Role, volumes: Manifest, spec: Manifest, first: str | None) -> Any:
    if first is not None:
        return first
    if not volumes:
        raise FieldError(f"{role.matcher}.infer", "needs a volume to infer from, and there is none")
    disks = ((spec["template"]["spec"].get("domain") or {}).get("devices") or {}).get("disks") or ()
    ordered = [disk for disk in disks if disk.get("bootOrder") and disk.get("name") in volumes]
    return min(ordered, key=lambda disk: disk["bootOrder"])["name"] if ordered else next(iter(volumes))


def _check(role: Role, volume: Manifest, spec: Manifest) -> None:
    """Raises FieldError for a volume from which KubeVirt never infers."""
    path, name = f"{role.matcher}.infer", volume["name"]
    if volume.get("persistentVolumeClaim") is not None:
        return
    if volume.get("dataVolume") is None:
        raise FieldError(
            path,
            f"{shown(name)} is no PVC and no DataVolume, and only these have labels to infer from; give a name instead",
        )
    templates = {
        (template.get("metadata") or {}).get("name"): template.get("spec") or {}
        for template in spec.get("dataVolumeTemplates") or ()
    }
    template = templates.get(volume["dataVolume"].get("name"))
    if template is None:
        # One that is there already.
        return
    source = template.get("source") or {}
    if (template.get("sourceRef") or {}).get("kind") != "DataSource" and not any(key in source for key in _SOURCES):
        raise FieldError(
            path,
            f"{shown(name)} is filled from a source without labels to infer from (those of pvc, registry, snapshot and"
            " data_source count); give a name instead",
        )
