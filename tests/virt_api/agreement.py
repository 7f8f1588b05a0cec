"""Whether the check and preflight judge a case as a server did, and name the same fields in the same order."""

from collections.abc import Iterator, Mapping, Sequence

from local_findings import errors, issues, refused_fields, refused_fields_of_guest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.finding import ERROR, Finding
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt
from virt_api.answer import Answer, started
from virt_api.case import Case

LATER_PATCHES = {"vmi amd64 watchdog": (1, 5), "maxGuest on arm64": (1, 6)}
"""Cases that the first and the later patches of a release answer differently; this collection knows no patches."""
VALIDATORS = ("virtualmachine-validator.kubevirt.io", "virtualmachineinstances-create-validator.kubevirt.io")


def all_disagreements(
    cases: Mapping[str, Case], answers: Mapping[str, Sequence[Answer]], known: Mapping[str, KubeVirt]
) -> list[str]:
    """Each difference, as a line with its case. known: case → the KubeVirt that answered."""
    return [
        f"{name}: {line}"
        for name, case in cases.items()
        if LATER_PATCHES.get(name) != known[name].release.version[:2]
        for line in disagreements(case, answers[name], known[name])
    ]


def pod_disagreements(cases: Mapping[str, Case], reasons: Mapping[str, str], known: KubeVirt) -> list[str]:
    """Cases of which preflight does not foresee that their pods are refused, or foresees it of pods that are made."""
    return [
        f"{name}: {foreseen(case, known)}, but KubeVirt says {reasons[name] or 'nothing'}"
        for name, case in cases.items()
        if bool(foreseen(case, known)) != bool(reasons[name])
    ]


def disagreements(case: Case, answers: Sequence[Answer], known: KubeVirt) -> Iterator[str]:
    """Each difference, as a line. answers: to the case's questions."""
    if case.kind == "VirtualMachine":
        yield from _of_check(case, answers[0], known)
        yield from _of_preflight(case, answers[0], known)
        return
    whole, vmi = answers
    vm = started(case)
    if whole.stored is None:
        yield from _of_preflight(vm, whole, known)
        return
    named = [item.field for item in foreseen(vm, known)]
    if bool(named) != (vmi.stored is None):
        yield f"preflight foresees {named}, the server answers {vmi.messages}"
    elif named:
        server = [field.replace("spec.", "spec.template.spec.", 1) for field in vmi.fields]
        yield from _differences("preflight", named, server)
        yield from _differences("admission", refused_fields_of_guest(vm.manifest("default"), known), server)


def _of_check(case: Case, answer: Answer, known: KubeVirt) -> Iterator[str]:
    """The check finds an error exactly where the server refuses a VM, and names all fields that a webhook names."""
    manifest = case.manifest("default")
    found = errors(manifest, known)
    if bool(found) != (answer.stored is None):
        yield f"the check finds {found}, the server answers {answer.messages}"
    elif answer.webhook in VALIDATORS:
        yield from _differences("admission", refused_fields(manifest, known), answer.fields)
        # Where the form is wrong, the check reads no further.
        if not any(item.rule == "invalid" for item in found):
            yield from _differences("the check", sorted(item.field for item in found), sorted(answer.fields))


def _of_preflight(case: Case, answer: Answer, known: KubeVirt) -> Iterator[str]:
    """Preflight is sure of no refusal that the server does not have, and names no other field."""
    result = foreseen(case, known)
    if result and answer.stored is not None:
        yield f"preflight foresees {result}, the server accepts"
    elif answer.webhook in VALIDATORS:
        named = [field for item in result for field in item.field.split(", ")]
        yield from (f"field only of preflight: {field}" for field in named if field not in answer.fields)


def _differences(name: str, ours: Sequence[str], server: Sequence[str]) -> Iterator[str]:
    """The fields in order; a server may name one several times."""
    if list(dict.fromkeys(ours)) != list(dict.fromkeys(server)):
        yield f"{name} names {ours}, the server {server}"


def foreseen(case: Case, known: KubeVirt) -> list[Finding]:
    """The findings of which preflight is sure, without missing objects."""
    result = issues(case.manifest("default"), known)
    return [issue for issue in result if issue.severity == ERROR and not issue.missing]
