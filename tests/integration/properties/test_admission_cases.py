"""What is said of VMs at the limits of what KubeVirt admits is what the running one answers, of any release."""

from __future__ import annotations

import pytest

from admission_cases import CASES, Case
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.read.kubevirt import kubevirt
from answers import VALIDATORS, ask
from said import errors, issues

# What needs another configuration is asked in test_admission_configured.py.
PLAIN = {name: case for name, case in CASES.items() if not case.configuration}
VMS = [name for name, case in PLAIN.items() if case.kind == "VirtualMachine"]
# VMIs for which a VM is refused, too.
OF_VMS = {"vmi network twice", "vmi old slirp", "vmi label"}
VMIS = [name for name in PLAIN if name not in VMS and name not in OF_VMS]

# By the schema in virt-api or in the CRD, which the check reads less closely.
OF_SCHEMAS = {
    "empty disk without capacity",
    "probe without a port",
    "pull policy",
    "dns policy empty",
    "container path relative",
    "container path writable",
    "257 volumes",
    "reboot policy",
    "users twice",
}
# KubeVirt, or a release of it, stores what no cluster could use.
STRICTER = {"ports on multus are not looked at", "service account bad", "port ranges bad"}


@pytest.mark.parametrize("name", VMS)
def test_the_check_says_what_the_server_says(name: str, session: Session) -> None:
    case = PLAIN[name]
    answer, found = ask(session, case.manifest("default")), errors(case.manifest("default"), kubevirt(session))
    if name in STRICTER:
        assert found
    elif name in OF_SCHEMAS:
        # An entry goes once it holds.
        assert answer.stored is None
        assert not found
    else:
        assert bool(found) == (answer.stored is None), (answer, found)
    # Where the form is wrong, the check reads no further, and has words of its own.
    if answer.webhook in VALIDATORS and not any(one.rule == "invalid" for one in found):
        told = [one.message for one in found]
        assert not [cause for cause in answer.messages[1:] if not any(cause in text for text in told)]


@pytest.mark.parametrize("name", VMS)
def test_what_preflight_is_sure_of_is_what_the_server_says(name: str, session: Session) -> None:
    case = PLAIN[name]
    answer = ask(session, case.manifest("default"))
    assert all(answer.says(text) for text in foreseen(case, session))


@pytest.mark.parametrize("name", VMIS)
def test_what_keeps_an_admitted_vm_from_starting_is_foreseen(name: str, session: Session) -> None:
    answer = ask(session, CASES[name].manifest("default"))
    told = "; ".join(foreseen(_of_vm(CASES[name]), session)).replace("spec.template.spec.", "spec.")
    if answer.webhook in VALIDATORS:
        assert all(cause in told for cause in answer.messages[1:])
    elif answer.stored is not None:
        assert not told


@pytest.mark.parametrize("name", sorted(OF_VMS))
def test_what_a_vm_is_refused_for_is_not_told_of_its_start(name: str, session: Session) -> None:
    assert ask(session, CASES[name].manifest("default")).stored is None
    assert foreseen(_of_vm(CASES[name]), session) == []


def foreseen(case: Case, session: Session) -> list[str]:
    """What preflight is sure of, beside the objects that are not there."""
    found = issues(case.manifest("default"), kubevirt(session))
    return [issue.text for issue in found if issue.certain and not issue.missing]


def _of_vm(case: Case) -> Case:
    """A VM that makes such a VMI."""
    return case._replace(kind="VirtualMachine", vm={"runStrategy": "Always"})
