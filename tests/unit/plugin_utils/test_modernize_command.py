"""The command that converts the files of a repository: which objects and files, and what the table says."""

import resource
from pathlib import Path

import pytest
import yaml

from plugins.plugin_utils import _modernize as modernize

TEMPLATE = """\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: NAMED}
parameters: [{name: NAME, required: true}]
objects:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata: {name: "${NAME}"}
  spec:
    runStrategy: Halted
    template: {spec: {domain: {devices: {}, memory: {guest: MEMORY}}}}
"""
SIZE = """\
apiVersion: instancetype.kubevirt.io/v1alpha2
kind: VirtualMachineClusterInstancetype
metadata: {name: own}
spec: {cpu: {guest: 1}, memory: {guest: 1536Mi}}
"""


def template(name: str, memory: str) -> str:
    return TEMPLATE.replace("NAMED", name).replace("MEMORY", memory)


def run_command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    code = modernize.main(arguments)
    printed = capsys.readouterr()
    return code, printed.out.splitlines(), printed.err


def test_command_prints_a_table_of_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.yml").write_text(f"{template('a', '2Gi')}---\n{template('b', '1536Mi')}")
    code, lines, _error = run_command(capsys, str(tmp_path))
    assert code == 0
    assert lines == [
        "OBJECT      INSTANCETYPE  PREFERENCE  BEFORE          AFTER        GUEST",
        "Template a  u1.small      -           1 vCPU, 2Gi     1 vCPU, 2Gi  equal",
        "Template b  u1.small      -           1 vCPU, 1536Mi  1 vCPU, 2Gi  domain.memory.guest: 1536Mi → 2Gi",
        "2 guests: 1 equal, 1 different",
    ]
    (tmp_path / "sizes.json").write_text(yaml.safe_dump(yaml.safe_load(SIZE), default_flow_style=True))
    _code, lines, _error = run_command(capsys, str(tmp_path), "--output", str(tmp_path / "new"))
    assert "  own " in lines[2] and lines[2].endswith("equal")
    # With an own catalog, which is converted, too.
    assert {file.name for file in (tmp_path / "new").iterdir()} == {"old.yml", "sizes.yml"}
    assert "v1beta1" in (tmp_path / "new" / "sizes.yml").read_text()


def test_parameters_that_go_have_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = yaml.safe_load(template("a", "'${MEMORY}'"))
    document["parameters"] += [{"name": "MEMORY", "value": "2Gi"}, {"name": "RNG", "value": "/dev/urandom"}]
    document["objects"][0]["spec"]["template"]["spec"]["domain"]["devices"] = {"rng": {}}
    document["objects"][0]["spec"]["template"]["metadata"] = {"annotations": {"acme/tier": "${RNG}"}}
    (tmp_path / "old.yml").write_text(yaml.safe_dump(document))
    own = yaml.safe_load(SIZE)
    own["spec"] = {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}, "annotations": {"acme/tier": "/dev/urandom"}}
    own["apiVersion"] = "instancetype.kubevirt.io/v1beta1"
    (tmp_path / "own.yml").write_text(yaml.safe_dump(own))
    _code, lines, _error = run_command(capsys, str(tmp_path), "--catalog", "none")
    place = f"{tmp_path}/old.yml:1"
    assert lines[2:-1] == [
        f"note: {place}: Template a: spec.parameters[RNG]: Removed. Only fields that the instancetype or the"
        " preference provides referred to it.",
        f"note: {place}: Template a: spec.parameters[MEMORY]: Replaced by spec.parameters[INSTANCETYPE], whose"
        " default is own. The instancetype gives the VM its size, so users choose an instancetype.",
    ]


def test_without_a_catalog(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.yml").write_text(template("a", "2Gi"))
    _code, lines, _error = run_command(capsys, str(tmp_path), "--catalog", "none", "--output", str(tmp_path / "new"))
    assert lines[1].endswith("no instancetype") and lines[-1].startswith("1 guest: 1 unchanged in size; 1 file in ")
    (new,) = yaml.safe_load_all((tmp_path / "new" / "old.yml").read_text())
    assert new["spec"]["virtualMachine"]["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "2Gi"}
    (tmp_path / "sizes.yml").write_text(SIZE)
    _code, lines, _error = run_command(
        capsys, str(tmp_path / "old.yml"), "--catalog", "none", "--objects", str(tmp_path / "sizes.yml")
    )
    assert lines[1].split()[2] == "own"


def test_invalid_object_stays_while_others_are_converted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = template("b", "2Gi").replace("${NAME}", "${NAEM}")
    (tmp_path / "old.yml").write_text(f"{template('a', '2Gi')}---\n{bad}")
    (tmp_path / "rendered.yml").write_text("{{ no }} yaml: {{ at all }}")
    code, lines, _error = run_command(capsys, str(tmp_path), "--output", str(tmp_path / "new"))
    place = f"{tmp_path}/old.yml:{template('a', '2Gi').count(chr(10)) + 2}"
    assert code == 1 and f"not converted: {place}: spec: spec.virtualMachine: references undefined" in lines[2]
    assert "rendered.yml:1: not read: " in lines[3]
    documents = list(yaml.safe_load_all((tmp_path / "new" / "old.yml").read_text()))
    assert [item["kind"] for item in documents] == ["VirtualMachineTemplate", "Template"]


def test_invalid_arguments_exit_with_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "vm.yml").write_text(template("a", "2Gi"))
    code, _lines, error = run_command(capsys, str(tmp_path / "a" / "vm.yml"), str(tmp_path / "b" / "vm.yml"))
    assert code == 2 and error.endswith("would be the same file; name their folder\n")
    assert run_command(capsys, str(tmp_path), "--kubevirt-version", "9.9")[2].startswith("error: --kubevirt-version: ")


def test_a_full_disk_leaves_the_old_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.yml").write_text(template("a", "2Gi"))
    (tmp_path / "new").mkdir()
    file = tmp_path / "new" / "old.yml"
    file.write_text("before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        code, _lines, error = run_command(capsys, str(tmp_path / "old.yml"), "--output", str(tmp_path / "new"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert code != 0 and str(file) in error
    assert list(file.parent.iterdir()) == [file] and file.read_text() == "before"
