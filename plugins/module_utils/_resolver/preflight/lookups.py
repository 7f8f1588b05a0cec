"""The objects that a judgement of a VM needs, so that they can be read at once beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..api.kinds import BY_NAME
from ..api.matcher import ROLE_OF_KIND, ROLES, Role
from ..api.release import NEWEST, Release
from ..kubevirt.find import naming

Manifest = dict[str, Any]

_INSIDE = {"pvc": "PersistentVolumeClaim", "snapshot": "VolumeSnapshot", "dataSource": "DataSource"}


class Need(NamedTuple):
    """A required object; namespace is "" for a cluster-wide kind.

    home: the namespace of the VM. instead: for a captured revision, the kind, namespace and name of the object that
    counts if the revision belongs to an object of another name.
    """

    kind: str
    namespace: str
    name: str
    home: str
    instead: tuple[str, str, str] | None = None


def needs(vm: Manifest, release: Release) -> list[Need]:
    """The objects that admission of a VM needs first: its references, and the sources of its disks.

    vm: a plain manifest. A VM that does not match the schema needs none, because it is rejected anyway.
    """
    try:
        return [*_referred(vm, release), *_copied(vm)]
    except (AttributeError, KeyError, TypeError):
        return []


def referred(vm: Manifest, release: Release) -> list[Need]:
    """The objects that the expansion of a VM needs first: instancetype, preference, their revisions, and volumes to
    infer from.
    """
    try:
        return list(_referred(vm, release))
    except (AttributeError, KeyError, TypeError):
        return []


def of_guest(vm: Manifest, instance: Manifest, release: Release) -> list[Need]:
    """The objects for comparing a VM with its VMI: its references, and the revision with which the guest started."""
    name = (instance.get("status") or {}).get("virtualMachineRevisionName")
    started = [Need("ControllerRevision", _home(vm), str(name), _home(vm))] if name else []
    return [*referred(vm, release), *started]


def then(need: Need, found: Manifest | None) -> list[Need]:
    """The further objects that a read object requires, if it is a source of inference.

    found: None if it does not exist.
    """
    if need.kind in ROLE_OF_KIND:
        return []
    try:
        return list(_then(need, found))
    except (AttributeError, KeyError, TypeError):
        return []


def _home(vm: Manifest) -> str:
    return str((vm.get("metadata") or {}).get("namespace") or "")


def _referred(vm: Manifest, release: Release) -> Iterator[Need]:
    home, spec = _home(vm), vm["spec"]
    for role in ROLES:
        matcher = role.matcher_of(vm)
        if not matcher:
            continue
        if matcher.get("inferFromVolume"):
            yield from _volume(spec, str(matcher["inferFromVolume"]), home)
            continue
        live = list(_object(role, str(matcher.get("name") or ""), role.kind_of(matcher), home))
        reference = naming.referenced(vm, role, release)
        if reference.name:
            instead = live[0][:3] if live and not reference.pinned else None
            yield Need("ControllerRevision", home, reference.name, home, instead)
        else:
            yield from live


def _copied(vm: Manifest) -> Iterator[Need]:
    """The DataSources of a VM's disks, which name their architecture."""
    for template in vm["spec"].get("dataVolumeTemplates") or ():
        yield from _sources({"sourceRef": (template.get("spec") or {}).get("sourceRef")}, _home(vm))


def _volume(spec: Manifest, name: str, home: str) -> Iterator[Need]:
    template = (spec.get("template") or {}).get("spec") or {}
    volume: Manifest = next((one for one in template.get("volumes") or () if one.get("name") == name), {})
    claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
    if claim:
        yield Need("PersistentVolumeClaim", home, str(claim), home)
        return
    owned = (volume.get("dataVolume") or {}).get("name")
    if not owned:
        return
    for template in spec.get("dataVolumeTemplates") or ():
        if (template.get("metadata") or {}).get("name") == owned:
            yield from _sources(template.get("spec") or {}, home)
            return
    yield Need("DataVolume", home, str(owned), home)


def _sources(spec: Manifest, home: str) -> Iterator[Need]:
    """The objects to which a DataVolume's spec refers."""
    yield from _origins(spec.get("source") or {}, home)
    reference = spec.get("sourceRef") or {}
    if str(reference.get("kind") or "").lower() == "datasource" and reference.get("name"):
        namespace = reference.get("namespace")
        yield Need("DataSource", home if namespace is None else str(namespace), str(reference["name"]), home)


def _origins(source: Manifest, home: str) -> Iterator[Need]:
    for field, kind in _INSIDE.items():
        origin = source.get(field)
        if origin and origin.get("name"):
            yield Need(kind, str(origin.get("namespace") or ""), str(origin["name"]), home)


def _then(need: Need, found: Manifest | None) -> Iterator[Need]:
    if need.kind == "ControllerRevision":
        if found is not None and need.instead and naming.labels(found).get(naming.NAME_LABEL) != need.instead[2]:
            yield Need(*need.instead, need.home)
        elif found is not None and need.name.startswith(naming.START):
            # The revision contains the VM's spec at that time, with the revisions of that time.
            yield from _referred({"metadata": {"namespace": need.home}, "spec": found["data"]["spec"]}, NEWEST)
        return
    if found is None:
        if need.kind == "DataVolume":
            yield need._replace(kind="PersistentVolumeClaim")
        return
    labels = (found.get("metadata") or {}).get("labels") or {}
    for role in ROLES:
        name = labels.get(role.volume_label)
        if name:
            kind = role.kind_of({"kind": labels.get(role.volume_kind_label, "")})
            yield from _object(role, str(name), kind, need.home)
    spec = found.get("spec") or {}
    if need.kind == "DataVolume":
        yield from _sources(spec, need.namespace)
    elif need.kind == "DataSource":
        yield from _origins(spec.get("source") or {}, need.home)


def _object(role: Role, name: str, kind: str | None, home: str) -> Iterator[Need]:
    if kind is not None and name:
        yield Need(kind, home if BY_NAME[kind].namespaced else "", name, home)
