"""Fault proxies, one for each client, through which a test sees each request, holds it or disturbs it."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import yaml
from aiohttp import web
from runner import Play, Run

from chaos_support import TIMEOUT, Faulty
from fault_proxy import proxy
from fault_proxy.request import RequestInfo
from fault_proxy.rules import Chosen, Faults
from local_cluster import ports

Manifest = dict[str, Any]


class DisturbedRequests(Faults):
    """A rule for each `every`th request from number `first` on. The next attempt of such a request gets through."""

    def __init__(self, rule: Manifest, first: int, every: int) -> None:
        super().__init__([rule], seed=1)
        self._first, self._every = first, every
        self._seen = 0
        self._tried: set[str] = set()

    def choose(self, request: RequestInfo) -> Chosen:
        # Each watch begins where the one before has ended.
        place = f"{request.method} {request.target.partition('&resourceVersion')[0]}"
        if place in self._tried:
            self._tried.remove(place)
            return Chosen(0, None)
        chosen = super().choose(request)
        if chosen.rule is None:
            return chosen
        self._seen += 1
        if (self._seen - self._first) % self._every:
            return Chosen(0, None)
        self._tried.add(place)
        return chosen


class ClientProxy(proxy.Proxy):
    """The fault proxy of one client, in this process. kubeconfig: for the client. requests: what it sent, in order."""

    def __init__(self, settings: proxy.Config, session: aiohttp.ClientSession, kubeconfig: Path) -> None:
        super().__init__(settings, session)
        self.kubeconfig = str(kubeconfig)
        self.requests: list[RequestInfo] = []
        self._held = threading.Event()

    def rules(self, *rules: Manifest) -> None:
        """Replaces the rules and forgets the requests."""
        self._held.clear()
        self.requests.clear()
        self._counts.clear()
        self.set_faults({"rules": list(rules), "seed": 1})

    def disturb(self, rule: Manifest, first: int, every: int) -> None:
        """The `rules`, with one more for the first attempt of each `every`th request from number `first` on."""
        self.rules()
        self._faults = DisturbedRequests(rule, first, every)

    @property
    def met(self) -> bool:
        """Whether a request has met a rule."""
        return bool(self._counts.to_dict()["faults"])

    def holds(self, client: Run | Play) -> bool:
        """Waits until a request is held; False if the client comes to its end before."""
        while not self._held.wait(0.005):
            if not client.lives:
                return False
        return True

    async def _respond(self, request: web.Request, info: RequestInfo) -> web.StreamResponse:
        self.requests.append(info)
        return await super()._respond(request, info)

    async def _hold(self) -> None:
        self._held.set()
        await super()._hold()


@contextmanager
def client_proxies(
    faulty: Faulty, folder: Path, makers: dict[str, Callable[..., ClientProxy]]
) -> Iterator[dict[str, ClientProxy]]:
    """Proxies by name, with kubeconfigs in a folder. makers: of what class each is."""
    began = threading.Event()
    opened: dict[str, ClientProxy] = {}
    loop = asyncio.new_event_loop()
    end = asyncio.Event()

    async def serve() -> None:
        await asyncio.gather(*(_serve(faulty, folder, name, end, make, opened) for name, make in makers.items()))

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        deadline = time.monotonic() + TIMEOUT
        while not all((folder / f"{name}.ready").exists() for name in makers):
            assert thread.is_alive() and time.monotonic() < deadline
            began.wait(0.02)
        yield opened
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()
        loop.close()


async def _serve(
    faulty: Faulty,
    folder: Path,
    name: str,
    end: asyncio.Event,
    make: Callable[..., ClientProxy],
    opened: dict[str, ClientProxy],
) -> None:
    path = folder / f"{name}.kubeconfig"
    ready = folder / f"{name}.ready"

    def made(settings: proxy.Config, session: aiohttp.ClientSession) -> ClientProxy:
        opened[name] = make(settings, session, path)
        return opened[name]

    while not (ready.exists() or end.is_set()):
        kubeconfig = yaml.safe_load(Path(faulty.path()).read_text())
        settings = proxy.load_config(faulty.path("run/fault-proxy.json"))
        settings = replace(settings, port=ports.choose(), ready_file=str(ready))
        kubeconfig["clusters"][0]["cluster"]["server"] = f"https://{settings.host}:{settings.port}"
        path.write_text(yaml.safe_dump(kubeconfig))
        # Somebody may have taken the port meanwhile.
        with contextlib.suppress(OSError):
            await proxy.run(settings, end, made)
