from collections.abc import Callable
from typing import Any

import pytest

from growth import growth
from plugins.module_utils._resolver.secrets.redaction import (
    HIDDEN,
    is_hidden,
    mask_secrets,
    redact,
    redact_field,
    to_fill_in,
    without_logins,
)

CHANGED = "(hidden, another value)"
URL = "https://(hidden)@x/i?(hidden)"


def volumes(data: str) -> dict[str, object]:
    return {"volumes": [{"name": "a", "cloudInitNoCloud": {"userData": data, "networkData": "n"}}]}


def test_secrets_are_hidden_and_a_change_still_shows() -> None:
    before, after = redact(volumes("old"), volumes("new"))
    assert "old" not in str(before)
    assert "new" not in str(after).replace("new value", "")
    assert before != after
    assert before["volumes"][0]["cloudInitNoCloud"]["networkData"] == HIDDEN
    assert after["volumes"][0]["cloudInitNoCloud"]["networkData"] == HIDDEN


def test_hidden_values_are_to_be_filled_in() -> None:
    shown = to_fill_in(volumes("secret"))["volumes"][0]["cloudInitNoCloud"]
    assert shown["userData"].startswith("(hidden: write the value here") and is_hidden(shown["userData"])
    assert is_hidden(HIDDEN) and not is_hidden("secret")
    assert to_fill_in({"name": "web"}) == {"name": "web"}


def test_the_same_secret_shows_no_change() -> None:
    before, after = redact(volumes("same"), volumes("same"))
    assert before == after
    assert "same" not in str(before)


@pytest.mark.parametrize(
    ("field", "before", "after", "shown"),
    [
        ("source.extraHeaders", ["Authorization: a"], ["Authorization: b"], (HIDDEN, CHANGED)),
        ("source.extraHeaders", None, ["Authorization: b"], (None, HIDDEN)),
        ("source.url", "https://me:a@x/i?sign=a", "https://me:a@x/i?sign=b", (URL, CHANGED)),
        ("source.url", "https://me:a@x/i?sign=a", "https://me:a@y/i", (URL, "https://(hidden)@y/i")),
        ("annotations.kubevirt.io/ignitiondata", "a", "b", (HIDDEN, CHANGED)),
        ("source.secretRef", "a", "b", ("a", "b")),
        ("source", {"extraHeaders": ["a"]}, None, ({"extraHeaders": HIDDEN}, None)),
        ("userData", "a", "a", (HIDDEN, HIDDEN)),
    ],
)
def test_a_field_that_is_itself_secret(field: str, before: Any, after: Any, shown: tuple[Any, Any]) -> None:
    assert redact_field(field, before, after) == shown


def test_other_values_are_unchanged() -> None:
    assert redact({"a": 1}, {"a": [2]}) == ({"a": 1}, {"a": [2]})


def test_secret_parts_of_an_address_are_hidden() -> None:
    shown, _after = redact({"http": {"url": "https://me:pw@host/a?sig=x", "extraHeaders": ["A: b"]}}, {})
    assert shown == {"http": {"url": "https://(hidden)@host/a?(hidden)", "extraHeaders": HIDDEN}}
    assert redact({"url": "https://host/a@b"}, {})[0] == {"url": "https://host/a@b"}


def test_logins_in_any_text_are_hidden() -> None:
    live = {"metadata": {"annotations": {"source": "git from https://me:pw@git.example.com/a?b=c"}}}
    shown, _after = redact(live, {})
    assert shown["metadata"]["annotations"]["source"] == "git from https://(hidden)@git.example.com/a?b=c"
    assert without_logins("cannot reach https://me:p@ss@host:1/a and ssh://git@host") == (
        "cannot reach https://(hidden)@host:1/a and ssh://git@host"
    )
    assert without_logins("me:pw@host:1", "host") == "(hidden)@host:1"
    assert without_logins("me:pw@host:1") == "me:pw@host:1"


def test_redact_copies_only_parts_with_secrets() -> None:
    original = {"plain": {"deep": [1]}, **volumes("old")}
    shown, _after = redact(original, {})
    assert shown["plain"] is original["plain"]
    assert original == {"plain": {"deep": [1]}, **volumes("old")}
    assert shown["volumes"][0]["cloudInitNoCloud"] == {"userData": HIDDEN, "networkData": HIDDEN}


def test_values_of_secret_parameters_are_hidden() -> None:
    declared = {"parameters": [{"name": "ROOT_PASSWORD", "value": "old"}, {"name": "PASSIVE", "value": "shown"}]}
    changed = {"parameters": [{"name": "ROOT_PASSWORD", "value": "new"}, {"name": "PASSIVE", "value": "shown"}]}
    before, after = redact(declared, changed)
    assert [entry["value"] for entry in before["parameters"]] == ["(hidden)", "shown"]
    assert [entry["value"] for entry in after["parameters"]] == ["(hidden, another value)", "shown"]


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
