"""Rendered manifests: the real servers accept the files, and a declaration of the same options changes nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from modules_support import Task, execute, vm

Manifest = dict[str, Any]

# Another parser of YAML might read these texts as something else.
TEXTS = {"exponent": "1e3", "octal": "0o17", "decimal": "010", "yes": "y", "day": "2026-01-01", "lines": "a\n b\n"}
KEYS = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample me"]
VMS: list[Manifest] = [
    vm("web", annotations=TEXTS, labels={"tier": "1e3"}),
    vm("db", volumes=[{"name": "root", "import": {"blank": True, "size": "10240Mi"}}]),
    {"name": "plain", "memory": "2048Mi", "cpu": {"cores": 2}, "efi": {"secure_boot": False}, "tpm": {}},
    vm("key", cloud_init={"user": "me", "ssh_keys": KEYS}, access_credentials=[{"secret": "keys"}]),
    vm("net", networks=[{"ports": [{"port": 22}]}, {"name": "lan", "multus": "lan"}], node_selector={"a": "on"}),
]
GUEST = {
    "spec": {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}}}
}
IMAGE = {"image": f"registry.example.com/os@sha256:{'0a' * 32}", "query_registry": False, "size": "1024Mi"}


@pytest.fixture
def apply(api: Any) -> Callable[[str, str], None]:
    """apply(file, manager): what `kubectl apply --server-side` does, which lets the server read the YAML."""

    def applied(file: str, manager: str) -> None:
        text = Path(file).read_text(encoding="utf-8")
        manifest = yaml.safe_load(text)
        metadata = manifest["metadata"]
        resource = api.resources.get(api_version=manifest["apiVersion"], kind=manifest["kind"])
        for more in ({"dry_run": "All"}, {}):
            resource.patch(
                text,
                metadata["name"],
                metadata["namespace"],
                content_type="application/apply-patch+yaml",
                field_manager=manager,
                **more,
            )

    return applied


def check(
    task: Task,
    apply: Callable[[str, str], None],
    folder: Path,
    module: str,
    *,
    manager: str = "virtshape",
    **options: Any,
) -> dict[str, Any]:
    """Renders, applies each file, and declares the same options; returns the result of the declaration."""
    rendered = execute(module, {**options, "state": "rendered", "dest": str(folder), "host": "https://127.0.0.1:1"})
    assert rendered["changed"], rendered
    for file in rendered["files"]:
        apply(file, manager)
    return task(module, **options)


def test_applied_vms_are_as_declared(task: Task, apply: Any, shop: str, tmp_path: Path) -> None:
    options = {"namespace": shop, "virtual_machines": VMS, "run_strategy": "Halted"}
    declared = check(task, apply, tmp_path, "virtual_machine", **options)
    assert (declared["changed"], declared["msg"]) == (False, "5 virtual machines: 5 unchanged")


def test_other_managers_need_no_other_values(task: Task, apply: Any, shop: str, tmp_path: Path) -> None:
    options = {"namespace": shop, "virtual_machines": VMS, "run_strategy": "Halted"}
    declared = check(task, apply, tmp_path, "virtual_machine", manager="argocd-controller", **options)
    assert declared["msg"] == "5 virtual machines: 5 taken over"
    assert all(result["taken_over"] for result in declared["results"])


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("instancetype", {"cpu": {"guest": 2}, "memory": {"guest": "2048Mi"}, "vm_annotations": TEXTS}),
        ("preference", {"cpu": {"preferred_cpu_topology": "cores"}, "requirements": {"memory": {"guest": "1024Mi"}}}),
        pytest.param(
            "virtual_machine_template",
            {
                "parameters": [{"name": "NAME", "value": "010"}],
                "virtual_machine": {"metadata": {"name": "vm-${NAME}"}, **GUEST},
            },
            marks=pytest.mark.needs("templates"),
        ),
        pytest.param("boot_source", IMAGE, marks=pytest.mark.needs("cdi_here")),
        pytest.param("boot_source", {**IMAGE, "schedule": "0 1 * * *"}, marks=pytest.mark.needs("cdi_here")),
    ],
)
def test_other_applied_objects_are_as_declared(
    task: Task, apply: Any, shop: str, tmp_path: Path, module: str, options: Manifest
) -> None:
    assert not check(task, apply, tmp_path, module, namespace=shop, name="it", **options)["changed"]
