"""Forwards requests to the API server, unless a rule causes a fault."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import ssl
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from yarl import URL

from fault_proxy import responses
from fault_proxy.request import RequestInfo, read
from fault_proxy.rules import Faults, Rule, RuleError

log = logging.getLogger(__name__)

CONTROL = "/-/faults"
"""The path to read (GET) and set (PUT) the faults and to reset the counts (DELETE); no API server has it."""
_LARGEST_BODY = 64 * 2**20
# Headers of a single connection, and headers that aiohttp's client or server writes itself.
_OWN = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding")
    + ("upgrade", "host", "content-length")
)
_ADDED = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


@dataclass(frozen=True)
class Config:
    """The configuration of the proxy: a JSON file from the launcher.

    upstream: the API server's address. ca_file: the CA of its certificate. host, port: where the proxy listens.
    tls_cert, tls_key: the proxy's certificate. token: permits changes of the faults.
    ready_file: created once the proxy listens.
    """

    upstream: str
    ca_file: str
    host: str
    port: int
    tls_cert: str
    tls_key: str
    token: str
    ready_file: str
    log_level: str = "INFO"


def load_config(path: str) -> Config:
    """Reads a configuration. Raises OSError, ValueError or TypeError."""
    values = json.loads(Path(path).read_text())
    return Config(**{field.name: values[field.name] for field in fields(Config) if field.name in values})


class Counts:
    """Counts of requests, responses and faults since the start, or since `clear`.

    requests, writes: received, including those that a fault ended. by_resource: by `VERB RESOURCE`.
    responses: by status, as the client got them. faults: by kind. max_concurrent: of requests, without
    watches.
    """

    def __init__(self) -> None:
        self._requests: Counter[str] = Counter()
        self._writes = 0
        self._responses: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._under_way = 0
        self._at_once = 0

    def begin(self, request: RequestInfo) -> None:
        self._requests[f"{request.verb} {request.resource}"] += 1
        self._writes += request.writes
        if not request.watches:
            self._under_way += 1
            self._at_once = max(self._at_once, self._under_way)

    def end(self, request: RequestInfo) -> None:
        if not request.watches:
            self._under_way -= 1

    def response(self, status: int) -> None:
        self._responses[str(status)] += 1

    def fault(self, kind: str) -> None:
        self._faults[kind] += 1

    def clear(self) -> None:
        """Resets the numbers, except for requests in progress."""
        for counter in (self._requests, self._responses, self._faults):
            counter.clear()
        self._writes = 0
        self._at_once = self._under_way

    def to_dict(self) -> dict[str, Any]:
        return {
            "requests": self._requests.total(),
            "writes": self._writes,
            "by_resource": dict(sorted(self._requests.items())),
            "responses": dict(sorted(self._responses.items())),
            "faults": dict(sorted(self._faults.items())),
            "max_concurrent": self._at_once,
        }


class Proxy:
    """The application; `run` serves it."""

    def __init__(self, config: Config, session: aiohttp.ClientSession) -> None:
        self._config = config
        self._session = session
        self._faults = Faults([])
        self._counts = Counts()

    def application(self) -> web.Application:
        application = web.Application(client_max_size=_LARGEST_BODY)
        application.router.add_route("*", "/{path:.*}", self._handle)
        return application

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == CONTROL:
            return await self._control(request)
        info = read(request.method, request.raw_path, request.headers.get("Content-Type", ""))
        self._counts.begin(info)
        try:
            return await self._respond(request, info)
        except (aiohttp.ClientError, OSError) as error:
            # Without a response from the API server, the client gets none either.
            log.info("%s %s: %s", info.method, info.target, error or type(error).__name__)
            return responses.reset(request)
        finally:
            self._counts.end(info)

    async def _respond(self, request: web.Request, info: RequestInfo) -> web.StreamResponse:
        body = await request.read()
        latency, rule = self._faults.choose(info)
        if latency:
            self._record_fault(info, "latency")
            await asyncio.sleep(latency)
        if rule is None:
            return await self._relay(request, info, body)
        self._record_fault(info, rule.fault)
        if rule.fault in ("status", "reset", "hold"):
            if rule.options.get("when") == "after":
                async with self._forward(request, body) as answer:
                    # A watch has no end to wait for.
                    if not info.watches:
                        await answer.read()
            if rule.fault == "hold":
                await self._hold()
            if rule.fault == "reset":
                return responses.reset(request)
            self._counts.response(rule.options["status"])
            return responses.status(rule.options["status"], rule.options.get("retry_after"))
        if info.watches:
            return await self._interrupt_watch(request, body, rule)
        return await self._corrupt_body(request, body, rule)

    def _record_fault(self, info: RequestInfo, fault: str) -> None:
        log.info("%s %s: %s", info.method, info.target, fault)
        self._counts.fault(fault)

    async def _hold(self) -> None:
        """Waits until the client has given up, which cancels this."""
        await asyncio.Event().wait()

    def _forward(self, request: web.Request, body: bytes) -> Any:
        """The API server's response, as a context."""
        return self._session.request(
            request.method,
            URL(self._config.upstream + request.raw_path, encoded=True),
            headers=_forwarded_headers(request.headers),
            data=body or None,
            skip_auto_headers=_ADDED,
            allow_redirects=False,
        )

    async def _relay(self, request: web.Request, info: RequestInfo, body: bytes) -> web.StreamResponse:
        async with self._forward(request, body) as answer:
            self._counts.response(answer.status)
            if not info.watches:
                return web.Response(
                    status=answer.status, headers=_forwarded_headers(answer.headers), body=await answer.read()
                )
            response = web.StreamResponse(status=answer.status, headers=_forwarded_headers(answer.headers))
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    async def _corrupt_body(self, request: web.Request, body: bytes, rule: Rule) -> web.StreamResponse:
        async with self._forward(request, body) as answer:
            content, headers = await answer.read(), _forwarded_headers(answer.headers)
        self._counts.response(answer.status)
        if rule.fault == "slow":
            return await responses.slow(request, answer.status, headers, content, rule.options["bytes_per_second"])
        length = min(rule.options.get("after_bytes", len(content) // 2), len(content))
        if rule.fault == "cut":
            return await responses.cut(request, answer.status, headers, content, length)
        return web.Response(status=answer.status, headers=headers, body=content[:length])

    async def _interrupt_watch(self, request: web.Request, body: bytes, rule: Rule) -> web.StreamResponse:
        async with self._forward(request, body) as answer:
            self._counts.response(answer.status)
            response = web.StreamResponse(status=answer.status, headers=_forwarded_headers(answer.headers))
            await response.prepare(request)
            twice = rule.fault == "watch_twice"
            count = None if twice else rule.options.get("after_events", 0)
            async for event in responses.events(answer.content.iter_any(), count):
                await response.write(event * 2 if twice else event)
        if rule.fault == "watch_cut":
            return responses.end(request)
        if rule.fault == "watch_gone":
            await response.write(responses.gone())
        await response.write_eof()
        return response

    async def _control(self, request: web.Request) -> web.Response:
        expected = f"Bearer {self._config.token}"
        if not hmac.compare_digest(request.headers.get("Authorization", "").encode(), expected.encode()):
            return web.json_response({"message": "only the cluster's administrator may switch faults"}, status=403)
        if request.method == "PUT":
            try:
                self.set_faults(await request.json())
            except (RuleError, ValueError) as error:
                return web.json_response({"message": str(error)}, status=400)
        elif request.method == "DELETE":
            self._counts.clear()
        return web.json_response(
            {"rules": self._faults.rules, "seed": self._faults.seed, "counts": self._counts.to_dict()}
        )

    def set_faults(self, configuration: Any) -> None:
        """Replaces the rules, {rules, seed}. Raises RuleError."""
        options = configuration if isinstance(configuration, dict) else {}
        self._faults = Faults(options.get("rules", []), options.get("seed"))
        log.info("rules: %s", json.dumps(self._faults.rules))


def _forwarded_headers(headers: Any) -> Any:
    """The headers to forward; repeated headers stay repeated."""
    forwarded = headers.copy()
    for name in {name for name in forwarded if name.lower() in _OWN}:
        forwarded.popall(name, None)
    return forwarded


async def run(
    config: Config, end: asyncio.Event, make: Callable[[Config, aiohttp.ClientSession], Proxy] = Proxy
) -> None:
    """Serves until `end` is set. Raises OSError if it cannot."""
    trusted = ssl.create_default_context(cafile=config.ca_file)
    shown = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    shown.load_cert_chain(config.tls_cert, config.tls_key)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=trusted, limit=0),
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as session:
        # If a client disconnects, the request to the API server ends too.
        runner = web.AppRunner(
            make(config, session).application(), access_log=None, handler_cancellation=True, shutdown_timeout=0.5
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, config.host, config.port, ssl_context=shown).start()
            Path(config.ready_file).touch()
            log.info("ready at https://%s:%d", config.host, config.port)
            await end.wait()
        finally:
            await runner.cleanup()
