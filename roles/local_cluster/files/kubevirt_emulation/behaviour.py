"""What KubeVirt releases do differently beyond what they compute, as values that the emulation's parts look at.

What they compute differently is in `_resolver.api.release`. No other module looks at versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from _resolver.api.release import Release, differences


class Behaviour(NamedTuple):
    """How a release behaves. The defaults are the newest release's, and so is the reading of each name.

    Stored with a VM:
    writes_null_timestamps: metadata within a VM or a revision has `creationTimestamp: null`.
    new_firmware: the fields of the firmware that a new VM is given.
    adds_firmware_uuid: virt-controller gives a VM without firmware UUID the one that comes from its name.
    marks_pci_topology: a new VM's template is annotated with the version of its PCI topology.

    Refused:
    page_size_field: where a VM's size of huge pages is, in virt-api's words.
    io_threads_policies: the values that a VM's ioThreadsPolicy may have.
    no_content_type: what expand-vm-spec answers to a body of no declared type: status and text.

    Given to a VMI:
    selects_nodes: a VMI that is realtime or of AMD SEV gets a node selector for that; else only its pod does.

    Controllers:
    rollout_strategy: the vmRolloutStrategy of a configuration without one.
    withdraws_restarts: RestartRequired goes when the VM is again as its guest was started.
    removes_start_revisions: a VM's start revision goes when its guest is stopped.
    finds_objects_first: that instancetype and preference exist is looked at before anything is stored or upgraded.
    storing_failed, upgrading_failed: what a failure to do so with ControllerRevisions begins with.
    """

    writes_null_timestamps: bool = False
    new_firmware: tuple[str, ...] = ("uuid", "serial")
    adds_firmware_uuid: bool = True
    marks_pci_topology: bool = True

    page_size_field: str = "memory.hugepages.pageSize"
    io_threads_policies: tuple[str, ...] = ("shared", "auto", "supplementalPool")
    no_content_type: tuple[int, str] = (415, "415: Unsupported Media Type")

    selects_nodes: bool = False

    rollout_strategy: str = "LiveUpdate"
    withdraws_restarts: bool = True
    removes_start_revisions: bool = False
    finds_objects_first: bool = True
    storing_failed: str = "error encountered while storing instancetype.kubevirt.io controllerRevisions: "
    upgrading_failed: str = "error encountered while upgrading instancetype.kubevirt.io controllerRevisions: "


# What was different before a release, newest first: a release takes all rows above it, a later row wins.
_BEFORE: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    (
        "1.8.0",
        {
            "writes_null_timestamps": True,
            "page_size_field": "hugepages.size",
            "no_content_type": (406, "406: Not Acceptable\n\nAvailable representations: "),
        },
    ),
    ("1.7.0", {"removes_start_revisions": True}),
    (
        "1.6.0",
        {
            "new_firmware": ("serial",),
            "adds_firmware_uuid": False,
            "marks_pci_topology": False,
            "rollout_strategy": "Stage",
            "withdraws_restarts": False,
            "finds_objects_first": False,
        },
    ),
    (
        "1.5.0",
        {
            "new_firmware": (),
            "io_threads_policies": ("shared", "auto"),
            "selects_nodes": True,
            "storing_failed": "Error encountered while storing Instancetype ControllerRevisions: ",
            "upgrading_failed": "error encountered while upgrading instancetype.kubevirt.io ControllerRevisions: ",
        },
    ),
)


@cache
def of(release: Release) -> Behaviour:
    """The behaviour of a release."""
    return Behaviour(**differences(_BEFORE, release.version))
