"""Findings in the formats text, JSON, JUnit XML, SARIF 2.1.0 and GitHub annotations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote
from xml.etree import ElementTree

from ...module_utils._resolver.api.finding import ERROR, NOTE, SEVERITIES, WARNING
from .base import ChangedGuest
from .changes import Counts
from .findings import RULES, LocatedFinding
from .guest_figures import figures_text

TOOL: Final = "virtshape-check"
_HOME: Final = "https://github.com/virtshape/instancetypes"
# GitHub takes 65,536 characters.
_MOST_ROWS: Final = 100


class Report(NamedTuple):
    """The findings of a check.

    findings: ordered by file and line.

    objects: labels of all checked objects, with their files. release: the release of KubeVirt.
    unchecked: the kinds of the objects that cannot be judged. guests: the guests of changed VMs, for Markdown. changes:
    the numbers of changes since a base; None without one.
    """

    findings: Sequence[LocatedFinding]
    objects: Sequence[tuple[str, str]]
    release: str
    unchecked: Sequence[str] = ()
    guests: Sequence[ChangedGuest] = ()
    changes: Counts | None = None

    @property
    def last_lines(self) -> list[str]:
        """The summary, and the numbers of changes."""
        return [self.summary, *([self.changes.text] if self.changes is not None else [])]

    @property
    def summary(self) -> str:
        """``120 objects checked for KubeVirt 1.9: 2 errors, 1 note; not checked: 1 VirtualMachinePool``"""
        amounts = [
            (severity, sum(finding.severity == severity for finding in self.findings)) for severity in SEVERITIES
        ]
        counts = ", ".join(f"{amount} {severity}{'s' * (amount != 1)}" for severity, amount in amounts if amount)
        number = f"{len(self.objects):,} object{'s' * (len(self.objects) != 1)}"
        others = ", ".join(f"{amount} {kind}" for kind, amount in sorted(Counter(self.unchecked).items()))
        unchecked = f"; not checked: {others}" if others else ""
        return f"{number} checked for KubeVirt {self.release}: {counts or 'nothing found'}{unchecked}"


def text(report: Report) -> str:
    """One line for each finding, in the format of compilers, and the summary."""
    lines = [f"{_line(finding)} [{finding.rule}]" for finding in report.findings]
    return "\n".join([*lines, *report.last_lines]) + "\n"


def as_json(report: Report) -> str:
    """{summary, kubevirt_version, objects, unchecked: {kind: number}, changes: {add, change, delete, restart} or null,
    findings: [{rule, level, file, line, object, field, message}]}"""
    findings = [
        {
            "rule": finding.rule,
            "level": finding.severity,
            "file": finding.location.file,
            "line": finding.location.line,
            "object": finding.label,
            "field": finding.field,
            "message": finding.message,
        }
        for finding in report.findings
    ]
    data = {
        "summary": report.summary,
        "kubevirt_version": report.release,
        "objects": len(report.objects),
        "unchecked": Counter(report.unchecked),
        "changes": report.changes and report.changes._asdict(),
        "findings": findings,
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def junit(report: Report) -> str:
    """A test case for each object, and for each file with its own finding; errors are failures."""
    cases: dict[tuple[str, str], list[LocatedFinding]] = {(file, label): [] for label, file in report.objects}
    for finding in report.findings:
        cases.setdefault((finding.location.file, finding.label), []).append(finding)
    failed = sum(any(finding.severity == ERROR for finding in findings) for findings in cases.values())
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(
        root, "testsuite", name=TOOL, tests=str(len(cases)), failures=str(failed), errors="0"
    )
    if report.changes is not None:
        properties = ElementTree.SubElement(suite, "properties")
        ElementTree.SubElement(properties, "property", name="changes", value=report.changes.text)
    for (file, label), findings in cases.items():
        case = ElementTree.SubElement(suite, "testcase", classname=file, name=label or file)
        errors = [finding for finding in findings if finding.severity == ERROR]
        if errors:
            failure = ElementTree.SubElement(case, "failure", type=errors[0].rule, message=_readable(errors[0].message))
            failure.text = _readable("\n".join(f"{_location(finding)}: {_message(finding)}" for finding in errors))
        others = [finding for finding in findings if finding.severity != ERROR]
        if others:
            output = ElementTree.SubElement(case, "system-out")
            output.text = _readable("\n".join(map(_line, others)))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def sarif(report: Report) -> str:
    """A run in the Static Analysis Results Interchange Format 2.1.0."""
    rules = [{"id": rule, "shortDescription": {"text": meaning}} for rule, meaning in RULES.items()]
    numbers = {rule: index for index, rule in enumerate(RULES)}
    results = []
    for finding in report.findings:
        location: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.location.file)}}
        if finding.location.line:
            location["region"] = {"startLine": finding.location.line}
        position: dict[str, Any] = {"physicalLocation": location}
        if finding.label:
            name = ".".join(part for part in (finding.label, finding.field) if part)
            position["logicalLocations"] = [{"fullyQualifiedName": name}]
        results.append(
            {
                "ruleId": finding.rule,
                "ruleIndex": numbers[finding.rule],
                "level": finding.severity,
                "message": {"text": _message(finding)},
                "locations": [position],
            }
        )
    driver = {"name": TOOL, "informationUri": _HOME, "rules": rules}
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    if report.changes is not None:
        run["properties"] = {"changes": report.changes._asdict()}
    data = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


_GITHUB_LEVELS: Final = {ERROR: "error", WARNING: "warning", NOTE: "notice"}


def github(report: Report) -> str:
    """Workflow commands of GitHub Actions, which annotate the lines of a pull request."""
    lines = []
    for finding in report.findings:
        line = f",line={finding.location.line}" if finding.location.line else ""
        location = f"file={_escaped(finding.location.file, True)}{line},title={_escaped(finding.rule, True)}"
        lines.append(f"::{_GITHUB_LEVELS[finding.severity]} {location}::{_escaped(_message(finding))}")
    return "\n".join([*lines, *report.last_lines]) + "\n"


_NEEDS: Final = {"nothing": "nothing", "live_update": "a live update", "restart": "**a restart**", "unknown": "unknown"}


def markdown(report: Report) -> str:
    """A comment on a pull request: each guest that changes before and after, and the findings."""
    lines = [f"**{_cell(report.summary)}**"]
    if report.guests:
        lines += ["", "| VM | guest before | guest after | a running guest needs |", "|---|---|---|---|"]
        for guest in report.guests:
            before, after = (_cell(figures_text(figures)) for figures in (guest.before, guest.after))
            needs = f"a refresh, then {_NEEDS[guest.needs]}" if guest.refresh else _NEEDS[guest.needs]
            lines.append(f"| {_cell(guest.label)} | {before} | {after} | {needs} |")
    if report.findings:
        lines += ["", "| | where | what |", "|---|---|---|"]
        shown = report.findings[:_MOST_ROWS]
        lines += [f"| {item.severity} | {_cell(_location(item))} | {_cell(_message(item))} |" for item in shown]
        if len(shown) < len(report.findings):
            lines += ["", f"{len(report.findings) - len(shown)} more findings are in the log."]
    if report.changes is not None:
        lines += ["", f"**{report.changes.text}**"]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text that is nothing else in a cell of a table: no mark-up, no mention of somebody, no new line."""
    # A comment of GitHub is text and HTML; what comes from the repository may be anybody's.
    for char in "#\\`*_[]<>|~@":
        text = text.replace(char, f"&#{ord(char)};")
    return " ".join(text.split())


FORMATS: Final[dict[str, Callable[[Report], str]]] = {
    "text": text,
    "json": as_json,
    "junit": junit,
    "sarif": sarif,
    "github": github,
    "markdown": markdown,
}


def _line(finding: LocatedFinding) -> str:
    return f"{_location(finding)}: {finding.severity}: {_message(finding)}"


def _location(finding: LocatedFinding) -> str:
    return f"{finding.location.file}:{finding.location.line}" if finding.location.line else finding.location.file


def _message(finding: LocatedFinding) -> str:
    return ": ".join(part for part in (finding.label, finding.field, finding.message) if part)


def _uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _readable(value: str) -> str:
    """Replaces the control characters that XML cannot express."""
    return "".join(char if char >= " " or char in "\t\n" else "\N{REPLACEMENT CHARACTER}" for char in value)


def _escaped(value: str, of_a_property: bool = False) -> str:
    for char in "%\r\n" + (":," if of_a_property else ""):
        value = value.replace(char, f"%{ord(char):02X}")
    return value
