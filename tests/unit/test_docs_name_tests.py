"""The tests that the documentation and the Makefile name exist."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def test_every_test_named_by_a_page_exists() -> None:
    places = [*(CHECKOUT / "docs").rglob("*.md"), CHECKOUT / "tests" / "README.md"]
    pages = [page.read_text(encoding="utf-8") for page in places]
    named = {name for page in pages for name in re.findall(r"`(test_\w+)`", page)}
    there = {
        name
        for path in (CHECKOUT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert named
    assert sorted(named - there) == []


def test_every_test_of_the_smoke_run_exists() -> None:
    named = re.findall(r"(tests/\S+\.py)::(test_\w+)", (CHECKOUT / "Makefile").read_text(encoding="utf-8"))
    assert named
    for path, name in named:
        assert f"\ndef {name}(" in (CHECKOUT / path).read_text(encoding="utf-8"), name
