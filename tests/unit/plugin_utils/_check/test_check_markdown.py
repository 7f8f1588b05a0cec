"""The comment of a pull request: guests before and after, findings, and nothing that the repository's text could do."""

from pathlib import Path

import pytest

from plugins.plugin_utils._check import command, reports
from plugins.plugin_utils._check.findings import LocatedFinding, Location

VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: NAME, namespace: shop}
spec: {runStrategy: Always, instancetype: {name: SIZE}, template: {spec: {domain: {devices: {}}}}}
---
"""


def vm(size: str, name: str = "web") -> str:
    return VM.replace("NAME", name).replace("SIZE", size)


def comment(tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, after: str) -> list[str]:
    for name, text in (("base", before), ("head", after)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "vm.yaml").write_text(text)
    command.main(["--format", "markdown", "--base", str(tmp_path / "base"), str(tmp_path / "head")])
    return capsys.readouterr().out.splitlines()


def test_changed_guests_are_shown_before_and_after(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = vm("u1.small") + vm("u1.small", "same") + vm("u1.nosuch", "wrong")
    lines = comment(tmp_path, capsys, before, vm("u1.medium") + vm("u1.small", "same") + vm("u1.small", "wrong"))
    assert "| VM | guest before | guest after | a running guest needs |" in lines
    rows = [line for line in lines if line.startswith("| VirtualMachine ")]
    assert len(rows) == 1 and rows[0].startswith("| VirtualMachine shop/web | 1 vCPU, 2Gi | 1 vCPU, 4Gi | ")


SIZE = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata: {name: own, namespace: shop}
spec: {cpu: {guest: 1}, memory: {guest: MEMORY}}
---
"""


def test_guests_change_with_their_instancetype_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    users = vm("own", "web").replace("{name: own}", "{name: own, kind: VirtualMachineInstancetype}")
    others = vm("u1.small", "other") + vm("u1.nosuch", "wrong")
    before, after = (SIZE.replace("MEMORY", memory) + users + others for memory in ("2Gi", "4Gi"))
    rows = [line for line in comment(tmp_path, capsys, before, after) if line.startswith("| VirtualMachine ")]
    assert rows == [
        "| VirtualMachine shop/web | 1 vCPU, 2Gi | 1 vCPU, 4Gi | a refresh, then a live update |",
    ]


def test_guests_without_their_instancetype_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    users = vm("own").replace("{name: own}", "{name: own, kind: VirtualMachineInstancetype}")
    lines = comment(tmp_path, capsys, SIZE.replace("MEMORY", "2Gi") + users, users)
    assert not [line for line in lines if line.startswith("| VirtualMachine ")]
    assert any(line.startswith("| error | ") and '"own" not found' in line for line in lines)


def test_a_comment_without_base_has_findings_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "vm.yaml").write_text(vm("u1.medum"))
    assert command.main(["--format", "markdown", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "| VM |" not in printed and "u1.medum" in printed


def test_text_of_the_repository_is_no_markup() -> None:
    hostile = "@all <img src=x> [click](http://x) | *a*\n# b `c`"
    finding = LocatedFinding(hostile, rule="invalid", location=Location("a.yml"))
    row = reports.markdown(reports.Report([finding], [], "1.9")).splitlines()[-1]
    text = row.removeprefix("| error | a.yml | ").removesuffix(" |")
    assert not set("@<>[]|*`") & set(text) and "&#64;all" in text


def test_long_comments_are_cut() -> None:
    finding = LocatedFinding("wrong", rule="invalid", location=Location("a.yml"))
    lines = reports.markdown(reports.Report([finding] * 120, [], "1.9")).splitlines()
    assert sum("wrong" in line for line in lines) == 100 and lines[-1] == "20 more findings are in the log."
