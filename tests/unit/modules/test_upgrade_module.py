"""upgrade_info on a scripted cluster: what it reads, what it says, and what it does without."""

from collections.abc import Callable
from typing import Any

import pytest

from scripted_server import KUBEVIRTS, Store, forbidden

Manifest = dict[str, Any]
Run = Callable[..., dict[str, Any]]

TYPES = "/apis/instancetype.kubevirt.io/v1beta1"
REVISIONS = "/apis/apps/v1/controllerrevisions"
VMS = "/apis/kubevirt.io/v1/virtualmachines"
CLUSTER = {"metadata": {"name": "kubevirt"}, "status": {"observedKubeVirtVersion": "v1.8.4"}}
PANIC = {
    "metadata": {"name": "linux"},
    "spec": {"devices": {"preferredPanicDeviceModel": "hyperv"}},
}


def small(guest: int) -> Manifest:
    return {
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "small"},
        "spec": {"cpu": {"guest": guest}, "memory": {"guest": "1Gi"}},
    }


def store() -> Store:
    vm = {
        "metadata": {"name": "web", "namespace": "shop", "uid": "x", "generation": 1},
        "spec": {
            "runStrategy": "Halted",
            "instancetype": {"name": "small"},
            "preference": {"name": "linux"},
            "template": {"spec": {"domain": {"devices": {}}}},
        },
    }
    return Store(
        {
            VMS: [vm],
            REVISIONS: [],
            KUBEVIRTS: [CLUSTER],
            f"{TYPES}/virtualmachineclusterinstancetypes": [small(1)],
            f"{TYPES}/virtualmachineclusterpreferences": [PANIC],
            f"{TYPES}/virtualmachineinstancetypes": [],
            f"{TYPES}/virtualmachinepreferences": [],
        }
    )


def test_another_release_and_another_catalog(run: Run) -> None:
    cluster = store()
    result = run("upgrade_info", cluster, kubevirt_version="1.9.0", catalog=[small(4)])
    assert (result["changed"], result["kubevirt"]) == (False, {"before": "1.8.4", "after": "1.9.0"})
    assert cluster.writes == []
    (web,) = result["virtual_machines"]
    # It has captured nothing yet, so that the new catalog counts at once.
    assert (web["guest_before"]["vcpus"], web["guest_after"]["vcpus"], web["affected"]) == (1, 4, True)
    assert "domain.devices.panicDevices" in [item["field"] for item in web["changes"]]
    assert [(item["name"], item["status"], item["used_by"]) for item in result["objects"]] == [
        ("small", "changed", ["shop/web"]),
        ("linux", "unchanged", ["shop/web"]),
    ]
    assert [item["when"] for item in result["steps"]] == ["before", "after"]


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.99", "this collection does not know KubeVirt 1.99; write 1.4 to 1.10, or a patch of these"),
        ("1.8.3", "1.8.3 is older than v1.8.4, which the cluster runs, and KubeVirt has no downgrade; write a later"),
        ("1.8", "1.8 is older than v1.8.4"),
    ],
)
def test_releases_that_it_cannot_rehearse(run: Run, version: str, message: str) -> None:
    result = run("upgrade_info", store(), kubevirt_version=version)
    assert result["failed"] and result["msg"].startswith(f"kubevirt_version: {message}")


def test_the_next_release_is_known_from_its_sources(run: Run) -> None:
    result = run("upgrade_info", store(), kubevirt_version="v1.10")
    assert result["kubevirt"]["after"] == "1.10"
    warning = next(item for item in result["warnings"] if item.startswith("KubeVirt v1.10 is not released yet"))
    assert warning.endswith("KubeVirt supports only the newest three minor versions")


def test_nothing_changes_without_an_upgrade(run: Run) -> None:
    result = run("upgrade_info", store())
    assert [item["affected"] for item in result["virtual_machines"]] == [False]
    assert (result["steps"], result["settings"], result["objects"]) == ([], [], [])


def test_unreadable_catalog_gives_a_warning(run: Run) -> None:
    cluster = store()
    cluster.answers["GET", f"{TYPES}/virtualmachineclusterpreferences"] = forbidden("virtualmachineclusterpreferences")
    result = run("upgrade_info", cluster, kubevirt_version="1.9.0")
    assert result["virtual_machines"][0]["problem"]
    assert any("virtualmachineclusterpreferences" in item for item in result["warnings"])


def test_invalid_options_are_refused(run: Run) -> None:
    for options, message in (
        ({"kubevirt_version": "next"}, "kubevirt_version: "),
        ({"kubevirt_configuration": {"network": "x"}}, "kubevirt_configuration: malformed"),
        ({"kubevirt_configuration": {"permittedHostDevices": "x"}}, "kubevirt_configuration: malformed"),
        ({"catalog": [{"series": {}}]}, "catalog[0]: is not a manifest of an instancetype or preference"),
    ):
        assert run("upgrade_info", store(), **options)["msg"].startswith(message), options


TEMPLATES = "/apis/template.kubevirt.io/{}/virtualmachinetemplates"
QUOTAS, PODS, RANGES = "/api/v1/resourcequotas", "/api/v1/pods", "/api/v1/limitranges"
SPACES = "/api/v1/namespaces"


def plan(name: str) -> Manifest:
    vm = store().lists[VMS][0]["spec"]
    spec = {"virtualMachine": {"metadata": {"name": "${NAME}"}, "spec": vm}, "parameters": [{"name": "NAME"}]}
    return {"metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def test_templates_of_either_version(run: Run) -> None:
    for version in ("v1alpha1", "v1beta1"):
        cluster = store()
        cluster.lists[TEMPLATES.format(version)] = [plan("web")]
        result = run("upgrade_info", cluster, kubevirt_version="1.9.0")
        (template,) = result["templates"]
        assert (template["name"], template["affected"]) == ("web", True)
        assert [item["field"] for item in template["changes"]] == ["domain.devices.panicDevices"]
        assert "warnings" not in result or not any("templates" in item for item in result["warnings"])
    cluster.answers["GET", TEMPLATES.format("v1beta1")] = forbidden("virtualmachinetemplates")
    result = run("upgrade_info", cluster)
    assert result["templates"] == []
    assert any("virtualmachinetemplates are not taken into account" in item for item in result["warnings"])


def test_quotas_are_checked_before_and_after(run: Run) -> None:
    cluster = store()
    hard = {"requests.memory": "1G"}
    quota = {"metadata": {"name": "team", "namespace": "shop"}, "spec": {"hard": hard}, "status": {"hard": hard}}
    cluster.lists |= {QUOTAS: [quota], PODS: [], RANGES: [], SPACES: []}
    (web,) = run("upgrade_info", cluster, kubevirt_version="1.9.0")["virtual_machines"]
    assert web["quota_after"] == web["quota_before"] and "ResourceQuota team lacks" in web["quota_after"]
    cluster.answers["GET", PODS] = forbidden("pods")
    result = run("upgrade_info", cluster)
    assert "quota_after" not in result["virtual_machines"][0]
    assert any(item.startswith("quotas are not taken into account: ") for item in result["warnings"])
    cluster.answers["GET", QUOTAS] = forbidden("resourcequotas")
    result = run("upgrade_info", cluster)
    assert any(item.startswith("resourcequotas are not taken into account: ") for item in result["warnings"])
