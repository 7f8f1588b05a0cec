"""Programs of a wheel: what `make wheel` packs is found by the launcher where the wheel is installed."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from loaded_files import load

from local_cluster.build import Programs, ProgramSet, build, status

CHECKOUT = Path(__file__).resolve().parents[3]
WANTED = ProgramSet("1.34.4")


@pytest.fixture(scope="module")
def wheel() -> ModuleType:
    return load(CHECKOUT / "tools" / "wheel.py")


def built(cache: Path) -> Path:
    folder: Path = cache / Programs("go.mod").folder.name
    folder.mkdir(parents=True)
    for name in ("control-plane", "cdi.json", "build.log", "build.lock", "complete"):
        (folder / name).write_text("" if name == "complete" else name)
    (folder / "control-plane").chmod(0o755)
    return folder


def test_programs_are_taken_from_an_installed_wheel(
    wheel: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    packed = wheel.pack([built(tmp_path / "elsewhere")], tmp_path / "out", "1.0.0", "https://example.com")
    assert status(WANTED)["built"] is False
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--target", tmp_path / "site", packed]
    subprocess.run(command, check=True)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    folder = Programs("go.mod").folder
    assert folder.parent == tmp_path / "site" / wheel.NAME
    assert sorted(file.name for file in folder.iterdir()) == ["cdi.json", "complete", "control-plane"]
    assert os.access(folder / "control-plane", os.X_OK) and not os.access(folder / "cdi.json", os.X_OK)
    assert status(WANTED)["built"] is True and build(WANTED, print) is False


def test_cached_programs_win_and_mismatched_wheel_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    package = tmp_path / "site" / "virtshape_local_cluster_programs"
    (package / "0123456789abcdef").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    cached = tmp_path / "virtshape" / "control-plane"
    assert Programs("go.mod").folder.parent == cached
    built(package)
    assert Programs("go.mod").folder.parent == package
    built(cached)
    assert Programs("go.mod").folder.parent == cached


def test_wheel_tags_cover_any_linux_of_a_processor(wheel: ModuleType) -> None:
    assert wheel.tags("linux-aarch64") == ["manylinux2014_aarch64", "musllinux_1_1_aarch64"]
    assert wheel.tags("macosx-14.0-arm64") == ["macosx_14_0_arm64"]
