"""The collection in an execution environment: what it asks for, and that a definition of one can be built from."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from loaded_files import load

CHECKOUT = Path(__file__).resolve().parents[3]
BUILDER = Path(sys.executable).with_name("ansible-builder")


def builder(place: Path, *arguments: str) -> str:
    """The output of ansible-builder in a folder."""
    done = subprocess.run([str(BUILDER), *arguments], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def definition() -> str:
    """The definition of docs/awx.md."""
    text = (CHECKOUT / "docs" / "awx.md").read_text()
    return text.partition("# execution-environment.yml\n")[2].partition("```")[0]


def test_a_definition_with_the_collection(tmp_path: Path) -> None:
    result = yaml.safe_load(definition())
    (tmp_path / "execution-environment.yml").write_text(definition())
    builder(tmp_path, "create", "--output-filename", "Containerfile")
    steps = (tmp_path / "context" / "Containerfile").read_text()
    assert result["images"]["base_image"]["name"] in steps
    galaxy = yaml.safe_load((tmp_path / "context" / "_build" / "requirements.yml").read_text())
    assert "virtshape.instancetypes" in [item["name"] for item in galaxy["collections"]]


def test_images_get_the_collection_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both definitions, each with the tarball, which the step that installs collections finds."""
    monkeypatch.syspath_prepend(CHECKOUT / "tools")
    environments = load(CHECKOUT / "tools" / "build_environments.py")
    tarball = tmp_path / "c.tar.gz"
    tarball.write_text("")
    found = environments.definitions()
    assert set(found) == set(environments.COMMANDS) == {"execution", "decision"}
    for name, released in found.items():
        place = tmp_path / name
        place.mkdir()
        definition = environments.with_tarball(released, tarball)
        (place / "execution-environment.yml").write_text(yaml.safe_dump(definition))
        builder(place, "create", "--output-filename", "Containerfile")
        build = place / "context" / "_build"
        asked = yaml.safe_load((build / "requirements.yml").read_text())["collections"]
        assert asked == [{"name": "/collections/c.tar.gz", "type": "file"}]
        assert (build / "collections" / "c.tar.gz").is_file()
        steps = (place / "context" / "Containerfile").read_text()
        assert steps.index("COPY _build/collections /collections") < steps.index("collection install")


def test_the_collection_itself_as_a_definition(tmp_path: Path) -> None:
    """Its files are named from the root of the collection."""
    shutil.copytree(CHECKOUT / "meta", tmp_path / "meta")
    shutil.copy(tmp_path / "meta" / "execution-environment.yml", tmp_path)
    builder(tmp_path, "create")
    assert (tmp_path / "context" / "_build" / "requirements.txt").read_text().endswith("kubernetes>=24.2.0,!=36.0.0\n")


def test_builder_finds_the_python_requirements(tmp_path: Path) -> None:
    place = tmp_path / "ansible_collections" / "virtshape" / "instancetypes"
    shutil.copytree(CHECKOUT / "meta", place / "meta")
    shutil.copy(CHECKOUT / "galaxy.yml", place)
    result = yaml.safe_load(builder(tmp_path, "introspect", str(tmp_path)))
    assert [item.partition(" ")[0] for item in result["python"]] == ["kubernetes>=24.2.0,!=36.0.0"]
    assert not result["system"]
