"""VMs as manifests for another cluster, with their revisions.

A VM's status is not exported, so each manifest pins its revisions by name. The revisions must be applied first: up to
KubeVirt 1.5 virt-api rejects a VM whose revision does not exist. They have no owner, because the VM has no UID yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ..api.kinds import BY_NAME
from ..api.matcher import API_VERSION, ROLES, Role
from ..api.redaction import LAST_APPLIED
from ..api.release import Release
from ..api.tree import copy
from ..kubevirt.find import decode, find, naming, revision
from ..kubevirt.find.lookup import Lookup, Problem
from .drift import READS_OLD

Manifest = dict[str, Any]

# Annotations that the cluster or kubectl sets on a VM.
_NOT_OWN: Final = (
    LAST_APPLIED,
    "kubevirt.io/latest-observed-api-version",
    "kubevirt.io/storage-observed-api-version",
)
_IDENTITY: Final = ("name", "namespace", "uid", "generation")


class Exported(NamedTuple):
    """vm: the manifest, with its revisions by name. revisions: matcher → manifest.
    problem: why the VM cannot be exported; then there is no manifest.
    """

    vm: Manifest | None = None
    revisions: Mapping[str, Manifest] = MappingProxyType({})
    problem: str = ""


def exported(vm: Manifest, objects: Lookup, release: Release, namespace: str = "", run_strategy: str = "") -> Exported:
    """The manifests of a VM (plain manifest) of a cluster with the given release.

    namespace: the new namespace, "" to keep it. run_strategy: the new run strategy, "" to keep it.
    """
    place = namespace or vm["metadata"]["namespace"]
    spec = copy(vm["spec"])
    revisions = {}
    for role in ROLES:
        if not role.matcher_of(vm):
            continue
        found = _kept(vm, role, objects, release)
        if isinstance(found, Problem):
            return Exported(problem=f"{role.matcher}: {found.message}")
        revisions[role.matcher] = _revision(found, role, vm, place)
        pinned = {part: spec[role.matcher][part] for part in ("kind", "name") if spec[role.matcher].get(part)}
        spec[role.matcher] = {**pinned, "revisionName": found["metadata"]["name"]}
    if run_strategy:
        spec.pop("running", None)
        spec["runStrategy"] = run_strategy
    for made in (spec.get("template") or {}, *(spec.get("dataVolumeTemplates") or ())):
        # KubeVirt up to 1.7 writes null.
        (made.get("metadata") or {}).pop("creationTimestamp", None)
    kind = BY_NAME["VirtualMachine"]
    manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": _metadata(vm, place), "spec": spec}
    return Exported(manifest, revisions)


def manifests(found: Iterable[Exported]) -> list[Manifest]:
    """The manifests to apply, in this order. VMs may share a revision."""
    made = list(found)
    revisions = {_place(one): one for vm in made for one in vm.revisions.values()}
    return [*revisions.values(), *(one.vm for one in made if one.vm is not None)]


def _place(manifest: Manifest) -> tuple[str, str]:
    return manifest["metadata"]["namespace"], manifest["metadata"]["name"]


def _metadata(vm: Manifest, namespace: str) -> Manifest:
    metadata = vm["metadata"]
    annotations = {key: value for key, value in (metadata.get("annotations") or {}).items() if key not in _NOT_OWN}
    own = {"labels": metadata.get("labels"), "annotations": annotations}
    return {
        "name": metadata["name"],
        "namespace": namespace,
        **{part: dict(sorted(value.items())) for part, value in own.items() if value},
    }


def _kept(vm: Manifest, role: Role, objects: Lookup, release: Release) -> Manifest | Problem:
    """The VM's revision, or the one that KubeVirt would create now. Its object has the API version v1beta1."""
    found = find.captured(vm, role, objects, release)
    if found.manifest is not None:
        return _modern(found.manifest, role, release)
    if found.error is None:
        found = find.live(vm, role, objects, release)
    if found.error is not None or found.manifest is None:
        return found.error or Problem(f"the VirtualMachine has no {role.matcher}")
    return revision.controller_revision(vm, found.manifest, release)


def _modern(kept: Manifest, role: Role, release: Release) -> Manifest | Problem:
    """A revision that every release reads.

    A revision of v1beta1 stays unchanged, including fields of a newer KubeVirt.
    """
    decoded = decode.decode(kept, release, role)
    if decoded.error is not None:
        decoded = decode.decode(kept, READS_OLD, role)
    if decoded.manifest is None:
        return Problem(decoded.error or f"the revision {kept['metadata']['name']} is empty")
    if kept["data"].get("apiVersion") == API_VERSION:
        return kept
    data = {**decoded.manifest, "spec": revision.as_written(decoded.manifest["spec"])}
    return {**kept, "data": {**data, "apiVersion": API_VERSION}}


def _revision(kept: Manifest, role: Role, vm: Manifest, namespace: str) -> Manifest:
    """The revision for the new VM, labelled with the name in the matcher and the current API version.

    KubeVirt uses a revision in the status only with that name, and rewrites a revision of another version.
    """
    data = kept["data"]
    known = data.get("metadata") or {}
    identity = {part: known[part] for part in _IDENTITY if known.get(part)}
    if "namespace" in identity:
        identity["namespace"] = namespace
    labels = {
        naming.GENERATION_LABEL: str(known.get("generation", 0)),
        naming.KIND_LABEL: str(data["kind"]),
        naming.NAME_LABEL: str((role.matcher_of(vm) or {}).get("name") or ""),
        naming.UID_LABEL: str(known.get("uid") or ""),
        **naming.labels(kept),
        naming.VERSION_LABEL: naming.VERSION,
    }
    kind = BY_NAME["ControllerRevision"]
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": kept["metadata"]["name"], "namespace": namespace, "labels": dict(sorted(labels.items()))},
        "data": {
            **{part: data[part] for part in ("apiVersion", "kind")},
            "metadata": identity,
            "spec": data.get("spec") or {},
        },
        "revision": kept.get("revision", 0),
    }
