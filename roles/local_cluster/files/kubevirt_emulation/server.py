"""Serves webhooks, aggregated APIs and CDI's upload proxy over TLS."""

from __future__ import annotations

import json
import ssl
from collections.abc import Awaitable
from typing import Callable

from aiohttp import web

from kubevirt_emulation.client import Client
from kubevirt_emulation.config import Config
from kubevirt_emulation.resources import KINDS
from kubevirt_emulation.subresources.answers import json_response
from kubevirt_emulation.subresources.api import answer_failures
from kubevirt_emulation.webhooks import admission
from kubevirt_emulation.webhooks.names import Webhook

Answerer = Callable[[admission.Review], Awaitable[admission.Answer]]

# The ConfigMap with the CA of the certificate by which the API server authenticates to aggregated APIs.
_AUTHENTICATION = ("kube-system", "extension-apiserver-authentication")
_LARGEST_BODY = 16 * 2**20
END = 2.0  # seconds for pending requests at the end


async def serve(
    config: Config, client: Client, webhooks: dict[Webhook, Answerer], routes: list[web.RouteDef]
) -> web.AppRunner:
    """Starts the server. The caller cleans the runner up."""
    application = web.Application(middlewares=[answer_failures], client_max_size=_LARGEST_BODY)
    application.add_routes([web.post(hook.path, _handler(answer)) for hook, answer in webhooks.items()])
    application.add_routes(routes)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=END)
    await runner.setup()
    site = web.TCPSite(runner, config.host, config.port, ssl_context=await _tls(config, client))
    await site.start()
    return runner


def _handler(answer: Answerer) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(request: web.Request) -> web.StreamResponse:
        review = admission.read(json.loads(await request.read()))
        answered = await answer(review)
        if answered.crashed and request.transport is not None:
            # A panic of virt-api closes the connection; the API server responds with 500.
            request.transport.abort()
        return json_response(answered.to_review(review.uid))

    return handle


async def _tls(config: Config, client: Client) -> ssl.SSLContext:
    """Accepts client certificates only of the API server; webhooks are called without one."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(config.tls_cert, config.tls_key)
    authentication = await client.get(KINDS["ConfigMap"], *_AUTHENTICATION)
    context.load_verify_locations(cadata=authentication["data"]["requestheader-client-ca-file"])
    context.verify_mode = ssl.CERT_OPTIONAL
    return context
