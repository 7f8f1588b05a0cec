"""Nodes, the pods of virt-handler, the scheduler, and virt-handler's server."""

import asyncio
from typing import Any, cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from node_support import Api, in_loop, launcher, pod, vmi

from node import nodes
from node.agents import Agents
from node.api.client import ApiError, Connection
from node.api.controller import NotYet
from node.api.resources import POD, VMI, Resource
from node.config import NodeConfig
from node.guests.channel import CommandFailed
from node.guests.report import Told
from node.handler.handler import Handler
from node.handler.server import Server
from node.handler.vmi import Traits, simulated
from node.launcher_pods import LauncherPods
from node.scheduler import Scheduler

Manifest = dict[str, Any]


def test_node_has_configured_and_virt_handler_properties() -> None:
    taint = {"key": "a", "effect": "NoSchedule"}
    config = NodeConfig("a", "4", "8Gi", labels={"zone": "x"}, taints=[taint], devices={"example.com/gpu": "2"})
    manifest = nodes.manifest(config)
    labels = manifest["metadata"]["labels"]
    assert labels["zone"] == "x" and labels["kubevirt.io/schedulable"] == "true"
    assert manifest["spec"]["taints"] == [taint]
    status = nodes.status(config, "v1.34.0")
    room = status["allocatable"]
    assert (room["cpu"], room["example.com/gpu"], room["devices.kubevirt.io/kvm"]) == ("4", "2", "1k")
    ready = {entry["type"]: entry["status"] for entry in status["conditions"]}
    assert ready["Ready"] == "True" and ready["MemoryPressure"] == "False"


