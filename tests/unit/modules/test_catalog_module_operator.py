"""catalog and catalog_info: who deploys the common instancetypes, virt-operator or the task."""

from typing import Any

import pytest

from plugins.module_utils._cluster.writes import catalog_compatibility
from scripted_server import KUBEVIRTS, Manifest, Run, Store, forbidden

GROUP = "/apis/instancetype.kubevirt.io/v1beta1"
SIZES, PREFERENCES = f"{GROUP}/virtualmachineclusterinstancetypes", f"{GROUP}/virtualmachineclusterpreferences"
OBJECT = "/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt"
DEFINITION: Manifest = {"series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "2Gi"}}}}}
OPERATED = {"metadata": {"name": "u1.small", "labels": {"app.kubernetes.io/managed-by": "virt-operator"}}, "spec": {}}
OPTION = "common_instancetypes_deployment"


def cluster(enabled: bool | None, *sizes: Manifest, version: str = "v1.9.0", **labels: str) -> Store:
    field = {} if enabled is None else {"commonInstancetypesDeployment": {"enabled": enabled}}
    kubevirt = {
        "metadata": {"name": "kubevirt", "namespace": "kubevirt", "labels": labels},
        "spec": {"configuration": field},
        "status": {"observedKubeVirtVersion": version},
    }
    vms = "/apis/kubevirt.io/v1/virtualmachines"
    return Store({KUBEVIRTS: [kubevirt], SIZES: list(sizes), PREFERENCES: [], vms: []})


def deploy(run: Run, store: Store, choice: str, **options: Any) -> Manifest:
    given = {"catalog": "acme", "source": "definitions", "definitions": [DEFINITION], OPTION: choice}
    return run("catalog", store, **{**given, **options})


@pytest.mark.parametrize(
    ("choice", "enabled", "patched", "created"),
    [
        ("keep", None, False, 1),
        ("keep", False, False, 1),
        ("fail", False, False, 1),
        ("disable", None, True, 1),
        ("disable", True, True, 1),
        ("disable", False, False, 1),
        ("enable", None, False, 0),
        ("enable", True, False, 0),
        ("enable", False, True, 0),
    ],
)
def test_operator_option_decides_who_deploys(
    run: Run, choice: str, enabled: bool | None, patched: bool, created: int
) -> None:
    store = cluster(enabled)
    result = deploy(run, store, choice)
    assert (("PATCH", OBJECT) in store.writes, result["counts"]["created"]) == (patched, created), result
    after = enabled is not False if choice in ("keep", "fail") else choice == "enable"
    assert result[OPTION] == {"enabled": after, "changed": patched}
    assert result["changed"] == (patched or created > 0)
    assert ("; virt-operator " in result["msg"]) == patched


@pytest.mark.parametrize("choice", ["disable", "enable"])
def test_check_mode_sends_a_dry_run(run: Run, choice: str) -> None:
    store = cluster(choice == "disable", OPERATED)
    result = deploy(run, store, choice, check=True)
    assert not store.writes and ("PATCH", OBJECT) in store.dry_runs
    assert result[OPTION]["changed"] and "; virt-operator would " in result["msg"]
    warned = "virt-operator deletes its 1 objects first; check mode shows them as left alone" in result["warnings"]
    assert warned == (choice == "disable")
    store = cluster(choice == "disable")
    deploy(run, store, choice, check=True, server_dry_run=False)
    assert not store.writes and ("PATCH", OBJECT) not in store.dry_runs


@pytest.mark.parametrize(
    ("store", "choice", "message"),
    [
        (
            cluster(True, OPERATED),
            "disable",
            "virt-operator has not deleted its 1 objects within 0 seconds; check that it",
        ),
        (
            cluster(True, **{"app.kubernetes.io/managed-by": "hco-operator"}),
            "disable",
            "the HyperConverged operator reverts changes of the KubeVirt kubevirt; set"
            " spec.commonInstancetypesDeployment.enabled of the HyperConverged object to false",
        ),
    ],
)
def test_refusals_deploy_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, store: Store, choice: str, message: str
) -> None:
    monkeypatch.setattr(catalog_compatibility, "_TIMEOUT", 0)
    result = deploy(run, store, choice)
    assert result["failed"] and message in result["msg"] and result["msg"].startswith(f"{OPTION}: ")
    assert not [item for item in store.writes if item != ("PATCH", OBJECT)]


def test_unlistable_objects_of_the_operator_fail(run: Run) -> None:
    store = cluster(True)
    store.answers["GET", SIZES] = forbidden("virtualmachineclusterinstancetypes")
    result = deploy(run, store, "disable")
    assert result["failed"] and result["msg"].startswith(f"{OPTION}: ")


def test_webhook_without_dry_run_support_gives_warning(run: Run) -> None:
    store = cluster(True)
    store.answers["PATCH", OBJECT] = (400, {"message": "the webhook does not support dry run", "code": 400})
    result = deploy(run, store, "disable", check=True)
    assert any(text.startswith("the dry run could not check the KubeVirt object") for text in result["warnings"])


def test_who_deploys_may_be_unknown(run: Run) -> None:
    store = cluster(True)
    store.answers["GET", KUBEVIRTS] = forbidden("kubevirts.kubevirt.io")
    assert run("catalog_info", store, scope="cluster")[OPTION]["enabled"] is None
