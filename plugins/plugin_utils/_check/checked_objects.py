"""The objects of a repository in the current API version, and the objects of a cluster that they may refer to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ...module_utils._conversion.modernize import VM_API_VERSION, VM_API_VERSIONS, Modernization, modernize
from ...module_utils._resolver.api import behaviour
from ...module_utils._resolver.api.all_errors import all_errors, without_fields
from ...module_utils._resolver.api.errors import FieldError, KubeVirtError
from ...module_utils._resolver.api.finding import ERROR, NOTE, WARNING
from ...module_utils._resolver.api.kinds import EXISTENCE_ONLY, KINDS
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import API_VERSION, MATCHER_FIELD_OF_KIND
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.kubevirt.instancetype.decode import API_VERSIONS
from ...module_utils._resolver.kubevirt.instancetype.lookup import Objects
from ...module_utils._yaml import unquoted
from .._manifest_checks import check_types
from .findings import LocatedFinding, Location, invalid
from .sources import Repository, SourceManifest, kinds_in

VM: Final = "VirtualMachine"
# Users may create these outside the repository, so the check does not know their contents.
STORAGE: Final = ("DataSource", "PersistentVolumeClaim", "VolumeSnapshot", "DataVolume")
REVISION: Final = "ControllerRevision"
CRON: Final = "DataImportCron"
LABELED: Final = (*STORAGE, CRON)
"""The kinds whose labels may name defaults for VMs."""
LOOKED_UP: Final = (*LABELED, REVISION)
"""The kinds that VMs refer to, and that are not judged as VMs, instancetypes and preferences are."""
NOT_AMONG_FILES: Final = "is not among the checked files"
_FLAVORS: Final = ("VirtualMachineFlavor", "VirtualMachineClusterFlavor")
_CHECKED_KINDS: Final = (VM, *MATCHER_FIELD_OF_KIND, *_FLAVORS)
# Other objects that describe guests.
_VMI: Final = "VirtualMachineInstance"
UNCHECKED_KINDS: Final = (
    _VMI,
    "VirtualMachineInstancePreset",
    "VirtualMachineInstanceReplicaSet",
    "VirtualMachinePool",
    "VirtualMachineTemplate",
)
# The end of the API groups of the checked kinds; other groups have kinds of the same names.
_GROUP: Final = "kubevirt.io/"
# Without these, nothing can be said about an object.
_PARTS: Final = ("apiVersion", "kind", "metadata", "metadata.name", "spec")


class CheckedObject(NamedTuple):
    """An object of a repository in the current API version, and its location.

    wrong: the fields with errors that are reported already; the manifest does not have them. adopts_disks: whether
    the VM of a task may become the owner of disks that exist; None for other objects. keeps_power: the run strategy
    counts only for a new VM.
    """

    location: Location
    manifest: Manifest
    wrong: tuple[str, ...] = ()
    adopts_disks: bool | None = None
    keeps_power: bool = False

    @property
    def label(self) -> str:
        """``VirtualMachine shop/web``"""
        return label(self.manifest)

    def finding(self, rule: str, severity: str, field: str, message: str) -> LocatedFinding:
        """A finding about the object."""
        return LocatedFinding(message, severity, field, rule=rule, location=self.location, label=self.label)


def has_name(manifest: Manifest) -> bool:
    return bool((manifest.get("metadata") or {}).get("name"))


class KnownObjects:
    """The objects of a repository and of the cluster, as a cluster would have them."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        # Nothing refers to an object without a name.
        objects = list(filter(has_name, objects))
        self._objects = Objects(objects)
        self._kinds: dict[tuple[str, str], dict[str, Manifest]] = {}
        for manifest in objects:
            metadata = manifest.get("metadata") or {}
            of_kind = self._kinds.setdefault((manifest["kind"], metadata.get("namespace") or ""), {})
            of_kind[metadata["name"]] = manifest

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        """See Lookup. Missing storage, and what else a guest needs, may exist in the cluster.

        So may a missing ControllerRevision, unless others of its namespace are known: then it was deleted.
        """
        manifest = self._objects.get(kind, namespace, name)
        may_exist = kind in STORAGE or kind in EXISTENCE_ONLY
        if manifest is None and (may_exist or (kind == REVISION and (kind, namespace) not in self._kinds)):
            raise KubeVirtError(f"the {kind} {namespace}/{name} {NOT_AMONG_FILES}", "Unchecked", 403)
        return manifest

    @property
    def all(self) -> list[Manifest]:
        """All manifests; of several with a kind, namespace and name the last one."""
        return [manifest for of_kind in self._kinds.values() for manifest in of_kind.values()]

    def listed(self, kind: str, namespace: str) -> list[Manifest]:
        """All manifests of a kind in a namespace, "" for a cluster-wide kind."""
        return list(self._kinds.get((kind, namespace), {}).values())


def label(manifest: Manifest) -> str:
    """``VirtualMachine shop/web``"""
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = "/".join(str(metadata[part]) for part in ("namespace", "name") if metadata.get(part))
    return f"{manifest.get('kind')} {name}".strip()


