"""Mappings change in the text of YAML files, and all other lines stay."""

from typing import Any

import pytest

from plugins.plugin_utils._yaml_edits import EditError, edited

TEXT = """\
# Before.
- a: 1   # one
  # About b.
  b:
    c: 2
    d: |
      text

  e: [1, 2]
# After.
"""


def changed(new: dict[str, Any], text: str = TEXT, document: int = 0, path: Any = (0,)) -> str:
    return edited(text, document, path, new)


OLD = {"a": 1, "b": {"c": 2, "d": "text\n"}, "e": [1, 2]}


@pytest.mark.parametrize(
    ("new", "before", "after"),
    [
        (OLD, "", ""),
        ({**OLD, "a": 2}, "a: 1   # one", "a: 2   # one"),
        ({**OLD, "f": {"g": True}}, "e: [1, 2]\n", "e: [1, 2]\n  f:\n    g: true\n"),
        ({"a": 1, "b": OLD["b"]}, "  e: [1, 2]\n", ""),
        ({"b": OLD["b"], "e": [1, 2]}, "a: 1   # one\n  # About b.\n  b:", "b:"),
        ({**OLD, "b": {"c": 2}}, "    d: |\n      text\n", ""),
        ({**OLD, "b": {"c": 2, "x": 3}}, "    d: |\n      text\n", "    x: 3\n"),
        ({**OLD, "b": {}}, "  b:\n    c: 2\n    d: |\n      text\n", "  b: {}\n"),
        ({**OLD, "b": "no"}, "  b:\n    c: 2\n    d: |\n      text\n", "  b: 'no'\n"),
        ({**OLD, "e": []}, "[1, 2]", "[]"),
    ],
)
def test_only_lines_of_the_change(new: Any, before: str, after: str) -> None:
    assert changed(new) == TEXT.replace(before, after)


def test_other_ways_to_write_it() -> None:
    assert changed({"a": 1, "b": 2}, "{a: 1}  # c", path=()) == "{a: 1, b: 2}  # c"
    assert changed({"a": 1, "b": 2}, "a: 1", path=()) == "a: 1\nb: 2\n"
    assert changed({"b": 2}, "a: 1\r\nb: 2\r\n", path=()) == "b: 2\r\n"
    assert changed({"a": 2, "b": 2}, "a: 1\r\n", path=()) == "b: 2\r\na: 2\r\n"
    assert changed({"k": 1, "l": 2}, "k: 1\n---\nk: 1\n", document=1, path=()) == "k: 1\n---\nk: 1\nl: 2\n"
    assert changed({"k": [3]}, "k:\n- 1\n- 2\n", path=()) == "k: [3]\n"
    assert (
        changed({"s": "x", "n": 1}, "s: !vault |\n  x\nn: 2\n".replace("|\n  x", "x"), path=()) == "s: !vault x\nn: 1\n"
    )


@pytest.mark.parametrize(
    ("text", "path", "new", "message"),
    [
        ("a: &x {b: 1}\nc: *x\n", ("a",), {"b": 2}, "has the anchor or alias x, which stands for other lines"),
        ("a: &x {b: 1}\nc:\n  d: *x\n  e: 1\n", ("c",), {"d": {"b": 1}}, "has the anchor or alias x, which"),
        ("a: &x {b: {c: 1}}\nd:\n  <<: *x\n", ("d", "b"), {"c": 2}, "has its b from an alias, which stands for"),
        ("? a\n: 1\n", (), {"b": 1}, "is written in a way that cannot be changed in its place"),
    ],
)
def test_what_cannot_be_changed_in_place(text: str, path: Any, new: Any, message: str) -> None:
    with pytest.raises(EditError) as caught:
        changed(new, text, path=path)
    assert str(caught.value).startswith(message)
