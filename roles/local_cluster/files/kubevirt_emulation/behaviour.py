"""Differences between KubeVirt releases beyond the resolver's results, as values for the emulation.

`_resolver.api.release` has the differences of results. No other module compares versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from _resolver.api.release import Release, differences


class Behaviour(NamedTuple):
    """The behaviour of a release. The defaults are the newest release's.

    Stored with a VM:
    writes_null_timestamps: metadata inside a VM or a revision has `creationTimestamp: null`.
    new_firmware: the firmware fields that a new VM gets.
    adds_firmware_uuid: virt-controller gives a VM without a firmware UUID the one derived from its name.
    marks_pci_topology: a new VM's template is annotated with the version of its PCI topology.

    Refused:
    no_content_type: expand-vm-spec's response to a body without a content type: status and text.

    Given to a VMI:
    selects_nodes: a realtime or AMD SEV VMI gets a node selector; else only its pod does.

    Controllers:
    withdraws_restarts: RestartRequired is removed when the VM again matches its state at the guest's start.
    removes_start_revisions: a VM's start revision is deleted when its guest is stopped.
    finds_objects_first: instancetype and preference must exist before anything is stored or upgraded. storing_failed,
    upgrading_failed: the prefix of errors when storing or upgrading ControllerRevisions.
    """

    writes_null_timestamps: bool = False
    new_firmware: tuple[str, ...] = ("uuid", "serial")
    adds_firmware_uuid: bool = True
    marks_pci_topology: bool = True

    no_content_type: tuple[int, str] = (415, "415: Unsupported Media Type")

    selects_nodes: bool = False

    withdraws_restarts: bool = True
    removes_start_revisions: bool = False
    finds_objects_first: bool = True
    storing_failed: str = "error encountered while storing instancetype.kubevirt.io controllerRevisions: "
    upgrading_failed: str = "error encountered while upgrading instancetype.kubevirt.io controllerRevisions: "


# Differences before a release, newest first: a release takes all rows above it, and later rows win.
_BEFORE: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    (
        "1.8.0",
        {
            "writes_null_timestamps": True,
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
            "withdraws_restarts": False,
            "finds_objects_first": False,
        },
    ),
    (
        "1.5.0",
        {
            "new_firmware": (),
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
