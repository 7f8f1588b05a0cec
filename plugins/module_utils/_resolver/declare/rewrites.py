"""The fields that KubeVirt itself writes to the spec of VMs, and which of them a declaration takes back.

Undeclared values always stay. `REWRITES` says which declared ones return.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ..api import managed_fields
from ..api.managed_fields import FieldPath
from ..api.manifest import Manifest, annotations_of

_TEMPLATE: Final[FieldPath] = ("spec", "template")
_VMI: Final[FieldPath] = (*_TEMPLATE, "spec")
RUN_STRATEGY: Final[FieldPath] = ("spec", "runStrategy")
RUNNING: Final[FieldPath] = ("spec", "running")
VOLUMES: Final[FieldPath] = (*_VMI, "volumes")
DISKS: Final[FieldPath] = (*_VMI, "domain", "devices", "disks")
TEMPLATES: Final[FieldPath] = ("spec", "dataVolumeTemplates")
NETWORKS: Final[FieldPath] = (*_VMI, "networks")
INTERFACES: Final[FieldPath] = (*_VMI, "domain", "devices", "interfaces")
_PCI_TOPOLOGY: Final[FieldPath] = (*_TEMPLATE, "metadata", "annotations", "kubevirt.io/pci-topology-version")
_UUID: Final[FieldPath] = (*_VMI, "domain", "firmware", "uuid")

API: Final = "virt-api"
CONTROLLER: Final = "virt-controller"
_RESTORED: Final = "restore.kubevirt.io/lastRestoreUID"
# The restores by which virt-controller makes clones have names like this.
_CLONE: Final = "tmp-restore-"

# Where a restore puts other volumes.
_RESTORED_FIELDS: Final = tuple(".".join(field) for field in (TEMPLATES, VOLUMES, DISKS))

NEVER: Final = "never"
IF_SEEN: Final = "if seen"
ALWAYS: Final = "always"


class Rewrite(NamedTuple):
    """A part of the spec of VMs that KubeVirt writes by itself.

    fields: the written fields, or their parents. managers: the field managers that own the fields then. taken_back:
    whether a changed declaration takes the fields back without force_conflicts: IF_SEEN if the plan saw the owner, so
    that a concurrent change is not lost. annotation: marks the VMs that the rewrite concerns; "" for all.
    """

    fields: tuple[FieldPath, ...]
    managers: frozenset[str]
    taken_back: str = NEVER
    annotation: str = ""


# The first that fits decides. All else that KubeVirt writes is never taken back: expansions, captured revisions, and
# recorded hardware. Admission writes for the declaring manager, which keeps its share.
REWRITES: Final = (
    # A snapshot is restored into the VM. The task declares the disks from before the restore.
    Rewrite(
        (TEMPLATES, _VMI),
        frozenset({CONTROLLER}),
        annotation=_RESTORED,
    ),
    # Somebody starts or stops the VM, or it starts paused. A declared run strategy is written again.
    Rewrite((RUN_STRATEGY, RUNNING), frozenset({API, CONTROLLER}), ALWAYS),
    # An interface with the state absent is unplugged.
    Rewrite((INTERFACES, NETWORKS), frozenset({CONTROLLER}), IF_SEEN),
    # Somebody plugs in or removes a volume, or dumps the memory. A plugged volume stays, with a warning; a removed one
    # is declared again. Up to KubeVirt 1.8 virt-controller may carry out the request.
    Rewrite((VOLUMES, DISKS), frozenset({API, CONTROLLER}), IF_SEEN),
)

WITHOUT_EXPANSION: Final = frozenset({RUN_STRATEGY, RUNNING, VOLUMES, _PCI_TOPOLOGY, _UUID})
"""The fields that virt-controller writes to VMs even without expansion, which may write only disks or interfaces."""


def taken_back(manager: str, field: FieldPath, live: Manifest) -> bool:
    """Whether a declaration takes a field back from a manager without force_conflicts.

    live: the VM as the plan saw it, with managed fields.
    """
    rewrite = _rewrite(manager, field, live)
    if rewrite is None or rewrite.taken_back == NEVER:
        return False
    return rewrite.taken_back == ALWAYS or manager in managed_fields.owners(
        managed_fields.fields_of_others(live, ""), field
    )


def remedies(conflicts: Mapping[str, Iterable[str]], live: Manifest) -> str:
    """The addition to the error of a conflict, by the conflicting fields of each manager; "" for none."""
    restore = annotations_of(live).get(_RESTORED)
    if restore is None or CONTROLLER not in conflicts:
        return ""
    disks = any(field.startswith(_RESTORED_FIELDS) for field in conflicts[CONTROLLER])
    if restore.startswith(_CLONE):
        disk_text = ", and declare the disks that it has now" if disks else ""
        return f"; the VM is a clone, which {CONTROLLER} has made: set take_over: [{CONTROLLER}]{disk_text}"
    return "; a snapshot was restored into the VM: declare what it has now, such as its new disks" if disks else ""


def _rewrite(manager: str, field: FieldPath, live: Manifest) -> Rewrite | None:
    return next(
        (
            rewrite
            for rewrite in REWRITES
            if manager in rewrite.managers
            and any(managed_fields.is_inside(field, written) for written in rewrite.fields)
            and _applies_to(rewrite, live)
        ),
        None,
    )


def _applies_to(rewrite: Rewrite, live: Manifest) -> bool:
    return not rewrite.annotation or rewrite.annotation in annotations_of(live)
