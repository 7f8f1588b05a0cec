"""The command that converts the files of a repository: objects, tasks and files, and what the table says."""

import resource
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from plugins.plugin_utils._modernize import command as modernize

Run = Callable[..., tuple[int, list[str], str]]

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


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str]) -> Run:
    """Exit code, lines and errors of the command."""

    def run(*arguments: object) -> tuple[int, list[str], str]:
        code = modernize.main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out.splitlines(), printed.err

    return run


def test_command_prints_a_table_of_changes(tmp_path: Path, run_command: Run) -> None:
    (tmp_path / "old.yml").write_text(f"{template('a', '2Gi')}---\n{template('b', '1536Mi')}")
    code, lines, _error = run_command(tmp_path)
    assert code == 0
    assert lines == [
        "OBJECT      INSTANCETYPE  PREFERENCE  BEFORE          AFTER        GUEST",
        "Template a  u1.small      -           1 vCPU, 2Gi     1 vCPU, 2Gi  equal",
        "Template b  u1.small      -           1 vCPU, 1536Mi  1 vCPU, 2Gi  domain.memory.guest: 1536Mi → 2Gi",
        "2 guests: 1 equal, 1 different",
    ]
    (tmp_path / "sizes.json").write_text(yaml.safe_dump(yaml.safe_load(SIZE), default_flow_style=True))
    _code, lines, _error = run_command(tmp_path, "--output", tmp_path / "new")
    assert "  own " in lines[2] and lines[2].endswith("equal")
    # With an own catalog, which is converted, too.
    assert {file.name for file in (tmp_path / "new").iterdir()} == {"old.yml", "sizes.yml"}
    assert "v1beta1" in (tmp_path / "new" / "sizes.yml").read_text()


def test_templates_that_are_one_become_one(tmp_path: Path, run_command: Run) -> None:
    """Those of another file, too; other objects of the files stay in their order."""
    (tmp_path / "a.yml").write_text(f"{template('web-small', '2Gi')}---\nkind: ConfigMap\napiVersion: v1\n")
    (tmp_path / "b.yml").write_text(f"{template('web-large', '4Gi')}---\n{template('web-big', '4Gi')}---\n{SIZE}")
    code, lines, _error = run_command(tmp_path, "--merge", "--output", tmp_path / "new")
    assert code == 0
    note = "note: VirtualMachineTemplate web: stands for web-small, web-large, web-big"
    assert f"{note}; INSTANCETYPE chooses u1.small, u1.medium" in lines
    kinds = {
        file.name: [item["kind"] for item in yaml.safe_load_all(file.read_text())]
        for file in (tmp_path / "new").iterdir()
    }
    assert kinds == {
        "a.yml": ["VirtualMachineTemplate", "ConfigMap"],
        "b.yml": ["VirtualMachineClusterInstancetype"],
    }
    assert run_command(tmp_path, "--merge")[2] == (
        "error: --merge: needs --output; a file itself is only changed line by line\n"
    )


def test_parameters_that_go_have_a_note(tmp_path: Path, run_command: Run) -> None:
    document = yaml.safe_load(template("a", "'${MEMORY}'"))
    document["parameters"] += [{"name": "MEMORY", "value": "2Gi"}, {"name": "RNG", "value": "/dev/urandom"}]
    document["objects"][0]["spec"]["template"]["spec"]["domain"]["devices"] = {"rng": {}}
    document["objects"][0]["spec"]["template"]["metadata"] = {"annotations": {"acme/tier": "${RNG}"}}
    (tmp_path / "old.yml").write_text(yaml.safe_dump(document))
    own = yaml.safe_load(SIZE)
    own["spec"] = {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}, "annotations": {"acme/tier": "/dev/urandom"}}
    own["apiVersion"] = "instancetype.kubevirt.io/v1beta1"
    (tmp_path / "own.yml").write_text(yaml.safe_dump(own))
    _code, lines, _error = run_command(tmp_path, "--catalog", "none")
    place = f"{tmp_path}/old.yml:1"
    assert lines[2:-1] == [
        f"note: {place}: Template a: spec.parameters[RNG]: Removed. Only fields that the instancetype or the"
        " preference provides referred to it.",
        f"note: {place}: Template a: spec.parameters[MEMORY]: Replaced by spec.parameters[INSTANCETYPE], whose"
        " default is own. The instancetype gives the VM its size, so users choose an instancetype.",
    ]


