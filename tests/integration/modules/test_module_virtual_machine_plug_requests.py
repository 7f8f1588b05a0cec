"""virtual_machine: disks that a running guest gets and loses by requests, with the feature gate HotplugVolumes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from chosen_releases import ALL
from modules_support import claim_of, wait_until, warned
from rights_support import Atom, Failed, Play, all_but, atoms, granted, names_right

pytestmark = pytest.mark.own_cluster

Run = Callable[..., dict[str, Any]]
Volume = dict[str, Any]

ROOT = {"name": "root", "container_disk": "registry.example.com/disk:1"}
DATA = {"name": "data", "persistent_volume_claim": "one", "hotpluggable": True}
OTHER = {"name": "data", "persistent_volume_claim": "two", "hotpluggable": True}
BLANK = {"name": "blank", "import": {"blank": True, "size": "1Gi"}, "hotpluggable": True}
LATER = pytest.mark.skipif(not ALL, reason="make test-releases builds KubeVirt 1.8.4")


def open_gates(kubeconfig: Path, *gates: str) -> None:
    """Gives KubeVirt these feature gates, besides those that the local cluster needs."""
    with config.new_client_from_config(str(kubeconfig)) as connection:
        api = client.CustomObjectsApi(connection)
        place = ("kubevirt.io", "v1", "kubevirt", "kubevirts", "kubevirt")
        developer = api.get_namespaced_custom_object(*place)["spec"]["configuration"].get("developerConfiguration")
        kept = [gate for gate in (developer or {}).get("featureGates") or () if gate != "HotplugVolumes"]
        patch = {
            "configuration": {
                "developerConfiguration": {"featureGates": [*kept, *gates]},
                # With the default of 1.4, which is Stage, KubeVirt asks for restarts that change nothing.
                "vmRolloutStrategy": "LiveUpdate",
            }
        }
        api.patch_namespaced_custom_object(*place, {"spec": patch})


@pytest.fixture(
    scope="module",
    params=[
        "1.9.0",
        pytest.param("1.8.4", marks=LATER),
        pytest.param("1.4.0", marks=pytest.mark.nightly("another release of KubeVirt")),
    ],
)
def cluster(
    request: pytest.FixtureRequest, launch: Callable[..., dict[str, Any]], run_cluster: tuple[str, ...]
) -> Iterator[Path]:
    """A cluster whose KubeVirt plugs volumes by request."""
    *_name, folder = run_cluster
    # One for each worker, since each of them stops its own.
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    which = ("--name", "tests", "--dir", f"{folder}-requests-{request.param}-{worker}")
    kubeconfig = Path(launch("start", *which, "--kubevirt-version", request.param)["kubeconfig"])
    open_gates(kubeconfig, "HotplugVolumes", "VMLiveUpdateFeatures")
    yield kubeconfig
    launch("stop", "--remove", *which)


@pytest.fixture
def declare(run: Run, namespace: str, api: Any) -> Callable[..., dict[str, Any]]:
    """declare(*volumes, **options): the result for a VM that has these besides its root disk."""
    for claim in ("one", "two"):
        claim_of(api, namespace, claim)

    def one(*volumes: Volume, **options: Any) -> dict[str, Any]:
        options = {"wait": True, "volumes": [ROOT, *volumes], **options}
        return run("virtual_machine", namespace=namespace, name="web", memory="1Gi", **options)

    return one


@pytest.fixture
def seen(run: Run, namespace: str) -> Callable[[], dict[str, Any]]:
    """seen(): the VM as virtual_machine_info returns it."""

    def one() -> dict[str, Any]:
        (vm,) = run("virtual_machine_info", namespace=namespace, include=["refresh"])["virtual_machines"]
        result: dict[str, Any] = vm
        return result

    return one


def attached(vm: dict[str, Any]) -> dict[str, str]:
    """The claims of the guest's disks by name, of those that libvirt has."""
    return {disk["name"]: disk["claim"] for disk in vm["instance"]["disks"] if disk["target"] or not disk["source"]}


