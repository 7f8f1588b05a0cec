"""The ControllerRevision that KubeVirt writes when it starts a guest: a copy of the VM's spec, with the revisions of
instancetype and preference as revisionName (``virt-controller/watch/vm``).
"""

from __future__ import annotations

from ...api.manifest import Manifest
from ...api.matcher import MATCHER_FIELDS
from ..instancetype import revision_names
from ..instancetype.lookup import Lookup, get_readable


def start_revision_name(vm: Manifest) -> str:
    """The name of the ControllerRevision that KubeVirt writes when it starts this generation of the VM."""
    return f"{start_revision_prefix(vm)}{vm['metadata'].get('generation')}"


def start_revision_prefix(vm: Manifest) -> str:
    """The prefix of the names of all start revisions of a VM."""
    return f"{revision_names.START}{vm['metadata'].get('uid')}-"


def started_vm(vm: Manifest, vmi: Manifest, objects: Lookup) -> Manifest | None:
    """The VM as it was when its guest started, without a status; None if the start revision is lost.

    vmi: the VMI, whose status names the start revision.
    """
    name = _start_of(vmi)
    namespace = vm["metadata"].get("namespace") or ""
    revision = get_readable(objects, "ControllerRevision", namespace, name) if name else None
    spec = ((revision or {}).get("data") or {}).get("spec")
    return None if spec is None else {**vm, "spec": spec, "status": {}}


def is_unchanged_since_start(vm: Manifest, vmi: Manifest, started: Manifest | None) -> bool:
    """Whether the guest was started from this generation of the VM, with the revisions that the VM has now.

    started: the VM at the guest's start, None if it is unknown.
    """
    if started is None or _start_of(vmi) != start_revision_name(vm):
        return False
    return all(
        revision_names.referenced_revision(vm, matcher_field).name
        == revision_names.referenced_revision(started, matcher_field).name
        for matcher_field in MATCHER_FIELDS
    )


def _start_of(vmi: Manifest) -> str:
    return (vmi.get("status") or {}).get("virtualMachineRevisionName") or ""