def test_without_a_catalog(tmp_path: Path, run_command: Run) -> None:
    (tmp_path / "old.yml").write_text(template("a", "2Gi"))
    _code, lines, _error = run_command(tmp_path, "--catalog", "none", "--output", tmp_path / "new")
    assert lines[1].endswith("no instancetype") and lines[-1].startswith("1 guest: 1 unchanged in size; 1 file in ")
    (new,) = yaml.safe_load_all((tmp_path / "new" / "old.yml").read_text())
    assert new["spec"]["virtualMachine"]["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "2Gi"}
    (tmp_path / "sizes.yml").write_text(SIZE.replace("1536Mi", "2Gi"))
    _code, lines, _error = run_command(tmp_path / "old.yml", "--catalog", "none", "--objects", tmp_path / "sizes.yml")
    assert lines[1].split()[2] == "own"


FOUR = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: four}
spec: {runStrategy: Always, template: {spec: {domain: {cpu: {cores: 4}, devices: {}, memory: {guest: 8Gi}}}}}
"""


def test_waste_is_only_what_is_asked_for(tmp_path: Path, run_command: Run) -> None:
    file = tmp_path / "vm.yml"
    file.write_text(FOUR)
    _code, lines, _error = run_command(file, "--in-place")
    assert file.read_text() == FOUR and lines[1].endswith("no instancetype")
    assert lines[2].endswith("u1.xlarge, the nearest, has 4 vCPUs, 16Gi; create one with 4 vCPUs (4 cores), 8Gi")
    _code, lines, _error = run_command(file, "--waste", "100")
    assert "  4 vCPUs, 8Gi  4 vCPUs, 16Gi  " in lines[1]
    with pytest.raises(SystemExit):
        run_command(file, "--waste", "half")


def test_invalid_object_stays_while_others_are_converted(tmp_path: Path, run_command: Run) -> None:
    bad = template("b", "2Gi").replace("${NAME}", "${NAEM}")
    (tmp_path / "old.yml").write_text(f"{template('a', '2Gi')}---\n{bad}")
    (tmp_path / "rendered.yml").write_text("{{ no }} kubevirt: {{ at all }}")
    code, lines, _error = run_command(tmp_path, "--output", tmp_path / "new")
    place = f"{tmp_path}/old.yml:{template('a', '2Gi').count(chr(10)) + 2}"
    assert code == 1 and f"not converted: {place}: spec: spec.virtualMachine: references undefined" in lines[2]
    assert "rendered.yml:1: not read: " in lines[3]
    documents = list(yaml.safe_load_all((tmp_path / "new" / "old.yml").read_text()))
    assert [item["kind"] for item in documents] == ["VirtualMachineTemplate", "Template"]


def test_invalid_arguments_exit_with_code_2(tmp_path: Path, run_command: Run) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "vm.yml").write_text(template("a", "2Gi"))
    code, _lines, error = run_command(tmp_path / "a" / "vm.yml", tmp_path / "b" / "vm.yml")
    assert code == 2 and error.endswith("would be the same file; name their folder\n")
    assert run_command(tmp_path, "--kubevirt-version", "9.9")[2].startswith("error: --kubevirt-version: ")


def test_a_full_disk_leaves_the_old_files(tmp_path: Path, run_command: Run) -> None:
    (tmp_path / "old.yml").write_text(template("a", "2Gi"))
    (tmp_path / "new").mkdir()
    file = tmp_path / "new" / "old.yml"
    file.write_text("before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        code, _lines, error = run_command(tmp_path / "old.yml", "--output", tmp_path / "new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert code != 0 and str(file) in error
    assert list(file.parent.iterdir()) == [file] and file.read_text() == "before"


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


def test_tasks_are_rewritten_in_place(tmp_path: Path, run_command: Run) -> None:
    file = tmp_path / "play.yml"
    file.write_text(PLAY)
    code, lines, _error = run_command(file, "--diff")
    assert code == 0 and file.read_text() == PLAY
    assert "-              guest: 2Gi  # two" in lines and "+          name: u1.small" in lines
    assert lines[2].startswith("VirtualMachine other") and "not converted: has a template" in lines[2]
    _code, lines, _error = run_command(tmp_path, "--in-place")
    assert lines[-1] == "2 guests: 1 equal, 1 unchanged in size; 1 file changed"
    assert file.read_text() == PLAY.replace(OLD, NEW)
    _code, lines, _error = run_command(tmp_path, "--in-place", "--diff")
    assert lines[-1] == "2 guests: 2 unchanged in size; 0 files changed"
    assert file.read_text() == PLAY.replace(OLD, NEW)


def test_tasks_in_another_folder(tmp_path: Path, run_command: Run) -> None:
    (tmp_path / "play.yml").write_text(PLAY)
    run_command(tmp_path / "play.yml", "--output", tmp_path / "new")
    assert (tmp_path / "new" / "play.yml").read_text() == PLAY.replace(OLD, NEW)
    assert (tmp_path / "play.yml").read_text() == PLAY


def test_manifests_keep_comments_in_place(tmp_path: Path, run_command: Run) -> None:
    domain = "    domain:  # small\n      memory: {guest: 2Gi}\n      devices: {}\n"
    manifest = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n# ours\nmetadata: {name: web}\nspec:\n"
        f"  runStrategy: Always\n  template:\n   spec:\n{domain}"
    )
    (tmp_path / "vm.yml").write_text(manifest)
    run_command(tmp_path, "--in-place")
    text = (tmp_path / "vm.yml").read_text()
    assert "# ours" in text and "domain:  # small\n      devices: {}\n" in text and "name: u1.small" in text


def test_what_stays_has_a_note(tmp_path: Path, run_command: Run) -> None:
    anchored = PLAY.replace("spec:\n          domain:\n", "spec: &spec\n          domain:\n")
    (tmp_path / "play.yml").write_text(anchored)
    _code, lines, _error = run_command(tmp_path, "--in-place")
    assert (tmp_path / "play.yml").read_text() == anchored
    assert (
        lines[-2].startswith(f"note: {tmp_path}/play.yml:") and "not changed in its place: has the anchor" in lines[-2]
    )


STATES = """\
- hosts: localhost
  tasks:
    - kubevirt.core.kubevirt_vm: {namespace: lab, name: desk, state: stopped}
    - redhat.openshift_virtualization.kubevirt_vm: {namespace: lab, name: desk, labels: {tier: web}}
    - kubernetes.core.k8s:
        api_version: kubevirt.io/v1
        definition: {kind: VirtualMachine, metadata: {name: desk, namespace: lab}, spec: {runStrategy: Halted}}
