"""Findings of a check with their places, as values sorted by location."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import yaml

from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.finding import ERROR, Finding
from ...module_utils._resolver.secrets.redaction import mask_secrets
from ...module_utils._resolver.secrets.secret_texts import secret_texts

RULES: Final[dict[str, str]] = {
    "unreadable": "The file is not YAML or JSON, or holds a key twice.",
    "invalid": "No cluster accepts the value of a field, or YAML reads another one than written.",
    "lost-field": "KubeVirt does not know the field and drops it.",
    "deprecated": "The object uses a kind, a version, a field, an instancetype or a preference that has a successor.",
    "obsolete": "The VM uses an obsolete instancetype or preference; an error if it does not in the base.",
    "replacement": "The replacement of a deprecated or obsolete object is missing, or gives other guests.",
    "unsatisfied": "No instancetype satisfies the requirements of the preference.",
    "wrong-label": "A label of the instancetype or preference differs from its spec.",
    "not-found": "The VM, or a label with defaults for VMs, names an object that does not exist.",
    "must-exist": "A VM needs the object, which no file declares.",
    "replaceable": "A preference gives what the VM writes by hand, or several templates are one.",
    "refused": "KubeVirt rejects the object.",
    "collision": "Several VMs make or use the same disk, or have the same MAC address.",
    "limit": "The object breaks a limit of its namespace.",
    "never-starts": "KubeVirt accepts the object, but cannot start a VM with it, or its guest cannot boot.",
    "does-not-run": "The VM of a cluster does not run as declared; the first broken link, with the remedy.",
    "unused": "The guest's system cannot use all that the VM gives it.",
    "added": "The VM is not in the base.",
    "changed": "The VM differs from the base: its guest, its run strategy or its disks.",
    "deleted": "The object of the base is gone, and with a VM its disks.",
    "needs-restart": "The change reaches a running guest only by a restart.",
    "changed-size": "VMs keep their captured revision of the object until a refresh.",
    "unchecked": "The check requires a cluster or a templating engine.",
}
"""Rule → its meaning. Reports contain the names, by which users ignore rules."""


class Location(NamedTuple):
    """The position of an object in a file.

    file: the path as named or found.

    document: its index in the file, from 0. path: the keys and indexes of the object in the document, empty for the
    document itself. line: the number from 1, or 0 if it is not known; `with_lines` finds it in YAML.
    """

    file: str
    document: int = 0
    path: tuple[str | int, ...] = ()
    line: int = 0

    def below(self, *steps: str | int) -> Location:
        """The position of what these keys and indexes lead to."""
        return self._replace(path=(*self.path, *steps))


_UNKNOWN: Final = Location("")


@dataclass(frozen=True)
class LocatedFinding(Finding):
    """A finding about an object in a file, or about the file. rule: a key of RULES.

    label: the object (``VirtualMachine shop/web``), "" for a file. unjudged: the kind of an object that the check does
    not judge, else "".
    """

    location: Location = _UNKNOWN
    label: str = ""
    unjudged: str = ""


def invalid(
    finding: Callable[[str, str, str, str], LocatedFinding], errors: Iterable[FieldError]
) -> Iterator[LocatedFinding]:
    """Findings about wrong fields. finding: the method of their object."""
    return (finding("invalid", ERROR, error.path, error.reason) for error in errors)


def without_secrets(
    findings: Iterable[LocatedFinding], documents: Iterable[tuple[Location, Any]]
) -> list[LocatedFinding]:
    """The findings without the secrets of their documents, which messages may quote."""
    findings = list(findings)
    places = {finding.location[:2] for finding in findings}
    secrets = {place[:2]: secret_texts(content) for place, content in documents if place[:2] in places}
    return [
        replace(finding, text=mask_secrets(finding.text, secrets.get(finding.location[:2], ()))) for finding in findings
    ]


_STEP: Final = re.compile(r"(?<=\[)[^\]]+(?=\])|[^.\[\]]+")


def with_lines(
    findings: Iterable[LocatedFinding], texts: Mapping[str, bytes], starts: Mapping[tuple[str, int], int]
) -> list[LocatedFinding]:
    """The findings with the lines of their fields, or of the nearest parent in the file, ordered by file and line.

    texts: the contents of the files. starts: the first lines of their documents; only those with findings are parsed.
    """
    lines = LineFinder(texts, starts)
    result = []
    for finding in findings:
        location = finding.location
        if not location.line and finding.rule != "unreadable":
            finding = replace(finding, location=location._replace(line=lines.find(location, finding.field)))
        result.append(finding)
    order = {file: index for index, file in enumerate(texts)}
    return sorted(result, key=lambda finding: (order.get(finding.location.file, len(order)), finding.location.line))


class LineFinder:
    """The lines of fields in files; see `with_lines`."""

    def __init__(self, texts: Mapping[str, bytes], starts: Mapping[tuple[str, int], int]) -> None:
        self._texts, self._starts = texts, starts
        self._lines: dict[str, list[bytes]] = {}
        self._nodes: dict[tuple[str, int], Any] = {}

    def find(self, location: Location, field: str) -> int:
        """The line of a field of an object, or of the nearest parent in the file; 0 for an unknown file."""
        if location.file not in self._texts:
            return 0
        place = location.file, location.document
        start = self._starts.get(place, 1)
        if place not in self._nodes:
            if location.file not in self._lines:
                self._lines[location.file] = _utf8(self._texts[location.file]).splitlines(keepends=True)
            self._nodes[place] = _node(_LineReader(self._lines[location.file], start - 1))
        node = self._nodes[place]
        return start if node is None else start - 1 + _line(node, (*location.path, *_STEP.findall(field)))


def _utf8(content: bytes) -> bytes:
    """The content in UTF-8. Other encodings of YAML have a mark at the beginning, which later documents lack."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace").encode()
    return content


def _node(lines: _LineReader) -> Any:
    """The first document in the lines; None if it cannot be parsed alone, such as one with tags of its own."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with contextlib.suppress(yaml.YAMLError, UnicodeDecodeError):
        return next(iter(yaml.compose_all(lines, Loader=loader)), None)
    return None


class _LineReader:
    """The lines from one on, as a file for YAML's parser, which reads no more than it needs."""

    def __init__(self, lines: list[bytes], begin: int) -> None:
        self._lines, self._next = lines, begin

    def read(self, _size: int = -1) -> bytes:
        self._next += 1
        return self._lines[self._next - 1] if self._next <= len(self._lines) else b""


def _line(node: Any, steps: Iterable[str | int]) -> int:
    line = int(node.start_mark.line)
    for step in steps:
        if isinstance(node, yaml.SequenceNode) and str(step).isdigit() and int(step) < len(node.value):
            node = node.value[int(step)]
            line = node.start_mark.line
            continue
        items = node.value if isinstance(node, yaml.MappingNode) else ()
        match = next(((key, value) for key, value in items if key.value == step), None)
        if match is None:
            break
        key, node = match
        line = key.start_mark.line
    return line + 1
