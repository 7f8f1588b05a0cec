"""Words that no page, description or comment has, because a reader stumbles over them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
PAGES = [*CHECKOUT.glob("docs/*.md"), *CHECKOUT.glob("roles/*/README.md"), CHECKOUT / "README.md"]
SPECS = [*CHECKOUT.glob("roles/*/meta/argument_specs.yml"), *CHECKOUT.glob("tools/descriptions/*.yml")]
SPECS += CHECKOUT.glob("plugins/filter/*.yml")
DOCUMENTED = [*CHECKOUT.glob("plugins/modules/*.py"), *CHECKOUT.glob("plugins/doc_fragments/*.py")]
DOCUMENTED += CHECKOUT.glob("plugins/inventory/*.py")
STUMBLING = re.compile(r"\b(is|are|was|be) told\b|\b[Tt]hereby\b|\bshall\b|\bwhen it is not given\b")


def descriptions(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("DOCUMENTATION", "RETURN"):
            yield str(ast.literal_eval(node.value))


@pytest.mark.parametrize("path", [*PAGES, *SPECS], ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_pages_and_role_options_avoid_stumbling_words(path: Path) -> None:
    assert STUMBLING.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", DOCUMENTED, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_options_and_results_avoid_stumbling_words(path: Path) -> None:
    assert [word for text in descriptions(path) for word in STUMBLING.findall(text)] == []


def test_no_comment_cites_a_rule_by_its_number() -> None:
    """Comments cite functions of KubeVirt instead."""
    sources = [path for part in ("plugins", "roles", "tools") for path in (CHECKOUT / part).rglob("*.py")]
    cited = [path.name for path in sources if re.search(r"#.*\brules? [0-9]+\b", path.read_text(encoding="utf-8"))]
    assert cited == []
