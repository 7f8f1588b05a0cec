"""Decides which values an expanded VM declares, and whether a VM may go back to names."""

from __future__ import annotations

from collections.abc import Mapping

from .._resolver.api import release_schema, schema
from .._resolver.api.errors import KubeVirtError
from .._resolver.api.manifest import Manifest, namespace_of
from .._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE, MatcherField
from .._resolver.api.records import is_expanded
from .._resolver.api.tree import copy
from .._resolver.declare.expanded import attaches, expanded
from .._resolver.kubevirt.cluster import Cluster
from .._resolver.kubevirt.instancetype import decode, find, infer
from .._resolver.kubevirt.instancetype.find import canonical_vm
from .._resolver.kubevirt.instancetype.lookup import not_found
from .._resolver.kubevirt.vm.readiness import has_guest

_REVISION = "ControllerRevision"


def with_recorded_names(vm: Manifest, live: Manifest | None) -> Manifest:
    """A declared VM that names what the expanded live VM has, instead of inferring it again."""
    spec = dict(vm["spec"])
    for matcher_field in MATCHER_FIELDS:
        if (matcher_field.matcher_of(vm) or {}).get("inferFromVolume") and matcher_field.recorded_in(live or {}):
            spec[matcher_field.name] = matcher_field.named_in(live or {})
    return {**vm, "spec": spec}


def as_expanded(vm: Manifest, live: Manifest | None, cluster: Cluster) -> Manifest:
    """A declared VM with the values of its instancetype and preference.

    live: the existing VM, or None; it keeps the values that it has captured or recorded. Raises KubeVirtError for an
    object that cannot be read, and if KubeVirt refuses the VM with it.
    """
    release = cluster.release
    inferred = infer.infer(canonical_vm(vm, release), cluster.objects, release)
    result: Manifest = {**vm, "spec": dict(vm["spec"])}
    objects: dict[MatcherField, Manifest] = {}
    for matcher_field in MATCHER_FIELDS:
        declared, matcher = matcher_field.matcher_of(vm), matcher_field.matcher_of(inferred)
        if not declared:
            continue
        result["spec"].pop(matcher_field.name)
        if matcher is not None:
            objects[matcher_field] = _counted(matcher_field, matcher, vm, live, cluster)
            if matcher_field is INSTANCETYPE and declared.get("inferFromVolumeFailurePolicy") == infer.IGNORE:
                # The memory was for a volume without labels.
                result["spec"]["template"] = copy(result["spec"]["template"])
                result["spec"]["template"]["spec"]["domain"].pop("memory", None)
    if not objects:
        return result
    if PREFERENCE in objects and _keeps_preference(result, objects, live, cluster):
        preference = objects.pop(PREFERENCE)
        result["spec"][PREFERENCE.name] = vm["spec"][PREFERENCE.name]
        named = release_schema.canonical(PREFERENCE.spec_type, preference.get("spec"), release)
        return expanded(result, objects, cluster.kubevirt, named) if objects else result
    return expanded(result, objects, cluster.kubevirt)


def _keeps_preference(
    vm: Manifest, objects: Mapping[MatcherField, Manifest], live: Manifest | None, cluster: Cluster
) -> bool:
    """Whether a VM goes on naming its preference, which sets devices that KubeVirt adds.

    Declared in the VM, KubeVirt would ask for a restart of its guest. A VM that once kept it keeps it.
    """
    if live is None or not PREFERENCE.matcher_of(live) or not (has_guest(live) or is_expanded(live)):
        return False
    return attaches(vm, objects, cluster.kubevirt, live)


def loses_values(vm: Manifest, live: Manifest | None, cluster: Cluster) -> str:
    """Why a VM that names its objects would not keep the values that the live one has; "" if it would."""
    for matcher_field in MATCHER_FIELDS:
        record, matcher = matcher_field.recorded_in(live or {}), matcher_field.matcher_of(vm)
        if not record or not matcher or matcher.get("revisionName") or not _is_same(matcher_field, matcher, record):
            continue
        # KubeVirt finds the revision from before the VM was expanded, if the status still refers to it.
        named = {**vm, "status": (live or {}).get("status") or {}}
        taken = find.effective_spec(named, matcher_field, cluster.objects, cluster.release) or {}
        kept = release_schema.canonical(matcher_field.spec_type, record.get("spec"), cluster.release)
        if not schema.equal(matcher_field.spec_type, kept, taken):
            return (
                f"spec.{matcher_field.name}: {record['kind']} {matcher['name']} has changed since the VM got its"
                " values, so its name would change the VM; first take the change up by controller_revision with"
                " state: refreshed"
            )
    return ""


def probe(instancetype: Manifest, namespace: str, cluster: Cluster) -> tuple[Manifest, Manifest]:
    """A VM that names an instancetype, and the same VM with its values: what a cluster takes of both shows its form."""
    named: Manifest = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"generateName": "virtshape-sizes-", "namespace": namespace},
        "spec": {
            "runStrategy": "Halted",
            "instancetype": {"kind": instancetype["kind"], "name": instancetype["metadata"]["name"]},
            "template": {"spec": {"domain": {"devices": {}}}},
        },
    }
    return named, expanded(named, {INSTANCETYPE: instancetype}, cluster.kubevirt)


def _counted(
    matcher_field: MatcherField, matcher: Manifest, vm: Manifest, live: Manifest | None, cluster: Cluster
) -> Manifest:
    """The object that counts for a VM: of a named revision, of what the live VM has, or the current one."""
    if pinned := matcher.get("revisionName"):
        revision = cluster.objects.get(_REVISION, namespace_of(vm), pinned)
        if revision is None:
            raise not_found(_REVISION, pinned)
        decode.spec(revision, matcher_field, cluster.release)
        return decode.decode(revision, cluster.release) or {}
    record = matcher_field.recorded_in(live or {})
    if record and _is_same(matcher_field, matcher, record):
        return record
    own = matcher_field.matcher_of(live or {})
    if live is not None and own and _names(matcher_field, own) == _names(matcher_field, matcher):
        revision = find.captured_revision(live, matcher_field, cluster.objects, cluster.release)
        held = decode.decode(revision, cluster.release) if revision is not None else None
        if held is not None:
            return held
    return find.named_object(matcher_field, matcher, namespace_of(vm), cluster.objects)


def _names(matcher_field: MatcherField, matcher: Manifest) -> tuple[str | None, str]:
    return matcher_field.kind_of(matcher), matcher.get("name") or ""


def _is_same(matcher_field: MatcherField, matcher: Manifest, item: Manifest) -> bool:
    """Whether a matcher names an object."""
    return _names(matcher_field, matcher) == (item["kind"], item["metadata"]["name"])


def instancetype_of(vm: Manifest, live: Manifest | None, cluster: Cluster) -> Manifest | None:
    """The instancetype that counts for a declared VM; None for a VM without one, or if it cannot be read."""
    matcher = INSTANCETYPE.matcher_of(vm)
    if not (matcher or {}).get("name"):
        return None
    try:
        return _counted(INSTANCETYPE, matcher or {}, vm, live, cluster)
    except KubeVirtError:
        return None
