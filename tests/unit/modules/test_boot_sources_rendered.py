"""state: rendered of boot sources, and of VMs whose options only a cluster or a registry can answer."""

from collections.abc import Callable
from typing import Any

import pytest

Manifest = dict[str, Any]
Render = Callable[..., Manifest]

OS = {"name": "os", "namespace": "shop"}
DIGEST = f"sha256:{'0a' * 32}"
IMAGE = {"image": f"quay.io/disks/os@{DIGEST}", "size": "5Gi"}


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        (IMAGE, ["DataVolume", "DataSource"]),
        ({**IMAGE, "schedule": "0 1 * * *"}, ["DataImportCron"]),
        ({"pvc": {"name": "disk"}}, ["DataSource"]),
        ({"url": "https://example.com/os.qcow2", "size": "5Gi"}, ["DataVolume", "DataSource"]),
    ],
)
def test_nothing_is_asked(render: Render, options: Manifest, kinds: list[str]) -> None:
    result = render("boot_source", **OS, **options)
    assert [manifest["kind"] for manifest in result["rendered"]] == kinds
    assert (result["changed"], result["msg"]) == (False, "1 boot source rendered")


def test_name_of_the_disk_has_the_digest(render: Render) -> None:
    volume, source = render("boot_source", **OS, **IMAGE)["rendered"]
    assert volume["metadata"]["name"] == source["spec"]["source"]["pvc"]["name"] == "os-0a0a0a0a0a0a"


@pytest.mark.parametrize(
    ("module", "options", "message"),
    [
        ("virtual_machine", {"workload": "fedora"}, "workload: needs a connection, which state rendered does not"),
        ("virtual_machine", {"infer_from_registry": True}, "infer_from_registry: needs a connection,"),
        ("boot_source", {**IMAGE, "image": "quay.io/disks/os"}, "image: only the registry knows its digest;"),
        ("boot_source", {"upload": {"path": "/x"}, "size": "5Gi"}, "upload: sends a file to the cluster,"),
        ("boot_source", {**IMAGE, "namespace": None}, "namespace: required;"),
        ("boot_source", {**IMAGE, "schedule": "often"}, "CDI refuses the object: Illegal cron schedule"),
    ],
)
def test_what_cannot_be_rendered_is_one_line(render: Render, module: str, options: Manifest, message: str) -> None:
    given = {key: value for key, value in {**OS, **options}.items() if value is not None}
    result = render(module, **given)
    assert result["failed"] and message in result["msg"], result
