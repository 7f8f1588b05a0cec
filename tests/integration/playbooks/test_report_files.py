"""Playbooks write reports over links, in check mode, on a full disk. The report of a catalog needs no cluster."""

import subprocess
import sys
from pathlib import Path

import pytest
from ansible_environment import flat, played, surroundings
from mounts import OWN_MOUNTS, may_mount

REPORT = ("virtshape.instancetypes.catalog_report", "-e", "catalog_report_source=builtin")


@pytest.mark.parametrize("link", ["catalog.md", "reports/catalog.md"])
def test_a_link_is_replaced_and_not_followed(tmp_path: Path, link: str) -> None:
    kept = tmp_path / "kept"
    kept.write_text("somebody else's")
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(kept)
    played(tmp_path, *REPORT, "-e", f"catalog_report_file={link}")
    assert kept.read_text() == "somebody else's"
    assert not (tmp_path / link).is_symlink() and "u1.nano" in (tmp_path / link).read_text()


def test_report_is_written_in_check_mode_without_change(tmp_path: Path) -> None:
    for arguments in ((), ("--check",)):
        assert "changed=0" in played(tmp_path, *REPORT, "-e", "catalog_report_file=new/catalog.md", *arguments)
        (tmp_path / "new" / "catalog.md").unlink()


@pytest.mark.skipif(not may_mount(), reason="users may not have mounts of their own here")
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    mount = f'mount -t tmpfs -o size=16k tmpfs {tmp_path}; "$@"; code=$?; ls -A {tmp_path}; exit $code'
    file = tmp_path / "catalog.html"
    command = [*OWN_MOUNTS, "sh", "-c", mount, "sh", str(Path(sys.executable).with_name("ansible-playbook")), *REPORT]
    command += ["-e", f"catalog_report_file={file}"]
    done = subprocess.run(command, env=surroundings(), cwd=tmp_path, capture_output=True, text=True, check=False)
    output = flat(done.stdout + done.stderr)
    assert done.returncode == 2
    assert f"msg: '{file}: cannot be written: No space left on device'" in output
    # Nothing half-written stays.
    assert "failed=1" in output and not output.rpartition("PLAY RECAP")[2].endswith(file.name)