class Requests(Api):
    """An API that knows requests by path, too."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, str, Any]] = []
        self.refused = 0

    async def request(self, method: str, path: str, body: Any = None) -> Manifest:
        self.sent.append((method, path, body))
        if self.refused:
            self.refused -= 1
            raise ApiError(404, {"message": "no account"})
        return {"status": {"token": "secret"}}


def agents(api: Requests) -> Agents:
    return Agents(cast(Connection, None), api.client, api.cache(POD), ["node01"], "virt-handler")


@in_loop
async def test_each_node_gets_virt_handler_with_token() -> None:
    api = Requests()
    api.refused = 1
    handlers = agents(api)
    key = ("kubevirt", "virt-handler-node01")
    with pytest.raises(NotYet):
        handlers.client("node01")
    with pytest.raises(NotYet):
        await handlers.sync(key)
    assert not handlers.ready.is_set()
    await handlers.sync(key)
    assert handlers.ready.is_set() and handlers.client("node01")
    created = api.objects[POD.path(*key)]
    assert created["spec"]["nodeName"] == "node01" and created["metadata"]["labels"] == {"kubevirt.io": "virt-handler"}
    _method, path, body = api.sent[-1]
    assert path.endswith("/namespaces/kubevirt/serviceaccounts/kubevirt-handler/token")
    assert body["spec"]["boundObjectRef"]["uid"] == created["metadata"]["uid"]
    await handlers.sync(key)
    assert len(api.sent) == 2
    api.add(POD, {**created, "metadata": {**created["metadata"], "uid": "another"}})
    await handlers.sync(key)
    assert len(api.sent) == 3


@pytest.mark.parametrize(
    ("spec", "bound"), [({"nodeName": None}, 1), ({}, 0), ({"nodeName": None, "schedulingGates": [{"name": "g"}]}, 0)]
)
def test_pods_are_bound_once_to_the_first_node(spec: Manifest, bound: int) -> None:
    assert nodes_of_bound([pod(**spec)]) == ["node01"] * bound


def nodes_of_bound(pods: list[Manifest], *vmis: Manifest) -> list[str]:
    """The nodes to which the scheduler binds the last of these pods."""
    api = Requests()
    cache = api.cache(POD)
    launcher_pods = LauncherPods(cache, api.cache(VMI, *vmis))
    for entry in pods:
        cache.observe(entry)
    scheduler = Scheduler(api.client, cache, launcher_pods, ["node01", "node02"])
    asyncio.run(scheduler.sync(("ns", pods[-1]["metadata"]["name"])))
    return [body["target"]["name"] for _method, _path, body in api.sent]


@pytest.mark.parametrize(
    ("node", "phase", "expected"),
    [("node01", "Running", "node02"), ("node02", "Running", "node01"), ("node01", "Succeeded", "node01")],
)
def test_guest_migrates_to_another_node(node: str, phase: str, expected: str) -> None:
    guest = vmi("Running")
    source, target = launcher("source", guest), launcher("target", guest)
    source["spec"]["nodeName"], source["status"]["phase"] = node, phase
    del target["spec"]["nodeName"]
    assert nodes_of_bound([source, target], guest) == [expected]


def test_volume_is_plugged_where_the_guest_is() -> None:
    guest = vmi("Running")
    there, plug = launcher("there", guest), pod("hp-volume", nodeName=None)
    there["spec"]["nodeName"] = "node02"
    plug["metadata"]["ownerReferences"] = [{"kind": "Pod", "name": "there"}]
    assert nodes_of_bound([there, plug], guest) == ["node02"]


class _Handler:
    """Lets commands change one VMI."""

    def __init__(self) -> None:
        self.vmi = vmi("Running")
        self.refuses = False

    async def change_with_retry(self, key: tuple[str, str], step: Any) -> None:
        if key[1] != "vm":
            raise ApiError(404, {"message": "not found"})
        step(self.vmi)

    async def command(self, key: tuple[str, str], name: str) -> None:
        if self.refuses:
            raise CommandFailed(f"{name}: the guest has no agent")

    def told(self, vmi: Manifest) -> Told | None:
        return simulated(vmi, Traits())


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "vm/pause", 202),
        ("PUT", "vm/unpause", 202),
        ("PUT", "vm/freeze", 202),
        ("PUT", "vm/unfreeze", 202),
        ("PUT", "vm/reset", 202),
        ("PUT", "vm/softreboot", 202),
        ("PUT", "none/pause", 404),
        ("GET", "vm/guestosinfo", 200),
        ("GET", "vm/userlist", 200),
        ("GET", "vm/filesystemlist", 200),
        ("GET", "none/userlist", 404),
        ("GET", "vm/console", 404),
        ("GET", "vm/vnc", 404),
    ],
)
@in_loop
async def test_subresources_answer_with_their_status(method: str, path: str, status: int) -> None:
    server = Server(cast(Handler, _Handler()), Api().cache(VMI, vmi("Running")))
    assert await answered(server, method, path) == status


async def answered(server: Server, method: str, path: str) -> int:
    application = web.Application()
    application.add_routes(server.routes())
    async with TestClient(TestServer(application)) as client:
        response = await client.request(method, f"/v1/namespaces/ns/virtualmachineinstances/{path}", json={})
        return response.status


@in_loop
async def test_commands_change_the_vmi_status() -> None:
    handler = _Handler()
    server = Server(cast(Handler, handler), Api().cache(VMI))
    await answered(server, "PUT", "vm/pause")
    assert handler.vmi["status"]["conditions"][0]["reason"] == "PausedByUser"
    await answered(server, "PUT", "vm/freeze")
    assert handler.vmi["status"]["fsFreezeStatus"] == "frozen"
    await answered(server, "PUT", "vm/unfreeze")
    await answered(server, "PUT", "vm/unpause")
    assert handler.vmi["status"]["conditions"] == [] and "fsFreezeStatus" not in handler.vmi["status"]


@in_loop
async def test_command_that_the_guest_refuses_changes_nothing() -> None:
    handler = _Handler()
    handler.refuses = True
    assert await answered(Server(cast(Handler, handler), Api().cache(VMI)), "PUT", "vm/freeze") == 500
    assert "fsFreezeStatus" not in handler.vmi["status"]


def test_paths_of_resources() -> None:
    assert Resource("", "v1", "Node", "nodes", False).path("ignored", "a") == "/api/v1/nodes/a"
    path = VMI.path("ns", "a", "status")
    assert path == "/apis/kubevirt.io/v1/namespaces/ns/virtualmachineinstances/a/status"
