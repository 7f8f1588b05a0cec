"""VMs as manifests for another cluster, with their revisions.

A VM's status is not exported, so each manifest pins its revisions by name. The revisions must be applied first: up to
KubeVirt 1.5 virt-api rejects a VM whose revision does not exist. They have no owner, because the VM has no UID yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from .._resolver.api.errors import KubeVirtError
from .._resolver.api.kinds import KINDS
from .._resolver.api.manifest import Manifest, labels_of
from .._resolver.api.matcher import API_VERSION, MATCHER_FIELDS, MatcherField
from .._resolver.api.release import Release
from .._resolver.api.tree import copy
from .._resolver.kubevirt.instancetype import decode, find, revision_names, revision_store
from .._resolver.kubevirt.instancetype.lookup import Lookup
from .._resolver.secrets.redaction import own_annotations

_IDENTITY: Final = ("name", "namespace", "uid", "generation")


class VMExport(NamedTuple):
    """The manifests of an exported VM.

    vm: the manifest, with its revisions by name. revisions: matcher → manifest.
    problem: the reason why the VM cannot be exported; then there is no manifest.
    """

    vm: Manifest | None = None
    revisions: Mapping[str, Manifest] = MappingProxyType({})
    problem: str = ""


def export_vm(vm: Manifest, objects: Lookup, release: Release, namespace: str = "", run_strategy: str = "") -> VMExport:
    """The manifests of a VM (plain manifest) of a cluster with the given release.

    namespace: the new namespace, "" to keep it. run_strategy: the new run strategy, "" to keep it.
    """
    target = namespace or vm["metadata"]["namespace"]
    spec = copy(vm["spec"])
    revisions = {}
    for matcher_field in MATCHER_FIELDS:
        matcher = matcher_field.matcher_of(vm)
        if not matcher:
            continue
        try:
            captured = _captured_or_new(vm, matcher_field, matcher, objects, release)
        except KubeVirtError as error:
            return VMExport(problem=f"{matcher_field.name}: {error.message}")
        revisions[matcher_field.name] = _exported_revision(captured, matcher_field, vm, target)
        pinned = {
            part: spec[matcher_field.name][part] for part in ("kind", "name") if spec[matcher_field.name].get(part)
        }
        spec[matcher_field.name] = {**pinned, "revisionName": captured["metadata"]["name"]}
    if run_strategy:
        spec.pop("running", None)
        spec["runStrategy"] = run_strategy
    for part in (spec.get("template") or {}, *(spec.get("dataVolumeTemplates") or ())):
        # KubeVirt up to 1.7 writes null.
        (part.get("metadata") or {}).pop("creationTimestamp", None)
    kind = KINDS["VirtualMachine"]
    manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": _metadata(vm, target), "spec": spec}
    return VMExport(manifest, revisions)


def export_vms(
    vms: Iterable[tuple[Manifest, Lookup]], release: Release, namespace: str = "", run_strategy: str = ""
) -> list[VMExport]:
    """Exports VMs, each with its lookup, as `export_vm` does. VMs that would have the same name have a problem."""
    exports = [export_vm(vm, objects, release, namespace, run_strategy) for vm, objects in vms]
    counts = Counter(_key(export.vm) for export in exports if export.vm is not None)
    return [
        VMExport(
            problem=f"another selected VM would have the same name in {_key(export.vm)[0]}; export them separately"
        )
        if export.vm is not None and counts[_key(export.vm)] > 1
        else export
        for export in exports
    ]


def manifests(exports: Iterable[VMExport]) -> list[Manifest]:
    """The manifests to apply, in this order. VMs may share a revision."""
    exports = list(exports)
    revisions = {_key(revision): revision for export in exports for revision in export.revisions.values()}
    return [*revisions.values(), *(export.vm for export in exports if export.vm is not None)]


def _key(manifest: Manifest) -> tuple[str, str]:
    return manifest["metadata"]["namespace"], manifest["metadata"]["name"]


def _metadata(vm: Manifest, namespace: str) -> Manifest:
    metadata = vm["metadata"]
    annotations = own_annotations(metadata)
    own = {"labels": metadata.get("labels"), "annotations": annotations}
    return {
        "name": metadata["name"],
        "namespace": namespace,
        **{part: dict(sorted(value.items())) for part, value in own.items() if value},
    }


def _captured_or_new(
    vm: Manifest, matcher_field: MatcherField, matcher: Manifest, objects: Lookup, release: Release
) -> Manifest:
    """The VM's revision, or the one that KubeVirt would create now. Its object has the API version v1beta1.

    Raises KubeVirtError.
    """
    captured = find.captured_revision(vm, matcher_field, objects, release)
    if captured is not None:
        return _as_v1beta1(captured, release)
    manifest = find.named_object(matcher_field, matcher, vm["metadata"]["namespace"], objects)
    return revision_store.controller_revision(vm, manifest, release)


def _as_v1beta1(captured: Manifest, release: Release) -> Manifest:
    """A revision that every release reads.

    A revision of v1beta1 stays unchanged, including fields of a newer KubeVirt. Raises KubeVirtError.
    """
    try:
        manifest = decode.decode(captured, release)
    except KubeVirtError:
        manifest = decode.decode(captured, decode.READS_ALPHA)
    if manifest is None:
        raise KubeVirtError(f"the revision {captured['metadata']['name']} is empty")
    if captured["data"].get("apiVersion") == API_VERSION:
        return captured
    data = {**manifest, "spec": revision_store.as_written(manifest["spec"])}
    return {**captured, "data": {**data, "apiVersion": API_VERSION}}


def _exported_revision(captured: Manifest, matcher_field: MatcherField, vm: Manifest, namespace: str) -> Manifest:
    """The revision for the new VM, labelled with the name in the matcher and the current API version.

    KubeVirt uses a revision in the status only with that name, and rewrites a revision of another version.
    """
    data = captured["data"]
    metadata = data.get("metadata") or {}
    identity = {part: metadata[part] for part in _IDENTITY if metadata.get(part)}
    if "namespace" in identity:
        identity["namespace"] = namespace
    labels = {
        revision_names.GENERATION_LABEL: str(metadata.get("generation", 0)),
        revision_names.KIND_LABEL: str(data["kind"]),
        revision_names.NAME_LABEL: str(matcher_field.matcher_or_empty(vm).get("name") or ""),
        revision_names.UID_LABEL: str(metadata.get("uid") or ""),
        **labels_of(captured),
        revision_names.VERSION_LABEL: revision_names.VERSION,
    }
    kind = KINDS["ControllerRevision"]
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {
            "name": captured["metadata"]["name"],
            "namespace": namespace,
            "labels": dict(sorted(labels.items())),
        },
        "data": {
            **{part: data[part] for part in ("apiVersion", "kind")},
            "metadata": identity,
            "spec": data.get("spec") or {},
        },
        "revision": captured.get("revision", 0),
    }