@pytest.mark.parametrize(
    ("before", "after", "disks"),
    [
        ([], [DATA], {"root": "", "data": "one"}),
        ([], [BLANK], {"root": "", "blank": "web-blank"}),
        ([DATA], [], {"root": ""}),
        ([DATA], [BLANK], {"root": "", "blank": "web-blank"}),
    ],
)
def test_running_guest_takes_volumes_by_request(
    request: pytest.FixtureRequest,
    declare: Run,
    seen: Callable[[], dict[str, Any]],
    before: list[Volume],
    after: list[Volume],
    disks: dict[str, str],
) -> None:
    assert declare(*before)["changed"]
    wait_until(lambda: len(attached(seen())) == len(before) + 1)
    first = seen()
    foreseen = declare(*after, check=True)
    assert (foreseen["result"]["needs"], foreseen["result"]["restart_required"]) == ("live_update", False), foreseen
    assert attached(seen()) == attached(first)
    done = declare(*after, restart="if_required")
    assert not done.get("failed"), done
    assert (done["result"]["needs"], done["result"]["restarted"]) == ("live_update", False)
    wait_until(lambda: attached(seen()) == disks)
    now = seen()
    assert now["instance"]["uid"] == first["instance"]["uid"]
    if request.node.callspec.params["cluster"] != "1.4.0" or not before:
        # KubeVirt 1.4 asks for a restart where a volume has gone; the task says that the guest needs none.
        assert not warned(done)
        assert "RestartRequired" not in {condition["type"] for condition in now["conditions"]}
    assert (now["restart_required"], now["guest_current"]) == (False, True)
    assert not declare(*after)["changed"]


def test_disk_with_virtio_since_1_6(request: pytest.FixtureRequest, declare: Run) -> None:
    declare()
    expected = "restart" if request.node.callspec.params["cluster"] == "1.4.0" else "live_update"
    for check in (True, False):
        done = declare({**DATA, "bus": "virtio"}, check=check)
        assert not done.get("failed"), done
        assert done["result"]["needs"] == expected
        assert bool(warned(done)) is (expected == "restart")


def test_added_volume_is_removed_again(declare: Run, seen: Callable[[], dict[str, Any]]) -> None:
    declare()
    for volumes, disks in (([DATA], {"root": "", "data": "one"}), ([], {"root": ""})):
        done = declare(*volumes, restart="if_required")
        assert done["changed"] and not done["result"]["restarted"], done
        wait_until(lambda wanted=disks: attached(seen()) == wanted)
        assert not declare(*volumes)["changed"]


def test_volume_of_a_template_leaves_by_a_restart(declare: Run) -> None:
    declare(BLANK)
    done = declare(check=True)
    assert (done["result"]["needs"], done["result"]["restart_required"]) == ("restart", True)


def test_replaced_volume_waits_for_a_restart(
    request: pytest.FixtureRequest, declare: Run, seen: Callable[[], dict[str, Any]]
) -> None:
    declare(DATA)
    wait_until(lambda: attached(seen()) == {"root": "", "data": "one"})
    first = seen()["instance"]
    for check in (True, False):
        done = declare(OTHER, check=check)
        assert "plugs volumes into a running guest only on request" in str(warned(done))
        assert done["result"]["needs"] == "restart"
        # KubeVirt 1.4 does not ask for it.
        assert done["result"]["restart_required"] or request.node.callspec.params["cluster"] == "1.4.0"
    assert declare(OTHER, restart="if_required")["result"]["restarted"]
    assert seen()["instance"]["uid"] != first["uid"]


def test_stopped_vm_gets_volumes_without_requests(declare: Run) -> None:
    declare(run_strategy="Halted")
    done = declare(DATA, run_strategy="Halted")
    assert done["changed"] and not warned(done)
    assert not declare(DATA, run_strategy="Halted")["changed"]


def test_missing_rights_to_requests_are_named(cluster: Path, api: Any) -> None:
    module = "virtual_machine"
    rights = atoms(f"modules/{module}")
    with granted(cluster, [f"modules/{module}"]) as account:
        claim_of(api, account.namespace, "one")
        vm = {"namespace": account.namespace, "name": "web", "memory": "1Gi", "wait": True}
        Play(account, rights, module).step(**vm, volumes=[ROOT])
        for verb, volumes in (("addvolume", [ROOT, DATA]), ("removevolume", [ROOT])):
            lacking = Atom(f"virtualmachines.subresources.kubevirt.io/{verb}", "update", False)
            with pytest.raises(Failed) as failure:
                Play(account, all_but(rights, lacking), module).step(**vm, volumes=volumes)
            assert names_right(str(failure.value), lacking), failure.value
            Play(account, rights, module).step(**vm, volumes=volumes)
