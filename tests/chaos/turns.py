"""Several clients that take turns: one request at a time, whose it is is drawn."""

import asyncio
import random
from collections import Counter
from pathlib import Path

import aiohttp
from aiohttp import web
from client_proxies import ClientProxy

from fault_proxy.proxy import Config
from fault_proxy.request import RequestInfo

# Seconds after which nobody waits any more for a client that sends nothing: it pauses before it asks again.
PAUSE = 1.0


class Turns:
    """The client whose request is next. clients: the clients until they leave. order: the past turns, for a message."""

    def __init__(self, clients: list[str], seed: int) -> None:
        self._chance = random.Random(seed)
        self._clients = set(clients)
        self._waiting: dict[str, list[asyncio.Future[None]]] = {client: [] for client in clients}
        self._watches: Counter[str] = Counter()
        self._busy = False
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.order: list[str] = []

    def leave(self, client: str) -> None:
        """Any thread calls this when the client has come to its end."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._gone, client)
        else:
            self._clients.discard(client)

    def _gone(self, client: str) -> None:
        self._clients.discard(client)
        self._next()

    async def begin(self, client: str, request: RequestInfo) -> None:
        """Waits for the turn of a request."""
        self._loop = asyncio.get_running_loop()
        turn = self._loop.create_future()
        self._waiting[client].append(turn)
        try:
            self._next()
            await turn
        finally:
            if turn in self._waiting[client]:
                self._waiting[client].remove(turn)
        self.order.append(f"{client}: {request.verb} {request.target.partition('?')[0].rpartition('/')[2]}")

    def end(self) -> None:
        self._busy = False
        self._next()

    def watch(self, client: str, number: int) -> None:
        """A watch begins (1) or ends (-1): who watches is not waited for."""
        self._watches[client] += number
        self._next()

    def _next(self, late: bool = False) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        ready = sorted(client for client, turns in self._waiting.items() if turns)
        if self._busy or not ready:
            return
        awaited = [item for item in self._clients if item not in ready and not self._watches[item]]
        if awaited and not late:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._next, True)
            return
        self._busy = True
        self._waiting[self._chance.choice(ready)].pop(0).set_result(None)


class TurnWay(ClientProxy):
    """The proxy of a client that takes turns."""

    def __init__(
        self, turns: Turns, client: str, settings: Config, session: aiohttp.ClientSession, kubeconfig: Path
    ) -> None:
        super().__init__(settings, session, kubeconfig)
        self._turns, self._client = turns, client

    async def _respond(self, request: web.Request, info: RequestInfo) -> web.StreamResponse:
        if info.watches:
            self._turns.watch(self._client, 1)
            try:
                return await super()._respond(request, info)
            finally:
                self._turns.watch(self._client, -1)
        await self._turns.begin(self._client, info)
        try:
            return await super()._respond(request, info)
        finally:
            self._turns.end()
