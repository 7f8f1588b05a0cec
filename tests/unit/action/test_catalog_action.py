"""The controller reads the files of a catalog, and names those that cannot be deployed."""

import functools
import hashlib
import os
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from ansible.errors import AnsibleActionFail
from ansible.parsing.dataloader import DataLoader

from plugins.action.catalog import ActionModule

TEXT = "kind: A\n---\nkind: B\n"
DIGEST = hashlib.sha256(TEXT.encode()).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    created = tmp_path / "catalog"
    (created / "below").mkdir(parents=True)
    (created / "one.yaml").write_text(TEXT)
    (created / "below" / "two.json").write_text('{"kind": "C"}')
    (created / "notes.txt").write_text("{ no: [yaml")
    return created


def sent(**options: Any) -> dict[str, Any]:
    """The options with which the module is run."""
    loader = DataLoader()
    task = mock.Mock(args=options, action="virtshape.instancetypes.catalog", async_val=0, diff=False)
    task.get_search_path.return_value = [loader.get_basedir()]
    action = ActionModule(task, mock.Mock(), mock.Mock(check_mode=False), loader, mock.Mock(), mock.Mock())
    with mock.patch.object(action, "_execute_module", return_value={"changed": True}) as execute:
        assert action.run(task_vars={})["changed"] is True
    result: dict[str, Any] = execute.call_args.kwargs["module_args"]
    assert task.args == options
    return result


def test_the_built_in_catalog_is_the_default() -> None:
    kinds = {kind for item in sent()["definitions"] for kind in item}
    assert {"series", "families"} <= kinds
    assert sent(source="builtin") == {"source": "builtin", **sent()}


def test_the_action_reads_nothing_for_other_sources() -> None:
    options = {"source": "url", "url": "u"}
    assert sent(**options) == options
    options = {"source": "definitions", "definitions": "{{ text }}"}
    assert sent(**options) == options


def test_empty_documents_of_definitions_are_skipped() -> None:
    options = sent(source="definitions", definitions=[None, {"kind": "A"}, None, {"kind": "B"}])
    assert options["definitions"] == [{"kind": "A"}, {"kind": "B"}]
    assert options["_places"] == ["definitions[1]", "definitions[3]"]


def test_empty_documents_of_files_are_skipped(folder: Path) -> None:
    (folder / "empty.yml").write_text("---\n# Source: acme/templates/sizes.yaml\n---\nnull\n")
    (folder / "one.yaml").write_text(f"---\n---\n# one\n{TEXT}")
    options = sent(source="path", path=str(folder))
    assert options["definitions"] == [{"kind": "C"}, {"kind": "A"}, {"kind": "B"}]
    one = folder / "one.yaml"
    assert options["_places"] == [f"{folder / 'below' / 'two.json'}, line 1", f"{one}, line 4", f"{one}, line 6"]
    with pytest.raises(AnsibleActionFail, match=r"^path: .*empty\.yml contains only empty documents; name a catalog"):
        sent(source="path", path=str(folder / "empty.yml"))


GIVEN: dict[str, Any] = {"path": "acme.yml", "url": "http://acme/bundle.yml", "definitions": []}


@pytest.mark.parametrize("source", ["", "builtin", *GIVEN])
def test_an_option_of_another_source_is_not_ignored(source: str) -> None:
    named = {"source": source} if source else {}
    for option in set(GIVEN) - {source}:
        with pytest.raises(AnsibleActionFail) as message:
            sent(**{option: GIVEN[option]}, **named)
        assert (
            str(message.value) == f"{option}: only valid with source {option}; set source: {option}, or remove {option}"
        )


def test_directory_or_single_file_is_read(folder: Path) -> None:
    result = sent(source="path", path=str(folder))
    assert result["definitions"] == [{"kind": "C"}, {"kind": "A"}, {"kind": "B"}]
    file = str(folder / "one.yaml")
    for checksum in (DIGEST, f"sha256:{DIGEST.upper()}"):
        assert sent(source="path", path=file, checksum=checksum)["definitions"] == [{"kind": "A"}, {"kind": "B"}]


def test_links_and_pipes_in_a_directory(folder: Path) -> None:
    (folder / "gone.yaml").symlink_to("nowhere")
    (folder / "again").symlink_to(".")
    (folder / "linked.yaml").symlink_to("below/two.json")
    os.mkfifo(folder / "pipe.yaml")
    assert sent(source="path", path=str(folder))["definitions"] == [
        {"kind": "C"},
        {"kind": "C"},
        {"kind": "A"},
        {"kind": "B"},
    ]


def test_non_text_keys_are_refused() -> None:
    with pytest.raises(AnsibleActionFail) as message:
        sent(source="definitions", definitions=[{"series": {False: {"sizes": {}}}}])
    assert str(message.value) == "definitions[0].series: YAML read a key as false; put it in quotes"


def refusal(source: str = "path", **options: Any) -> str:
    with pytest.raises(AnsibleActionFail) as message:
        sent(source=source, **options)
    return str(message.value)


def test_invalid_option_combinations(folder: Path) -> None:
    assert refusal() == "path: required; set it to a file or a directory"
    assert (
        refusal(path=str(folder), checksum=DIGEST)
        == "checksum: only valid for a single file; set path to the file, or remove checksum"
    )


def test_missing_and_unusable_files_are_refused(folder: Path, tmp_path: Path) -> None:
    assert refusal(path=str(tmp_path / "none")) == f"path: {tmp_path}/none: no such file or directory"
    (tmp_path / "empty").mkdir()
    message = f"path: {tmp_path}/empty contains no file that ends in .yml, .yaml, .json"
    assert refusal(path=str(tmp_path / "empty")) == message
    (folder / "below" / "kustomization.yaml").write_text("resources: []\n")
    message = f"path: {folder} contains a kustomization; set path to {folder / 'below'}"
    assert refusal(path=str(folder)) == message