"""


def test_tasks_without_a_guest_stay(tmp_path: Path, run_command: Run) -> None:
    file = tmp_path / "states.yml"
    file.write_text(STATES)
    code, lines, error = run_command(file, "--in-place")
    assert (code, error, file.read_text()) == (0, "", STATES)
    assert lines[-1] == "0 guests: 3 without a guest; 0 files changed"
    assert {line.partition(": stays, ")[2] for line in lines[:-1]} == {"because the task declares no guest"}
    assert lines[0].startswith(f"note: {file}:3: VirtualMachine lab/desk: ")


DEFINITION = """\
- kubernetes.core.k8s:
    definition:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web}
      spec:  # ours
        template: {spec: {domain: {memory: {guest: 2Gi}, devices: {}}}}
        runStrategy: Always
"""
ADDED = """\
        instancetype:
          kind: VirtualMachineClusterInstancetype
          name: u1.small
"""


def test_definitions_are_rewritten_in_place(tmp_path: Path, run_command: Run) -> None:
    file, text = tmp_path / "tasks.yml", tmp_path / "text.yml"
    file.write_text(DEFINITION)
    text.write_text(DEFINITION.replace("definition:", "definition: |"))
    _code, lines, _error = run_command(tmp_path, "--in-place")
    changed = DEFINITION.replace("memory: {guest: 2Gi}, ", "")
    assert file.read_text() == changed.replace("        template", f"{ADDED}        template")
    assert text.read_text() == DEFINITION.replace("definition:", "definition: |")
    assert lines[3].endswith("VirtualMachine web: not changed in its place: is a text")
    assert lines[-1] == "2 guests: 2 equal; 1 file changed"


def test_files_of_tasks_are_read(tmp_path: Path, run_command: Run) -> None:
    (tmp_path / "templates").mkdir()
    head = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\n"
    vm = f"{head}spec:\n  runStrategy: Halted\n  template:\n    spec:\n"
    domain = "      domain: {memory: {guest: MEMORY}, devices: {}}\n"
    (tmp_path / "templates" / "vm.yml.j2").write_text(vm + domain.replace("MEMORY", "2Gi"))
    (tmp_path / "templates" / "open.yml.j2").write_text(vm + domain.replace("MEMORY", '"{{ memory }}"'))
    (tmp_path / "play.yml").write_text("- k8s: {template: [vm.yml.j2, {path: open.yml.j2}]}\n")
    for path in (tmp_path, tmp_path / "play.yml"):
        code, lines, _error = run_command(path, "--output", tmp_path / "new")
        assert code == 0 and lines[1].endswith("equal") and "not converted: has a template, " in lines[2]
        assert lines[-1].startswith("2 guests: 1 equal, 1 unchanged in size; 1 file in ")


BUNDLE = """\
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: "${NAME}"}
  data: {mode: 0644}
