"""Assembles the emulation: installation, caches, server and controllers."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from _resolver.api import release
from kubevirt_emulation import server
from kubevirt_emulation.cdi import install as cdi_install
from kubevirt_emulation.cdi.parts import Cdi, Part
from kubevirt_emulation.client import Client, Connection
from kubevirt_emulation.config import Config
from kubevirt_emulation.controllers.context import Context
from kubevirt_emulation.controllers.kubevirt_status import KubeVirtStatus
from kubevirt_emulation.controllers.node import Node
from kubevirt_emulation.controllers.virtual_machine import VirtualMachineController
from kubevirt_emulation.events import Recorder
from kubevirt_emulation.informer import Informer
from kubevirt_emulation.install import installer
from kubevirt_emulation.install.names import API_USER, CONTROLLER_USER
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.lookup import Objects
from kubevirt_emulation.resources import KINDS
from kubevirt_emulation.subresources.api import SubresourceApi
from kubevirt_emulation.webhooks import names
from kubevirt_emulation.webhooks.instancetype_validate import InstancetypeValidator
from kubevirt_emulation.webhooks.vm_mutate import VmMutator
from kubevirt_emulation.webhooks.vm_validate import VmValidator
from kubevirt_emulation.webhooks.vmi_mutate import VmiMutator
from kubevirt_emulation.webhooks.vmi_validate import VmiValidator

log = logging.getLogger(__name__)

_CACHED = (
    "VirtualMachine",
    "VirtualMachineInstance",
    "VirtualMachineInstancetype",
    "VirtualMachineClusterInstancetype",
    "VirtualMachinePreference",
    "VirtualMachineClusterPreference",
    "ControllerRevision",
    "DataVolume",
    "KubeVirt",
    "StorageClass",
)
# Inference depends on the labels of these objects, and a cache may be behind.
_READ_LIVE = ("DataVolume",)


async def run(config: Config, end: asyncio.Event) -> None:
    """Runs until `end` is set. Raises ApiError or OSError if it cannot start."""
    connection = Connection(config.kubeconfig)
    try:
        await _run(config, connection, end)
    finally:
        await connection.close()


async def _run(config: Config, connection: Connection, end: asyncio.Event) -> None:
    installing = Client(connection, "virt-operator")
    virt_api = Client(connection, "virt-api")
    controller = Client(connection, "virt-controller", impersonate=CONTROLLER_USER)
    handler = Client(connection, "virt-handler")
    await installer.install_api(installing, config)
    log.info("the kinds are served")
    creating = asyncio.create_task(installer.create_kubevirt(installing))

    caches = {kind: Informer(installing, KINDS[kind]) for kind in _CACHED}
    configuration = KubeVirtConfiguration(caches["KubeVirt"], release.of(config.kubevirt_version))
    # virt-api may read a VolumeSnapshot only if a role of the namespace permits it.
    as_virt_api = {"VolumeSnapshot": Client(connection, "virt-api", impersonate=API_USER)}
    looked_up = {kind: cache for kind, cache in caches.items() if kind not in _READ_LIVE}
    objects = Objects(looked_up, as_virt_api, virt_api)
    cdi = Cdi(connection, installing, {kind: caches[kind] for kind in ("DataVolume", "StorageClass")})
    recorder = Recorder(handler, "virtualmachine-controller")
    context = Context(controller, caches, objects, configuration, recorder)

    vm_controller = VirtualMachineController(context)
    node = Node(handler, {**caches, **cdi.caches}, configuration)
    kubevirt_status = KubeVirtStatus(installing, caches["KubeVirt"], config.kubevirt_version)
    validate = InstancetypeValidator(caches, configuration.release).answer
    webhooks: dict[names.Webhook, server.Answerer] = {
        names.VM_MUTATOR: VmMutator(objects, configuration).answer,
        names.VM_VALIDATOR: VmValidator(objects, configuration).answer,
        names.VMI_MUTATOR: VmiMutator(configuration).answer,
        names.VMI_VALIDATOR: VmiValidator(configuration).answer,
        **dict.fromkeys((*names.INSTANCETYPE_VALIDATORS, *names.PREFERENCE_VALIDATORS), validate),
        **cdi.answerers,
    }
    filled = [*caches.values(), *cdi.caches.values()]
    tasks = [asyncio.create_task(cache.run()) for cache in filled]
    runner = None
    try:
        await asyncio.gather(*(cache.synced.wait() for cache in filled))
        log.info("the caches are filled")
        routes = [*SubresourceApi(virt_api, objects, configuration).routes(), *cdi.routes()]
        runner = await server.serve(config, virt_api, webhooks, routes)
        await installer.register(installing, config)
        await creating
        await cdi_install.publish(installing, config)
        controllers: tuple[Part, ...] = (vm_controller, node, kubevirt_status, *cdi.controllers)
        tasks += [asyncio.create_task(part.run()) for part in controllers]
        Path(config.ready_file).touch()
        log.info("ready at https://%s:%d", config.host, config.port)
        await _until_end(end, tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if runner is not None:
            await runner.cleanup()


async def _until_end(end: asyncio.Event, tasks: list[asyncio.Task[None]]) -> None:
    """Waits for `end`. A part that stops by itself is a bug and ends everything."""
    waiting = asyncio.create_task(end.wait())
    done, _pending = await asyncio.wait([waiting, *tasks], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    for task in done:
        if task is not waiting:
            await task
