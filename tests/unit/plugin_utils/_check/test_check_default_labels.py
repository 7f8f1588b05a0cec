"""The check of the labels with which boot sources name defaults for VMs, and of what VMs infer from them."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from checked_files import CHECKED, instancetype, preference, vm

Manifest = dict[str, Any]
Check = Callable[..., tuple[int, list[str]]]

PREFIX = "instancetype.kubevirt.io/default-"
BOOT_SOURCE = "virtshape.instancetypes.boot_source"
CLAIM = {"source": {"pvc": {"name": "disk", "namespace": "golden"}}}


def labelled(kind: str = "DataSource", name: str = "fedora", **labels: str) -> Manifest:
    """An object in the namespace golden; `labels` without their prefix, and with _ for -."""
    group = {"PersistentVolumeClaim": "v1", "VolumeSnapshot": "snapshot.storage.k8s.io/v1"}
    spec = {"DataSource": CLAIM, "DataImportCron": {"managedDataSource": name}}.get(kind, {})
    prefixed = {f"{PREFIX}{label.replace('_', '-')}": value for label, value in labels.items()}
    return {
        "apiVersion": group.get(kind, "cdi.kubevirt.io/v1beta1"),
        "kind": kind,
        "metadata": {"name": name, "namespace": "golden", "labels": prefixed},
        "spec": spec,
    }


def inferring(source: str = "fedora", namespace: str = "shop", **spec: Any) -> Manifest:
    """A stopped VM that infers both from the disk that it copies."""
    reference = {"kind": "DataSource", "name": source, "namespace": "golden"}
    disk = {"metadata": {"name": "root"}, "spec": {"sourceRef": reference, "storage": {}}}
    web = vm(template={"volumes": [{"name": "root", "dataVolume": {"name": "root"}}]}, runStrategy="Halted", **spec)
    web["spec"].update(
        instancetype={"inferFromVolume": "root"}, preference={"inferFromVolume": "root"}, dataVolumeTemplates=[disk]
    )
    web["spec"]["template"]["spec"]["domain"].pop("memory")
    web["metadata"]["namespace"] = namespace
    return web


@pytest.mark.parametrize(
    "kind", ["DataSource", "DataVolume", "PersistentVolumeClaim", "VolumeSnapshot", "DataImportCron"]
)
def test_unknown_default_is_an_error_at_its_label(check: Check, kind: str) -> None:
    code, lines = check({"source.yml": labelled(kind, instancetype="u1.medum", preference="fedora")})
    assert code == 1 and lines[0] == (
        f"source.yml:5: error: {kind} golden/fedora: metadata.labels[{PREFIX}instancetype]: no catalog has the"
        " VirtualMachineClusterInstancetype u1.medum; did you mean u1.medium or u1.2xmedium?; VMs that infer it do not"
        " start [not-found]"
    )
    assert len(lines) == 2


@pytest.mark.parametrize(
    ("labels", "finding"),
    [
        ({"instancetype": "u1.medium", "preference": "fedora"}, ""),
        ({"preference": "fedora", "preference_kind": "virtualmachineclusterpreferences"}, ""),
        ({"instancetype": "own", "instancetype_kind": "VirtualMachineInstancetype"}, ""),
        ({"instancetype": "own"}, "error: .*but a VirtualMachineInstancetype; correct the kind; .*not-found"),
        (
            {"instancetype": "u1.small", "instancetype_kind": "VirtualMachineInstancetype"},
            "error: .*no catalog has the VirtualMachineInstancetype u1.small, but a VirtualMachineClusterInstancetype;",
        ),
        (
            {"instancetype": "u1.small", "instancetype_kind": "Instancetype"},
            "error: .*of the kind Instancetype;",
        ),
        ({"instancetype": "u1.nano", "preference": "windows.11"}, "error: .*rejects VMs with both .*refused"),
        ({"instancetype": "u1 small"}, "error: .*u1 small.*invalid"),
        ({"instancetyp": "u1.small"}, f"warning: .*did you mean {PREFIX}instancetype.*lost-field"),
        ({"preference_kind": "VirtualMachinePreference"}, f"warning: .*only beside the label {PREFIX}pref.*lost-field"),
        ({"preference": "old"}, "warning: .*old is deprecated; use fedora .deprecated"),
        ({"preference": "older"}, "warning: .*older is obsolete .obsolete"),
    ],
    ids=str,
)
def test_labels_are_judged(check: Check, labels: dict[str, str], finding: str) -> None:
    old, older = preference("old"), preference("older")
    old["metadata"].update(
        labels={"instancetype.kubevirt.io/deprecated": "true"},
        annotations={"instancetypes.virtshape.io/replacement": "fedora"},
    )
    older["metadata"]["labels"] = {"instancetypes.virtshape.io/state": "obsolete"}
    cluster = [instancetype(namespace="shop"), old, older]
    check({"objects.yml": cluster})
    _code, lines = check({"source.yml": labelled(**labels)}, "--objects", "objects.yml")
    assert len(lines) == 1 + bool(finding), lines
    if finding:
        assert re.search(finding, lines[0]), lines


def test_labels_in_a_template_are_lost(check: Check) -> None:
    cron = labelled("DataImportCron")
    cron["spec"]["template"] = {"metadata": {"labels": {f"{PREFIX}preference": "fedora", "other": "a"}}}
    _code, lines = check({"cron.yml": cron})
    assert len(lines) == 2 and "[lost-field]" in lines[0] and "write them to metadata.labels of the cron" in lines[0]


@pytest.mark.parametrize(
    "source",
    [
        labelled(instancetype="u1.medum", preference="fedora"),
        labelled("DataImportCron", instancetype="u1.medum", preference="fedora"),
        [
            {
                "virtshape.instancetypes.boot_source": {
                    "name": "fedora",
                    "namespace": "golden",
                    "instancetype": "u1.medum",
                }
            }
        ],
        {"boot_sources_list": [{"name": "fedora", "instancetype": {"name": "u1.medum"}, "namespace": "golden"}]},
        [[{"kubernetes.core.k8s": {"definition": labelled("DataImportCron", instancetype="u1.medum")}}]],
    ],
    ids=lambda source: type(source).__name__,
)
def test_vms_infer_what_sources_name(check: Check, source: Any) -> None:
    web = inferring()
    del web["spec"]["preference"]
    content = [source] if isinstance(source, list) and isinstance(source[0], dict) else source
    code, lines = check({"a/source.yml": content, "vm.yml": web})
    assert code == 1, lines
    assert [line.partition(":")[0] for line in lines if "u1.medum" in line] == ["a/source.yml", "vm.yml"]


@pytest.mark.parametrize("state", ["present", "labeled"])
def test_options_of_boot_sources_are_judged(check: Check, state: str) -> None:
    tasks = """
