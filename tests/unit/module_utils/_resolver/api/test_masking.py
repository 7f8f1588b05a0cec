"""Known secrets are hidden wherever they occur."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.masking import without
from growth import growth


def test_of_secrets_in_each_other_the_longest_is_hidden_first() -> None:
    assert without({"a": ["x pass1 y", 1], "b": "pass", "c": "pa"}, ["pass", "", "pass1", "longer than any"]) == {
        "a": ["x ******** y", 1],
        "b": "********",
        "c": "pa",
    }


def test_texts_are_not_searched_for_secrets_that_are_longer() -> None:
    def work(count: int) -> Callable[[], Any]:
        texts = [f"vm-{number}" for number in range(count)]
        secrets = [f"#cloud-config of {text}" for text in texts]
        return lambda: without(texts, secrets)

    assert growth(work) < 5


def test_options_that_contain_the_secrets_are_not_searched_for_each() -> None:
    def work(count: int) -> Callable[[], Any]:
        secrets = [f"#cloud-config of vm-{number:06}" for number in range(count)]
        return lambda: without(secrets, secrets)

    assert growth(work) < 5
