"""virt-handler's server, which virt-api calls for subresources of VMIs that it cannot answer itself."""

from __future__ import annotations

import logging
import ssl
from typing import Any, Callable, Final

from aiohttp import web

from node.api.client import ApiError
from node.api.informer import Informer, Key
from node.guests.channel import CommandFailed
from node.guests.report import Told
from node.handler import conditions, guest
from node.handler import vmi as steps
from node.handler.handler import Handler

log = logging.getLogger(__name__)

Manifest = dict[str, Any]
Step = Callable[[Manifest], None]

_BASE: Final = "/v1/namespaces/{namespace}/virtualmachineinstances/{name}"


def _pause(vmi: Manifest) -> None:
    steps.pause(vmi["status"])


def _unpause(vmi: Manifest) -> None:
    conditions.drop(vmi["status"], "Paused")


def _freeze(vmi: Manifest) -> None:
    vmi["status"]["fsFreezeStatus"] = "frozen"


def _unfreeze(vmi: Manifest) -> None:
    vmi["status"].pop("fsFreezeStatus", None)


def _no_effect(_vmi: Manifest) -> None:
    """A guest that starts again still runs."""


_COMMANDS: Final[dict[str, Step]] = {
    "pause": _pause,
    "unpause": _unpause,
    "freeze": _freeze,
    "unfreeze": _unfreeze,
    "reset": _no_effect,
    "softreboot": _no_effect,
}


class Server:
    """Answers for the VMIs of all nodes: each has its own address on a cluster."""

    def __init__(self, handler: Handler, vmis: Informer) -> None:
        self._handler = handler
        self._vmis = vmis

    def routes(self) -> list[web.RouteDef]:
        """The routes of the server; it has none that need a real guest, such as consoles and VNC."""
        return [
            web.get("/healthz", self._healthz),
            *(web.put(f"{_BASE}/{name}", self._command(name, step)) for name, step in _COMMANDS.items()),
            web.get(f"{_BASE}/guestosinfo", self._json_handler(guest.agent_info)),
            web.get(f"{_BASE}/userlist", self._json_handler(guest.users)),
            web.get(f"{_BASE}/filesystemlist", self._json_handler(guest.filesystems)),
        ]

    async def _healthz(self, _request: web.Request) -> web.StreamResponse:
        return web.Response(text="ok")

    def _command(self, name: str, step: Step) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            try:
                await self._handler.command(_key(request), name)
                await self._handler.change_with_retry(_key(request), step)
            except (ApiError, CommandFailed) as error:
                log.warning("%s: %s", request.path, error)
                return web.Response(status=error.code if isinstance(error, ApiError) else 500, text=str(error))
            return web.Response(status=202)

        return handle

    def _json_handler(self, make: Callable[[Manifest, Told], Manifest]) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            vmi = self._vmis.get(_key(request))
            told = self._handler.told(vmi) if vmi is not None else None
            if vmi is None or told is None:
                return web.Response(status=404, text="VMI or its guest agent not found")
            return web.json_response(make(vmi, told))

        return handle


def _key(request: web.Request) -> Key:
    return request.match_info["namespace"], request.match_info["name"]


def tls(certificate: str, key: str, client_ca: str = "") -> ssl.SSLContext:
    """The TLS context of the server. client_ca: the CA that callers must have a certificate of; "" for any caller."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=client_ca or None)
    context.load_cert_chain(certificate, key)
    if client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


async def serve(routes: list[web.RouteDef], host: str, port: int, context: ssl.SSLContext) -> web.AppRunner:
    """Starts a server. The caller cleans the runner up."""
    application = web.Application()
    application.add_routes(routes)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, host, port, ssl_context=context).start()
    return runner