PROGRAM = """#!/bin/sh
echo "$0 $*" >>{0}/calls
cat {0}/output
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of programs; kustomize and kubectl, if they are made, print the file `output`."""
    created = tmp_path / "bin"
    created.mkdir()
    (created / "cat").symlink_to("/bin/cat")
    (created / "output").write_text(TEXT)
    monkeypatch.setenv("PATH", str(created))
    return created


def install(programs: Path, name: str, text: str = PROGRAM) -> None:
    (programs / name).write_text(text.format(programs))
    (programs / name).chmod(0o755)


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_kustomization_is_rendered_by_the_program(folder: Path, programs: Path, name: str) -> None:
    (folder / name).write_text("resources: [one.yaml]\n")
    message = f"path: {folder} is a kustomization; install kustomize or kubectl on the controller to render it"
    assert refusal(path=str(folder)) == message
    for program, command in (("kubectl", "kustomize"), ("kustomize", "build")):
        install(programs, program)
        for path in (folder, folder / name):
            options = sent(source="path", path=str(path))
            assert options["definitions"] == [{"kind": "A"}, {"kind": "B"}]
            assert options["_places"] == [f"{folder}, line 1", f"{folder}, line 3"]
        assert (programs / "calls").read_text().splitlines()[-1] == f"{programs}/{program} {command} {folder}"


def test_kustomization_alone_in_its_folder(tmp_path: Path, programs: Path) -> None:
    """It names what is elsewhere."""
    install(programs, "kustomize")
    folder = tmp_path / "remote"
    folder.mkdir()
    (folder / "Kustomization").write_text("resources: [../others]\n")
    assert sent(source="path", path=str(folder))["definitions"] == [{"kind": "A"}, {"kind": "B"}]


def test_unusable_kustomizations_are_refused(folder: Path, programs: Path) -> None:
    (folder / "kustomization.yaml").write_text("resources: [one.yaml]\n")
    install(programs, "kustomize", "#!/bin/sh\necho 'Error: no such\nfile' >&2\nexit 1\n")
    assert refusal(path=str(folder)) == f"path: kustomize cannot render {folder}: Error: no such file"
    install(programs, "kustomize", "no program")
    assert refusal(path=str(folder)).startswith(f"path: kustomize cannot render {folder}: [Errno 8]")
    assert refusal(path=str(folder), checksum=DIGEST).startswith("checksum: only valid for a single file")
    install(programs, "kustomize")
    with mock.patch("plugins.plugin_utils._actions.kustomize.LARGEST", 3):
        assert refusal(path=str(folder)) == f"path: {folder} renders to more than 0 MiB; check that it is a catalog"


GIT = "https://git.example.com/acme/sizes//types?ref=v1"


@pytest.mark.parametrize(
    "url", [GIT, "git@example.com:acme/sizes.git//types?ref=v1", "file:///srv/sizes?ref=v1", f"{GIT}&timeout=60s"]
)
def test_folder_in_git_is_rendered_by_the_program(programs: Path, url: str) -> None:
    install(programs, "kubectl")
    options = sent(source="url", url=url)
    assert options["definitions"] == [{"kind": "A"}, {"kind": "B"}]
    assert options["_places"] == [f"{url}, line 1", f"{url}, line 3"]
    assert (programs / "calls").read_text() == f"{programs}/kubectl kustomize {url}\n"


def test_unusable_folders_in_git_are_refused(programs: Path) -> None:
    refused = functools.partial(refusal, source="url")
    url = GIT.replace("git.", "joe:secret@git.")
    shown = GIT.replace("git.", "(hidden)@git.")
    install(programs, "kustomize", '#!/bin/sh\necho "Error: no access to $2, $GIT_TERMINAL_PROMPT" >&2\nexit 1\n')
    assert refused(url=url) == f"url: kustomize cannot render {shown}: Error: no access to {shown}, 0"
    for unnamed in (url.partition("?")[0], url.replace("v1", "")):
        assert refused(url=unnamed).endswith("so each run might deploy something else; add ?ref= and a tag or commit")
    assert "secret" not in refused(url=url.partition("?")[0])
    for option, value in (("version", "v1.7.0"), ("checksum", DIGEST)):
        expected = f"{option}: not valid with a folder of a Git repository; its ref says the same"
        assert refused(url=url, **{option: value}) == expected
    install(programs, "kustomize", "#!/bin/sh\n")
    assert refused(url=url) == f"url: {shown} renders to nothing; name the folder of a catalog"
    install(programs, "kustomize", "#!/bin/sh\nexec /bin/sleep 9\n")
    with mock.patch("plugins.plugin_utils._actions.kustomize._SECONDS", 0.1):
        assert refused(url=url) == f"url: kustomize did not render {shown} within 0.1 seconds"


def test_changed_file_or_invalid_yaml_is_refused(folder: Path) -> None:
    file = folder / "one.yaml"
    message = f"checksum: {file} has sha256:{DIGEST}; the file was changed or truncated"
    assert refusal(path=str(file), checksum="sha256:0") == message
    file.write_text("kind: A\nspec: {a: [1\n")
    assert refusal(path=str(file)).startswith(f"{file}, line 3, column 1: ")
    file.write_bytes(b"\xff\xfe\x00")
    assert refusal(path=str(file)) == f"{file}: incomplete UTF-16 character; check that the file is complete"
