"""The sources of a VM's disks that exist, and why they cannot give one: KubeVirt creates the disks only after it has
accepted the VM, and reports these reasons badly or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from .._resolver.api.finding import WARNING, Finding
from .._resolver.api.manifest import Manifest, condition_of, namespace_of
from .._resolver.kubevirt.instancetype.lookup import Lookup, get_readable, is_missing
from .._resolver.preflight.references import DiskSource, new_sources, references, templates_of
from .clone_sizes import size_finding
from .disk_sizes import shrink_findings
from .source import CloneRight, import_failure, target_of

_SOURCE: Final = "DataSource"
_SNAPSHOT: Final = "VolumeSnapshot"
# A reference to a DataSource may lead to another one; CDI follows few.
_DEPTH: Final = 5


def boot_source_findings(vm: Manifest, live: Manifest | None, objects: Lookup) -> Iterator[Finding]:
    """Sources that exist and cannot give a disk, in the VM's order, and disks that would have to shrink.

    live: the live VM, whose disks have been created. An object that the user may not read counts as usable.
    """
    templates = {f"spec.dataVolumeTemplates[{index}].spec": item for index, item in enumerate(templates_of(vm))}
    for source in new_sources(vm, live):
        if get_readable(objects, source.kind, source.namespace, source.name) is not None:
            content, reason = _source_object(source, objects)
            if reason is None and content is not None:
                path = next(path for path in templates if source.path.startswith(f"{path}."))
                reason = _size_finding(templates[path], path, content, objects)
            if reason is not None:
                yield reason
    for reference in references(vm, live):
        for kind in reference.kinds:
            manifest = get_readable(objects, kind, reference.namespace, reference.name)
            if manifest is not None and (problem := _problem(kind, manifest)):
                yield Finding(f"the {kind} {reference.name} {problem}", WARNING, reference.path)
                break
    if live is not None:
        yield from shrink_findings(vm, live, objects)


def _size_finding(template: Manifest, path: str, content: DiskSource, objects: Lookup) -> Finding | None:
    manifest = get_readable(objects, content.kind, content.namespace, content.name)
    return size_finding(template, path, content, manifest) if manifest is not None else None


def clone_rights(vm: Manifest, live: Manifest | None, objects: Lookup) -> Iterator[tuple[str, CloneRight]]:
    """(where the VM has the source, the right) for each disk that is cloned from another namespace."""
    for source in new_sources(vm, live):
        content, _reason = _source_object(source, objects)
        if content is not None and content.namespace != namespace_of(vm):
            yield source.path, _right(vm, content)


def _right(vm: Manifest, source: DiskSource) -> CloneRight:
    """The right of the service account for which virt-controller asks."""
    spec = vm["spec"]["template"].get("spec") or {}
    volumes: Iterable[Manifest] = spec.get("volumes") or ()
    accounts = [(volume.get("serviceAccount") or {}).get("serviceAccountName") for volume in volumes]
    account = str(spec.get("serviceAccountName") or next(filter(None, accounts), "default"))
    return CloneRight((namespace_of(vm), account), source.namespace, source.name, source.kind == _SNAPSHOT)


def _source_object(source: DiskSource, objects: Lookup) -> tuple[DiskSource | None, Finding | None]:
    """The claim or snapshot behind a source, and why it cannot give a disk. None for what is not known."""
    label = ""
    for _step in range(_DEPTH):
        label = f"the {source.kind} {source.namespace}/{source.name}"
        manifest = get_readable(objects, source.kind, source.namespace, source.name)
        if source.kind != _SOURCE:
            problem = _problem(source.kind, manifest) if manifest is not None else ""
            return source, Finding(f"{label} {problem}", WARNING, source.path) if problem else None
        # A manifest that no CDI has seen says nothing of the image.
        ready, target = condition_of(manifest or {}, "Ready"), target_of(manifest or {})
        is_ready = ready.get("status") == "True"
        words = [str(ready[key]) for key in ("reason", "message") if ready.get(key)]
        why = f" ({': '.join(words)})" if words and not is_ready else ""
        if target is None:
            return None, Finding(f"{label} has no image yet{why}", WARNING, source.path) if ready else None
        if ready and is_missing(objects, *target):
            text = f"{label} refers to the {target.kind} {target.label}, which does not exist{why}"
            return None, Finding(text, WARNING, source.path, missing=True)
        source = DiskSource(source.path, *target)
        if source.kind != _SOURCE and ready and not is_ready:
            return source, Finding(f"{label} is not ready{why}", WARNING, source.path)
    return None, Finding(f"{label} is one of a long chain; name its claim", WARNING, source.path)


def _problem(kind: str, manifest: Manifest) -> str:
    """Why an object gives no disk, as its status says; "" for no reason."""
    if (manifest.get("metadata") or {}).get("deletionTimestamp"):
        return "is being deleted"
    status: Manifest = manifest.get("status") or {}
    if kind == "PersistentVolumeClaim" and status.get("phase") == "Lost":
        return "has lost its volume"
    message = (status.get("error") or {}).get("message")
    if kind == _SNAPSHOT and message and not status.get("readyToUse"):
        return f"is not ready: {message}"
    reason = import_failure(manifest) if kind == "DataVolume" else ""
    return f"cannot be filled: {reason}" if reason else ""
