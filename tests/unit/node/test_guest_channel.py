"""The sockets of QEMU and of the agent in a guest, with a peer that answers on a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from node_support import in_loop

from node.guests.channel import Agent, CommandFailed, Monitor
from node.guests.report import ask

Message = dict[str, Any]


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of a socket has at most 107 characters."""
    monkeypatch.chdir(tmp_path)


@asynccontextmanager
async def peer(path: Path, greeting: str, answer: Callable[[Message], list[Message]]) -> AsyncIterator[None]:
    """Answers each command on the socket with some messages; ends the connection where there are none."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting.encode())
        while line := await reader.readline():
            messages = answer(json.loads(line))
            if not messages:
                break
            writer.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        writer.close()

    server = await asyncio.start_unix_server(serve, str(path))
    try:
        yield
    finally:
        server.close()


def qemu(command: Message) -> list[Message]:
    number = command["id"]
    if command["execute"] == "quit":
        return []
    if command["execute"] == "stop":
        event = {"event": "STOP", "data": {}, "timestamp": {"seconds": 0}}
        return [event, {"return": {}, "id": "of nobody"}, {"return": {"was": command["arguments"]}, "id": number}]
    if command["execute"] == "cont":
        return [{"error": {"class": "GenericError", "desc": "no"}, "id": number}]
    return [{"return": "text", "id": number}]


@pytest.mark.usefixtures("in_folder")
@in_loop
async def test_monitor_answers_commands_and_tells_events() -> None:
    events: list[str] = []
    ended = asyncio.Event()
    monitor = Monitor(lambda name, _data: events.append(name), ended.set)
    with pytest.raises(CommandFailed, match="QEMU has ended"):
        await monitor.command("stop")
    async with peer(Path("s"), '{"QMP": {}}\n', qemu):
        await monitor.connect(Path("s"))
        assert await monitor.command("stop", {"a": 1}) == {"was": {"a": 1}} and events == ["STOP"]
        assert await monitor.human("info usernet") == "text"
        with pytest.raises(CommandFailed, match=r"^no$"):
            await monitor.command("cont")
        with pytest.raises(CommandFailed, match="QEMU has ended"):
            await monitor.command("quit")
        await ended.wait()
        monitor.close()


def agent(command: Message) -> list[Message]:
    name = command["execute"]
    if name == "guest-sync":
        return [{"return": "an old answer"}, {"return": command["arguments"]["id"]}]
    if name == "guest-get-osinfo":
        return [{"return": {"id": "debian"}}]
    if name == "guest-shutdown":
        return []
    return [{"error": {"class": "CommandNotFound", "desc": "unknown"}}]


@pytest.mark.usefixtures("in_folder")
@in_loop
async def test_agent_tells_only_what_it_knows() -> None:
    async with peer(Path("s"), "", agent):
        connected = Agent(Path("s"))
        told = await ask(connected)
        assert told.system == {"id": "debian"} and told.interfaces == {} and told.version == ""
        with pytest.raises(CommandFailed, match="guest-ping: unknown"):
            await connected.command("guest-ping")
        await connected.tell("guest-shutdown", mode="powerdown")
        with pytest.raises(CommandFailed, match="QEMU has ended"):
            await connected.synchronize()
        connected.close()


@pytest.mark.usefixtures("in_folder")
@in_loop
async def test_silent_agent_is_no_agent() -> None:
    async with peer(Path("s"), "", lambda _command: [{"return": "something else"}]):
        silent = Agent(Path("s"))
        with pytest.raises(CommandFailed, match="the agent is silent"):
            await silent.synchronize(timeout=0.05)
        silent.close()
    with pytest.raises(CommandFailed, match="guest-ping"):
        await Agent(Path("none")).command("guest-ping")


@pytest.mark.usefixtures("in_folder")
@in_loop
async def test_nonsense_of_an_agent_is_refused() -> None:
    async with peer(Path("s"), "what?\nno\n", lambda _command: [{}]):
        confused = Agent(Path("s"))
        with pytest.raises(CommandFailed, match="nonsense"):
            await confused.synchronize()
        with pytest.raises(CommandFailed, match="nonsense"):
            await confused.command("guest-ping")
        confused.close()
