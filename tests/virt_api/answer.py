"""A server's answers to a manifest, and the recorded answers, one file for each release of KubeVirt."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from virt_api.case import Case

Manifest = dict[str, Any]

FOLDER = Path(__file__).with_name("recorded")


class Answer(NamedTuple):
    """stored: the object as it would be stored, None if it is refused.

    code: the HTTP status. webhook: the one that refuses it, "" for kube-apiserver itself. messages: the messages of the
    whole refusal, then of each cause, each on one line. fields: the fields of the causes.
    """

    stored: Manifest | None
    code: int = 201
    webhook: str = ""
    messages: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    def says(self, text: str) -> bool:
        """Whether a message of ours tells what the server does."""
        return any(message in text for message in self.messages)


def started(case: Case) -> Case:
    """The VM that makes the VMI of a case."""
    return case._replace(kind="VirtualMachine", vm={"runStrategy": "Always"})


def questions(case: Case) -> list[Case]:
    """The objects of a case that a server is asked about: the VM, or a VMI with the VM that makes it."""
    return [case] if case.kind == "VirtualMachine" else [started(case), case]


def question_digest(case: Case) -> str:
    """The same as long as a case asks the same, so that a recorded answer belongs to it."""
    question = [[asked.manifest("default") for asked in questions(case)], case.configuration]
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:12]


class Recording(NamedTuple):
    """release: the release of the KubeVirt that answered.

    configuration: its configuration, to which a case adds its own. answers: case → the answer to each of its questions.
    pods: case → why its pod is refused, "" if it is made. digests: case → the digest of its question.
    """

    release: str
    configuration: Manifest
    answers: dict[str, list[Answer]]
    pods: dict[str, str]
    digests: dict[str, str]


def recorded() -> list[Recording]:
    """The recordings of all releases, the newest first."""
    releases = [path.stem for path in FOLDER.glob("*.json")]
    return [load(name) for name in sorted(releases, key=lambda text: [*map(int, text.split("."))], reverse=True)]


def load(release: str) -> Recording:
    """The recording of a release."""
    content = json.loads((FOLDER / f"{release}.json").read_text(encoding="utf-8"))
    answers = {
        name: [
            Answer({}) if answer is None else Answer(None, *answer[:2], tuple(answer[2]), tuple(answer[3]))
            for answer in given
        ]
        for name, given in content["answers"].items()
    }
    return Recording(release, content["configuration"], answers, content["pods"], content["digests"])


def save(recording: Recording) -> None:
    """Writes the file of a release: refusals as code, webhook, messages and fields of the causes."""
    answers = {name: plain(given) for name, given in recording.answers.items()}
    lines = [
        f'{{"answered_by": "virt-api and virt-controller {recording.release}",',
        f'"configuration": {json.dumps(recording.configuration)},',
        *_section("digests", recording.digests, ","),
        *_section("answers", answers, ","),
        *_section("pods", recording.pods, "}"),
    ]
    (FOLDER / f"{recording.release}.json").write_text("\n".join([*lines, ""]), encoding="utf-8")


def plain(answers: Sequence[Answer]) -> list[Any]:
    """Answers as they are recorded: for each None if the object is accepted, or code, webhook, messages and fields."""
    return [None if answer.stored is not None else [*answer[1:]] for answer in answers]


def _section(title: str, entries: dict[str, Any], end: str) -> list[str]:
    lines = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in sorted(entries.items())]
    return [f'"{title}": {{', ",\n".join(lines), f"}}{end}"]


def merged(base: Manifest, changes: Manifest) -> Manifest:
    """A configuration with the changes of a case."""
    both = {name: merged(base[name], value) for name, value in changes.items() if isinstance(base.get(name), dict)}
    return {**base, **changes, **both}
