"""The filter of survey answers, with the values that ansible-core 2.19 makes of marked answers."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from loaded_filters import FILTERS

survey = FILTERS["_survey"]


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
def test_answer_becomes_text(answer: Any, text: str) -> None:
    assert survey(answer) == text


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
def test_answer_becomes_a_list(answer: Any, texts: list[str]) -> None:
    assert survey(answer, ",") == texts


def test_a_list_without_a_separator() -> None:
    assert survey("tier in (web,db)", separator="") == ["tier in (web,db)"]
    assert survey(None, separator="") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((True,), "expected a text, found the boolean true; YAML reads a bare on, off,"),
        (([False], ","), "expected a text, found the boolean false;"),
        ((False, ","), "expected a text, found the boolean false;"),
        (({"a": 1},), "expected a text, found {'a': 1}"),
        (([["a"]], ","), "expected a text, found ['a']"),
        (
            (' ["shop"]', ","),
            """expected a list, found the text of one, '["shop"]': leave out brackets and quotes""",
        ),
        (("['a', 'b']", ""), "expected a list, found the text of one, "),
    ],
)
def test_invalid_arguments_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(AnsibleError) as error:
        survey(*arguments)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("answer", ["", "0", "1.7", "20%", "*,shop", "shop, office", "2026-01-31", "v1.7.0", "{{ x }}"])
def test_answers_in_the_file_of_awx(answer: str, tmp_path: Path) -> None:
    """AWX 24.6.1 marks all texts as unsafe."""
    (tmp_path / "extravars").write_text(f"!unsafe 'answer': !unsafe '{answer}'\n")
    assert survey(DataLoader().load_from_file(str(tmp_path / "extravars"))["answer"]) == answer
