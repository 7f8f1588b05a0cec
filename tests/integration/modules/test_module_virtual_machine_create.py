"""virtual_machine: from a disk alone, with disks of its own, cloud-init and credentials; again without a difference."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modules_support import Task, claim_of, live, manifest, objects, vm

LABELS = {
    "instancetype.kubevirt.io/default-instancetype": "medium",
    "instancetype.kubevirt.io/default-instancetype-kind": "VirtualMachineInstancetype",
    "instancetype.kubevirt.io/default-preference": "linux",
    "instancetype.kubevirt.io/default-preference-kind": "VirtualMachinePreference",
}
MERGE = "application/merge-patch+json"
# Seconds; a matter of one.
TIMEOUT = 60


@pytest.fixture
def claim(api: Any, shop: str) -> Callable[..., None]:
    """claim(name, labels): makes a PersistentVolumeClaim."""

    return lambda name, labels: claim_of(api, shop, name, labels=labels)


@pytest.fixture
def data_source(api: Any, shop: str) -> Callable[..., None]:
    """data_source(name, labels): makes a DataSource."""

    def made(name: str, labels: dict[str, str]) -> None:
        body = manifest("DataSource", name, {"source": {"pvc": {"name": name, "namespace": shop}}}, labels=labels)
        objects(api, "DataSource").create(namespace=shop, body=body)

    return made


def fill(api: Any, namespace: str, name: str) -> None:
    """Does what CDI does to fill a DataVolume, as far as the cluster's own CDI has not done so."""
    resource = objects(api, "DataVolume")
    for event in resource.watch(namespace=namespace, timeout=TIMEOUT):
        if event["object"].metadata.name == name:
            claim_of(api, namespace, name, event["object"])
            # DataVolumes of CDI itself have a status of their own; elsewhere perhaps only their kind is known.
            status = resource.subresources.get("status", resource)
            status.patch(name=name, namespace=namespace, body={"status": {"phase": "Succeeded"}}, content_type=MERGE)
            return
    raise AssertionError(f"no DataVolume {name} in {TIMEOUT} seconds")


def unchanged(task: Task, **options: Any) -> bool:
    return not task("virtual_machine", **options)["changed"]


def test_data_source_suffices_to_create_a_vm(task: Task, shop: str, api: Any, data_source: Callable[..., None]) -> None:
    data_source("fedora", LABELS)
    entry = {"name": "web", "boot": {"data_source": "fedora"}}
    assert task("virtual_machine", **entry)["changed"]
    fill(api, shop, "web-boot")
    assert task("virtual_machine", **entry, wait=True)["result"]["status"] == "Running"
    spec = live(api, shop)["spec"]
    assert (spec["instancetype"]["name"], spec["preference"]["name"]) == ("medium", "linux")
    assert spec["runStrategy"] == "Always"
    assert "memory" not in spec["template"]["spec"]["domain"]
    assert spec["dataVolumeTemplates"][0]["spec"]["sourceRef"] == {"kind": "DataSource", "name": "fedora"}
    assert unchanged(task, **entry)


def test_claim_suffices_to_create_a_vm(task: Task, shop: str, claim: Callable[..., None]) -> None:
    claim("disk", LABELS)
    entry = {"name": "web", "boot": {"pvc": "disk"}}
    first = task("virtual_machine", **entry, wait=True)
    assert (first["changed"], first["result"]["status"]) == (True, "Running"), first
    assert unchanged(task, **entry)
    result = task.vm("web")["vmi"]["guest"]
    assert (result["vcpus"], result["memory"]) == (2, "4Gi")


