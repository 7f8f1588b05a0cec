"""The command rewrites tasks of kubevirt_vm where they are."""

from pathlib import Path

import pytest

from plugins.plugin_utils import _modernize as modernize

PLAY = """\
---
# Our shop.
- hosts: localhost
  tasks:
    - name: Create a VM  # of the shop
      kubevirt.core.kubevirt_vm:
        name: "{{ name }}"
        namespace: shop
        spec:
          domain:
            # It is as large as the old one.
            memory:
              guest: 2Gi  # two
            devices: {}
    - kubevirt.core.kubevirt_vm:
        name: other
        spec:
          domain: {memory: {guest: "{{ memory }}"}, devices: {}}
"""
NEW = """\
        instancetype:
          kind: VirtualMachineClusterInstancetype
          name: u1.small
        spec:
          domain:
            # It is as large as the old one.
            devices: {}
"""
OLD = """\
        spec:
          domain:
            # It is as large as the old one.
            memory:
              guest: 2Gi  # two
            devices: {}
"""


def run_command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str]]:
    code = modernize.main([str(argument) for argument in arguments])
    return code, capsys.readouterr().out.splitlines()


def test_tasks_are_rewritten_in_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "play.yml"
    file.write_text(PLAY)
    code, lines = run_command(capsys, file, "--diff")
    assert code == 0 and file.read_text() == PLAY
    assert "-              guest: 2Gi  # two" in lines and "+          name: u1.small" in lines
    assert lines[2].startswith("VirtualMachine other") and "not converted: has a template" in lines[2]
    _code, lines = run_command(capsys, tmp_path, "--in-place")
    assert lines[-1] == "2 guests: 1 equal, 1 unchanged in size; 1 file changed"
    assert file.read_text() == PLAY.replace(OLD, NEW)
    _code, lines = run_command(capsys, tmp_path, "--in-place", "--diff")
    assert lines[-1] == "2 guests: 2 unchanged in size; 0 files changed"
    assert file.read_text() == PLAY.replace(OLD, NEW)


def test_tasks_in_another_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "play.yml").write_text(PLAY)
    run_command(capsys, tmp_path / "play.yml", "--output", tmp_path / "new")
    assert (tmp_path / "new" / "play.yml").read_text() == PLAY.replace(OLD, NEW)
    assert (tmp_path / "play.yml").read_text() == PLAY


def test_manifests_keep_comments_in_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    domain = "    domain:  # small\n      memory: {guest: 2Gi}\n      devices: {}\n"
    manifest = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n# ours\nmetadata: {name: web}\nspec:\n"
        f"  runStrategy: Always\n  template:\n   spec:\n{domain}"
    )
    (tmp_path / "vm.yml").write_text(manifest)
    run_command(capsys, tmp_path, "--in-place")
    text = (tmp_path / "vm.yml").read_text()
    assert "# ours" in text and "domain:  # small\n      devices: {}\n" in text and "name: u1.small" in text


def test_what_stays_has_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    anchored = PLAY.replace("spec:\n          domain:\n", "spec: &spec\n          domain:\n")
    (tmp_path / "play.yml").write_text(anchored)
    _code, lines = run_command(capsys, tmp_path, "--in-place")
    assert (tmp_path / "play.yml").read_text() == anchored
    assert (
        lines[-2].startswith(f"note: {tmp_path}/play.yml:") and "not changed in its place: has the anchor" in lines[-2]
    )
