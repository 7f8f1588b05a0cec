"""Names that KubeVirt or CDI accepts, and of which it makes longer ones that Kubernetes does not."""

from typing import Any

import pytest
from waiting import wait_until

from modules_support import Task, objects, vm

PLAIN: dict[str, Any] = {"volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}]}
PERSISTENT = {**PLAIN, "memory": "1Gi", "efi": {"persistent": True}}


@pytest.mark.parametrize(
    ("longest", "options"),
    [(239, {**PLAIN, "memory": "1Gi"}), (63, PERSISTENT), (200, {**vm("web", preference=None)})],
    ids=["pod", "persistent state", "revision"],
)
def test_longest_name_starts_and_longer_is_refused(
    task: Task, shop: str, longest: int, options: dict[str, Any]
) -> None:
    refused = task.refused("virtual_machine", **{**options, "name": "a" * (longest + 1)})
    assert not refused["changed"], refused
    assert refused["msg"].endswith("so KubeVirt accepts the VM, but cannot start it; drop 1 character")
    fits = task("virtual_machine", **{**options, "name": "a" * longest}, wait=True)
    assert fits["result"]["status"] == "Running", fits


@pytest.mark.parametrize("module", ["instancetype", "preference"])
def test_object_that_no_vm_could_capture_is_refused(task: Task, module: str) -> None:
    guest = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}} if module == "instancetype" else {}
    refused = task.refused(module, name="i" * 64, **guest)
    assert refused["msg"].endswith("drop 1 character"), refused
    assert task(module, name="i" * 63, **guest)["changed"]


def test_boot_source_name_too_long_to_poll(task: Task, namespace: str, api: Any) -> None:
    image = {"image": "docker://registry.example.com/disk:1", "schedule": "0 0 * * *", "query_registry": False}
    refused = task.refused("boot_source", name="c" * 44, size="1Gi", **image)
    assert refused["msg"].endswith("for CDI's CronJob; drop 1 character"), refused
    assert task("boot_source", name="c" * 43, size="1Gi", **image)["changed"]
    # CDI has got further than the CronJob.
    crons = objects(api, "DataImportCron")
    wait_until(
        lambda: bool(crons.get(name="c" * 43, namespace=namespace).to_dict().get("status", {}).get("conditions"))
    )
