"""Mappings change in the text of YAML files, and all other lines stay."""

from typing import Any

import pytest

from plugins.plugin_utils._modernize.yaml_edits import EditError, edited

TEXT = """\
# Before.
- a: 1   # one
  # About b.
  b:
    c: 2
    d: |
      text

  e: [1, 2]
# After.
"""


def changed(new: dict[str, Any], text: str = TEXT, document: int = 0, path: Any = (0,)) -> str:
    return edited(text, document, path, new)


OLD = {"a": 1, "b": {"c": 2, "d": "text\n"}, "e": [1, 2]}


@pytest.mark.parametrize(
    ("new", "before", "after"),
    [
        (OLD, "", ""),
        ({**OLD, "a": 2}, "a: 1   # one", "a: 2   # one"),
        ({**OLD, "f": {"g": True}}, "e: [1, 2]\n", "e: [1, 2]\n  f:\n    g: true\n"),
        ({"a": 1, "b": OLD["b"]}, "  e: [1, 2]\n", ""),
        ({"b": OLD["b"], "e": [1, 2]}, "a: 1   # one\n  # About b.\n  b:", "b:"),
        ({**OLD, "b": {"c": 2}}, "    d: |\n      text\n", ""),
        ({**OLD, "b": {"c": 2, "x": 3}}, "    d: |\n      text\n", "    x: 3\n"),
        ({**OLD, "b": {}}, "  b:\n    c: 2\n    d: |\n      text\n", "  b: {}\n"),
        ({**OLD, "b": "no"}, "  b:\n    c: 2\n    d: |\n      text\n", "  b: 'no'\n"),
        ({**OLD, "e": []}, "[1, 2]", "[]"),
    ],
)
def test_only_lines_of_the_change(new: Any, before: str, after: str) -> None:
    assert changed(new) == TEXT.replace(before, after)


def test_other_ways_to_write_it() -> None:
    assert changed({"a": 1, "b": 2}, "{a: 1}  # c", path=()) == "{a: 1, b: 2}  # c"
    assert changed({"a": 1, "b": 2}, "a: 1", path=()) == "a: 1\nb: 2\n"
    assert changed({"b": 2}, "a: 1\r\nb: 2\r\n", path=()) == "b: 2\r\n"
    assert changed({"a": 2, "b": 2}, "a: 1\r\n", path=()) == "b: 2\r\na: 2\r\n"
    assert changed({"k": 1, "l": 2}, "k: 1\n---\nk: 1\n", document=1, path=()) == "k: 1\n---\nk: 1\nl: 2\n"
    assert changed({"k": [3]}, "k:\n- 1\n- 2\n", path=()) == "k: [3]\n"
    assert (
        changed({"s": "x", "n": 1}, "s: !vault |\n  x\nn: 2\n".replace("|\n  x", "x"), path=()) == "s: !vault x\nn: 1\n"
    )


@pytest.mark.parametrize(
    ("text", "path", "new", "message"),
    [
        ("a: &x {b: 1}\nc: *x\n", ("a",), {"b": 2}, "has the anchor or alias x, which stands for other lines"),
        ("a: &x {b: 1}\nc:\n  d: *x\n  e: 1\n", ("c",), {"d": {"b": 1}}, "has the anchor or alias x, which"),
        ("a: &x {b: {c: 1}}\nd:\n  <<: *x\n", ("d", "b"), {"c": 2}, "has its b from an alias, which stands for"),
        ("{a, b: 1}\n", (), {"a": 2, "b": 1}, "is written in a way that cannot be changed in its place"),
    ],
)
def test_what_cannot_be_changed_in_place(text: str, path: Any, new: Any, message: str) -> None:
    with pytest.raises(EditError) as caught:
        changed(new, text, path=path)
    assert str(caught.value).startswith(message)


BLOCK = """\
disks:
  # The system.
  - name: root # never delete
    disk: {bus: virtio}
  # The data.
  - disk:
      bus: virtio
    name: data
sizes:
- 1 # one
- 2
"""
FLOW = """\
{
  disks: [
    { name: "root", disk: { bus: "virtio" } }, # never delete
    {
      # The data.
      name: "data",
      disk: { bus: "virtio" },
    },
  ],
  memory: "4Gi", # later less
  rng: {},
}
"""
ROOT, DATA = ({"name": name, "disk": {"bus": "virtio"}} for name in ("root", "data"))
CDROM = {"name": "cd", "cdrom": {}}


@pytest.mark.parametrize(
    ("disks", "before", "after"),
    [
        ([ROOT, DATA], "", ""),
        ([ROOT, {"name": "data", "disk": {}}], "disk:\n      bus: virtio\n", "disk: {}\n"),
        ([{"name": "root"}, DATA], "    disk: {bus: virtio}\n", ""),
        ([ROOT, {**DATA, "boot": 1}], "    name: data\n", "    name: data\n    boot: 1\n"),
        ([ROOT, DATA, CDROM], "    name: data\n", "    name: data\n  - name: cd\n    cdrom: {}\n"),
        ([DATA], "  - name: root # never delete\n    disk: {bus: virtio}\n", ""),
        ([ROOT], "  - disk:\n      bus: virtio\n    name: data\n", ""),
    ],
)
def test_only_lines_of_an_entry_of_a_list(disks: Any, before: str, after: str) -> None:
    assert changed({"disks": disks, "sizes": [1, 2]}, BLOCK, path=()) == BLOCK.replace(before, after)


