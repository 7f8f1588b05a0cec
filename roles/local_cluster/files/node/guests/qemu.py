"""A guest that runs: the process of QEMU, its monitor, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any, Callable, Final

from local_cluster import processes
from node.guests import domain
from node.guests.channel import CommandFailed, Monitor

log = logging.getLogger(__name__)

PROGRAM: Final = "qemu-system-x86_64"
RECORD: Final = "qemu.json"
LOG: Final = "qemu.log"
_STARTS: Final = 20.0  # seconds until QEMU listens
_POLL: Final = 0.05
_FORWARD: Final = re.compile(r"TCP\[HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)")
_SSH: Final = 22
# A boot sector that ends QEMU through the device isa-debug-exit: MOV DX, F4; MOV AL, 1; OUT DX, AL; HLT.
_TRIAL: Final = bytes.fromhex("baf400b001eef4").ljust(510, b"\0") + b"\x55\xaa"
_TRIAL_ENDS: Final = 3  # the exit status for the 1 that it writes
_TRIAL_SECONDS: Final = 10.0


class NotStarted(Exception):
    """QEMU has refused to start; one line says why."""


class Guest:
    """QEMU of one VMI, in the folder of its own. changed: called when something of it is different."""

    def __init__(self, folder: Path, changed: Callable[[], None]) -> None:
        self.folder = folder
        self.port = 0
        """The port on 127.0.0.1 that leads to the guest's SSH server; 0 for none."""
        self.ended = ""
        """The phase that the VMI gets; "" while the guest runs."""
        self.agent_is_open = False
        self.plugged_memory = 0
        """The bytes of memory that the guest has taken since its start."""
        self._changed = changed
        self._destroyed = False
        self._monitor = Monitor(self._event, self._monitor_closed)
        self._process: asyncio.subprocess.Process | None = None
        self._shut_down = False

    async def start(self, arguments: domain.Arguments, port: int, paused: bool) -> None:
        """Starts the guest, with its port if that is free, else any. Raises NotStarted."""
        if arguments.firmware is not None:
            shutil.copyfile(arguments.firmware.variables, self.folder / domain.VARIABLES)
        record = (self.folder / RECORD).absolute()
        with (self.folder / LOG).open("wb") as output:
            self._process = await asyncio.create_subprocess_exec(
                *arguments.command(PROGRAM),
                "-S",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                cwd=self.folder,
                start_new_session=True,
                # The new process writes its record itself, so that it can be found even if the node is killed.
                preexec_fn=lambda: processes.record(record),
            )
        try:
            await self._connect()
            if arguments.forwards:
                self.port = await self._forward(arguments.forwards, port)
            if not paused:
                await self._monitor.command("cont")
        except (CommandFailed, OSError) as error:
            await self.destroy()
            raise NotStarted(self._said() or str(error)) from error

    async def command(self, name: str, values: dict[str, Any] | None = None) -> Any:
        """A command of QEMU's monitor. Raises CommandFailed."""
        return await self._monitor.command(name, values)

    async def destroy(self) -> None:
        """Ends QEMU at once."""
        self._destroyed = True
        self._monitor.close()
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGTERM)
            try:
                await asyncio.wait_for(self._process.wait(), 5)
            except asyncio.TimeoutError:
                self._process.kill()
                await self._process.wait()
        (self.folder / RECORD).unlink(missing_ok=True)
        self._end()

    async def _connect(self) -> None:
        assert self._process is not None
        deadline = asyncio.get_running_loop().time() + _STARTS
        while True:
            try:
                await self._monitor.connect(short(self.folder / domain.MONITOR))
                return
            except OSError:
                if self._process.returncode is not None or asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(_POLL)

    async def _forward(self, network: str, port: int) -> int:
        """Forwards a port to the guest's SSH server. Returns it."""
        for candidate in [port, 0] if port else [0]:
            if not await self._monitor.human(f"hostfwd_add {network} tcp:127.0.0.1:{candidate}-:{_SSH}"):
                break
        found = _FORWARD.search(await self._monitor.human("info usernet"))
        return int(found[1]) if found else 0

    def _event(self, name: str, data: dict[str, Any]) -> None:
        if name == "SHUTDOWN":
            self._shut_down = bool(data.get("guest"))
        elif name == "MEMORY_DEVICE_SIZE_CHANGE":
            self.plugged_memory = int(data["size"])
            self._changed()
        elif name == "VSERPORT_CHANGE" and data.get("id") == "agent0":
            self.agent_is_open = bool(data.get("open"))
            self._changed()

    def _monitor_closed(self) -> None:
        self._end()

    def _end(self) -> None:
        """As KubeVirt judges a domain that is gone: only a guest that has shut itself down has succeeded."""
        if not self.ended:
            self.ended = "Succeeded" if self._shut_down and not self._destroyed else "Failed"
            self.agent_is_open = False
            self._changed()

    def _said(self) -> str:
        """The last line of QEMU's output, which says why it has ended."""
        lines = (self.folder / LOG).read_text(errors="replace").splitlines()
        return lines[-1].partition(": ")[2] or lines[-1] if lines else ""


async def accelerator() -> str:
    """What guests run with: KVM or HVF if a short boot with it works, else emulation."""
    for name in ("kvm", "hvf"):
        if await _boots(name):
            return name
    return "tcg"


async def _boots(name: str) -> bool:
    """Whether a boot sector runs on the CPU that guests get: a nested hypervisor may boot a plain one, and not that."""
    sector = Path("trial.img").absolute()
    sector.write_bytes(_TRIAL.ljust(2**20, b"\0"))  # a BIOS takes no smaller disk
    arguments = [
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-machine",
        f"q35,accel={name}",
        "-cpu",
        "host",
        "-m",
        "16M",
    ]
    arguments += ["-drive", f"file={sector},format=raw,if=ide", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"]
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        return await asyncio.wait_for(process.wait(), _TRIAL_SECONDS) == _TRIAL_ENDS
    except asyncio.TimeoutError:
        return False
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        sector.unlink(missing_ok=True)


def short(path: Path) -> Path:
    """The path from the working directory, because that of a socket has at most 107 characters."""
    return Path(os.path.relpath(path))
