"""Adds boot sources to the check: the choice for a workload, and findings about disks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from ...module_utils._boot_sources.from_image import image_inferences
from ...module_utils._boot_sources.stored_choice import stored_choice
from ...module_utils._boot_sources.unusable_sources import boot_source_findings
from ...module_utils._boot_sources.workload import AvailableObjects, apply_choice, request_of, resolve, size_option
from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.finding import ERROR, NOTE, WARNING
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.choose.rejected import MissingObject, Rejected
from ...module_utils._resolver.kubevirt.cluster import KubeVirt
from ...module_utils._resolver.kubevirt.instancetype.lookup import Objects
from . import boot_source_tasks, containerfiles, default_labels
from .check_extension import CheckExtension
from .checked_objects import LABELED, VM, CheckedObject, KnownObjects
from .findings import LocatedFinding
from .sources import LocatedDocument, is_containerfile
from .tasks import DeclaredOptions, virtual_machine_of

Options = dict[str, Any]

_SOURCE: Final = "DataSource"


def _creates(source: LocatedDocument, namespace: str) -> Iterator[Manifest]:
    for declared in boot_source_tasks.declared(source, namespace):
        yield from boot_source_tasks.objects(declared)
    if isinstance(source.content, dict) and isinstance(source.content.get("metadata"), dict):
        yield from default_labels.inherited(source.content, namespace)


def _decide(
    declared: DeclaredOptions, known: Sequence[Manifest], release: Release
) -> Iterable[CheckedObject | LocatedFinding]:
    if declared.options.get("workload") is None:
        return _vm_of_image(declared)
    return _vm_of_workload(declared, known, release)


def _kept(vm: Manifest, before: Manifest) -> Manifest:
    """The earlier choice for the workload of a VM, unless the workload or its size changes."""
    chosen, now = stored_choice(before), stored_choice(vm)
    if not (chosen and now) or (chosen.workload, chosen.size) != (now.workload, now.size):
        return {}
    return {matcher_field.name: matcher_field.matcher_of(before) for matcher_field in MATCHER_FIELDS}


def _findings(
    sources: Sequence[LocatedDocument],
    objects: Sequence[CheckedObject],
    lookup: KnownObjects,
    kubevirt: KubeVirt,
) -> Iterator[LocatedFinding]:
    for source in sources:
        if is_containerfile(source.location.file):
            yield from containerfiles.findings(source, lookup, kubevirt.release)
        for task in boot_source_tasks.declared(source, ""):
            yield from boot_source_tasks.findings(task, lookup, kubevirt.release)
    for declared in objects:
        if declared.manifest["kind"] in LABELED:
            yield from default_labels.findings(declared, lookup, kubevirt.release)


def _vm_of_workload(
    declared: DeclaredOptions, candidates: Sequence[Manifest], release: Release
) -> Iterator[CheckedObject | LocatedFinding]:
    """The VM with what is chosen for its workload among the known objects, which have names.

    The cluster may have other DataSources, but no other instancetypes and preferences.
    """
    options = declared.options
    candidates = [
        item for item in candidates if item["metadata"].get("namespace") == options["namespace"] or _shared(item)
    ]
    sources = None if options.get("boot") else [item for item in candidates if item["kind"] == _SOURCE]
    try:
        available = AvailableObjects(candidates, sources or None)
        choice = resolve(request_of(options), available, release)
        options = apply_choice(options, choice, size_option(options))
        yield from _vm_of_image(declared._replace(options=options))
    except MissingObject as error:
        message = f"{error}; pass what the cluster has with --objects"
        yield replace(declared.finding("not-found", WARNING, "", message), unjudged=VM)
        return
    except (Rejected, FieldError) as error:
        yield declared.finding("not-found", ERROR, "", str(error))
        return
    if sources == []:
        message = "no DataSource is among the checked files, so the boot source is not checked; pass it with --objects"
        yield declared.finding("unchecked", NOTE, "workload", message)


def _shared(manifest: Manifest) -> bool:
    """Whether VMs of all namespaces can have it."""
    return manifest["kind"] in (_SOURCE, PREFERENCE.cluster_kind, INSTANCETYPE.cluster_kind)


def _vm_of_image(declared: DeclaredOptions) -> Iterator[CheckedObject | LocatedFinding]:
    """Raises FieldError."""
    options = declared.options
    if options.get("infer_from_registry") and (
        inferences := image_inferences(declared.module.manifest(options), None, Objects([]))
    ):
        first = inferences[0]
        message = f"the image {first.image.name} decides on the {first.matcher_field.name}; the check asks no registry"
        yield declared.unchecked("infer_from_registry", message)
        return
    yield virtual_machine_of(declared)


BOOT_SOURCES: Final = CheckExtension(
    checks=(boot_source_findings,),
    options=("workload", "infer_from_registry"),
    creates=_creates,
    decide=_decide,
    kept=_kept,
    findings=_findings,
)
