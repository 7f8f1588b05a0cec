"""Adds boot sources to the check: the choice for a workload, and findings about disks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from ...module_utils._boot_sources.from_image import image_inferences
from ...module_utils._boot_sources.unusable_sources import boot_source_findings
from ...module_utils._boot_sources.workload import AvailableObjects, apply_choice, request_of, resolve, size_option
from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.finding import ERROR, NOTE, WARNING
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE, ObjectKey
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.choose.fitting import MissingObject, Rejected
from ...module_utils._resolver.kubevirt.config.cluster import KubeVirt
from ...module_utils._resolver.kubevirt.find.lookup import Objects
from . import containerfiles
from .extension import CheckExtension
from .findings import LocatedFinding, Location
from .objects import VM, DeclaredObject, KnownObjects
from .options import COLLECTION
from .sources import Source, is_containerfile, mapping_items
from .tasks import TaskObject, virtual_machine_of

Options = dict[str, Any]

_SOURCE: Final = "DataSource"
_CLAIM: Final = "PersistentVolumeClaim"
_MODULE: Final = f"{COLLECTION}boot_source"
_LIST: Final = "boot_sources"
# The variables of the role boot_sources.
_ROLE_LIST: Final = "boot_sources_list"
_ROLE_DEFAULTS: Final = "boot_sources_defaults"


def _declares(_location: Location, key: str, value: Any) -> bool:
    """Whether a key and its value are a task of the module, or the variable of the role."""
    return (key == _MODULE and isinstance(value, dict)) or (key == _ROLE_LIST and isinstance(value, list))


class BootSources(CheckExtension):
    checks = (boot_source_findings,)
    options = ("workload", "infer_from_registry")

    def creates(self, source: Source, namespace: str) -> Iterator[ObjectKey]:
        for _location, key, value, variables in mapping_items(source.location, source.content, _declares):
            task: Options = value
            if key == _ROLE_LIST:
                task = {_LIST: value, "defaults": variables.get(_ROLE_DEFAULTS)}
            listed = task.get(_LIST)
            defaults = task.get("defaults")
            for options in listed if isinstance(listed, list) else [{}]:
                merged = {
                    **(defaults if isinstance(defaults, dict) else {}),
                    **task,
                    **(options if isinstance(options, dict) else {}),
                }
                if merged.get("name") and merged.get("state") != "absent":
                    own, upload = str(merged.get("namespace") or namespace), merged.get("upload")
                    yield ObjectKey(_SOURCE, own, str(merged["name"]))
                    if isinstance(upload, dict) and upload.get("volume"):
                        kinds = (_CLAIM,) if upload.get("claim") is True else ("DataVolume", _CLAIM)
                        yield from (ObjectKey(kind, own, str(upload["volume"])) for kind in kinds)

    def decide(
        self, task_object: TaskObject, known: Sequence[Manifest], release: Release
    ) -> Iterable[DeclaredObject | LocatedFinding]:
        if task_object.options.get("workload") is None:
            return _vm_of_image(task_object)
        return _vm_of_workload(task_object, known, release)

    def findings(
        self, sources: Sequence[Source], objects: Sequence[DeclaredObject], lookup: KnownObjects, kubevirt: KubeVirt
    ) -> Iterator[LocatedFinding]:
        for source in sources:
            if is_containerfile(source.location.file):
                yield from containerfiles.findings(source, lookup, kubevirt.release)


def _vm_of_workload(
    task_object: TaskObject, candidates: Sequence[Manifest], release: Release
) -> Iterator[DeclaredObject | LocatedFinding]:
    """The VM with what is chosen for its workload among the known objects, which have names.

    The cluster may have other DataSources, but no other instancetypes and preferences.
    """
    options = task_object.options
    candidates = [
        item for item in candidates if item["metadata"].get("namespace") == options["namespace"] or _shared(item)
    ]
    sources = None if options.get("boot") else [item for item in candidates if item["kind"] == _SOURCE]
    try:
        available = AvailableObjects(candidates, sources or None)
        choice = resolve(request_of(options), available, release)
        options = apply_choice(options, choice, size_option(options))
        yield from _vm_of_image(task_object._replace(options=options))
    except MissingObject as error:
        message = f"{error}; pass what the cluster has with --objects"
        yield replace(task_object.finding("not-found", WARNING, "", message), unjudged=VM)
        return
    except (Rejected, FieldError) as error:
        yield task_object.finding("not-found", ERROR, "", str(error))
        return
    if sources == []:
        message = "no DataSource is among the checked files, so the boot source is not checked; pass it with --objects"
        yield task_object.finding("unchecked", NOTE, "workload", message)


def _shared(manifest: Manifest) -> bool:
    """Whether VMs of all namespaces can have it."""
    return manifest["kind"] in (_SOURCE, PREFERENCE.cluster_kind, INSTANCETYPE.cluster_kind)


def _vm_of_image(task_object: TaskObject) -> Iterator[DeclaredObject | LocatedFinding]:
    """Raises FieldError."""
    options = task_object.options
    if options.get("infer_from_registry") and (
        inferences := image_inferences(task_object.module.manifest(options), None, Objects([]))
    ):
        first = inferences[0]
        message = (
            f"the image {first.image.name} decides on the {first.matcher_field.matcher}; the check asks no registry"
        )
        yield task_object.unchecked("infer_from_registry", message)
        return
    yield virtual_machine_of(task_object)