- virtshape.instancetypes.boot_source:
    namespace: golden
    preference: fedora
    boot_sources:
      - {name: right, instancetype: u1.small}
      - name: wrong
        state: STATE
        instancetype: {name: u1.smal}
      - {name: later, instancetype: "u1.{{ size }}"}
      - {name: none, instancetype: gone, state: absent}
"""
    code, lines = check({"tasks.yml": tasks.replace("STATE", state)}, "--ignore", "unchecked")
    assert code == 1 and len(lines) == 2, lines
    assert lines[0].startswith("tasks.yml:9: error: boot source wrong: instancetype: no catalog has the Virtual")


def test_known_defaults_of_a_cron_decide_about_vms(check: Check) -> None:
    cron = labelled("DataImportCron", instancetype="u1.nano", preference="windows.11")
    code, lines = check({"cron.yml": cron, "vm.yml": inferring()})
    assert code == 1 and any(line.startswith("vm.yml") and "[refused]" in line for line in lines), lines


@pytest.mark.parametrize(
    "source",
    [
        labelled("DataImportCron", preference="fedora"),
        [[{BOOT_SOURCE: {"name": "fedora", "namespace": "golden", "image": "a.com/b"}}]],
    ],
    ids=str,
)
def test_labels_of_an_image_are_not_missing(check: Check, source: Any) -> None:
    code, lines = check({"source.yml": source, "vm.yml": inferring()})
    assert code == 0 and "the PersistentVolumeClaim golden/fedora-<digest> must exist on the cluster" in lines[0]


def test_claim_has_the_labels_of_its_data_volume(check: Check) -> None:
    disk = labelled("DataVolume", "disk", instancetype="u1.small", preference="fedora")
    files = {"disk.yml": [disk, labelled()], "vm.yml": inferring()}
    assert check(files, "--ignore", "must-exist") == (0, [f"3 objects {CHECKED}: nothing found"])
    disk["metadata"]["labels"][f"{PREFIX}preference"] = "fedor"
    assert [line.partition(":")[0] for line in check(files)[1]] == [
        "disk.yml",
        "vm.yml",
        f"3 objects {CHECKED}",
    ]


def test_namespaced_default_counts_beside_the_vm(check: Check) -> None:
    source = labelled(instancetype="own", instancetype_kind="VirtualMachineInstancetype", preference="fedora")
    files = {
        "all.yml": [source, instancetype(namespace="shop")],
        "a.yml": inferring(),
        "b.yml": inferring(namespace="lab"),
    }
    code, lines = check(files)
    assert code == 1 and len(lines) == 2 and lines[0].startswith("b.yml") and '"own" not found' in lines[0]


def pointer(target: str = "fedora", namespace: str = "golden", **labels: str) -> Manifest:
    source = labelled(name="latest", **labels)
    return {**source, "spec": {"source": {"dataSource": {"name": target, "namespace": namespace}}}}


def test_pointers_have_the_labels_of_their_targets(check: Check) -> None:
    """A pointer to a pointer leads to the labels, too, and its own win."""
    first = {**pointer(preference="debian"), "metadata": {**pointer(preference="debian")["metadata"], "name": "first"}}
    sources = [labelled(instancetype="u1.nano", preference="fedora"), first, pointer("first")]
    code, lines = check({"all.yml": sources, "vm.yml": inferring("latest")}, "--ignore", "must-exist")
    assert [line.partition(":")[0] for line in lines] == ["all.yml", f"4 objects {CHECKED}"]
    code, lines = check({"all.yml": [sources[0], pointer()], "vm.yml": inferring("latest")})
    assert code == 1 and lines[-2].startswith("vm.yml") and "insufficient Memory" in lines[-2], lines


def test_unknown_targets_of_pointers_must_exist(check: Check) -> None:
    code, lines = check({"all.yml": pointer("gone"), "vm.yml": inferring("latest")})
    assert code == 0 and "golden/<claim of the DataSource gone> must exist on the cluster" in lines[0], lines
    loop = pointer("latest")
    assert check({"all.yml": loop, "vm.yml": inferring("latest")})[0] == 1


def test_pointers_into_other_namespaces_give_nothing(check: Check) -> None:
    """CDI reports CrossNamespaceReference."""
    target = labelled(instancetype="u1.small", preference="fedora")
    target["metadata"]["namespace"] = "images"
    code, lines = check({"all.yml": [target, pointer(namespace="images")], "vm.yml": inferring("latest")})
    assert code == 1 and "unable to infer defaults from DataSource" in lines[0], lines


def test_labels_of_the_cluster_add_to_a_cron(check: Check) -> None:
    """The image gives the preference; the instancetype that the cron gives wins."""
    check({"cluster.yml": labelled(preference="windows.11", instancetype="u1.large")})
    cron = labelled("DataImportCron", instancetype="u1.nano")
    code, lines = check({"cron.yml": cron, "vm.yml": inferring()}, "--objects", "cluster.yml")
    assert code == 1 and "insufficient" in lines[0] and lines[0].startswith("vm.yml"), lines


def test_empty_label_names_nothing(check: Check) -> None:
    code, lines = check({"source.yml": labelled(preference="")})
    assert code == 1 and "the label is empty, so it names no preference" in lines[0]


@pytest.mark.parametrize("kind", ["DataSource", "DataImportCron"])
def test_labels_with_placeholders_are_not_judged(check: Check, kind: str) -> None:
    source = labelled(kind, instancetype="${SIZE}", preference="${OS:-fedor}")
    code, lines = check({"source.yml": source, "vm.yml": inferring()}, "--ignore", "unchecked")
    assert code == 1 and not any("SIZE" in line for line in lines), lines
    assert "VirtualMachineClusterPreference fedor; did you mean fedora" in str(lines)


def test_kinds_of_other_groups_are_not_judged(check: Check) -> None:
    foreign = [labelled(kind, instancetype="gone") for kind in ("DataSource", "DataImportCron")]
    for manifest in foreign:
        manifest["apiVersion"] = "example.com/v1"
    code, lines = check({"foreign.yml": [*foreign, vm()]})
    assert (code, lines) == (0, [f"1 object {CHECKED}: nothing found"])
