"""virtual_machine: disks that a running guest gets and loses by requests, with the feature gate HotplugVolumes."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config
from plugging_support import BLANK, DATA, ROOT, Run, Volume, attached
from waiting import wait_until

from chosen_releases import ALL
from modules_support import claim_of, warned
from rights_support import Atom, Failed, Play, all_but, atoms, granted, names_right

pytestmark = pytest.mark.own_cluster


OTHER = {"name": "data", "persistent_volume_claim": "two", "hotpluggable": True}
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
    declare_volumes: Run,
    seen_vm: Callable[[], dict[str, Any]],
    before: list[Volume],
    after: list[Volume],
    disks: dict[str, str],
) -> None:
    assert declare_volumes(*before)["changed"]
    wait_until(lambda: len(attached(seen_vm())) == len(before) + 1)
    first = seen_vm()
    foreseen = declare_volumes(*after, check=True)
    assert (foreseen["result"]["needs"], foreseen["result"]["restart_required"]) == ("live_update", False), foreseen
    assert attached(seen_vm()) == attached(first)
    done = declare_volumes(*after, restart="if_required")
    assert (done["result"]["needs"], done["result"]["restarted"]) == ("live_update", False)
    wait_until(lambda: attached(seen_vm()) == disks)
    now = seen_vm()
    assert now["vmi"]["uid"] == first["vmi"]["uid"]
    if request.node.callspec.params["cluster"] != "1.4.0" or not before:
        # KubeVirt 1.4 asks for a restart where a volume has gone; the task says that the guest needs none.
        assert not warned(done)
        assert "RestartRequired" not in {condition["type"] for condition in now["conditions"]}
    assert (now["restart_required"], now["guest_current"]) == (False, True)
    assert not declare_volumes(*after)["changed"]


def test_disk_with_virtio_since_1_6(request: pytest.FixtureRequest, declare_volumes: Run) -> None:
    declare_volumes()
    expected = "restart" if request.node.callspec.params["cluster"] == "1.4.0" else "live_update"
    for check in (True, False):
        done = declare_volumes({**DATA, "bus": "virtio"}, check=check)
        assert done["result"]["needs"] == expected
        assert bool(warned(done)) is (expected == "restart")


def test_added_volume_is_removed_again(declare_volumes: Run, seen_vm: Callable[[], dict[str, Any]]) -> None:
    declare_volumes()
    for volumes, disks in (([DATA], {"root": "", "data": "one"}), ([], {"root": ""})):
        done = declare_volumes(*volumes, restart="if_required")
        assert done["changed"] and not done["result"]["restarted"], done
        wait_until(lambda wanted=disks: attached(seen_vm()) == wanted)
        assert not declare_volumes(*volumes)["changed"]


def test_volume_of_a_template_leaves_by_a_restart(declare_volumes: Run, seen_vm: Callable[[], dict[str, Any]]) -> None:
    declare_volumes(BLANK)
    done = declare_volumes(check=True)
    assert (done["result"]["needs"], done["result"]["restart_required"]) == ("restart", True)
    assert declare_volumes(restart="if_required")["result"]["restarted"]
    assert attached(seen_vm()) == {"root": ""}


def test_replaced_volume_waits_for_a_restart(
    request: pytest.FixtureRequest, declare_volumes: Run, seen_vm: Callable[[], dict[str, Any]]
) -> None:
    declare_volumes(DATA)
    wait_until(lambda: attached(seen_vm()) == {"root": "", "data": "one"})
    first = seen_vm()["vmi"]
    for check in (True, False):
        done = declare_volumes(OTHER, check=check)
        assert "plugs volumes into a running guest only on request" in str(warned(done))
        assert done["result"]["needs"] == "restart"
        # KubeVirt 1.4 does not ask for it.
        assert done["result"]["restart_required"] or request.node.callspec.params["cluster"] == "1.4.0"
    assert declare_volumes(OTHER, restart="if_required")["result"]["restarted"]
    assert seen_vm()["vmi"]["uid"] != first["uid"]


def test_stopped_vm_gets_volumes_without_requests(declare_volumes: Run) -> None:
    declare_volumes(run_strategy="Halted")
    done = declare_volumes(DATA, run_strategy="Halted")
    assert done["changed"] and not warned(done)
    assert not declare_volumes(DATA, run_strategy="Halted")["changed"]


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
