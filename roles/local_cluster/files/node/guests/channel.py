"""Sockets on which QEMU and the agent in a guest take commands: a JSON object on each line."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from pathlib import Path
from typing import Any, Callable

Manifest = dict[str, Any]

_LINE = 16 * 2**20  # bytes; an answer with many disks is long
_MONITOR_ANSWERS = 30.0  # seconds


class CommandFailed(Exception):
    """A command was refused, or nobody has answered it."""


class Monitor:
    """QEMU's monitor. on_event: gets the name and the data of each event. on_end: called when QEMU has ended."""

    def __init__(self, on_event: Callable[[str, Manifest], None], on_end: Callable[[], None]) -> None:
        self._on_event = on_event
        self._on_end = on_end
        self._answers: dict[str, asyncio.Future[Any]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    async def connect(self, path: Path) -> None:
        """Raises OSError if QEMU does not listen."""
        reader, self._writer = await asyncio.open_unix_connection(str(path), limit=_LINE)
        await reader.readline()  # the greeting
        self._reading = asyncio.create_task(self._read(reader))
        await self.command("qmp_capabilities")

    async def command(self, name: str, values: Manifest | None = None) -> Any:
        """What QEMU answers. Raises CommandFailed."""
        if self._writer is None or self._reading is None or self._reading.done():
            raise CommandFailed(f"{name}: QEMU has ended")
        number = secrets.token_hex(4)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._writer.write(_line({"execute": name, "arguments": values or {}, "id": number}))
        try:
            return await asyncio.wait_for(answer, _MONITOR_ANSWERS)
        except asyncio.TimeoutError:
            raise CommandFailed(f"{name}: no answer from QEMU") from None
        finally:
            self._answers.pop(number, None)

    async def human(self, line: str) -> str:
        """What the monitor for people answers to a line: some things have no other command."""
        return str(await self.command("human-monitor-command", {"command-line": line}))

    def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
        if self._writer is not None:
            self._writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := await reader.readline():
                self._take(json.loads(line))
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(CommandFailed("QEMU has ended"))
        self._on_end()

    def _take(self, message: Manifest) -> None:
        if "event" in message:
            self._on_event(message["event"], message.get("data") or {})
            return
        answer = self._answers.get(message.get("id", ""))
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(CommandFailed(message["error"]["desc"]))
        else:
            answer.set_result(message["return"])


class Agent:
    """The agent in a guest. It may be silent, and answer much later what nobody waits for any more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def synchronize(self, timeout: float = 5) -> None:
        """Passes over old answers. Raises CommandFailed if the agent is silent."""
        number = secrets.randbelow(2**31)
        await self._send("guest-sync", {"id": number})
        try:
            while (await self._answer(timeout)).get("return") != number:
                pass
        except ValueError:
            raise CommandFailed("guest-sync: the agent answers nonsense") from None

    async def command(self, name: str, timeout: float = 10, **values: Any) -> Any:
        """What the agent answers. Raises CommandFailed."""
        await self._send(name, values)
        try:
            message = await self._answer(timeout)
        except ValueError:
            raise CommandFailed(f"{name}: the agent answers nonsense") from None
        if "error" in message:
            raise CommandFailed(f"{name}: {message['error'].get('desc')}")
        return message.get("return")

    async def tell(self, name: str, **values: Any) -> None:
        """Sends a command that has no answer."""
        await self._send(name, values)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    async def _send(self, name: str, values: Manifest) -> None:
        try:
            if self._writer is None:
                self._reader, self._writer = await asyncio.open_unix_connection(str(self._path), limit=_LINE)
            self._writer.write(_line({"execute": name, **({"arguments": values} if values else {})}))
        except OSError as error:
            raise CommandFailed(f"{name}: {error}") from error

    async def _answer(self, timeout: float) -> Manifest:
        assert self._reader is not None
        try:
            line = await asyncio.wait_for(self._reader.readline(), timeout)
        except (asyncio.TimeoutError, OSError):
            raise CommandFailed("the agent is silent") from None
        if not line:
            raise CommandFailed("QEMU has ended")
        message = json.loads(line.lstrip(b"\xff"))
        return message if isinstance(message, dict) else {}


def _line(message: Manifest) -> bytes:
    return json.dumps(message).encode() + b"\n"
