"""All of CDI: its controllers, webhooks and servers, for the application to run."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Callable, Protocol

from aiohttp import web

from kubevirt_emulation.cdi import webhooks
from kubevirt_emulation.cdi.context import Context
from kubevirt_emulation.cdi.data_sources import DataSourceController
from kubevirt_emulation.cdi.data_volumes import DataVolumeController
from kubevirt_emulation.cdi.import_crons import ImportCronController
from kubevirt_emulation.cdi.names import USER
from kubevirt_emulation.cdi.tokens import Tokens
from kubevirt_emulation.cdi.upload_api import UploadApi
from kubevirt_emulation.cdi.upload_proxy import UploadProxy
from kubevirt_emulation.cdi.uploads import UploadController
from kubevirt_emulation.client import Client, Connection
from kubevirt_emulation.events import Recorder
from kubevirt_emulation.informer import Informer
from kubevirt_emulation.resources import KINDS
from kubevirt_emulation.webhooks.admission import Answer, Review
from kubevirt_emulation.webhooks.names import Webhook

CACHED = ("DataSource", "DataImportCron", "PersistentVolumeClaim", "VolumeSnapshot", "CDI", "CDIConfig")
"""The kinds that only CDI has a cache of."""


class Part(Protocol):
    """Something that runs until it is cancelled."""

    async def run(self) -> None: ...


class Cdi:
    """CDI. reader: fills the caches, before CDI's user has rights. shared: the caches that KubeVirt has, too."""

    def __init__(self, connection: Connection, reader: Client, shared: dict[str, Informer]) -> None:
        client = Client(connection, "cdi-controller", impersonate=USER)
        self.caches = {kind: Informer(reader, KINDS[kind]) for kind in CACHED}
        context = Context(client, {**shared, **self.caches}, Recorder(client, "datavolume-controller"))
        tokens = Tokens()
        self.controllers: tuple[Part, ...] = (
            DataVolumeController(context),
            UploadController(context),
            DataSourceController(context),
            ImportCronController(context),
        )
        self._servers = (UploadApi(tokens), UploadProxy(context, tokens))
        self._webhooks = webhooks.Webhooks(context)

    @property
    def answerers(self) -> dict[Webhook, Callable[[Review], Awaitable[Answer]]]:
        """What answers the reviews of each webhook."""
        return {
            webhooks.VOLUME_MUTATOR: self._webhooks.mutate_volume,
            webhooks.VOLUME_VALIDATOR: self._webhooks.validate_volume,
            webhooks.CRON_VALIDATOR: self._webhooks.validate_cron,
        }

    def routes(self) -> list[web.RouteDef]:
        """The aggregated API and the upload proxy."""
        return [route for server in self._servers for route in server.routes()]
