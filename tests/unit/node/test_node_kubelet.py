"""The kubelet: pods run, wait for what they need, run programs, and go."""

import asyncio
from typing import Any, Callable

import pytest
from node_support import Api, in_loop, launcher, pod, vmi

from node.api.controller import NotYet
from node.api.informer import Key
from node.api.resources import CLAIM, NETWORK, POD, VMI
from node.guests.report import SSH
from node.kubelet import kubelet as module
from node.kubelet import pod_status
from node.kubelet.kubelet import Kubelet
from node.kubelet.programs import Finder, Outcome
from node.launcher_pods import LauncherPods

Manifest = dict[str, Any]
KEY = ("ns", "p")
PATH = POD.path(*KEY)


class Cluster:
    """A kubelet and the API that it works on."""

    def __init__(self, find: Finder = lambda _pod: None) -> None:
        self.api = Api()
        pods, vmis, self.claims = self.api.cache(POD), self.api.cache(VMI), self.api.cache(CLAIM)
        self.kubelet = Kubelet(self.api.client, pods, self.claims, LauncherPods(pods, vmis), ["node01"], find)

    def phase(self) -> str:
        return str(self.api.objects[PATH]["status"]["phase"])


@in_loop
async def test_pods_of_its_nodes_run() -> None:
    cluster = Cluster()
    cluster.api.add(POD, pod())
    cluster.api.add(POD, pod("elsewhere", nodeName="node02"))
    await cluster.kubelet.sync(KEY)
    await cluster.kubelet.sync(("ns", "elsewhere"))
    assert cluster.phase() == "Running"
    assert cluster.api.objects[POD.path("ns", "elsewhere")]["status"] == {"phase": "Pending"}
    written = len(cluster.api.written)
    await cluster.kubelet.sync(KEY)
    assert len(cluster.api.written) == written


@in_loop
async def test_a_pod_waits_for_its_claim() -> None:
    cluster = Cluster()
    cluster.api.add(POD, pod(volumes=[{"name": "a", "persistentVolumeClaim": {"claimName": "c"}}]))
    with pytest.raises(NotYet):
        await cluster.kubelet.sync(KEY)
    (container,) = cluster.api.objects[PATH]["status"]["containerStatuses"]
    assert container["state"]["waiting"]["message"] == 'persistentvolumeclaim "c" not found'
    cluster.api.add(CLAIM, {"metadata": {"namespace": "ns", "name": "c"}, "status": {"phase": "Bound"}})
    await cluster.kubelet.sync(KEY)
    assert cluster.phase() == "Running"


@in_loop
async def test_a_pod_waits_for_its_network() -> None:
    cluster = Cluster()
    manifest = pod()
    manifest["metadata"]["annotations"] = {"k8s.v1.cni.cncf.io/networks": "nets/blue"}
    cluster.api.add(POD, manifest)
    with pytest.raises(NotYet):
        await cluster.kubelet.sync(KEY)
    (container,) = cluster.api.objects[PATH]["status"]["containerStatuses"]
    assert "(blue) in namespace (nets)" in container["state"]["waiting"]["message"]
    cluster.api.add(NETWORK, {"metadata": {"namespace": "nets", "name": "blue"}})
    await cluster.kubelet.sync(KEY)
    assert cluster.phase() == "Running"


@in_loop
async def test_terminating_pod_is_removed() -> None:
    cluster = Cluster()
    manifest = pod()
    manifest["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    cluster.api.add(POD, manifest)
    await cluster.kubelet.sync(KEY)
    assert PATH not in cluster.api.objects


@in_loop
async def test_terminating_pod_waits_for_its_guest() -> None:
    cluster = Cluster()
    guest = vmi("Running")
    cluster.api.add(VMI, guest)
    manifest = launcher("p", guest)
    cluster.api.add(POD, manifest)
    await cluster.kubelet.sync(KEY)
    assert "k8s.v1.cni.cncf.io/network-status" in cluster.api.objects[PATH]["metadata"]["annotations"]
    stored = cluster.api.objects[PATH]
    cluster.api.add(POD, {**stored, "metadata": {**stored["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}})
    await cluster.kubelet.sync(KEY)
    assert PATH in cluster.api.objects
    cluster.api.add(VMI, vmi("Succeeded"))
    await cluster.kubelet.sync(KEY)
    assert PATH not in cluster.api.objects


@in_loop
async def test_pod_ends_after_its_guest_has_ended() -> None:
    cluster = Cluster()
    cluster.api.add(VMI, vmi("Running"))
    cluster.api.add(POD, launcher("p", vmi()))
    await cluster.kubelet.sync(KEY)
    cluster.api.add(VMI, vmi("Failed"))
    await cluster.kubelet.sync(KEY)
    assert cluster.phase() == "Succeeded"


async def wait_until(said: Callable[[], bool]) -> None:
    while not said():
        await asyncio.sleep(0)


@in_loop
async def test_a_program_is_tried_until_it_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_NOTICED", 0)
    monkeypatch.setattr(module, "_FIRST_BACK_OFF", 0)
    outcomes = [Outcome(1, "no"), Outcome(1, "no"), Outcome(0, "yes")]

    async def program() -> Outcome:
        return outcomes.pop(0)

    cluster = Cluster(lambda _pod: program)
    cluster.api.add(POD, pod(restartPolicy="OnFailure"))
    await cluster.kubelet.sync(KEY)
    await wait_until(lambda: cluster.phase() == "Succeeded")
    (container,) = cluster.api.objects[PATH]["status"]["containerStatuses"]
    assert container["restartCount"] == 2 and container["state"]["terminated"]["message"] == "yes"
    assert container["lastState"]["terminated"]["message"] == "no"


@in_loop
async def test_a_program_that_crashes_fails_its_pod() -> None:
    async def program() -> Outcome:
        raise ValueError("a bug")

    cluster = Cluster(lambda _pod: program)
    cluster.api.add(POD, pod(restartPolicy="Never"))
    await cluster.kubelet.sync(KEY)
    await wait_until(lambda: cluster.phase() == "Failed")
    assert cluster.api.objects[PATH]["status"]["containerStatuses"][0]["state"]["terminated"]["message"] == "a bug"


@in_loop
async def test_a_program_ends_with_its_pod() -> None:
    ended: list[Key] = []

    async def program() -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(KEY)
        return Outcome()

    cluster = Cluster(lambda _pod: program)
    cluster.api.add(POD, pod())
    await cluster.kubelet.sync(KEY)
    await asyncio.sleep(0)
    stored = cluster.api.objects[PATH]
    cluster.api.add(POD, {**stored, "metadata": {**stored["metadata"], "deletionTimestamp": "now"}})
    await cluster.kubelet.sync(KEY)
    await wait_until(lambda: bool(ended))


@in_loop
async def test_real_guest_is_ready_with_its_agent() -> None:
    cluster = Cluster()
    guest = vmi("Running")
    guest["metadata"]["annotations"] = {SSH: "127.0.0.1:40022"}
    cluster.api.add(VMI, guest)
    manifest = launcher("p", guest)
    manifest["spec"]["containers"][0]["readinessProbe"] = {"exec": {"command": ["virt-probe"]}}
    cluster.api.add(POD, manifest)
    for conditions, ready in (([], False), ([{"type": "AgentConnected", "status": "True"}], True), ([], False)):
        guest["status"]["conditions"] = conditions
        cluster.api.add(VMI, guest)
        await cluster.kubelet.sync(KEY)
        assert pod_status.is_ready(cluster.api.objects[PATH]) is ready
