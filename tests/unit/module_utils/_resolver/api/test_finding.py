"""Findings: what a line says, and the line again."""

from __future__ import annotations

import pytest

from plugins.module_utils._resolver.api.finding import WARNING, Finding


@pytest.mark.parametrize(
    ("line", "field", "text"),
    [
        ("spec.running: is old: remove it", "spec.running", "is old: remove it"),
        ("metadata.name, spec.instancetype.name: too long", "metadata.name, spec.instancetype.name", "too long"),
        ("the VM is refused: spec.running", "", "the VM is refused: spec.running"),
        ("spec.running is old", "", "spec.running is old"),
        ("storage_class: is unknown", "", "storage_class: is unknown"),
    ],
)
def test_a_line_names_its_field(line: str, field: str, text: str) -> None:
    found = Finding.of_line(line, WARNING, missing=True)
    assert (found.field, found.text, found.line) == (field, text, line)
    assert (found.severity, found.missing) == (WARNING, True)


def test_the_remedy_follows_the_text() -> None:
    found = Finding("is old", field="spec.running", remedy="remove it")
    assert (found.message, found.line) == ("is old; remove it", "spec.running: is old; remove it")
