"""Names that KubeVirt or CDI accepts, and of which it makes longer ones that Kubernetes does not."""

from collections.abc import Callable
from typing import Any

import pytest
from waiting import wait_until

from modules_support import vm

Run = Callable[..., dict[str, Any]]

PLAIN: dict[str, Any] = {"volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}]}
PERSISTENT = {**PLAIN, "memory": "1Gi", "efi": {"persistent": True}}


@pytest.mark.parametrize(
    ("longest", "options"),
    [(239, {**PLAIN, "memory": "1Gi"}), (63, PERSISTENT), (200, {**vm("web", preference=None)})],
    ids=["pod", "persistent state", "revision"],
)
def test_longest_name_starts_and_longer_is_refused(run: Run, shop: str, longest: int, options: dict[str, Any]) -> None:
    refused = run("virtual_machine", namespace=shop, **{**options, "name": "a" * (longest + 1)})
    assert refused["failed"] and not refused["changed"], refused
    assert refused["msg"].endswith("so KubeVirt accepts the VM, but cannot start it; drop 1 character")
    fits = run("virtual_machine", namespace=shop, **{**options, "name": "a" * longest}, wait=True)
    assert not fits.get("failed") and fits["result"]["status"] == "Running", fits


@pytest.mark.parametrize("module", ["instancetype", "preference"])
def test_object_that_no_vm_could_capture_is_refused(run: Run, namespace: str, module: str) -> None:
    guest = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}} if module == "instancetype" else {}
    refused = run(module, namespace=namespace, name="i" * 64, **guest)
    assert refused["failed"] and refused["msg"].endswith("drop 1 character"), refused
    assert run(module, namespace=namespace, name="i" * 63, **guest)["changed"]


def test_boot_source_name_too_long_to_poll(run: Run, namespace: str, api: Any) -> None:
    image = {"image": "docker://registry.example.com/disk:1", "schedule": "0 0 * * *", "query_registry": False}
    refused = run("boot_source", namespace=namespace, name="c" * 44, size="1Gi", **image)
    assert refused["failed"] and refused["msg"].endswith("for CDI's CronJob; drop 1 character"), refused
    assert run("boot_source", namespace=namespace, name="c" * 43, size="1Gi", **image)["changed"]
    # CDI has got further than the CronJob.
    crons = api.resources.get(api_version="cdi.kubevirt.io/v1beta1", kind="DataImportCron")
    wait_until(
        lambda: bool(crons.get(name="c" * 43, namespace=namespace).to_dict().get("status", {}).get("conditions"))
    )