"""


def test_templates_with_other_objects(tmp_path: Path, run_command: Run) -> None:
    file, other = tmp_path / "bundle.yml", tmp_path / "other.yml"
    file.write_text(template("a", "2Gi") + BUNDLE)
    other.write_text(template("b", "2Gi").partition("- apiVersion")[0] + BUNDLE)
    before = other.read_text()
    code, lines, _error = run_command(tmp_path, "--in-place")
    assert code == 0 and other.read_text() == before
    assert lines[1].startswith("Template a  u1.small") and lines[1].endswith("equal")
    assert lines[2].endswith("objects: The others (ConfigMap) stay in a Template beside it.")
    assert lines[-1] == "1 guest: 1 equal, 1 without a guest; 1 file changed"
    new, rest = yaml.safe_load_all(file.read_text())
    assert (new["kind"], rest["kind"]) == ("VirtualMachineTemplate", "Template")
    assert [item["data"] for item in rest["objects"]] == [{"mode": 0o644}]
    assert run_command(tmp_path, "--in-place")[1][-1].endswith("; 0 files changed")
    code, lines, _error = run_command(other)
    assert (code, lines) == (0, ["0 guests: 1 without a guest"])


def test_bundles_in_tasks_stay(tmp_path: Path, run_command: Run) -> None:
    file = tmp_path / "play.yml"
    lines = (template("a", "2Gi") + BUNDLE).splitlines(keepends=True)
    file.write_text(f"- k8s:\n    definition:\n{''.join(f'      {line}' for line in lines)}")
    before = file.read_text()
    _code, said, _error = run_command(file, "--in-place")
    assert file.read_text() == before
    assert said[-2].endswith("Template a: not changed in its place: becomes several objects")


GUEST = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: shop}
spec:
  runStrategy: Halted
  template:
    METADATA
    spec:
      domain: {devices: {}, cpu: CPU, memory: MEMORY}
"""


@pytest.mark.parametrize(
    ("metadata", "cpu", "memory", "reason"),
    [
        (
            "metadata: {}",
            "{cores: 2, maxSockets: 1}",
            "{guest: 4Gi}",
            "with the instancetype, sockets 2 is more than maxSockets",
        ),
        ("metadata: {}", "{cores: 2}", "{guest: 7800Mi, maxGuest: 7900Mi}", "with the instancetype, Guest memory"),
        ("metadata: {labels: [web]}", "{cores: 2}", "{guest: 4Gi}", "spec.template.metadata.labels: "),
        ("metadata: {}", "{cores: 2}", "{guest: 4Gi, hugepages: {pageSize: 3}}", "spec.template.spec.domain.memory"),
    ],
)
def test_what_no_cluster_accepts_stays(
    tmp_path: Path, run_command: Run, metadata: str, cpu: str, memory: str, reason: str
) -> None:
    text = GUEST.replace("METADATA", metadata).replace("CPU", cpu).replace("MEMORY", memory)
    (tmp_path / "vm.yml").write_text(text)
    code, lines, _error = run_command(tmp_path, "--in-place")
    assert (code, (tmp_path / "vm.yml").read_text()) == (1, text)
    assert "not converted" in lines[1] and reason in lines[1]


DISK = """\
  dataVolumeTemplates:
  - metadata: {name: "${APP}-root"}
    spec: {source: {blank: {}}, storage: {resources: {requests: {storage: 1Gi}}}}
"""


@pytest.mark.parametrize(
    ("memory", "row"), [("2Gi", " u1.small "), ("'${{ values.memory }}'", "has a placeholder, whose")]
)
def test_placeholders_are_no_errors(tmp_path: Path, run_command: Run, memory: str, row: str) -> None:
    text = GUEST.replace("METADATA", "metadata: {}").replace("CPU", "{cores: 1}")
    text = text.replace("MEMORY", f"{{guest: {memory}}}").replace("  template:\n", f"{DISK}  template:\n")
    volume = '      volumes: [{name: root, dataVolume: {name: "${APP}-root"}}]'
    (tmp_path / "vm.yml").write_text(f"{text}{volume}\n")
    code, lines, _error = run_command(tmp_path)
    assert code == 0 and row in lines[1]
