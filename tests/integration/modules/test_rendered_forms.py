"""Rendered manifests have the form that the server stores, so that they can move to another tool and back."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from modules_support import Task, by_name, claim_of, execute, manifest, objects, server_side_apply
from plugins.module_utils._resolver.api.managed_fields import leaf_fields
from plugins.module_utils._resolver.api.tree import value_at
from plugins.module_utils._vm_options import VM_OPTIONS

Options = dict[str, Any]
ARGO = "argocd-controller"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample me"
# They need what the task reads of the cluster, or say how the task works.
NOT_RENDERED = {"workload", "size", "from_template", "infer_from_registry", "insecure_registry"}
NOT_RENDERED |= {"name", "namespace", "state", "accept_unknown_fields", "adopt_disks", "sizes"}
DISK = {"size": "1024Mi", "storage_class": "local", "access_modes": ["ReadWriteOnce"], "volume_mode": "Block"}
IMPORTS: dict[str, Options] = {
    "blank": {"blank": True, **DISK, "name": "own", "expand": "warn"},
    "data-source": {"data_source": {"name": "os"}},
    "gcs": {"gcs": {"url": "gs://a/b", "secret_ref": "key"}, "size": "1Gi"},
    "http": {"http": {"url": "https://a/b", "secret_ref": "key", "cert_config_map": "ca"}, "size": "1Gi"},
    "imageio": {
        "imageio": {"url": "https://a/b", "secret_ref": "key", "disk_id": "1", "cert_config_map": "ca"},
        "size": "1Gi",
    },
    "pvc": {"pvc": {"name": "image", "namespace": "elsewhere"}},
    "registry": {"registry": {"url": "docker://a/b", "pull_method": "node", "secret_ref": "key"}, "size": "1Gi"},
    "stream": {"registry": {"image_stream": "os", "pull_method": "node"}, "size": "1Gi"},
    "s3": {"s3": {"url": "https://a/b", "cert_config_map": "ca"}, "size": "1Gi"},
    "snapshot": {"snapshot": {"name": "image", "namespace": "elsewhere"}},
    "vddk": {
        "vddk": {"url": "https://a", "uuid": "u", "thumbprint": "t", "secret_ref": "key", "backing_file": "f"},
        "size": "1Gi",
    },
}
AFFINITY = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}
        ]
    },
    "podAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": {"topologyKey": "a", "labelSelector": {"matchLabels": {"a": "b"}}}}
        ]
    },
}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}
VMS: dict[str, Options] = {
    "texts": {"labels": {"tier": "1e3"}, "annotations": {"yes": "y"}, "run_strategy": "Manual"},
    "boot": {"boot": {"data_source": "os"}, "instancetype": "small"},
    "sized": {"boot": {"data_source": "os", **DISK, "expand": "grow"}, "instancetype": {"infer": "required"}},
    "claim": {"boot": {"pvc": "image"}, "instancetype": "small", "preference": {"infer": "none"}},
    "image": {"boot": {"container_disk": "registry.example.com/disk:1"}, "preference": "linux", "memory": "4Gi"},
    "download": {"boot": {"url": "docker://registry.example.com/disk:1"}, "cpu": {"cores": 2, "model": "host-model"}},
    "memory": {"memory": "2048Mi", "cpu": {"sockets": 2, "threads": 1}, "termination_grace_period": 0},
    **{f"from-{name}": {"volumes": [{"name": "disk", "import": source}]} for name, source in IMPORTS.items()},
    "volumes": {
        "volumes": [
            {"empty_disk": "2048Mi"},
            {"persistent_volume_claim": "a", "hotpluggable": True, "bus": "scsi"},
            {"data_volume": "b", "boot_order": 1},
            {"name": "drive", "device": "cdrom"},
            {"name": "lun", "persistent_volume_claim": "c", "device": "lun"},
            {"sysprep": {"secret": "answers"}},
            {"cloud_init": {"type": "configdrive", "user_data": "#cloud-config", "network_data": "version: 2"}},
        ]
    },
    "sysprep": {"sysprep": {"config_map": "answers"}},
    "user": {"cloud_init": {"user": "me", "ssh_keys": [KEY], "manage_ssh": True}},
    "agent": {
        "access_credentials": [
            {"secret": "k", "method": "ga", "users": ["a"]},
            {"secret": "p", "type": "password"},
        ]
    },
    "key": {"access_credentials": [{"secret": "k", "method": "nocloud"}], "cloud_init": {"user": "me"}},
    "networks": {
        "networks": [
            {"ports": [{"port": 22, "name": "ssh", "protocol": "TCP"}, {"port": 80}]},
            {"name": "lan", "multus": "lan", "mac_address": "02-00-00-AA-bb-01", "model": "e1000", "boot_order": 1},
            {"name": "fast", "multus": "other/fast", "binding": "sriov"},
        ]
    },
    "firmware": {"efi": {"secure_boot": True, "persistent": True}, "tpm": {"persistent": True}},
    "bios": {"efi": {"secure_boot": False}, "tpm": {}},
    "nodes": {
        "node_selector": {"a": "on"},
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}, {"key": "b", "value": "c"}],
        "eviction_strategy": "LiveMigrate",
        "template": {"spec": {"affinity": AFFINITY}},
    },
    "templates": {
        "volumes": [{"data_volume": "x"}, {"data_volume": "y"}],
        "data_volume_templates": [
            {
                "metadata": {"name": "x", "labels": {"a": "b"}, "annotations": {}},
                "spec": {"source": {"blank": {}}, "pvc": CLAIM},
            },
            {"metadata": {"name": "y"}, "spec": {"source": {"blank": {}}, "storage": {}, "preallocation": False}},
        ],
        "spec": {"updateVolumesStrategy": "Migration"},
    },
}


@pytest.fixture
def source(shop: str, api: Any) -> str:
    """A namespace with a DataSource that says which sizes its disks need."""
    claim_of(api, shop, "image")
    labels = {f"instancetype.kubevirt.io/default-{field}": "u1.small" for field in ("instancetype", "preference")}
    for field in ("instancetype", "preference"):
        labels[f"instancetype.kubevirt.io/default-{field}-kind"] = f"VirtualMachine{field.title()}"
        labels[f"instancetype.kubevirt.io/default-{field}"] = {"instancetype": "small", "preference": "linux"}[field]
    body = manifest("DataSource", "os", {"source": {"pvc": {"name": "image", "namespace": shop}}}, labels=labels)
    objects(api, "DataSource").create(namespace=shop, body=body)
    return shop


def stored_otherwise(api: Any, file: str) -> list[str]:
    """The fields of a file that the server stores otherwise when Argo CD applies it."""
    declared = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    resource = api.resources.get(api_version=declared["apiVersion"], kind=declared["kind"])
    stored = server_side_apply(resource, declared, ARGO).to_dict()
    return [
        f"{Path(file).name} {'.'.join(field)}: {json.dumps(value)} is stored as {json.dumps(value_at(stored, field))}"
        for field, value in leaf_fields(declared).items()
        # KubeVirt replaces it with what the label of the disk names.
        if value_at(stored, field) != value and not field[-1].startswith("inferFromVolume")
    ]


def test_each_option_of_a_vm_is_rendered_here() -> None:
    used = {option for options in VMS.values() for option in options}
    assert used == VM_OPTIONS.spec.keys() - NOT_RENDERED
    volumes = [volume for options in VMS.values() for volume in options.get("volumes", [])]
    assert {option for volume in volumes for option in volume} == VM_OPTIONS.spec["volumes"]["options"].keys() - {
        "container_disk"
    }
    imports = VM_OPTIONS.spec["volumes"]["options"]["import"]["options"]
    assert {option for source in IMPORTS.values() for option in source} == imports.keys()


@pytest.mark.needs("cdi_here")
def test_vms_are_stored_as_rendered(task: Task, api: Any, source: str, tmp_path: Path) -> None:
    kinds = {"instancetype": {"kind": "VirtualMachineInstancetype"}, "preference": {"kind": "VirtualMachinePreference"}}
    entries = []
    for name, options in VMS.items():
        named = {
            field: {"name": options[field], **kind}
            for field, kind in kinds.items()
            if isinstance(options.get(field), str)
        }
        entries.append({"name": name, "run_strategy": "Halted", **options, **named})
    declared = {"namespace": source, "virtual_machines": entries}
    rendering = {"state": "rendered", "dest": str(tmp_path), "keep_secrets": True, "host": "https://127.0.0.1:1"}
    rendered = execute("virtual_machine", {**declared, **rendering})
    assert not rendered.get("failed"), rendered["msg"]
    assert len(rendered["files"]) == len(VMS)
    differences = [line for file in rendered["files"] for line in stored_otherwise(api, file)]
    assert not differences, "\n".join(differences)
    taken = by_name(task("virtual_machine", **declared, preflight="off")["results"])
    assert [name for name in VMS if not taken[name].get("taken_over") or taken[name]["changes"]] == []
    assert not task("virtual_machine", **declared, preflight="off")["changed"]


def test_another_spelling_is_no_conflict(task: Task, api: Any, shop: str) -> None:
    """Without a webhook, a value is stored as it is spelled."""
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "1024Mi"}, "gpus": [{"name": "a", "deviceName": "b/c"}]}
    body = manifest("VirtualMachineInstancetype", "spelled", spec, namespace=shop)
    server_side_apply(objects(api, body["kind"]), body, ARGO)
    declared = {"name": "spelled", "cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    declared["gpus"] = [{"name": "a", "device_name": "b/c"}]
    for check in (True, False):
        assert "1 taken over" in task("instancetype", check=check, **declared)["msg"].replace("would be ", "")
    assert not task("instancetype", **declared)["changed"]
