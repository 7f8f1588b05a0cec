"""The status of pods, and what they need before they run."""

import json
from typing import Any

import pytest
from node_support import pod

from node.kubelet import needs, network, pod_status
from node.kubelet.programs import Outcome

Manifest = dict[str, Any]
GATE = "kubevirt.io/virtual-machine-unpaused"


def conditions(status: Manifest) -> dict[str, str]:
    return {entry["type"]: entry["status"] for entry in status["conditions"]}


def after(manifest: Manifest, status: Manifest) -> Manifest:
    """The pod once the status is written."""
    return {**manifest, "status": {**manifest["status"], **status}}


def test_a_pod_runs_and_is_ready() -> None:
    status = pod_status.running(pod())
    assert status["phase"] == "Running" and status["hostIP"] == "127.0.0.1"
    assert set(conditions(status).values()) == {"True"}
    (container,) = status["containerStatuses"]
    assert container["ready"] and "running" in container["state"]
    assert container["imageID"].startswith("quay.io/x/y:1@sha256:")


def test_unmet_readiness_gate_keeps_pod_unready() -> None:
    manifest = pod(readinessGates=[{"conditionType": GATE}])
    assert conditions(pod_status.running(manifest))["Ready"] == "False"
    manifest["status"]["conditions"] = [{"type": GATE, "status": "True"}]
    assert conditions(pod_status.running(manifest))["Ready"] == "True"


def test_a_silent_guest_fails_its_probe() -> None:
    manifest = pod()
    manifest["metadata"]["annotations"] = {"instancetypes.virtshape.io/simulated-guest": "silent"}
    assert conditions(pod_status.running(manifest))["Ready"] == "True"
    manifest["spec"]["containers"][0]["readinessProbe"] = {"tcpSocket": {"port": 22}}
    assert conditions(pod_status.running(manifest))["Ready"] == "False"


def test_init_containers_are_done_and_sidecars_run() -> None:
    manifest = pod(initContainers=[{"name": "a", "image": "i"}, {"name": "b", "image": "i", "restartPolicy": "Always"}])
    first, second = pod_status.running(manifest)["initContainerStatuses"]
    assert "terminated" in first["state"] and "running" in second["state"]
    first, second = pod_status.ended(manifest, Outcome())["initContainerStatuses"]
    assert "terminated" in second["state"] and not second["ready"]


def test_pod_address_is_stable_or_the_nodes() -> None:
    assert pod_status.address(pod()) == pod_status.address(pod())
    assert pod_status.address(pod()) != pod_status.address(pod("q"))
    assert pod_status.address(pod(hostNetwork=True)) == "127.0.0.1"


def test_a_failed_container_is_started_again() -> None:
    manifest = pod()
    manifest = after(manifest, pod_status.running(manifest))
    manifest = after(manifest, pod_status.failed(manifest, Outcome(1, "no such image")))
    (container,) = manifest["status"]["containerStatuses"]
    assert container["state"]["terminated"]["message"] == "no such image" and container["restartCount"] == 0
    manifest = after(manifest, pod_status.backing_off(manifest, 10))
    (container,) = manifest["status"]["containerStatuses"]
    assert container["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert container["lastState"]["terminated"]["exitCode"] == 1
    manifest = after(manifest, pod_status.running(manifest))
    assert pod_status.restarts(manifest) == 1
    manifest = after(manifest, pod_status.running(manifest))
    assert pod_status.restarts(manifest) == 1


def test_failed_image_pull_is_reported() -> None:
    (container,) = pod_status.failed(pod(), Outcome(1, "no", reason="ErrImagePull"))["containerStatuses"]
    assert container["state"]["waiting"]["reason"] == "ErrImagePull" and not container["started"]


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (1, "Failed")])
def test_a_pod_ends(code: int, phase: str) -> None:
    status = pod_status.ended(pod(), Outcome(code, "text", image_id="x@sha256:1"))
    assert status["phase"] == phase and conditions(status)["Ready"] == "False"
    assert status["containerStatuses"][0]["imageID"] == "x@sha256:1"


def test_needs_are_claims_secrets_and_config_maps() -> None:
    manifest = pod(
        volumes=[
            {"name": "a", "persistentVolumeClaim": {"claimName": "claim"}},
            {"name": "b", "secret": {"secretName": "secret"}},
            {"name": "c", "configMap": {"name": "map", "optional": True}},
            {"name": "d", "projected": {"sources": [{"secret": {"name": "other"}}, {"serviceAccountToken": {}}]}},
        ]
    )
    assert needs.claims(manifest) == ["claim"]
    assert [name for _kind, name in needs.files(manifest)] == ["secret", "other"]


@pytest.mark.parametrize("text", ['[{"name":"blue","namespace":"nets","interface":"net1"}]', "nets/blue@net1"])
def test_networks_are_named_in_two_forms(text: str) -> None:
    manifest = pod()
    manifest["metadata"]["annotations"] = {needs.NETWORKS: text}
    assert needs.networks(manifest) == [("nets", "blue")]
    default, secondary = json.loads(network.status(manifest))
    assert default["default"] and default["ips"] == [pod_status.address(manifest)]
    assert (secondary["name"], secondary["interface"]) == ("nets/blue", "net1")


def test_network_status_is_written_once() -> None:
    manifest = pod()
    patch = network.change(manifest)
    assert patch is not None
    manifest["metadata"]["annotations"] = patch["metadata"]["annotations"]
    assert network.change(manifest) is None
