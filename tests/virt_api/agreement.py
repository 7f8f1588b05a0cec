"""Whether the check and preflight say of a case what a server answered."""

from collections.abc import Iterator, Mapping, Sequence

from local_findings import causes, errors, issues

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.finding import ERROR
from plugins.module_utils._resolver.kubevirt.config.cluster import KubeVirt
from virt_api.answer import Answer, started
from virt_api.case import Case

LATER_PATCHES = {"vmi amd64 watchdog": (1, 5), "maxGuest on arm64": (1, 6)}
"""Cases that the first and the later patches of a release answer differently; this collection knows no patches."""
VALIDATORS = ("virtualmachine-validator.kubevirt.io", "virtualmachineinstances-create-validator.kubevirt.io")

_DECODER = "json: cannot unmarshal"


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
    """Cases of which preflight does not say why their pods are refused, or says it of pods that are made."""
    result = []
    for name, case in cases.items():
        texts = [text.partition(": ")[2].rpartition(";")[0] for text in foreseen(case, known)]
        if bool(texts) != bool(reasons[name]) or not all(text in reasons[name] for text in texts):
            result.append(f"{name}: {texts}, but KubeVirt says {reasons[name] or 'nothing'}")
    return result


def disagreements(case: Case, answers: Sequence[Answer], known: KubeVirt) -> Iterator[str]:
    """Each difference, as a line. answers: to the case's questions."""
    if case.kind == "VirtualMachine":
        yield from _of_check(case, answers[0], known)
        yield from _unsaid(foreseen(case, known), answers[0])
        return
    whole, vmi = answers
    result = foreseen(started(case), known)
    if whole.stored is None:
        yield from _unsaid(result, whole)
    elif vmi.stored is None:
        text = "; ".join(result).replace("spec.template.spec.", "spec.")
        yield from (f"only KubeVirt: {cause}" for cause in vmi.messages[1:] if cause not in text)
    else:
        yield from (f"only here: {text}" for text in result)


def _of_check(case: Case, answer: Answer, known: KubeVirt) -> Iterator[str]:
    """The check finds an error exactly where the server refuses a VM, and names all causes of a webhook."""
    manifest = case.manifest("default")
    found = errors(manifest, known)
    if bool(found) != (answer.stored is None):
        yield f"the check finds {found}, the server answers {answer.messages}"
    elif answer.webhook in VALIDATORS:
        # Where the form is wrong, the check reads no further, and has words of its own.
        result = [*(item.message for item in found), *causes(manifest, known)]
        yield from (f"only KubeVirt: {cause}" for cause in answer.messages[1:] if not any(cause in r for r in result))
        if not any(item.rule == "invalid" for item in found):
            yield from (f"only here: {item.message}" for item in found if not answer.says(item.message))
            fields = {item.field for item in found}
            yield from (f"field only of KubeVirt: {field}" for field in answer.fields if field not in fields)
            yield from (f"field only here: {field}" for field in fields if field not in answer.fields)


def _unsaid(texts: Sequence[str], answer: Answer) -> Iterator[str]:
    if any(_DECODER in message for message in answer.messages):
        # The server's text is that of Go's decoder; ours names the field.
        return
    yield from (f"only here: {text}" for text in texts if not answer.says(text))


def foreseen(case: Case, known: KubeVirt) -> list[str]:
    """The findings of which preflight is sure, without missing objects."""
    result = issues(case.manifest("default"), known)
    return [issue.line for issue in result if issue.severity == ERROR and not issue.missing]
