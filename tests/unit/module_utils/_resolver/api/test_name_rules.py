"""Names and labels as Kubernetes takes them; the limits are those of k8s.io/apimachinery."""

from collections.abc import Callable

import pytest

from plugins.module_utils._resolver.api import name_rules as names

Check = Callable[[str], str]

ACCEPTED: list[tuple[Check, list[str]]] = [
    (names.label, ["a", "0", "a-b", "a" * 63]),
    (names.subdomain, ["a", "u1.small", "0.1", "a-b.c-d", "a" * 63 + "." + "b" * 189, "a" * 253]),
    (names.label_key, ["a", "Team_1", "a.b-c", "example.com/Team", "a/b", "a" * 63, "a" * 253 + "/" + "b" * 63]),
    (names.label_value, ["", "a", "Shop_1.x-y", "0", "v" * 63]),
    (names.port_name, ["http", "a-1", "0a", "a" * 15]),
]
REFUSED: list[tuple[Check, list[str]]] = [
    (names.label, ["", "A", "a.b", "-a", "a-", "a" * 64, "größe", "a\n", "a b", "../../x", "a_b"]),
    (names.subdomain, ["", "A", "a..b", ".a", "a.", "a.-b", "a" * 254, "größe", "a\n", "../../x", "a_b", "٣"]),
    (names.label_key, ["", "/a", "a/", "a/b/c", "A.b/c", "-a", "a" * 64, "a b", "a\n", "a" * 254 + "/b", "größe"]),
    (names.label_value, ["a b", "-a", "a-", "v" * 64, "a\n", "größe", "a/b"]),
    (names.port_name, ["", "80", "-a", "a-", "a--b", "A", "a" * 16, "a_b", "a\n"]),
]


@pytest.mark.parametrize(("check", "text"), [(check, text) for check, texts in ACCEPTED for text in texts])
def test_valid_names(check: Check, text: str) -> None:
    assert check(text) == ""


@pytest.mark.parametrize(("check", "text"), [(check, text) for check, texts in REFUSED for text in texts])
def test_invalid_names(check: Check, text: str) -> None:
    assert check(text)


def test_shown_values_are_one_short_line() -> None:
    assert names.quoted("a\nb") == r"'a\nb'"
    assert names.quoted("x" * 60) == repr("x" * 60)
    assert names.quoted("x" * 300) == f"'{'x' * 60}'... (300 characters)"
    assert names.quoted([1]) == "[1]"
    assert names.quoted(["x" * 100]) == f"['{'x' * 58}... (104 characters)"
    assert names.quoted(1 << 20000) == "a number of 20001 bits"


TWENTY = [f"field{number}" for number in range(20)]


@pytest.mark.parametrize(
    ("name", "known_names", "message"),
    [
        ("cors", ["cores", "sockets"], "; did you mean cores?"),
        ("dedicated_cpu_placement", ["dedicatedCPUPlacement", "guest"], "; did you mean dedicatedCPUPlacement?"),
        ("siz", ["sizes", "size", "labels"], "; did you mean size or sizes?"),
        ("x", ["cores", "sockets"], "; choose from cores, sockets"),
        ("x", TWENTY, f"; choose from {', '.join(TWENTY)}"),
        ("x", [*TWENTY, "b"], "; check the spelling"),
        ("x", [], "; check the spelling"),
        ("wbe", ["web", "a"], "; did you mean web?"),
        ("mac", ["name", "macAddress"], "; did you mean macAddress?"),
        ("serie", ["username", "size"], "; choose from username, size"),
        ("hostname", ["name", "state"], "; choose from name, state"),
    ],
)
def test_nearest_suggests_similar_names(name: str, known_names: list[str], message: str) -> None:
    assert names.did_you_mean(name, known_names) == message
