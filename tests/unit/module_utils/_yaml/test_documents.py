"""Hostile catalogs are refused at once, with file, line and column; all others are read as YAML is."""

from pathlib import Path

import pytest
import yaml

from plugins.module_utils._yaml.documents import LARGEST, TextError, catalog_documents, documents
from plugins.module_utils._yaml.scalars import ansible
from plugins.module_utils._yaml.unquoted import number_problem

CATALOG = Path(__file__).parents[4] / "roles" / "common_instancetypes" / "files" / "catalog"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
)
MERGES = "a: &a {k: &k [1, 2]}\nb: {<<: *a, own: *k}\nc: {<<: [*a, {own: 3}], k: null}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "line 6, column 40: aliases repeat more than 500,000 values; write fewer aliases"),
        ("a: &a [*a]", "line 1, column 8: the alias 'a' refers to an object that contains the alias; remove the alias"),
        (
            "a: &a\n  b: {c: *a}",
            "line 2, column 10: the alias 'a' refers to an object that contains the alias; remove the alias",
        ),
        ("a: 1\nb: 2\na: 3\n", "line 3, column 1: duplicate key 'a', first used in line 1; remove one of them"),
        ("{a: 1, 'a': 2}", "line 1, column 8: duplicate key 'a', first used in line 1; remove one of them"),
        (
            "x: {<<: {a: 1}, <<: {b: 1}}",
            "line 1, column 17: duplicate key <<, first used in line 1; remove one of them",
        ),
        (
            "just text",
            "line 1, column 1: expected a catalog or a manifest, found plain text; check the path of the file",
        ),
        ("[" * 100_000, "line 1, column 65: nested more than 64 levels deep"),
        ("- " * 100_000, "line 1, column 129: nested more than 64 levels deep"),
        ("a: !vault x", "line 1, column 4: a catalog must not contain the tag '!vault'; remove it"),
        (
            "a: !!python/object:os.system {}",
            "line 1, column 4: a catalog must not contain the tag 'tag:yaml.org,2002:python/object:os.system'",
        ),
        ("a: !!binary eA==", "line 1, column 4: a catalog must not contain the tag 'tag:yaml.org,2002:binary'"),
        ("a: !!int x", "line 1, column 4: the value is not valid for the type that it looks like; put it in quotes"),
        ("a: *b", "line 1, column 4: unknown anchor 'b'; define"),
        ("a: &a 1\n---\nb: *a", "line 3, column 4: unknown anchor 'a'; define"),
        ("? [a]\n: b", "a key is not text"),
        ("a: {<<: b}", "line 1, column 9: << takes mappings only, such as <<: *common"),
        (
            "a: b: c",
            "line 1, column 5: mapping values are not allowed in this context; check that the file is complete",
        ),
        ("a: [1,", "check that the file is complete"),
        ("\0", "check that the file is complete"),
        ("x" * (LARGEST + 1), "larger than 16 MiB"),
        ("a:\n  no: 1", "acme.yml, line 2, column 3: the key no is false in YAML; put it in quotes"),
        ("{on: 1, 1: 2}", "line 1, column 2: the key on is true in YAML; put it in quotes"),
        ("{1: 1, 010: 2}", "line 1, column 8: the key 010 is the number 8 in YAML; put it in quotes"),
        ("~: 1", "line 1, column 1: the key ~ is null in YAML; put it in quotes"),
        ("a: 010", 'line 1, column 4: 010 is 8 in YAML; write 8 or "010"'),
        ("a: [-010]", 'line 1, column 5: -010 is -8 in YAML; write -8 or "-010"'),
        ("a: .inf", "line 1, column 4: YAML reads the number inf, which JSON does not have; put it in quotes"),
    ],
)
def test_invalid_documents_are_refused_on_one_line(text: str, message: str) -> None:
    with pytest.raises(TextError) as error:
        documents(text, "acme.yml")
    assert str(error.value).startswith("acme.yml") and message in str(error.value)
    assert "\n" not in str(error.value)


def test_contents_of_others_are_kept_as_written() -> None:
    text = "{on: 1, 1: 0644, no: 1:20}"
    ((content, _number, _line),) = documents(text, "play.yml", keep_unknown_tags=True, scalars=ansible)
    assert content == {"on": 1, "1": 420, "no": 80}
    assert (content["1"].written, [key.means for key in content]) == ("0644", [True, 1, False])
    assert number_problem(content["no"]) == '1:20 is 80 in YAML; write 80 or "1:20"'


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(TextError, match=r"^acme\.yml"):
        documents(b"\xff\xfe\x00", "acme.yml")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: {b: [1, 2.5, true, null, 'x', 010.5]}\n",
        '{"a": [{"b": "c"}], "d": {}}',
        "a: &a {b: 1}\nc: *a\nd: [*a, *a]\n",
        MERGES,
        "a: &a {x: 1, s: 2}\nb: &b {<<: *a, s: 3}\nc: {<<: [*b, *a], z: 4}\n",
        "! a: ! x\n",
    ],
)
def test_other_text_is_read_as_yaml(text: str) -> None:
    assert [item.content for item in documents(text, "acme.yml")] == list(yaml.safe_load_all(text))


@pytest.mark.parametrize(
    "empty", ["---\n", "---\n---\n", "# nothing\n", "null\n", "---\n~\n", "--- # Source: a.yaml\n\n"]
)
def test_empty_documents_are_skipped(empty: str) -> None:
    assert documents(empty, "acme.yml") == []
    first, second = documents(f"a: 1\n---\n{empty}---\n\n# two\nb: 2\n", "acme.yml")
    assert (first.number, first.content, first.line) == (0, {"a": 1}, 1)
    assert (second.content, second.place_in("x")) == ({"b": 2}, f"x, line {6 + empty.count(chr(10))}")
    assert second.number == len(list(yaml.safe_load_all(f"a: 1\n---\n{empty}---\nb: 2\n"))) - 1


def test_large_text_without_aliases_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.module_utils._yaml.documents._MOST_REPEATED", 1000)
    text = "---\na: &a {b: 1}\nc: *a\nd: [" + "1, " * 2000 + "1]\n"
    assert len(documents(text, "acme.yml")[0].content["d"]) == 2001


@pytest.mark.parametrize("path", sorted(CATALOG.rglob("*.yml")), ids=lambda path: path.name)
def test_the_catalog_of_the_collection(path: Path) -> None:
    content = path.read_bytes()
    assert [item.content for item in documents(content, path.name)] == list(yaml.safe_load_all(content))


def test_catalogs_are_read_as_variables_are() -> None:
    catalog = "series: {n: {sizes: {}}}\nfamilies: {y: {}}\n"
    for content in (catalog, catalog.encode()):
        assert list(catalog_documents(content, "catalog.yml")[0].content["series"]) == ["n"]
    with pytest.raises(TextError, match="the key n is false in YAML"):
        catalog_documents("apiVersion: v1\nkind: ConfigMap\ndata: {n: a}\n", "objects.yml")
