"""What is said of VMs at the limits of what KubeVirt admits is what the running one answers, of any release."""

from __future__ import annotations

import pytest
from local_findings import causes, errors, issues

from admission_cases import CASES, Case
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.read.kubevirt import kubevirt
from answers import VALIDATORS, ask

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
    manifest, known = PLAIN[name].manifest("default"), kubevirt(session)
    answer, matches = ask(session, manifest), errors(manifest, known)
    assert bool(matches) == (answer.stored is None), (answer, matches)
    if answer.webhook in VALIDATORS and minor(session) not in OTHER_REASONS.get(name, ()):
        # Where the form is wrong, the check reads no further, and has words of its own.
        result = [*(item.message for item in matches), *causes(manifest, known)]
        assert not [cause for cause in answer.messages[1:] if not any(cause in text for text in result)]


@pytest.mark.parametrize("name", VMS)
def test_certain_findings_agree_with_the_server(name: str, session: Session) -> None:
    if minor(session) not in OTHER_REASONS.get(name, ()):
        answer = ask(session, PLAIN[name].manifest("default"))
        assert all(answer.says(text) for text in foreseen(PLAIN[name], session))


@pytest.mark.parametrize("name", VMIS)
def test_start_failures_of_admitted_vms_are_predicted(name: str, session: Session) -> None:
    """A VM that makes such a VMI is refused itself, or preflight tells why its VMI will be."""
    case = PLAIN[name]._replace(kind="VirtualMachine", vm={"runStrategy": "Always"})
    whole, answer = (ask(session, item.manifest("default")) for item in (case, PLAIN[name]))
    result = "; ".join(foreseen(case, session)).replace("spec.template.spec.", "spec.")
    if whole.stored is None:
        assert all(whole.says(text) for text in foreseen(case, session))
    elif answer.stored is None:
        assert all(cause in result for cause in answer.messages[1:])
    elif minor(session) not in LATER_PATCHES.get(name, ()):
        assert not result


def foreseen(case: Case, session: Session) -> list[str]:
    """What preflight is sure of, beside the objects that are not there."""
    result = issues(case.manifest("default"), kubevirt(session))
    return [issue.text for issue in result if issue.certain and not issue.missing]
