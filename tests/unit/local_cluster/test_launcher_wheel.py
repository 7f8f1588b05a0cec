"""Programs of a wheel: what `make wheel` packs is found by the launcher where the wheel is installed."""

import email
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from loaded_files import load

from local_cluster.build import Programs, ProgramSet, build, status

CHECKOUT = Path(__file__).resolve().parents[3]
WANTED = ProgramSet("1.34.4")
# Stands for `go`: two programs with a module each, of a module cache in the folder HERE.
GO = """#!/bin/sh
case "$1 $2" in
"version -m") printf '%s: go1.26\\n\\tpath\\tx\\n\\tmod\\texample.com/own\\t(devel)\\t\\n' "$3"
  printf '\\tdep\\texample.com/Old\\tv1.0.0\\n\\t=>\\texample.com/New\\tv1.2.0\\th1:x=\\n' ;;
"env GOROOT") echo HERE/root ;;
"env GOMODCACHE") echo HERE/mod ;;
*) exit 9 ;;
esac
"""
APACHE, MIT = (
    "Apache License\n Version 2.0, January 2004",
    "Permission is hereby granted, free of charge, to any person obtaining a copy",
)
BSD = "Redistributions in binary form must reproduce. Neither the name of Google"


@pytest.fixture(scope="module")
def wheel() -> ModuleType:
    return load(CHECKOUT / "tools" / "wheel.py")


@pytest.fixture
def go(tmp_path: Path) -> str:
    for name, text in {
        "root/LICENSE": BSD,
        "root/PATENTS": "",
        "mod/example.com/!new@v1.2.0/LICENSE": APACHE,
        "mod/example.com/!new@v1.2.0/NOTICE": "by us",
        "mod/example.com/!new@v1.2.0/third_party/LICENSE.txt": MIT,
        "mod/example.com/!new@v1.2.0/vendor/LICENSE": "of another",
    }.items():
        (tmp_path / "go" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "go" / name).write_text(text)
    program = tmp_path / "go" / "go"
    program.write_text(GO.replace("HERE", str(tmp_path / "go")))
    program.chmod(0o755)
    return str(program)


def built(cache: Path) -> Path:
    folder: Path = cache / Programs("go.mod").folder.name
    folder.mkdir(parents=True)
    for name in ("control-plane", "cdi.json", "build.log", "build.lock", "complete"):
        (folder / name).write_text("" if name == "complete" else name)
    (folder / "control-plane").chmod(0o755)
    return folder


def test_programs_are_taken_from_an_installed_wheel(
    wheel: ModuleType, go: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = built(tmp_path / "elsewhere")
    files = {
        f"{wheel.PACKAGE}/{folder.name}/{file.name}": file for file in folder.iterdir() if "build." not in file.name
    }
    packed = wheel.pack(
        wheel.Distribution("virtshape-x", "", files), tmp_path / "out", "1.0.0", "https://example.com", go
    )
    assert status(WANTED)["built"] is False
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--target", tmp_path / "site", packed]
    subprocess.run(command, check=True)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    folder = Programs("go.mod").folder
    assert folder.parent == tmp_path / "site" / wheel.PACKAGE
    assert sorted(file.name for file in folder.iterdir()) == ["cdi.json", "complete", "control-plane"]
    assert os.access(folder / "control-plane", os.X_OK) and not os.access(folder / "cdi.json", os.X_OK)
    assert status(WANTED)["built"] is True and build(WANTED, print) is False


def test_wheels_have_all_licences_and_metadata(wheel: ModuleType, go: str, tmp_path: Path) -> None:
    program = built(tmp_path) / "control-plane"
    distribution = wheel.Distribution(
        "virtshape-x", "X", {"virtshape_local_cluster/0/p": program}, ["y==1"], {"old": "z==1"}
    )
    packed = wheel.pack(distribution, tmp_path / "out", "1.0.0", "https://example.com", go)
    with zipfile.ZipFile(packed) as archive:
        contents = {name: archive.read(name).decode() for name in archive.namelist()}
    info = "virtshape_x-1.0.0.dist-info"
    metadata = email.message_from_string(contents[f"{info}/METADATA"])
    assert metadata["License-Expression"] == "Apache-2.0 AND BSD-3-Clause AND GPL-3.0-or-later AND MIT"
    assert sorted(metadata.get_all("License-File") or ()) == [
        "LICENSE",
        "example.com/New@v1.2.0/LICENSE",
        "example.com/New@v1.2.0/NOTICE",
        "example.com/New@v1.2.0/third_party/LICENSE.txt",
        "go/LICENSE",
        "go/PATENTS",
    ]
    assert contents[f"{info}/licenses/example.com/New@v1.2.0/LICENSE"] == APACHE
    assert metadata.get_all("Requires-Dist") == ["y==1", 'z==1; extra == "old"']
    assert metadata["Requires-Python"] == ">=3.9" and "pip install" in metadata.get_payload()
    assert contents[f"{info}/RECORD"].count("\n") == len(contents)


def test_a_module_without_licence_is_refused(wheel: ModuleType, go: str, tmp_path: Path) -> None:
    (tmp_path / "go" / "mod" / "example.com" / "!new@v1.2.0" / "LICENSE").write_text("all rights reserved")
    distribution = wheel.Distribution(
        "virtshape-x", "X", {"virtshape_local_cluster/0/p": built(tmp_path) / "control-plane"}
    )
    with pytest.raises(wheel.licences.UnknownLicence, match=r"^example\.com/New@v1\.2\.0: "):
        wheel.pack(distribution, tmp_path / "out", "1.0.0", "https://example.com", go)


def test_each_set_of_programs_has_a_wheel(wheel: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    parts = [Programs("go.mod"), Programs("kubevirt-1.8.4.mod")]
    for part in parts:
        folder = tmp_path / "virtshape" / "control-plane" / part.folder.name
        folder.mkdir(parents=True)
        for name in (*part.packages, "complete"):
            (folder / name).touch()
    result = {entry.name: entry for entry in wheel.distributions(parts, "1.0.0")}
    programs = {name: sorted(Path(path).name for path in entry.files) for name, entry in result.items()}
    assert programs["virtshape-local-cluster-kubernetes"] == ["control-plane"]
    assert {"complete", "cdi", "virt-api"} <= set(programs["virtshape-local-cluster-kubevirt-1-9"])
    assert {"complete", "virt-api"} <= set(programs["virtshape-local-cluster-kubevirt-1-8"])
    assert programs["virtshape-local-cluster"] == []
    assert result["virtshape-local-cluster"].extras == {"kubevirt-1-8": "virtshape-local-cluster-kubevirt-1-8==1.0.0"}


def test_cached_programs_win_and_mismatched_wheel_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    package = tmp_path / "site" / "virtshape_local_cluster"
    (package / "0123456789abcdef").mkdir(parents=True)
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
