"""The filters survey_text and survey_list, with the values that ansible-core 2.19 makes of marked answers."""

from __future__ import annotations

import datetime
from importlib import import_module
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError


def load(name: str) -> Any:
    module = import_module(f"ansible_collections.virtshape.instancetypes.plugins.filter.{name}")
    return module.FilterModule().filters()[name]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, ""),
        ("", ""),
        (" shop ", "shop"),
        (0, "0"),
        (1.7, "1.7"),
        (datetime.date(2026, 1, 31), "2026-01-31"),
        ("{{ lookup('env', 'HOME') }}", "{{ lookup('env', 'HOME') }}"),
    ],
)
def test_text(answer: Any, text: str) -> None:
    assert load("survey_text")(answer) == text


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        (None, []),
        ("", []),
        (" , ", []),
        ("shop, office,", ["shop", "office"]),
        (7, ["7"]),
        (["shop", 7, None], ["shop", "7"]),
        ((), []),
    ],
)
def test_list(answer: Any, texts: list[str]) -> None:
    assert load("survey_list")(answer) == texts


def test_a_list_without_a_separator() -> None:
    assert load("survey_list")("tier in (web,db)", separator="") == ["tier in (web,db)"]
    assert load("survey_list")(None, separator="") == []


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("survey_text", True, "survey_text: expected a text, found the boolean true; YAML reads a bare on, off,"),
        ("survey_list", [False], "survey_list: expected a text, found the boolean false;"),
        ("survey_text", {"a": 1}, "survey_text: expected a text, found {'a': 1}"),
        ("survey_list", [["a"]], "survey_list: expected a text, found ['a']"),
    ],
)
def test_errors(name: str, answer: Any, message: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        load(name)(answer)
    assert str(error.value).startswith(message)