def objects_of_manifest(
    source: SourceManifest, release: Release, namespace: str
) -> Iterator[CheckedObject | LocatedFinding]:
    """An object in the current API version, with findings about the form.

    Nothing for objects that describe no guest. namespace: the default for objects that name none.
    """
    location, kind = source.location, source.manifest["kind"]
    api_version = source.manifest["apiVersion"]
    if isinstance(api_version, str) and _is_foreign(kind, api_version):
        return
    if kind == _VMI and _is_of_vm(source.manifest):
        return
    problem = _why_unchecked(source)
    if problem and kind in (*_CHECKED_KINDS, *UNCHECKED_KINDS):
        named = label(source.manifest)
        yield LocatedFinding(problem, NOTE, rule="unchecked", location=location, label=named, unjudged=kind)
    if problem or kind not in (*LOOKED_UP, *_CHECKED_KINDS):
        return
    manifest = _with_namespace(source.manifest, namespace)
    declared = CheckedObject(location, manifest)
    errors = [FieldError(*yaml_problem) for yaml_problem in unquoted.problems(manifest)]
    errors += all_errors(check_types, without_fields(manifest, [error.path for error in errors]))
    if any(error.path in _PARTS for error in errors):
        yield from invalid(declared.finding, errors)
        return
    manifest = without_fields(manifest, [error.path for error in errors])
    unserved = _unserved(manifest, release)
    modern: Modernization | None
    try:
        modern = modernize(manifest, release)
    except FieldError:
        if kind == VM and manifest.get("spec") is not None and not unserved:
            # The server's own rules find it, and what else is wrong.
            yield from invalid(declared.finding, errors)
            yield CheckedObject(
                location, {**manifest, "apiVersion": VM_API_VERSION}, tuple(error.path for error in errors)
            )
            return
        errors += all_errors(lambda value: modernize(value, release), manifest)
        try:
            modern = modernize(without_fields(manifest, [error.path for error in errors]), release)
        except FieldError:
            modern = None
    yield from invalid(declared.finding, errors)
    if modern is None or any(error.path in _PARTS for error in errors):
        return
    if unserved:
        yield declared.finding("refused", ERROR, "apiVersion", unserved)
    yield from _deprecated(declared, modern, unserved)
    yield CheckedObject(location, modern.manifest, tuple(error.path for error in errors))


def _why_unchecked(source: SourceManifest) -> str:
    """Why an object is not judged; "" if it is."""
    if source.problem:
        return source.problem
    if source.manifest["kind"] in UNCHECKED_KINDS:
        return "is not checked; the check judges VMs, instancetypes and preferences"
    if source.manifest["kind"] == VM and "metadata" not in source.manifest:
        return "names no object, as a patch does, so it is not checked"
    return ""


def _deprecated(declared: CheckedObject, modern: Modernization, unserved: str) -> Iterator[LocatedFinding]:
    """The fields that have a replacement, or none. unserved: the API version is refused already."""
    for change in modern.changes:
        if unserved and change.path == "apiVersion":
            continue
        instead = f"write {change.new_path}: {change.after}" if change.new_path else "remove it"
        yield declared.finding("deprecated", WARNING, change.path, f"{change.note.rstrip('.')}; {instead}")
    for remaining in modern.remaining:
        yield declared.finding("deprecated", WARNING, remaining.path, remaining.note)


def _is_foreign(kind: str, api_version: str) -> bool:
    """Whether a kind is one of another program. The core's API versions name no group."""
    group, slash, _version = api_version.partition("/")
    is_looked_up = kind in LOOKED_UP and group == KINDS[kind].group
    return bool(slash) and _GROUP not in api_version and not is_looked_up


def _is_of_vm(vmi: Manifest) -> bool:
    """Whether a VMI is the guest of a VM, which is checked instead."""
    metadata = vmi.get("metadata")
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    listed = owners if isinstance(owners, list) else ()
    return any(isinstance(owner, dict) and owner.get("kind") == VM for owner in listed)


def unreadable_kinds(repository: Repository) -> Iterator[str]:
    """The kinds of the objects in files that cannot be read."""
    for text in repository.unreadable:
        yield from (kind for kind in kinds_in(text) if kind in (*_CHECKED_KINDS, *UNCHECKED_KINDS))


def _unserved(manifest: Manifest, release: Release) -> str:
    """Why no cluster with the release has the kind in this API version; "" if it has."""
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    served: tuple[str, ...] = ()
    if kind == VM:
        served = (VM_API_VERSION, *VM_API_VERSIONS)
    elif kind in MATCHER_FIELD_OF_KIND:
        served = (API_VERSION, *(API_VERSIONS if release.has(behaviour.SERVES_OLD_VERSIONS) else ()))
    if api_version in served or kind in LOOKED_UP:
        return ""
    write = served[0] if served else API_VERSION
    return f"KubeVirt {release.minor_version} does not serve {kind} in {api_version}; write {write}"


def _with_namespace(manifest: Manifest, namespace: str) -> Manifest:
    """The manifest with the namespace, and with a name if the cluster would generate it."""
    metadata = {} if manifest.get("metadata") is None else manifest["metadata"]
    if not isinstance(metadata, dict):
        return manifest
    if "Cluster" not in manifest["kind"] and not metadata.get("namespace"):
        metadata = {**metadata, "namespace": namespace}
    if metadata.get("generateName") and not metadata.get("name"):
        metadata = {**metadata, "name": f"{metadata['generateName']}x"}
    return {**manifest, "metadata": metadata}
