"""Whether the check and preflight agree with what a server answers to a case of admission_cases."""

from __future__ import annotations

from local_findings import causes, errors, issues

from admission_cases import Case
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.config.cluster import KubeVirt
from answers import VALIDATORS, ask


def check_agrees(case: Case, session: Session, known: KubeVirt, same_words: bool = True) -> None:
    """The check finds an error exactly where the server refuses a VM. same_words: it also names all causes."""
    manifest = case.manifest("default")
    answer, matches = ask(session, manifest), errors(manifest, known)
    assert bool(matches) == (answer.stored is None), (answer, matches)
    if answer.webhook in VALIDATORS and same_words:
        # Where the form is wrong, the check reads no further, and has words of its own.
        result = [*(item.message for item in matches), *causes(manifest, known)]
        assert not [cause for cause in answer.messages[1:] if not any(cause in text for text in result)]


def findings_agree(case: Case, session: Session, known: KubeVirt) -> None:
    """Of a VM, the server says all that preflight is sure of."""
    answer = ask(session, case.manifest("default"))
    assert all(answer.says(text) for text in foreseen(case, known))


def start_failure_agrees(case: Case, session: Session, known: KubeVirt, later_patch: bool = False) -> None:
    """A VM that makes such a VMI is refused itself, or preflight says why its VMI will be. later_patch: only later
    patches of the release refuse the VMI."""
    starting = case._replace(kind="VirtualMachine", vm={"runStrategy": "Always"})
    whole, answer = (ask(session, item.manifest("default")) for item in (starting, case))
    result = "; ".join(foreseen(starting, known)).replace("spec.template.spec.", "spec.")
    if whole.stored is None:
        assert all(whole.says(text) for text in foreseen(starting, known))
    elif answer.stored is None:
        assert all(cause in result for cause in answer.messages[1:])
    elif not later_patch:
        assert not result


def foreseen(case: Case, known: KubeVirt) -> list[str]:
    """What preflight is sure of, beside the objects that are not there."""
    result = issues(case.manifest("default"), known)
    return [issue.text for issue in result if issue.certain and not issue.missing]
