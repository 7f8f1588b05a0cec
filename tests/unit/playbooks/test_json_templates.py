"""JSON templates begin with an empty line: up to ansible-core 2.18 a lookup reads what begins with a bracket."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[3]
TEMPLATES = [path for part in ("playbooks", "roles") for path in sorted((CHECKOUT / part).rglob("*.json.j2"))]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_begins_with_an_empty_line(path: Path) -> None:
    comment = re.match(r"\{#.*?#\}\n", path.read_text(encoding="utf-8"), re.DOTALL)
    text = path.read_text(encoding="utf-8")[comment.end() if comment else 0 :]
    assert text.startswith("\n") and not text.lstrip().startswith("{%-")
