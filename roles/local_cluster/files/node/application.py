"""Assembles the node: Node objects, caches, controllers and servers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from pathlib import Path

from aiohttp import web

from node.agents import Agents
from node.api import resources
from node.api.client import Client, Connection
from node.api.informer import Informer
from node.cdi.upload_proxy import UploadProxy
from node.cdi.uploads import Uploads
from node.cdi.workers import Workers
from node.config import Config
from node.guests.disks import Disks
from node.guests.guests import Guests
from node.guests.images import Images
from node.guests.store import Store
from node.handler import server
from node.handler.handler import Handler
from node.handler.vmi import Traits
from node.kubelet.kubelet import Kubelet
from node.launcher_pods import LauncherPods
from node.nodes import Nodes
from node.scheduler import Scheduler
from node.storage.provisioner import Provisioner, Reclaimer
from node.storage.snapshotter import Snapshotter

log = logging.getLogger(__name__)

_CACHED = (
    resources.POD,
    resources.VMI,
    resources.MIGRATION,
    resources.CLAIM,
    resources.VOLUME,
    resources.STORAGE_CLASS,
    resources.SNAPSHOT,
    resources.SNAPSHOT_CLASS,
    resources.SNAPSHOT_CONTENT,
)


async def run(config: Config, end: asyncio.Event) -> None:
    """Runs until `end` is set. Raises ApiError or OSError if it cannot start."""
    connection = Connection(config.kubeconfig)
    try:
        await _Node(config, connection).run(end)
    finally:
        await connection.close()


class _Node:
    """The node with all its parts. Nothing happens before `run`."""

    def __init__(self, config: Config, connection: Connection) -> None:
        self._config = config
        names = tuple(entry.name for entry in config.nodes)
        kubelet, storage = Client(connection, "kubelet"), Client(connection, "external-provisioner")
        self._nodes = Nodes(kubelet, config.nodes)
        self._caches = {kind: Informer(kubelet, kind) for kind in _CACHED}
        pods, vmis, claims = (self._caches[kind] for kind in (resources.POD, resources.VMI, resources.CLAIM))
        migrations, volumes = self._caches[resources.MIGRATION], self._caches[resources.VOLUME]
        snapshots, contents = self._caches[resources.SNAPSHOT], self._caches[resources.SNAPSHOT_CONTENT]
        snapshot_classes = self._caches[resources.SNAPSHOT_CLASS]
        launcher_pods = LauncherPods(pods, vmis)
        image = f"quay.io/kubevirt/virt-handler:v{config.kubevirt_version}"
        self._agents = Agents(connection, kubelet, pods, names, image)
        traits = Traits(config.guest_agent, config.migratable, config.release >= (1, 5))
        store = Store(Path(config.volumes), claims, Images(config.images)) if config.guest_program else None
        self._guests = None
        if store is not None:
            self._guests = Guests(config.guest_program, Disks(kubelet, store))
        handler = Handler(
            kubelet,
            self._agents,
            vmis,
            migrations,
            launcher_pods,
            names,
            traits,
            config.stop_seconds,
            self._guests,
        )
        if self._guests is not None:
            self._guests.on_change(handler.queue.add)
        self._server = server.Server(handler, vmis)
        cdi, uploads = Client(connection, "cdi"), Uploads(store)
        self._upload_proxy = UploadProxy(cdi, claims, pods, uploads, store)
        self._controllers = [
            self._agents,
            handler,
            Kubelet(kubelet, pods, claims, launcher_pods, names, Workers(cdi, uploads, store).find),
            Provisioner(storage, claims, self._caches[resources.STORAGE_CLASS], volumes, store),
            Reclaimer(storage, volumes, store),
            Snapshotter(storage, snapshots, contents, snapshot_classes, claims, volumes, store),
        ]
        if config.bind:
            self._controllers.append(Scheduler(Client(connection, "kube-scheduler"), pods, launcher_pods, names))

    async def run(self, end: asyncio.Event) -> None:
        """Runs until `end` is set, or a part stops by itself: that is a bug."""
        tasks = [_task(cache.run()) for cache in self._caches.values()]
        runners: list[web.AppRunner] = []
        try:
            if self._guests is not None:
                self._guests.open()
            await self._nodes.create()
            await asyncio.gather(*(cache.synced.wait() for cache in self._caches.values()))
            log.info("the caches are filled")
            runners += await self._serve()
            tasks += [_task(self._nodes.run()), *(_task(part.run()) for part in self._controllers)]
            await _until(self._agents.ready, end, tasks)
            if not end.is_set():
                Path(self._config.ready_file).touch()
                log.info("ready at https://%s:%d", self._config.host, self._config.port)
            await _until(end, end, tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._guests is not None:
                await self._guests.close()
            for runner in runners:
                await runner.cleanup()

    async def _serve(self) -> list[web.AppRunner]:
        config = self._config
        context = server.tls(config.tls_cert, config.tls_key, config.ca_file)
        runners = [await server.serve(self._server.routes(), config.host, config.port, context)]
        if config.upload_port:
            context = server.tls(config.upload_tls_cert, config.upload_tls_key)
            routes = self._upload_proxy.routes()
            runners.append(await server.serve(routes, config.host, config.upload_port, context))
        return runners


def _task(running: Coroutine[None, None, None]) -> asyncio.Task[None]:
    return asyncio.create_task(running)


async def _until(event: asyncio.Event, end: asyncio.Event, tasks: list[asyncio.Task[None]]) -> None:
    """Waits for one of both events. Raises what a task has raised."""
    waiting = [asyncio.ensure_future(entry.wait()) for entry in (event, end)]
    done, _pending = await asyncio.wait([*waiting, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for entry in waiting:
        entry.cancel()
    for task in done:
        if task not in waiting:
            task.result()
            raise RuntimeError(f"{task} has ended by itself")