def test_lists_without_names_change_by_index() -> None:
    assert changed({"disks": [ROOT, DATA], "sizes": [1, 3]}, BLOCK, path=()) == BLOCK.replace("- 2", "- 3")
    longer = changed({"disks": [ROOT, DATA], "sizes": [1, 2, 3]}, BLOCK, path=())
    assert longer == BLOCK.replace("sizes:\n- 1 # one\n- 2\n", "sizes: [1, 2, 3]\n")


@pytest.mark.parametrize(
    ("new", "before", "after"),
    [
        ({"memory": "2Gi"}, '"4Gi"', "2Gi"),
        ({"memory": None}, '  memory: "4Gi", # later less\n', ""),
        ({"rng": None}, "  rng: {},\n", ""),
        ({"rng": None, "memory": None}, '  memory: "4Gi", # later less\n  rng: {},\n', ""),
        ({"cpu": {"cores": 2}}, "  rng: {},\n", "  rng: {},\n  cpu: {cores: 2},\n"),
        ({"rng": None, "cpu": {}}, "  rng: {},\n", "  cpu: {},\n"),
        ({"disks": [ROOT, {"name": "data"}]}, '      disk: { bus: "virtio" },\n', ""),
        ({"disks": [{**ROOT, "disk": {}}, DATA]}, 'root", disk: { bus: "virtio" }', 'root", disk: {}'),
        ({"disks": [{"disk": ROOT["disk"]}, DATA]}, '{ name: "root", disk', "{ disk"),
        ({"disks": [{"name": "root"}, DATA]}, '"root", disk: { bus: "virtio" } }', '"root" }'),
        ({"disks": [DATA]}, '    { name: "root", disk: { bus: "virtio" } }, # never delete\n', ""),
    ],
)
def test_only_lines_of_a_flow(new: dict[str, Any], before: str, after: str) -> None:
    old = {"disks": [ROOT, DATA], "memory": "4Gi", "rng": {}}
    whole = {key: value for key, value in {**old, **new}.items() if value is not None}
    assert changed(whole, FLOW, path=()) == FLOW.replace(before, after)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("{a: 1, b: 2, c: 3}", "{a: 1, d: 4}"),
        ("{b: 2, a: 1, c: 3,}", "{a: 1, d: 4, }"),
        ("{b: 2, c: 3, a: 1}", "{a: 1, d: 4}"),
        ("{\n  b: 2, c: 3, a: 1,\n}", "{\n  a: 1, d: 4,\n}"),
    ],
)
def test_flows_on_one_line(text: str, after: str) -> None:
    assert changed({"a": 1, "d": 4}, text, path=()) == after


MANIFEST = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: a, annotations: {at: 22:30, on: y, day: 2025-03-01}}
spec: {cores: 0o17, old: 1}
"""


def test_manifests_are_read_as_kubectl_reads() -> None:
    new = {"cores": 15, "new": "1e3", "yes": "y"}
    after = MANIFEST.replace("old: 1", "new: '1e3', 'yes': 'y'")
    assert changed(new, MANIFEST, path=("spec",)) == after
    annotations = {"at": "22:30", "on": True, "day": "2025-03-01"}
    assert changed(annotations, MANIFEST, path=("metadata", "annotations")) == MANIFEST


def test_tasks_are_read_as_ansible_reads() -> None:
    text = "- k: {at: 22:30, on: y, cores: 0o17}\n"
    assert changed({"at": 1350, "on": "y", "cores": "0o17"}, text, path=(0, "k")) == text


@pytest.mark.parametrize(
    "text",
    [
        "k: 1\n---\nk: 2\n---\n# empty\n---\nk: 3\n",
        "---\nk: 1\n--- # second\nk: 2\n---\n---\nk: 3\n",
        "# Our VMs.\n\n---\nk: 1\n---\nk: 2\n---\n---\nk: 3",
        "k: 1\n---\nk: 2\n...\n---\n~\n---\nk: 3\n",
        "%YAML 1.1\n---\nk: 1\n---\nk: 2\n---\n~\n--- {k: 3}\n",
        "text: |\n  ---\nk: 1\n---\nk: 2\n---\n~\n---\nk: 3\n",
    ],
)
def test_only_the_document_changes(text: str) -> None:
    assert changed({"k": 4}, text, document=3, path=()) == text.replace("k: 3", "k: 4")
    assert changed({"k": 4}, text, document=1, path=()) == text.replace("k: 2", "k: 4")
