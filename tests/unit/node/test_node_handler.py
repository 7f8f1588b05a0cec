"""virt-handler: VMIs run on its nodes, and take their time to stop."""

from typing import Any, cast

from node_support import Api, in_loop, launcher, named, vmi

from node.agents import Agents
from node.api.client import Client
from node.api.resources import MIGRATION, POD, VMI
from node.handler import conditions
from node.handler import vmi as steps
from node.handler.handler import Handler
from node.handler.vmi import Traits
from node.launcher_pods import LauncherPods

Manifest = dict[str, Any]
KEY = ("ns", "vm")
PATH = VMI.path(*KEY)


class _Agents:
    def __init__(self, api: Api) -> None:
        self._api = api

    def client(self, _node: str) -> Client:
        return self._api.client


class Cluster:
    """A handler and the API that it works on."""

    def __init__(self, stop_seconds: float = 0) -> None:
        self.api = Api()
        pods, vmis, migrations = self.api.cache(POD), self.api.cache(VMI), self.api.cache(MIGRATION)
        launcher_pods = LauncherPods(pods, vmis)
        agents = cast(Agents, _Agents(self.api))
        self.handler = Handler(
            self.api.client, agents, vmis, migrations, launcher_pods, ["node01"], Traits(), stop_seconds
        )

    async def sync(self) -> Manifest:
        await self.handler.sync(KEY)
        return self.api.objects[PATH]["status"]  # type: ignore[no-any-return]


def deleted(phase: str = "Running", grace: int = 30) -> Manifest:
    guest = vmi(phase, terminationGracePeriodSeconds=grace)
    guest["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return guest


@in_loop
async def test_vmi_runs_with_its_pods_address() -> None:
    cluster = Cluster()
    guest = vmi(devices={"interfaces": [{"name": "default"}]}, networks=[{"name": "default", "pod": {}}])
    pod = launcher("p", guest)
    pod["status"] = {"podIP": "10.0.0.1"}
    cluster.api.add(VMI, guest)
    cluster.api.add(POD, pod)
    status = await cluster.sync()
    assert status["phase"] == "Running" and status["interfaces"][0]["ipAddress"] == "10.0.0.1"
    written = len(cluster.api.written)
    await cluster.sync()
    assert len(cluster.api.written) == written


@in_loop
async def test_vmis_of_other_nodes_or_phases_are_ignored() -> None:
    for phase, node in (("Scheduling", "node01"), ("Scheduled", "node02"), ("Failed", "node01")):
        cluster = Cluster()
        guest = vmi(phase)
        guest["status"]["nodeName"] = node
        cluster.api.add(VMI, guest)
        assert await cluster.sync() == guest["status"]


@in_loop
async def test_a_deleted_vmi_ends_at_once() -> None:
    cluster = Cluster()
    cluster.api.add(VMI, deleted())
    assert (await cluster.sync())["phase"] == "Succeeded"


@in_loop
async def test_guest_stops_slowly_unless_forced() -> None:
    cluster = Cluster(stop_seconds=60)
    cluster.api.add(VMI, deleted())
    assert (await cluster.sync())["phase"] == "Running"
    cluster.api.add(VMI, deleted(grace=0))
    assert (await cluster.sync())["phase"] == "Succeeded"


@in_loop
async def test_a_guest_stops_when_its_pod_is_deleted() -> None:
    cluster = Cluster()
    cluster.api.add(VMI, vmi("Running"))
    pod = launcher("p", vmi())
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    cluster.api.add(POD, pod)
    assert (await cluster.sync())["phase"] == "Succeeded"


@in_loop
async def test_the_phase_of_the_migration_moves_it_on() -> None:
    cluster = Cluster()
    guest = vmi("Running")
    guest["status"]["migrationState"] = {
        "targetNode": "node01",
        "targetNodeAddress": "127.0.0.1",
        "migrationUid": "uid-of-m",
    }
    cluster.api.add(VMI, guest)
    await cluster.sync()
    assert "startTimestamp" not in cluster.api.objects[PATH]["status"]["migrationState"]
    migration = {"metadata": named("m"), "spec": {"vmiName": "vm"}, "status": {"phase": "TargetReady"}}
    cluster.api.add(MIGRATION, migration)
    assert "startTimestamp" in (await cluster.sync())["migrationState"]


@in_loop
async def test_a_command_is_written_on_the_newest_vmi() -> None:
    cluster = Cluster()
    cluster.api.add(VMI, vmi("Running"))
    await cluster.handler.change_with_retry(KEY, lambda current: steps.pause(current["status"]))
    assert conditions.has(cluster.api.objects[PATH]["status"], "Paused")
