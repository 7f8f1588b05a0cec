"""The changes since a base: objects, power, disks and guests, and how many they are."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from checked_files import instancetype, preference, vm

Manifest = dict[str, Any]
Check = Callable[..., tuple[int, list[str]]]
Change = Callable[..., list[str]]

VM_TASK = "virtshape.instancetypes.virtual_machine"


def disk(name: str = "root", size: str = "10Gi", **spec: Any) -> Manifest:
    storage = {"resources": {"requests": {"storage": size}}, **spec.pop("storage", {})}
    return {"metadata": {"name": name}, "spec": {"source": {"blank": {}}, **spec, "storage": storage}}


def machine(name: str = "web", *disks: Manifest, **spec: Any) -> Manifest:
    volumes = [{"name": item["metadata"]["name"], "dataVolume": {"name": item["metadata"]["name"]}} for item in disks]
    more = {"dataVolumeTemplates": [*disks]} if disks else {}
    size = {} if "template" in spec else {"instancetype": {"name": "u1.small"}}
    template = {"volumes": volumes, **spec.pop("template", {})}
    return vm(name, template, **size, **more, **spec)


@pytest.fixture
def change(check: Check) -> Change:
    """The lines of the check about a change, without the places and the summary, and the counts last."""

    def run(before: Any, after: Any, *options: str) -> list[str]:
        check({"base/vm.yml": before})
        lines = check({"head/vm.yml": after}, "--base", "base", "--ignore", "must-exist", *options)[1]
        return [line.partition(": ")[2] for line in lines[:-2]] + lines[-1:]

    return run


def test_same_objects_in_other_words_are_no_change(check: Check) -> None:
    """They move to other files, in another order and notation, with comments, and as a list."""
    own = instancetype(memory={"guest": "2048Mi"})
    web = machine("web", disk(size="1024Mi"))
    web["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    check({"base/all.yml": [web, machine("db"), own]})
    moved = copy.deepcopy([web, machine("db"), own])
    moved[0]["metadata"].pop("annotations")
    moved[0]["spec"]["dataVolumeTemplates"][0]["spec"]["storage"]["resources"]["requests"]["storage"] = "1Gi"
    moved[0]["status"] = {"ready": True}
    moved[2]["spec"]["memory"]["guest"] = "2Gi"
    listed = {"apiVersion": "v1", "kind": "List", "items": moved[1:]}
    files = {"head/a.yml": f"# new\n{yaml.safe_dump(moved[0], sort_keys=True)}", "head/b.json": json.dumps(listed)}
    code, lines = check(files, "--base", "base")
    assert (code, lines[-1]) == (0, "0 to add, 0 to change, 0 to delete, 0 restarts"), lines
    assert len(lines) == 2


def test_new_and_deleted_vms_name_their_disks(change: Change) -> None:
    assert change([machine("old", disk("a"), disk("b", "20Gi"))], [machine("new", disk("c"))]) == [
        "note: VirtualMachine shop/new: new, makes the disk c (10Gi) [added]",
        "warning: VirtualMachine shop/old: is deleted, and with it the disks a (10Gi), b (20Gi) [deleted]",
        "1 to add, 0 to change, 1 to delete, 0 restarts",
    ]
    # The name is a part of other words, too.
    assert "is the same by another name" in change([machine("e", disk("e-root"))], [machine("f", disk("f-root"))])[1]
    assert change([machine("old")], [machine("new")])[1] == (
        "warning: VirtualMachine shop/old: is deleted; VirtualMachine shop/new is the same by another name: no VM"
        " can be renamed, so it starts with new disks [deleted]"
    )


def test_deletion_has_its_line_in_the_base(check: Check) -> None:
    check({"base/vm.yml": [machine("web"), machine("old")]})
    lines = check({"head/vm.yml": machine("web")}, "--base", "base")[1]
    number = int(lines[0].split(":")[1])
    assert lines[0].startswith("base/vm.yml:") and Path("base/vm.yml").read_text().splitlines()[number - 2] == "---"


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        (
            "Always",
            "Halted",
            "warning: VirtualMachine shop/web: spec.runStrategy: Always -> Halted: a running guest",
        ),
        (
            "Manual",
            "Halted",
            "warning: VirtualMachine shop/web: spec.runStrategy: Manual -> Halted: a running guest",
        ),
        ("Halted", "Once", "note: VirtualMachine shop/web: spec.runStrategy: Halted -> Once: the guest is started"),
        ("Manual", "Always", "note: VirtualMachine shop/web: spec.runStrategy: Manual -> Always: the guest is started"),
        ("Halted", "Manual", "note: VirtualMachine shop/web: spec.runStrategy: Halted -> Manual: a running guest goes"),
        ("Always", "Manual", "note: VirtualMachine shop/web: spec.runStrategy: Always -> Manual: a running guest goes"),
    ],
)
def test_run_strategies_start_and_stop_guests(change: Change, before: str, after: str, effect: str) -> None:
    lines = change(machine(runStrategy=before), machine(runStrategy=after))
    assert lines[0].startswith(effect) and lines[1:] == ["0 to add, 1 to change, 0 to delete, 0 restarts"]


def test_unknown_run_strategy_has_no_effect(change: Change) -> None:
    lines = change(machine(), machine(runStrategy="Sometimes"))
    assert not any("[changed]" in line for line in lines) and "[refused]" in lines[0], lines


def test_running_is_the_same_as_its_run_strategy(change: Change) -> None:
    old = machine()
    del old["spec"]["runStrategy"]
    old["spec"]["running"] = True
    assert "changed" not in str(change(old, machine(), "--ignore", "deprecated"))
    stopped = copy.deepcopy(old)
    stopped["spec"]["running"] = False
    assert "Always -> Halted" in str(change(old, stopped))


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (disk(), disk(size="30Gi"), "size 10Gi -> 30Gi; expand its claim, where the StorageClass permits it"),
        (disk(size="1Ti"), disk(size="1Gi"), "size 1Ti -> 1Gi; claims never shrink"),
        (
            disk(storage={"storageClassName": "local"}),
            disk(storage={"storageClassName": "fast"}),
            "storage class local -> fast; another name makes a new disk",
        ),
        (disk(), disk(source={"http": {"url": "https://a.com/b"}}), "source.blank"),
        (
            disk(storage={"accessModes": ["ReadWriteOnce"]}),
            disk(storage={"accessModes": ["ReadWriteMany"]}),
            "storage.ac",
        ),
    ],
    ids=["larger", "smaller", "class", "source", "modes"],
)
def test_disks_that_exist_stay_as_they_are(change: Change, before: Manifest, after: Manifest, text: str) -> None:
    (line, _counts) = change(machine("web", before), machine("web", after))
    assert line.startswith(
        "warning: VirtualMachine shop/web: spec.dataVolumeTemplates[0]: the disk root stays as it is, because KubeVirt"
        " makes it only once: "
    )
    assert text in line and line.endswith("[changed]")


def test_added_and_removed_disks_are_told(change: Change) -> None:
    lines = change(machine("web", disk("a")), machine("web", disk("b", "5Gi")))
    assert any("makes the disk b (5Gi) [changed]" in line for line in lines)
    assert any("the disk a stays, although it is no longer declared, until the VM is deleted" in line for line in lines)
    assert lines[-1] == "0 to add, 1 to change, 0 to delete, 1 restart"
    (restart,) = [line for line in lines if "needs-restart" in line]
    assert (
        "a running guest gets domain.devices.disks.a, domain.devices.disks.b, volumes.a and 1 more only by" in restart
    ), lines


def test_restart_names_its_field_and_line(check: Check) -> None:
    def with_model(model: str) -> Manifest:
        domain = {"devices": {}, "memory": {"guest": "1Gi"}, "cpu": {"model": model}}
        return vm(template={"domain": domain})

    check({"base/vm.yml": with_model("Skylake")})
    _code, lines = check({"head.yml": with_model("Haswell")}, "--base", "base")
    line = 1 + Path("head.yml").read_text().splitlines().index("          model: Haswell")
    assert lines[0].startswith(
        f"head.yml:{line}: warning: VirtualMachine shop/web: spec.template.spec.domain.cpu.model: a running guest gets"
        " domain.cpu.model only by a restart: "
    )
    assert lines[-1] == "0 to add, 1 to change, 0 to delete, 1 restart"


def test_changes_without_a_restart_are_notes(change: Change) -> None:
    larger = machine()
    larger["spec"]["instancetype"] = {"name": "u1.medium"}
    assert change(machine(), larger) == [
        "note: VirtualMachine shop/web: spec.instancetype: domain.memory.guest 2Gi -> 4Gi: a running guest gets it live"
        " [changed]",
        "0 to add, 1 to change, 0 to delete, 0 restarts",
    ]
    stopped, later = machine(runStrategy="Halted"), copy.deepcopy(larger)
    later["spec"]["runStrategy"] = "Halted"
    assert "the guest gets it at its next start" in change(stopped, later)[0]


def test_labels_alone_count_as_a_change(change: Change) -> None:
    labelled = machine()
    labelled["metadata"]["labels"] = {"a": "b"}
    assert change(machine(), labelled) == ["0 to add, 1 to change, 0 to delete, 0 restarts"]


def test_deleted_instancetype_names_its_users(change: Change) -> None:
    uses = vm(instancetype={"name": "own"})
    lines = change([instancetype(), preference("other"), uses], uses)
    assert "VirtualMachineClusterInstancetype own: is deleted; 1 VM of the base uses it: VMs keep" in str(lines)
    assert any(line.startswith("note: VirtualMachineClusterPreference other: is deleted: VMs keep") for line in lines)
    assert any("not-found" in line and line.startswith("error") for line in lines)
    assert lines[-1] == "0 to add, 0 to change, 2 to delete, 0 restarts"


def test_deleted_storage_loses_its_content(change: Change) -> None:
    volume = {"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataVolume", "metadata": {"name": "a"}, "spec": {}}
    source = {**volume, "kind": "DataSource"}
    assert change([volume, source, machine()], machine()) == [
        "warning: DataVolume default/a: is deleted with its content [deleted]",
        "note: DataSource default/a: is deleted [deleted]",
        "0 to add, 0 to change, 2 to delete, 0 restarts",
    ]


@pytest.mark.parametrize(
    "content",
    [
        "kind: VirtualMachine\nmetadata:\n  name: old\n a: [",
        f"- {VM_TASK}:\n    name: old\n    cpu: '{{{{ n }}}}'\n",
        f"- {VM_TASK}:\n    name: old\n    instancetype: [wrong]\n",
        f"- {VM_TASK}:\n    name: '{{{{ item }}}}'\n    instancetype: u1.small\n",
        b"\x1f\x8b",
    ],
    ids=["unreadable", "template", "invalid", "templated name", "incomplete"],
)
def test_vm_in_an_unjudged_file_is_not_deleted(check: Check, content: Any) -> None:
    name = "odd.yml.gz" if isinstance(content, bytes) else "odd.yml"
    check({"base/vm.yml": [machine("web"), machine("old")], "head/vm.yml": machine("web")})
    Path(f"head/{name}").write_bytes(content if isinstance(content, bytes) else content.encode())
    _code, lines = check({}, "--base", "base", paths=["head"])
    assert "[deleted]" not in str(lines) and ", 0 to delete, " in lines[-1], lines
    Path(f"base/{name}").write_bytes(Path(f"head/{name}").read_bytes())
    Path(f"head/{name}").unlink()
    check({"base/vm.yml": machine("web"), "head/vm.yml": [machine("web"), machine("old")]})
    if name == "odd.yml" and b"item" not in Path(f"base/{name}").read_bytes():
        _code, lines = check({}, "--base", "base", paths=["head"])
        assert "[added]" not in str(lines) and lines[-1].startswith("0 to add, "), lines


def test_other_unjudged_files_hide_no_deletion(check: Check) -> None:
    broken = "kind: VirtualMachine\nmetadata:\n  name: older\n a: ["
    check({"base/vm.yml": [machine("web"), machine("old")]})
    _code, lines = check({"head/vm.yml": machine("web"), "head/odd.yml": broken}, "--base", "base", paths=["head"])
    assert lines[-1] == "0 to add, 0 to change, 1 to delete, 0 restarts", lines


def test_vms_of_tasks_stay_until_absent(change: Change) -> None:
    task = [{VM_TASK: {"name": "web", "namespace": "shop", "instancetype": "u1.small", "run_strategy": "Halted"}}]
    lines = change([task], machine("other"))
    assert "no task declares it any longer: it stays until one with state: absent deletes it" in str(lines)
    kept = copy.deepcopy(task)
    del kept[0][VM_TASK]["run_strategy"]
    assert change([task], [kept]) == ["0 to add, 0 to change, 0 to delete, 0 restarts"]


def test_several_bases_count_together(check: Check) -> None:
    check({"one/a.yml": machine("a"), "two/b.yml": machine("b")})
    _code, lines = check({"head.yml": [machine("a"), machine("b"), machine("c")]}, "--base", "one", "--base", "two")
    assert lines[-1] == "1 to add, 0 to change, 0 to delete, 0 restarts"


def test_every_format_has_the_counts(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    counts = "1 to add, 0 to change, 1 to delete, 0 restarts"
    check({"base/vm.yml": machine("old")})
    files = {"head/vm.yml": machine("new")}
    for name in ("text", "github", "markdown"):
        assert check(files, "--base", "base", "--format", name)[1][-1].strip("*") == counts
    report = json.loads("\n".join(check(files, "--base", "base", "--format", "json")[1]))
    assert report["changes"] == {"add": 1, "change": 0, "delete": 1, "restart": 0}
    assert check(files, "--base", "base", "--output", "report.txt")[1][-1] == counts
    assert json.loads("\n".join(check(files, "--format", "json")[1]))["changes"] is None
    assert counts not in str(check(files)[1])
    sarif = json.loads("\n".join(check(files, "--base", "base", "--format", "sarif")[1]))
    assert sarif["runs"][0]["properties"]["changes"] == report["changes"]
    suite = ElementTree.fromstring("\n".join(check(files, "--base", "base", "--format", "junit")[1]))[0]
    assert [item.get("value") for item in suite.iter("property")] == [counts]


def test_objects_of_several_clusters_are_matched_by_file(check: Check) -> None:
    """The folders of two clusters have a VM each of one name; one is deleted, and the other changes."""
    stopped = machine(runStrategy="Halted")
    check({"base/a/vm.yml": machine(), "base/b/vm.yml": stopped, "base/b/db.yml": machine("db")})
    small = copy.deepcopy(stopped)
    small["metadata"]["labels"] = {"a": "b"}
    _code, lines = check({"head/b/vm.yml": small, "head/c/db.yml": machine("db")}, "--base", "base", paths=["head"])
    assert lines[0].startswith("base/a/vm.yml:1: warning: VirtualMachine shop/web: is deleted [deleted]"), lines
    assert lines[-1] == "0 to add, 1 to change, 1 to delete, 0 restarts" and len(lines) == 3


def test_one_file_can_be_the_base_of_another(check: Check) -> None:
    check({"old.yml": [machine("a"), machine("a")], "new.yml": [machine("a"), machine("a"), machine("a")]})
    _code, lines = check({"new.yml": [machine("a")] * 3}, "--base", "old.yml", "--ignore", "collision")
    assert lines[-1] == "1 to add, 0 to change, 0 to delete, 0 restarts", lines


@pytest.mark.parametrize(
    ("kind", "before", "after", "fields"),
    [
        ("DataImportCron", {"schedule": "0 1 * * *"}, {"schedule": "0 2 * * *"}, "schedule"),
        ("DataVolume", disk()["spec"], disk(size="20Gi")["spec"], "storage.resources.requests.storage"),
        ("DataVolume", disk(size="1Gi")["spec"], disk(size="1024Mi")["spec"], ""),
        ("PersistentVolumeClaim", {"storageClassName": "a"}, {"storageClassName": "b"}, "storageClassName"),
        ("PersistentVolumeClaim", {"resources": {"requests": {"storage": "1Gi"}}}, {"resources": {}}, ""),
        ("DataSource", {"source": {"pvc": {"name": "a"}}}, {"source": {"pvc": {"name": "b"}}}, ""),
    ],
)
def test_fixed_specs_are_not_changed(change: Change, kind: str, before: Any, after: Any, fields: str) -> None:
    group = "v1" if kind == "PersistentVolumeClaim" else "cdi.kubevirt.io/v1beta1"
    manifests = [
        {
            "apiVersion": group,
            "kind": kind,
            "metadata": {"name": "a", "labels": {"step": f"step-{number}"}},
            "spec": spec,
        }
        for number, spec in enumerate((before, after))
    ]
    *lines, counts = change(manifests[0], manifests[1])
    assert counts == "0 to add, 1 to change, 0 to delete, 0 restarts"
    message = f"the API refuses to change {fields} of a {kind}; delete it first, or choose another name"
    assert lines == ([f"error: {kind} default/a: spec: {message} [refused]"] if fields else [])


def test_vms_that_infer_an_instancetype_use_it(change: Change) -> None:
    label = "instancetype.kubevirt.io/default-instancetype"
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a", "labels": {label: "own"}}}
    claim["metadata"]["namespace"] = "shop"
    web = vm(template={"volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "a"}}]}, instancetype={})
    web["spec"]["instancetype"] = {"inferFromVolume": "a"}
    lost = vm("lost", instancetype={"inferFromVolume": "gone"})
    lines = change([instancetype(), claim, web, lost], [instancetype(cpus=4), claim, web, lost])
    assert any("own: spec: 1 VM captured the object before the change" in line for line in lines), lines


def test_pool_of_the_same_name_hides_no_deletion(change: Change) -> None:
    pool = {"apiVersion": "pool.kubevirt.io/v1beta1", "kind": "VirtualMachinePool", "metadata": {"name": "web"}}
    lines = change(machine(), [pool, machine("a")])
    assert any("VirtualMachine shop/web: is deleted" in line for line in lines), lines


@pytest.mark.parametrize("listed", [True, False])
def test_tasks_with_state_absent_delete(change: Change, listed: bool) -> None:
    options = {"name": "web", "instancetype": "u1.small", "boot": {"url": "https://a.com/b", "size": "5Gi"}}
    gone = {"name": "web", "state": "absent"}
    before = [{VM_TASK: {"namespace": "shop", "virtual_machines": [options]}}]
    after = [{VM_TASK: {"namespace": "shop", **({"virtual_machines": [gone]} if listed else gone)}}]
    lines = change([before], [after])
    text = "warning: VirtualMachine shop/web: is deleted, and with it the disk web-boot (5Gi) [deleted]"
    assert lines[-2:] == [text, "0 to add, 0 to change, 1 to delete, 0 restarts"], lines


@pytest.mark.parametrize("value", [None, "text", ["text"], [], {}])
@pytest.mark.parametrize(
    "path",
    [
        *("metadata", "spec", "spec.template", "spec.template.spec", "spec.template.spec.domain", "spec.instancetype"),
        *("spec.dataVolumeTemplates.0", "spec.dataVolumeTemplates.0.metadata", "spec.dataVolumeTemplates.0.spec"),
        *("spec.dataVolumeTemplates.0.spec.storage", "spec.dataVolumeTemplates.0.spec.storage.resources"),
    ],
)
def test_malformed_revisions_do_not_stop_the_check(path: str, value: Any, check: Check) -> None:
    sound, malformed = machine("web", disk(), runStrategy="Always"), machine("web", disk(size="20Gi"))
    *parents, last = (int(step) if step.isdigit() else step for step in path.split("."))
    place: Any = malformed
    for step in parents:
        place = place[step]
    place[last] = value
    data_volume = {"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataVolume", **disk("dv")}
    if path == "metadata":
        data_volume["metadata"] = value
    files = {"one/vm.yml": [sound, data_volume], "two/vm.yml": [malformed, data_volume]}
    for base, head in (("one", "two"), ("two", "one"), ("two", "two")):
        code, lines = check(files, "--base", base, paths=[head])
        assert code in (0, 1) and lines[-1].endswith(("restart", "restarts"))


def test_a_guest_without_spec_is_compared(check: Check) -> None:
    sized = vm("web", {"domain": {"devices": {}, "memory": {"guest": "2Gi"}}}, runStrategy="Always")
    empty = vm("web", runStrategy="Always")
    empty["spec"]["template"] = {"metadata": {"labels": {"a": "b"}}}
    code, lines = check({"base/vm.yml": sized, "head/vm.yml": empty}, "--base", "base", paths=["head"])
    assert code == 1 and lines[-1].startswith("0 to add, 1 to change")
