"""Which instancetype and preference a VM means, and their specs (KubeVirt ``pkg/instancetype/find``).

The pinned or captured ControllerRevision counts first, the live object last. Objects come from a `Lookup`:
a list of manifests (`Objects`), or a cache in front of an API server.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, Protocol

from ...api import release_schema, schema
from ...api.matcher import INSTANCETYPE, PREFERENCE, Role
from ...api.release import NEWEST, Release
from . import decode, revision

__all__ = [
    "CRASH",
    "KINDS",
    "Found",
    "FoundObject",
    "Lookup",
    "Objects",
    "Problem",
    "Resource",
    "captured",
    "instancetype_spec",
    "live",
    "not_found",
    "preference_spec",
    "spec",
    "unexpected_kind",
]

Manifest = dict[str, Any]


# The reason of a Problem that stands for a panic of KubeVirt.
CRASH: Final = "Crash"


class Problem(NamedTuple):
    """An error as a value.

    message: the words of the API server or of KubeVirt.
    reason, code: those of the API's Status object. An error that is none of the API's own is what KubeVirt's
    servers make of it, InternalError.
    """

    message: str
    reason: str = "InternalError"
    code: int = 500


class Resource(NamedTuple):
    """How the API server names the objects of a kind."""

    plural: str
    group: str
    namespaced: bool = True


_GROUP: Final = "instancetype.kubevirt.io"

KINDS: Final[dict[str, Resource]] = {
    "VirtualMachineInstancetype": Resource("virtualmachineinstancetypes", _GROUP),
    "VirtualMachineClusterInstancetype": Resource("virtualmachineclusterinstancetypes", _GROUP, namespaced=False),
    "VirtualMachinePreference": Resource("virtualmachinepreferences", _GROUP),
    "VirtualMachineClusterPreference": Resource("virtualmachineclusterpreferences", _GROUP, namespaced=False),
    "ControllerRevision": Resource("controllerrevisions", "apps"),
    "VirtualMachine": Resource("virtualmachines", "kubevirt.io"),
    "PersistentVolumeClaim": Resource("persistentvolumeclaims", ""),
    "DataVolume": Resource("datavolumes", "cdi.kubevirt.io"),
    "DataSource": Resource("datasources", "cdi.kubevirt.io"),
    "VolumeSnapshot": Resource("volumesnapshots", "snapshot.storage.k8s.io"),
}


def not_found(kind: str, name: str) -> Problem:
    """The API server's answer when there is no such object; kind is a key of KINDS."""
    resource = KINDS[kind]
    qualified = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    return Problem(f'{qualified} "{name}" not found', "NotFound", 404)


class Lookup(Protocol):
    """Where objects are looked up."""

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """The object's manifest, which callers do not change; None if there is none; another failure as a Problem.

        kind: a key of KINDS. namespace: "" for a cluster-wide kind.
        """


class Objects:
    """Objects given as a list of manifests; of two with the same kind, namespace and name the last one counts."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        self._objects = {_key(manifest): manifest for manifest in objects}

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        """See Lookup."""
        return self._objects.get((kind, namespace if _namespaced(kind) else "", name))


def _key(manifest: Manifest) -> tuple[str, str, str]:
    metadata = manifest.get("metadata") or {}
    kind = manifest.get("kind") or ""
    return kind, (metadata.get("namespace") or "") if _namespaced(kind) else "", metadata.get("name") or ""


def _namespaced(kind: str) -> bool:
    return kind not in KINDS or KINDS[kind].namespaced


class FoundObject(NamedTuple):
    """manifest: the object; None where the VM does not refer to one, or there is an error."""

    manifest: Manifest | None = None
    error: Problem | None = None


class Found(NamedTuple):
    """spec: the canonical spec; None where the VM does not refer to one, or there is an error.
    revision: the name of the ControllerRevision that it was read from, "" for the live object."""

    spec: Manifest | None = None
    error: Problem | None = None
    revision: str = ""


def instancetype_spec(vm: Manifest, objects: Lookup, release: Release = NEWEST) -> Found:
    """The spec of the instancetype that counts for a VM (its manifest: plain or canonical)."""
    return spec(vm, INSTANCETYPE, objects, release)


def preference_spec(vm: Manifest, objects: Lookup, release: Release = NEWEST) -> Found:
    """The spec of the preference that counts for a VM (its manifest: plain or canonical)."""
    return spec(vm, PREFERENCE, objects, release)


def spec(vm: Manifest, role: Role, objects: Lookup, release: Release = NEWEST) -> Found:
    """The spec that counts for a VM: from the revision that it names or has captured, else from the live object."""
    found = captured(vm, role, objects, release)
    if found.error:
        return Found(error=found.error)
    if found.manifest is not None:
        decoded = decode.spec(found.manifest, role, release)
        name = found.manifest["metadata"]["name"]
        return Found(decoded.spec, None if decoded.error is None else Problem(decoded.error), name)
    found = live(vm, role, objects, release)
    if found.error or found.manifest is None:
        return Found(error=found.error)
    try:
        return Found(release_schema.canonical(role.spec_type, found.manifest.get("spec"), release))
    except schema.FieldError as error:
        manifest = found.manifest
        return Found(error=Problem(f'{manifest["kind"]} "{manifest["metadata"]["name"]}": {error.under("spec")}'))


def captured(vm: Manifest, role: Role, objects: Lookup, release: Release = NEWEST) -> FoundObject:
    """The ControllerRevision that counts for a VM, if any.

    The one that the matcher names counts whatever it holds; that of the status only if it is labelled as of an
    object of the matcher's name, so that a VM which was moved to another instancetype does not keep the old one.
    """
    matcher = role.matcher_of(vm)
    reference = revision.referenced(vm, role, release)
    if matcher is None or not reference.name:
        return FoundObject()
    found = _get(objects, "ControllerRevision", _namespace(vm), reference.name)
    if found.manifest is None or reference.pinned or not release.checks_captured_name:
        return found
    label = revision.labels(found.manifest).get(revision.NAME_LABEL)
    return found if label is not None and label == (matcher.get("name") or "") else FoundObject()


def live(vm: Manifest, role: Role, objects: Lookup, release: Release = NEWEST) -> FoundObject:
    """The object that a VM's matcher names, whatever revisions there are."""
    matcher = role.matcher_of(vm)
    if matcher is None:
        return FoundObject()
    kind = role.kind_of(matcher)
    if kind is None or (not matcher.get("kind") and role.matcher in release.finding_needs_kind):
        return FoundObject(error=unexpected_kind(role, matcher))
    return _get(objects, kind, _namespace(vm) if KINDS[kind].namespaced else "", matcher.get("name") or "")


def unexpected_kind(role: Role, matcher: Manifest) -> Problem:
    """KubeVirt's answer to a matcher of a kind that it does not take."""
    return Problem(f"got unexpected kind in {role.matcher_type}: {matcher.get('kind') or ''}")


def _get(objects: Lookup, kind: str, namespace: str, name: str) -> FoundObject:
    result = objects.get(kind, namespace, name)
    if isinstance(result, Problem):
        return FoundObject(error=result)
    return FoundObject(error=not_found(kind, name)) if result is None else FoundObject(result)


def _namespace(vm: Manifest) -> str:
    return (vm.get("metadata") or {}).get("namespace") or ""
