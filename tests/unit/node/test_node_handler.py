"""virt-handler: VMIs run on its nodes, and take their time to stop."""

from typing import Any, cast

import pytest
from node_support import Api, in_loop, launcher, named, vmi

from node.agents import Agents
from node.api.client import Client
from node.api.controller import NotYet
from node.api.resources import MIGRATION, POD, VMI
from node.guests.guests import GuestFailed
from node.guests.report import SIMULATED, SSH, Report, Told
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

    def __init__(self, stop_seconds: float = 0, guests: Any = None) -> None:
        self.api = Api()
        pods, vmis, migrations = self.api.cache(POD), self.api.cache(VMI), self.api.cache(MIGRATION)
        launcher_pods = LauncherPods(pods, vmis)
        agents = cast(Agents, _Agents(self.api))
        self.handler = Handler(
            self.api.client, agents, vmis, migrations, launcher_pods, ["node01"], Traits(), stop_seconds, guests
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


class _Guests:
    """Guests that say what a test lets them say, and what was done to them."""

    def __init__(self, report: Report | None = None) -> None:
        self.now = report or Report({SSH: "127.0.0.1:40022"})
        self.failure = ""
        self.done: list[str] = []

    async def keep_only(self, _key: tuple[str, str], uid: str) -> None:
        self.done.append(f"keep {uid}")

    async def start(self, _vmi: Manifest) -> Report:
        if self.failure:
            raise GuestFailed(self.failure)
        return self.now

    async def plug(self, _vmi: Manifest) -> None:
        if self.failure:
            raise GuestFailed(self.failure)

    def is_real(self, _vmi: Manifest) -> bool:
        return SSH in self.now.annotations

    def report(self, _vmi: Manifest) -> Report:
        return self.now

    async def shut_down(self, _vmi: Manifest) -> None:
        self.done.append("shut down")

    async def destroy(self, _vmi: Manifest) -> None:
        self.done.append("destroy")
        self.now = Report(self.now.annotations, "Failed")

    async def command(self, _vmi: Manifest, name: str) -> None:
        self.done.append(name)


def running(**annotations: str) -> Manifest:
    guest = vmi("Running", devices={"interfaces": [{"name": "default", "macAddress": "02:00:00:00:00:0A"}]})
    guest["metadata"]["annotations"] = {SSH: "127.0.0.1:40022", **annotations}
    return guest


@in_loop
async def test_real_guest_tells_its_agent_and_addresses() -> None:
    guests = _Guests()
    cluster = Cluster(guests=guests)
    cluster.api.add(VMI, running() | {"status": {"phase": "Scheduled", "nodeName": "node01"}})
    status = await cluster.sync()
    assert status["phase"] == "Running" and not conditions.has(status, "AgentConnected")
    assert status["interfaces"][0]["infoSource"] == "domain" and "guestOSInfo" not in status
    seen = {"02:00:00:00:00:0a": {"name": "enp1s0", "addresses": ["10.0.2.2"]}}
    guests.now = Report(guests.now.annotations, told=Told(system={"id": "debian"}, interfaces=seen))
    status = await cluster.sync()
    assert conditions.has(status, "AgentConnected") and status["guestOSInfo"] == {"id": "debian"}
    assert (status["interfaces"][0]["interfaceName"], status["interfaces"][0]["ipAddress"]) == ("enp1s0", "10.0.2.2")
    guests.now = Report(guests.now.annotations)
    assert not conditions.has(await cluster.sync(), "AgentConnected")


@in_loop
async def test_guest_that_ends_ends_its_vmi() -> None:
    for phase in ("Succeeded", "Failed"):
        cluster = Cluster(guests=_Guests(Report({SSH: "127.0.0.1:40022"}, phase)))
        cluster.api.add(VMI, running())
        assert (await cluster.sync())["phase"] == phase
        await cluster.sync()
        assert cluster.handler._guests.done[-1] == "keep "  # type: ignore[union-attr]


@in_loop
async def test_guest_gone_with_its_node_has_failed() -> None:
    cluster = Cluster()
    cluster.api.add(VMI, running())
    assert (await cluster.sync())["phase"] == "Failed"


@in_loop
async def test_vmi_without_image_is_simulated_and_says_so() -> None:
    cluster = Cluster(guests=_Guests(Report({SIMULATED: "no entry matches x"})))
    cluster.api.add(VMI, vmi())
    status = await cluster.sync()
    assert conditions.has(status, "AgentConnected") and status["guestOSInfo"]["id"] == "fedora"
    assert cluster.api.objects[PATH]["metadata"]["annotations"] == {SIMULATED: "no entry matches x"}


@in_loop
async def test_guest_that_cannot_start_is_tried_again() -> None:
    guests = _Guests()
    guests.failure = "no such machine"
    cluster = Cluster(guests=guests)
    cluster.api.add(VMI, vmi())
    for _attempt in range(2):
        with pytest.raises(NotYet):
            await cluster.handler.sync(KEY)
    (condition,) = cluster.api.objects[PATH]["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("Synchronized", "False")
    assert condition["message"] == "server error. command SyncVMI failed: no such machine"
    assert len(cluster.api.written) == 2
    guests.failure = ""
    assert not conditions.has(await cluster.sync(), "Synchronized")


@in_loop
async def test_real_guest_shuts_down_within_its_grace_period() -> None:
    guests = _Guests()
    cluster = Cluster(guests=guests)
    asked = deleted(grace=30)
    asked["metadata"]["annotations"] = {SSH: "127.0.0.1:40022"}
    cluster.api.add(VMI, asked)
    assert (await cluster.sync())["phase"] == "Running" and guests.done[-1] == "shut down"
    guests.now = Report(guests.now.annotations, "Succeeded")
    assert (await cluster.sync())["phase"] == "Succeeded"


@in_loop
async def test_real_guest_is_ended_after_its_grace_period() -> None:
    guests = _Guests()
    cluster = Cluster(guests=guests)
    cluster.api.add(VMI, deleted(grace=0))
    assert (await cluster.sync())["phase"] == "Failed" and guests.done[-1] == "destroy"


@in_loop
async def test_commands_reach_only_real_guests() -> None:
    guests = _Guests()
    cluster = Cluster(guests=guests)
    cluster.api.add(VMI, running())
    await cluster.handler.command(KEY, "pause")
    await cluster.handler.command(("ns", "other"), "pause")
    assert guests.done == ["pause"]
    guests.now = Report(guests.now.annotations, told=Told(version="10"))
    assert cluster.handler.told(running()) == Told(version="10")
    simulated = cluster.handler.told(vmi())
    assert simulated is not None and simulated.system["id"] == "fedora"


@in_loop
async def test_disk_that_cannot_be_plugged_is_reported() -> None:
    guests = _Guests()
    guests.failure = "all ports of the guest are taken"
    cluster = Cluster(guests=guests)
    cluster.api.add(VMI, running())
    with pytest.raises(NotYet):
        await cluster.handler.sync(KEY)
    assert conditions.has(cluster.api.objects[PATH]["status"], "Synchronized")
    guests.failure = ""
    assert not conditions.has(await cluster.sync(), "Synchronized")
