"""The sources of a VM's disks that exist, and why they cannot give one: KubeVirt creates the disks only after it has
accepted the VM, and reports these reasons badly or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from .._resolver.api.finding import WARNING, Finding
from .._resolver.api.manifest import Manifest, condition_of, namespace_of
from .._resolver.kubevirt.find.lookup import Lookup
from .._resolver.preflight.references import Source, new_sources, references
from .source import Consumer, is_ready, target_of

_SOURCE: Final = "DataSource"
_SNAPSHOT: Final = "VolumeSnapshot"
# A reference to a DataSource may lead to another one; CDI follows few.
_DEPTH: Final = 5
_STOPPED: Final = frozenset({"Error", "ImagePullFailed"})


class Clone(NamedTuple):
    """A disk that is cloned from another namespace.

    path: of the source, in the VM. kind, namespace, name: the claim or snapshot. consumer: who needs the right.
    """

    path: str
    kind: str
    namespace: str
    name: str
    consumer: Consumer


def unusable_sources(vm: Manifest, live: Manifest | None, objects: Lookup) -> Iterator[Finding]:
    """One line for each source that exists and cannot give a disk, in the VM's order.

    live: the live VM, whose disks have been created. What the user may not read counts as usable.
    """
    for source in new_sources(vm, live):
        if isinstance(objects.get(source.kind, source.namespace, source.name), dict):
            _content, reason = _followed(source, objects)
            if reason is not None:
                yield reason._replace(field=source.path)
    for reference in references(vm, live):
        for kind in reference.kinds:
            manifest = objects.get(kind, reference.namespace, reference.name)
            if isinstance(manifest, dict) and (problem := _problem(kind, manifest)):
                yield Finding(f"the {kind} {reference.name} {problem}", WARNING, reference.path)
                break


def clones(vm: Manifest, live: Manifest | None, objects: Lookup) -> Iterator[Clone]:
    """The disks of a VM that are cloned from other namespaces."""
    namespace = namespace_of(vm)
    for source in new_sources(vm, live):
        content, _reason = _followed(source, objects)
        if content is not None and content.namespace != namespace:
            yield Clone(source.path, content.kind, content.namespace, content.name, _consumer(vm, namespace))


def named_clones(vm: Manifest, live: Manifest | None) -> Iterator[Clone]:
    """The same as far as the VM itself says, before any source has been read: a DataSource may lead elsewhere."""
    namespace = namespace_of(vm)
    for source in new_sources(vm, live):
        if source.namespace != namespace:
            yield Clone(*source, _consumer(vm, namespace))


def may_not_clone(clone: Clone) -> str:
    """The line about a missing right."""
    consumer, namespace = clone.consumer, clone.namespace
    return (
        f"{clone.path}: VMs in {consumer.namespace} cannot boot from {namespace}/{clone.name}: {consumer.user} may not"
        f" create datavolumes/source of cdi.kubevirt.io in {namespace}; bind a role with this right there"
    )


def is_snapshot(clone: Clone) -> bool:
    """Whether it takes the rights for a snapshot."""
    return clone.kind == _SNAPSHOT


def _consumer(vm: Manifest, namespace: str) -> Consumer:
    """The service account for which virt-controller asks."""
    spec = vm["spec"]["template"].get("spec") or {}
    volumes: Iterable[Manifest] = spec.get("volumes") or ()
    accounts = [(volume.get("serviceAccount") or {}).get("serviceAccountName") for volume in volumes]
    return Consumer(namespace, str(spec.get("serviceAccountName") or next(filter(None, accounts), "default")))


def _followed(source: Source, objects: Lookup) -> tuple[Source | None, Finding | None]:
    """The claim or snapshot behind a source, and why it cannot give a disk. None for what is not known."""
    for _step in range(_DEPTH):
        manifest = objects.get(source.kind, source.namespace, source.name)
        if source.kind != _SOURCE:
            problem = _problem(source.kind, manifest) if isinstance(manifest, dict) else ""
            return source, Finding(f"the {source.kind} {_label(source)} {problem}", WARNING) if problem else None
        if not isinstance(manifest, dict):
            return None, None
        # A manifest that no CDI has seen says nothing of the image.
        seen = bool(condition_of(manifest, "Ready"))
        target = target_of(manifest)
        if target is None and not seen:
            return None, None
        if target is None:
            return None, Finding(f"the DataSource {_label(source)} has no image yet{_condition(manifest)}", WARNING)
        following = Source(source.path, *target)
        if seen and objects.get(*target) is None:
            text = f"the DataSource {_label(source)} refers to the {following.kind} {_label(following)}"
            return None, Finding(f"{text}, which does not exist{_condition(manifest)}", WARNING, missing=True)
        if following.kind != _SOURCE and seen and not is_ready(manifest):
            return following, Finding(f"the DataSource {_label(source)} is not ready{_condition(manifest)}", WARNING)
        source = following
    return None, Finding(f"the DataSource {_label(source)} is one of a long chain; name its claim", WARNING)


def _label(source: Source) -> str:
    return f"{source.namespace}/{source.name}"


def _condition(manifest: Manifest) -> str:
    """What CDI says of a DataSource that is not ready."""
    ready = condition_of(manifest, "Ready")
    if ready.get("status") == "True":
        return ""
    words = [str(ready[key]) for key in ("reason", "message") if ready.get(key)]
    return f" ({': '.join(words)})" if words else ""


def _problem(kind: str, manifest: Manifest) -> str:
    """Why an object gives no disk, as its status says; "" for no reason."""
    if (manifest.get("metadata") or {}).get("deletionTimestamp"):
        return "is being deleted"
    status: Manifest = manifest.get("status") or {}
    if kind == "PersistentVolumeClaim":
        return "has lost its volume" if status.get("phase") == "Lost" else ""
    if kind == _SNAPSHOT:
        message = (status.get("error") or {}).get("message") or ""
        return "" if status.get("readyToUse") or not message else f"is not ready: {message}"
    if kind == "DataVolume":
        running = condition_of(manifest, "Running")
        stopped = running.get("status") == "False" and running.get("reason") in _STOPPED
        if status.get("phase") == "Failed" or stopped:
            return f"cannot be filled: {running.get('message') or running.get('reason') or status.get('phase')}"
    return ""
