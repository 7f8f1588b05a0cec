"""What is said of VMs at the limits of what KubeVirt admits is what the running one answers, of any release."""

from __future__ import annotations

import pytest

from admission_agreement import check_agrees, findings_agree, start_failure_agrees
from admission_cases import CASES
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.reads.kubevirt import kubevirt

# What needs another configuration is asked in test_admission_configured.py.
PLAIN = {name: case for name, case in CASES.items() if not case.configuration}
VMS = [name for name, case in PLAIN.items() if case.kind == "VirtualMachine"]
VMIS = [name for name in PLAIN if name not in VMS]

# Releases that refuse it for another reason than here, all the same.
OTHER_REASONS = {
    "old passt": ("1.4", "1.5", "1.6", "1.7"),
    "interface sriov down": ("1.4",),
    "gpus by claim and by name": ("1.6", "1.7"),
    # Later patches of it give both reasons.
    "maxGuest on arm64": ("1.6",),
}
# Accepted by the first patches of a release.
LATER_PATCHES = {"vmi amd64 watchdog": ("1.5",)}


def minor(session: Session) -> str:
    return ".".join(map(str, kubevirt(session).release.version[:2]))


@pytest.mark.parametrize("name", VMS)
def test_check_mode_agrees_with_the_server(name: str, session: Session) -> None:
    same_words = minor(session) not in OTHER_REASONS.get(name, ())
    check_agrees(PLAIN[name], session, kubevirt(session), same_words)


@pytest.mark.parametrize("name", VMS)
def test_certain_findings_agree_with_the_server(name: str, session: Session) -> None:
    if minor(session) not in OTHER_REASONS.get(name, ()):
        findings_agree(PLAIN[name], session, kubevirt(session))


@pytest.mark.parametrize("name", VMIS)
def test_start_failures_of_admitted_vms_are_predicted(name: str, session: Session) -> None:
    later_patch = minor(session) in LATER_PATCHES.get(name, ())
    start_failure_agrees(PLAIN[name], session, kubevirt(session), later_patch)
