"""What the controller reads for catalog, and what it says of files that cannot be deployed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from ansible.errors import AnsibleActionFail
from ansible.parsing.dataloader import DataLoader

from ansible_collections.virtshape.instancetypes.plugins.action.catalog import ActionModule

TEXT = "kind: A\n---\nkind: B\n"
DIGEST = hashlib.sha256(TEXT.encode()).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "catalog"
    (made / "below").mkdir(parents=True)
    (made / "one.yaml").write_text(TEXT)
    (made / "below" / "two.json").write_text('{"kind": "C"}')
    (made / "notes.txt").write_text("{ no: [yaml")
    return made


def sent(**options: Any) -> dict[str, Any]:
    """The options with which the module is run."""
    loader = DataLoader()
    task = mock.Mock(args=options, action="virtshape.instancetypes.catalog", async_val=0, diff=False)
    task.get_search_path.return_value = [loader.get_basedir()]
    action = ActionModule(task, mock.Mock(), mock.Mock(check_mode=False), loader, mock.Mock(), mock.Mock())
    with mock.patch.object(action, "_execute_module", return_value={"changed": True}) as execute:
        assert action.run(task_vars={})["changed"] is True
    found: dict[str, Any] = execute.call_args.kwargs["module_args"]
    assert task.args == options
    return found


def test_the_built_in_catalog_is_the_default() -> None:
    kinds = {kind for one in sent()["definitions"] for kind in one}
    assert {"series", "families"} <= kinds
    assert sent(source="builtin") == {"source": "builtin", **sent()}


@pytest.mark.parametrize("source", ["url", "definitions"])
def test_what_the_module_has_or_fetches_itself_is_left_to_it(source: str) -> None:
    given = {source: "u" if source == "url" else [{"kind": "A"}]}
    assert sent(source=source, **given) == {"source": source, **given}


GIVEN: dict[str, Any] = {"path": "acme.yml", "url": "http://acme/bundle.yml", "definitions": []}


@pytest.mark.parametrize("source", ["", "builtin", *GIVEN])
def test_an_option_of_another_source_is_not_ignored(source: str) -> None:
    named = {"source": source} if source else {}
    for option in set(GIVEN) - {source}:
        with pytest.raises(AnsibleActionFail) as told:
            sent(**{option: GIVEN[option]}, **named)
        assert str(told.value) == f"{option}: only valid with source {option}; set source: {option}, or remove {option}"


def test_all_files_of_a_directory_or_one(folder: Path) -> None:
    told = sent(source="path", path=str(folder))
    assert told["definitions"] == [{"kind": "C"}, {"kind": "A"}, {"kind": "B"}]
    file = str(folder / "one.yaml")
    for checksum in (DIGEST, f"sha256:{DIGEST.upper()}"):
        assert sent(source="path", path=file, checksum=checksum)["definitions"] == [{"kind": "A"}, {"kind": "B"}]


def refusal(**options: Any) -> str:
    with pytest.raises(AnsibleActionFail) as told:
        sent(source="path", **options)
    return str(told.value)


def test_options_that_make_no_sense(folder: Path) -> None:
    assert refusal() == "path: required; set it to a file or a directory"
    assert (
        refusal(path=str(folder), checksum=DIGEST)
        == "checksum: only valid for a single file; set path to the file, or remove checksum"
    )


def test_files_that_are_not_there_or_not_what_they_should_be(folder: Path, tmp_path: Path) -> None:
    assert refusal(path=str(tmp_path / "none")) == f"path: {tmp_path}/none: no such file or directory"
    (tmp_path / "empty").mkdir()
    told = f"path: {tmp_path}/empty contains no file that ends in .yml, .yaml, .json"
    assert refusal(path=str(tmp_path / "empty")) == told
    (folder / "kustomization.yaml").write_text("resources: []\n")
    told = f"path: {folder} is a kustomization; render it first: kubectl kustomize {folder} > bundle.yaml"
    assert refusal(path=str(folder)) == told


def test_a_file_that_was_changed_or_is_no_yaml(folder: Path) -> None:
    file = folder / "one.yaml"
    told = f"checksum: {file} has sha256:{DIGEST}; the file was changed or truncated"
    assert refusal(path=str(file), checksum="sha256:0") == told
    file.write_text("kind: A\nspec: {a: [1\n")
    assert refusal(path=str(file)).startswith(f"{file}, line 3, column 1: ")
    file.write_bytes(b"\xff\xfe\x00")
    assert refusal(path=str(file)) == f"{file}: incomplete UTF-16 character; check that the file is complete"
