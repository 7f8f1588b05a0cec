"""Suggests instancetypes and preferences that would make the cluster accept a VM."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any, Final

from ..api import release_schema
from ..api.errors import Crash, FieldError
from ..api.matcher import INSTANCETYPE, PREFERENCE, ROLES, Role
from ..api.tree import copy
from ..boot.origin import image_of
from ..kubevirt.find import find, infer
from ..kubevirt.vmi import defaults
from ..kubevirt.vmi.cluster import Cluster
from . import fitting

Manifest = dict[str, Any]
# Returns all manifests of a kind in a namespace ("" for a cluster-wide kind).
Names = Callable[[str, str], Iterable[Manifest]]

SUGGESTED: Final = 3


def not_inferred(vm: Manifest, cluster: Cluster) -> list[Role]:
    """The roles whose matcher of a VM cannot be inferred."""
    try:
        canonical = release_schema.canonical("VirtualMachine", vm, cluster.release)
        return [role for role in ROLES if _failure(canonical, role, cluster) is not None]
    except (FieldError, Crash):
        return []


def to_add(role: Role, vm: Manifest, cluster: Cluster, listed: Names) -> str:
    """The remedy for a role that cannot be inferred or is required: what to add, with examples.

    If the source of the volume does not exist, the remedy names another source.
    """
    absent = missing(role, vm, cluster)
    if absent is not None:
        return _another(*absent, listed)
    names = _fitting(vm, cluster, listed) if role is INSTANCETYPE else _preferences(vm, listed)
    example = f", for example {either(names)}" if names else ""
    return f"add {role.matcher}.name{example}{_other_way(role, vm)}"


def unheard(role: Role, vm: Manifest, cluster: Cluster) -> str:
    """Why KubeVirt cannot infer from a volume, whatever its labels, and the remedy; else ""."""
    failed = _failure(release_schema.canonical("VirtualMachine", vm, cluster.release), role, cluster)
    if failed is None or not failed.never:
        return ""
    return f"{failed.problem.message}; add {role.matcher}.name{_other_way(role, vm)}"


def _other_way(role: Role, vm: Manifest) -> str:
    volume = _volume(role, vm)
    if volume and image_of(vm, volume, {}) is not None:
        # KubeVirt reads no labels of such a disk.
        return ", or set infer_from_registry"
    return f", or label the volume {role.volume_label}" if volume else ""


def either(names: list[str]) -> str:
    """`a, b or c`"""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def missing(role: Role, vm: Manifest, cluster: Cluster) -> tuple[str, str, str] | None:
    """Kind, namespace and name of the missing source of the volume to infer from, or None."""
    failed = _failure(release_schema.canonical("VirtualMachine", vm, cluster.release), role, cluster)
    return failed.missing if failed is not None else None


def _another(kind: str, namespace: str, name: str, listed: Names) -> str:
    known = sorted(str(manifest["metadata"]["name"]) for manifest in listed(kind, namespace))
    names = difflib.get_close_matches(name, known, n=SUGGESTED, cutoff=0.5) or known[:SUGGESTED]
    example = f", for example {either(names)}" if names else ""
    return f"create the {kind} {name} in the namespace {namespace} first, or name another {kind}{example}"


def _failure(vm: Manifest, role: Role, cluster: Cluster) -> infer.NotInferred | None:
    volume = _volume(role, vm)
    found = infer.from_volume(vm, volume, role, cluster.objects, cluster.release) if volume else None
    return found if isinstance(found, infer.NotInferred) else None


def _volume(role: Role, vm: Manifest) -> str:
    return str((role.matcher_of(vm) or {}).get("inferFromVolume") or "")


def best(
    manifests: Iterable[Manifest],
    vm: Manifest,
    preference: Manifest | None,
    cluster: Cluster,
    series: str = "",
    without: Iterable[str] = (),
) -> list[Manifest]:
    """The best instancetypes for a VM with a preference (its canonical spec, or None).

    series: preferred, not required. without: fields of the VM's domain to ignore.
    """
    template = vm["spec"].get("template") or {}
    spec = release_schema.canonical("VirtualMachineInstanceSpec", template.get("spec"), cluster.release)
    for field in without:
        spec["domain"].pop(field, None)
    defaults.set_architecture(spec, cluster.configuration)
    wanted = fitting.Wanted(preference=preference, spec=spec, series=series)
    return fitting.fitting(manifests, wanted, cluster.release)[:SUGGESTED]


def _fitting(vm: Manifest, cluster: Cluster, listed: Names) -> list[str]:
    """The best instancetypes of either kind that meet the requirements of the VM's preference, if any."""
    without = copy(vm)
    without["spec"].pop(INSTANCETYPE.matcher, None)
    inferred = infer.infer(without, cluster.objects, cluster.release).vm
    preference = (
        find.spec(inferred, PREFERENCE, cluster.objects, cluster.release).spec if inferred is not None else None
    )
    found = best(_all(INSTANCETYPE, vm, listed), vm, preference, cluster, without=("cpu", "memory"))
    return [_named(manifest, INSTANCETYPE) for manifest in found]


def _preferences(vm: Manifest, listed: Names) -> list[str]:
    """Preferences whose name resembles that of the disk without labels, else the first preferences."""
    known = {str(manifest["metadata"]["name"]): manifest for manifest in _all(PREFERENCE, vm, listed)}
    close = [name for disk in _disks(vm) for name in difflib.get_close_matches(disk, known, n=SUGGESTED, cutoff=0.5)]
    return [_named(known[name], PREFERENCE) for name in (close or sorted(known))[:SUGGESTED]]


def _disks(vm: Manifest) -> list[str]:
    """The names of the objects behind the volume from which the preference is to be inferred."""
    spec, wanted = vm["spec"], _volume(PREFERENCE, vm)
    volumes = [volume for volume in spec["template"]["spec"].get("volumes") or () if volume.get("name") == wanted]
    claims = [(volume.get("persistentVolumeClaim") or {}).get("claimName") for volume in volumes]
    owned = [(volume.get("dataVolume") or {}).get("name") for volume in volumes]
    sources = [
        (template["spec"].get("sourceRef") or {}).get("name")
        for template in spec.get("dataVolumeTemplates") or ()
        if template["metadata"]["name"] in owned
    ]
    return [name for name in (*claims, *sources) if name]


def _all(role: Role, vm: Manifest, listed: Names) -> list[Manifest]:
    namespace = vm["metadata"].get("namespace", "")
    return [*listed(role.cluster_kind, ""), *listed(role.kind, namespace)]


def _named(manifest: Manifest, role: Role) -> str:
    """The name as the user has to write it: with the kind for a namespaced object, because cluster-wide is
    the default.
    """
    name = str(manifest["metadata"]["name"])
    return f"{name} (kind {role.kind})" if manifest.get("kind") == role.kind else name
