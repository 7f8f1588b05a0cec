"""Suggests instancetypes and preferences that would make the cluster accept a VM."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from ..api import release_schema
from ..api.errors import FieldError, KubeVirtError, Panic, value_or_none
from ..api.kinds import KINDS
from ..api.manifest import Manifest, data_volume_of, namespace_of, template_specs, volume_of
from ..api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE, Inferring, MatcherField
from ..api.name_rules import join_or
from ..api.state import is_active
from ..api.tree import copy
from ..kubevirt.cluster import Cluster
from ..kubevirt.instancetype import find, infer
from ..kubevirt.vm import defaults
from . import fitting

# Returns all manifests of a kind in a namespace ("" for a cluster-wide kind).
Lister = Callable[[str, str], Iterable[Manifest]]

_SUGGESTED: Final = 3


def uninferred_fields(vm: Manifest, cluster: Cluster) -> list[MatcherField]:
    """The matcher fields of a VM that cannot be inferred."""
    try:
        return [field for field in MATCHER_FIELDS if _failure(vm, field, cluster) is not None]
    except (FieldError, Panic):
        return []


def matcher_remedy(
    matcher_field: MatcherField, vm: Manifest, cluster: Cluster, lister: Lister, inferring: Inferring
) -> str:
    """The remedy for a matcher field that cannot be inferred or is required: what to add, with examples.

    If the source of the volume does not exist, the remedy names another source. inferring: options that infer what
    KubeVirt does not.
    """
    source = missing_source(matcher_field, vm, cluster)
    if source is not None:
        return _another_source(*source, lister)
    names = _instancetypes(vm, cluster, lister) if matcher_field is INSTANCETYPE else _preferences(vm, lister)
    example = f", for example {join_or(names)}" if names else ""
    return f"add {matcher_field.name}.name{example}{_alternative(matcher_field, vm, inferring)}"


def inference_blocker(matcher_field: MatcherField, vm: Manifest, cluster: Cluster, inferring: Inferring) -> str:
    """Why KubeVirt cannot infer from a volume, whatever its labels, and the remedy; else "". inferring: see
    `matcher_remedy`.
    """
    failure = _failure(vm, matcher_field, cluster)
    if not isinstance(failure, infer.MissingLabels) or not failure.unsupported:
        return ""
    return f"{failure.message}; add {matcher_field.name}.name{_alternative(matcher_field, vm, inferring)}"


def _alternative(matcher_field: MatcherField, vm: Manifest, inferring: Inferring) -> str:
    volume = _volume(matcher_field, vm)
    # KubeVirt reads no labels of such a disk.
    if volume and (able := [option for option, infers in inferring.items() if infers(vm, volume)]):
        return f", or set {join_or(able)}"
    return f", or label the volume {matcher_field.volume_label}" if volume else ""


def resembling(name: str, names: Iterable[str]) -> list[str]:
    """At most three names that share much with a name: the disk `fedora-root` suggests the preference `fedora`.

    `name_rules.similar` finds what somebody has misspelt.
    """
    # Only a misspelt name needs it.
    from difflib import get_close_matches

    return get_close_matches(name, list(names), n=_SUGGESTED, cutoff=0.5)


def of_kind(kind: str, vm: Manifest, lister: Lister) -> Iterable[Manifest]:
    """The objects of a kind that a VM can use."""
    return lister(kind, namespace_of(vm) if KINDS[kind].namespaced else "")


def missing_source(matcher_field: MatcherField, vm: Manifest, cluster: Cluster) -> tuple[str, str, str] | None:
    """Kind, namespace and name of the missing source of the volume to infer from, or None."""
    failure = _failure(vm, matcher_field, cluster)
    return failure.source if isinstance(failure, infer.MissingSource) else None


def _another_source(kind: str, namespace: str, name: str, lister: Lister) -> str:
    existing = sorted(str(manifest["metadata"]["name"]) for manifest in lister(kind, namespace))
    names = resembling(name, existing) or existing[:_SUGGESTED]
    example = f", for example {join_or(names)}" if names else ""
    return f"create the {kind} {name} in the namespace {namespace} first, or name another {kind}{example}"


def _failure(vm: Manifest, matcher_field: MatcherField, cluster: Cluster) -> KubeVirtError | None:
    """Why KubeVirt cannot infer from a VM's volume; None if it can, or need not. Raises FieldError and Panic."""
    volume = _volume(matcher_field, vm)
    if not volume:
        return None
    canonical = release_schema.canonical("VirtualMachine", vm, cluster.release)
    try:
        infer.from_volume(canonical, volume, matcher_field, cluster.objects, cluster.release)
    except Panic:
        raise
    except KubeVirtError as error:
        return error
    return None


def _volume(matcher_field: MatcherField, vm: Manifest) -> str:
    return str(matcher_field.matcher_or_empty(vm).get("inferFromVolume") or "")


def best_instancetypes(
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
    defaults.set_architecture(spec, cluster.kubevirt)
    constraints = fitting.Constraints(preference=preference, spec=spec, series=series)
    return fitting.fitting(filter(is_active, manifests), constraints, cluster.release)[:_SUGGESTED]


def _instancetypes(vm: Manifest, cluster: Cluster, lister: Lister) -> list[str]:
    """The best instancetypes of either kind that meet the requirements of the VM's preference, if any."""
    without = copy(vm)
    without["spec"].pop(INSTANCETYPE.name, None)
    inferred = value_or_none(infer.infer, without, cluster.objects, cluster.release)
    preference = None
    if inferred is not None:
        preference = value_or_none(find.effective_spec, inferred, PREFERENCE, cluster.objects, cluster.release)
    best = best_instancetypes(
        _objects_of_field(INSTANCETYPE, vm, lister), vm, preference, cluster, without=("cpu", "memory")
    )
    return [display_name(manifest, INSTANCETYPE) for manifest in best]


def _preferences(vm: Manifest, lister: Lister) -> list[str]:
    """Preferences whose names resemble the name of the disk without labels, else the first preferences."""
    active = filter(is_active, _objects_of_field(PREFERENCE, vm, lister))
    existing = {str(manifest["metadata"]["name"]): manifest for manifest in active}
    close = [name for disk in _disks(vm) for name in resembling(disk, existing)]
    return [display_name(existing[name], PREFERENCE) for name in (close or sorted(existing))[:_SUGGESTED]]


def _disks(vm: Manifest) -> list[str]:
    """The names of the objects behind the volume from which the preference is to be inferred."""
    volume = volume_of(vm, _volume(PREFERENCE, vm))
    claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
    source = template_specs(vm).get(data_volume_of(volume), {}).get("sourceRef") or {}
    return [name for name in (claim, source.get("name")) if name]


def _objects_of_field(matcher_field: MatcherField, vm: Manifest, lister: Lister) -> list[Manifest]:
    return [
        manifest for kind in (matcher_field.cluster_kind, matcher_field.kind) for manifest in of_kind(kind, vm, lister)
    ]


def display_name(manifest: Manifest, matcher_field: MatcherField) -> str:
    """The name as the user has to write it: with the kind for a namespaced object, because cluster-wide is
    the default.
    """
    name = str(manifest["metadata"]["name"])
    return f"{name} (kind {matcher_field.kind})" if manifest.get("kind") == matcher_field.kind else name
