"""Known secrets are hidden wherever they occur."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.masking import mask_secrets
from growth import growth


def test_longest_secret_is_masked_first() -> None:
    assert mask_secrets({"a": ["x pass1 y", 1], "b": "pass", "c": "pa"}, ["pass", "", "pass1", "longer than any"]) == {
        "a": ["x ******** y", 1],
        "b": "********",
        "c": "pa",
    }


def test_texts_are_not_searched_for_longer_secrets() -> None:
    def work(count: int) -> Callable[[], Any]:
        texts = [f"vm-{number}" for number in range(count)]
        secrets = [f"#cloud-config of {text}" for text in texts]
        return lambda: mask_secrets(texts, secrets)

    assert growth(work) < 5


def test_options_are_not_searched_for_each_secret() -> None:
    def work(count: int) -> Callable[[], Any]:
        secrets = [f"#cloud-config of vm-{number:06}" for number in range(count)]
        return lambda: mask_secrets(secrets, secrets)

    assert growth(work) < 5