@pytest.mark.parametrize(
    "boot",
    [
        {"container_disk": "registry.example.com/disk:1"},
        {"url": "https://images.example.com/disk.qcow2"},
        {"url": "docker://registry.example.com/disk:1", "size": "10Gi"},
    ],
)
def test_disk_without_labels_gives_default_and_warning(
    task: Task,
    shop: str,
    api: Any,
    boot: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    entry = {"name": "web", "boot": boot}
    first = task("virtual_machine", **entry)
    assert first["changed"], first
    # In a process that also runs plugins, as with other tests, Ansible shows a module's warnings itself.
    warned = " ".join([str(first.get("warnings")), *capsys.readouterr().err.split()])
    assert "cannot infer an instancetype from this disk" in warned
    # CDI gets no disk to start with from a URL that serves nothing.
    if "url" not in boot:
        assert task("virtual_machine", **entry, wait=True)["result"]["status"] == "Running"
    assert live(api, shop)["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "512Mi"}
    assert unchanged(task, **entry)


def test_disk_without_labels_names_candidates(task: Task, shop: str, claim: Callable[..., None]) -> None:
    claim("linux-disk", {})
    refused = task.refused("virtual_machine", name="web", boot={"pvc": "linux-disk"})
    assert "spec.instancetype.inferFromVolume" in refused["msg"]
    assert "add instancetype.name, for example " in refused["msg"]
    assert "tiny (kind VirtualMachineInstancetype)" in refused["msg"]
    assert "add preference.name, for example linux (kind VirtualMachinePreference)" in refused["msg"]


def test_candidates_meet_the_preference(task: Task, shop: str, claim: Callable[..., None]) -> None:
    claim("disk", {name: value for name, value in LABELS.items() if "preference" in name})
    refused = task.refused("virtual_machine", name="web", boot={"pvc": "disk"})
    # The preference asks for 2Gi, which tiny does not have.
    # The cluster may have others, cluster-wide, that would do as well; a smaller one never does.
    assert "for example small (kind VirtualMachineInstancetype)" in refused["msg"], refused
    assert "tiny" not in refused["msg"]
    assert "add preference" not in refused["msg"]


@pytest.mark.parametrize("labels", [LABELS, {}])
def test_automatic_inference_is_idempotent(
    task: Task, shop: str, claim: Callable[..., None], api: Any, labels: dict[str, str]
) -> None:
    claim("disk", labels)
    auto = {"infer": "auto"}
    entry = {"name": "web", "instancetype": auto, "preference": auto, "volumes": [{"persistent_volume_claim": "disk"}]}
    first = task("virtual_machine", **entry, wait=True)
    assert (first["changed"], first["result"]["status"]) == (True, "Running"), first
    made = live(api, shop)
    assert unchanged(task, **entry)
    assert unchanged(task, **entry)
    changed = task("virtual_machine", **entry, labels={"a": "b"})
    assert changed["diff"][0]["after"] == {"metadata": {"labels": {"a": "b"}}}, changed
    assert unchanged(task, **entry, labels={"a": "b"})
    assert live(api, shop)["spec"] == made["spec"]
    assert ("instancetype" in made["spec"]) == bool(labels)
    assert ("memory" in made["spec"]["template"]["spec"]["domain"]) != bool(labels)


def test_undeclared_memory_stays(task: Task, shop: str, api: Any) -> None:
    entry = {"name": "web", "run_strategy": "Halted", "volumes": [{"container_disk": "registry.example.com/disk:1"}]}
    task("virtual_machine", **entry, memory="1Gi")
    assert unchanged(task, **entry)
    kind = "VirtualMachineInstancetype"
    assert task("virtual_machine", **entry, instancetype={"name": "small", "kind": kind})["changed"]
    assert "memory" not in live(api, shop)["spec"]["template"]["spec"]["domain"]
    assert task("virtual_machine", **entry, memory="1024Mi")["changed"]
    assert live(api, shop)["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "1Gi"}
    assert "instancetype" not in live(api, shop)["spec"]


EVERYTHING: dict[str, Any] = {
    "name": "full",
    "run_strategy": "Manual",
    "termination_grace_period": 60,
    "instancetype": {"name": "medium", "kind": "VirtualMachineInstancetype"},
    "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
    "volumes": [
        {
            "name": "root",
            "boot_order": 1,
            "import": {
                "http": {
                    "url": "https://user:url-secret@images.example.com/a.qcow2?signature=url-secret",
                    "extra_headers": ["Authorization: header-secret"],
                },
                "size": "10240Mi",
                "storage_class": "fast",
                "access_modes": ["ReadWriteMany"],
            },
        },
        {"import": {"blank": True, "size": "1Gi"}},
        {"persistent_volume_claim": "data", "bus": "sata"},
        {"empty_disk": "1Gi"},
    ],
    "sysprep": {"secret": "answers"},
    "cloud_init": {"user": "me", "password": "hunter2: #secret", "ssh_keys": ["ssh-ed25519 AAAA me@here"]},
    "access_credentials": [{"secret": "keys"}, {"secret": "passwords", "type": "password"}],
    "networks": [
        {"ports": [{"port": 80, "name": "http"}]},
        {"name": "storage", "multus": "storage-net", "mac_address": "02:00:00:00:00:01"},
    ],
    "efi": {"persistent": True},
    "tpm": {"persistent": True},
    "node_selector": {"zone": "a"},
    "tolerations": [{"key": "vms", "operator": "Exists"}],
    "eviction_strategy": "LiveMigrate",
}


def test_all_options_are_accepted_and_idempotent(task: Task, shop: str, api: Any) -> None:
    assert task("virtual_machine", **EVERYTHING)["changed"]
    vmi = live(api, shop, "full")["spec"]["template"]["spec"]
    names = [volume["name"] for volume in vmi["volumes"]]
    assert [names[0], *names[2:]] == ["root", "data", "emptydisk-0", "sysprepdisk", "cloudinitdisk"]
    assert vmi["volumes"][-1]["cloudInitNoCloud"]["userData"].splitlines() == [
        "#cloud-config",
        "user: me",
        'password: "hunter2: #secret"',
        "chpasswd: { expire: False }",
        "ssh_authorized_keys:",
        "  - ssh-ed25519 AAAA me@here",
        "runcmd:",
        "  - [ setsebool, -P, 'virt_qemu_ga_manage_ssh', 'on' ]",
    ]
    assert vmi["domain"]["firmware"]["bootloader"] == {"efi": {"persistent": True}}
    assert unchanged(task, **EVERYTHING)


def test_secrets_are_never_shown(task: Task, shop: str, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("  file-secret\n", encoding="utf-8")
    made = task("virtual_machine", **EVERYTHING)
    changed = {**EVERYTHING, "cloud_init": {"user": "me", "password_file": str(file)}}
    foreseen = task("virtual_machine", virtual_machines=[changed], check=True)
    again = task("virtual_machine", virtual_machines=[changed])
    # Another password is a change, and seen as one.
    assert again["changed"], again
    assert "another value" in str(again["diff"])
    for secret in ("hunter2", "url-secret", "header-secret", "file-secret"):
        assert not any(secret in str(result) for result in (made, foreseen, again))


def test_missing_password_file_is_reported(task: Task, shop: str) -> None:
    refused = task.refused("virtual_machine", name="web", cloud_init={"password_file": "/nowhere/password"})
    assert "cloud_init.password_file: cannot be read: No such file or directory" in refused["msg"]


def test_a_list_shares_its_boot_disk(task: Task, shop: str, data_source: Callable[..., None]) -> None:
    data_source("fedora", LABELS)
    entries = [{"name": "a"}, {"name": "b"}]
    result = task("virtual_machine", boot={"data_source": "fedora"}, virtual_machines=entries)
    assert result["msg"] == "2 virtual machines: 2 created"
    again = task("virtual_machine", boot={"data_source": "fedora"}, virtual_machines=entries)
    assert again["msg"] == "2 virtual machines: 2 unchanged"


def test_missing_data_source_is_reported_once(task: Task, shop: str) -> None:
    source = {"kind": "DataSource", "name": "nowhere", "namespace": "default"}
    made = {"metadata": {"name": "web-boot"}, "spec": {"sourceRef": source, "storage": {}}}
    template = {"spec": {"domain": {"devices": {}}, "volumes": [{"name": "boot", "dataVolume": {"name": "web-boot"}}]}}
    spec = {"dataVolumeTemplates": [made], "template": template}
    entry = {"name": "web", "instancetype": vm("web")["instancetype"], "run_strategy": "Halted", "spec": spec}
    (warning,) = task("virtual_machine", check=True, **entry)["result"]["warnings"]
    assert "no DataSource nowhere in the namespace default" in warning
    refused = task.refused("virtual_machine", **entry)
    assert "no DataSource nowhere in the namespace default" in refused["msg"]
