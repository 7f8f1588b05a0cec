"""The real guests of the cluster: which VMIs have one, and what becomes of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Callable, Final

from local_cluster import processes
from node.api.client import ApiError
from node.api.informer import Key, key_of
from node.guests import credentials, domain, images, qemu
from node.guests.channel import Agent, CommandFailed
from node.guests.disks import Disks, attached
from node.guests.domain import Drive, Host, Unsupported
from node.guests.growth import Growth
from node.guests.images import ToolFailed
from node.guests.plugs import DISK, INTERFACE, Plugged, Plugs
from node.guests.qemu import Guest, NotStarted
from node.guests.report import SIMULATED, SSH, Report, Told, ask
from node.kubelet.network import guest_mac

log = logging.getLogger(__name__)

Manifest = dict[str, Any]

FOLDER: Final = Path("guests")
"""Has a folder for each guest that runs; in the working directory of the node."""
_PORTS: Final = Path("guest-ports.json")
_ASKED_AGAIN: Final = 10.0  # seconds between two questions to an agent
_SOON: Final = 1.0  # as long as it does not tell an address
# Code and variables of OVMF.
_FIRMWARE: Final = (
    ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"),  # Debian, Ubuntu
    ("/usr/share/edk2/ovmf/OVMF_CODE.fd", "/usr/share/edk2/ovmf/OVMF_VARS.fd"),  # Fedora
    ("/opt/homebrew/share/qemu/edk2-x86_64-code.fd", "/opt/homebrew/share/qemu/edk2-i386-vars.fd"),
    ("/usr/local/share/qemu/edk2-x86_64-code.fd", "/usr/local/share/qemu/edk2-i386-vars.fd"),
)
# With the keys of Microsoft, or on Macs with none, so that all signatures pass.
_SECURE_FIRMWARE: Final = (
    ("/usr/share/OVMF/OVMF_CODE_4M.ms.fd", "/usr/share/OVMF/OVMF_VARS_4M.ms.fd"),  # Debian, Ubuntu
    ("/usr/share/edk2/ovmf/OVMF_CODE.secboot.fd", "/usr/share/edk2/ovmf/OVMF_VARS.secboot.fd"),  # Fedora
    ("/opt/homebrew/share/qemu/edk2-x86_64-secure-code.fd", "/opt/homebrew/share/qemu/edk2-i386-vars.fd"),
    ("/usr/local/share/qemu/edk2-x86_64-secure-code.fd", "/usr/local/share/qemu/edk2-i386-vars.fd"),
)


class GuestFailed(Exception):
    """A guest cannot be started; one line says why."""


class _Running:
    """A guest, and what is known of it."""

    def __init__(self, key: Key, guest: Guest, drives: Mapping[str, Drive], arguments: domain.Arguments) -> None:
        self.key = key
        self.guest = guest
        interfaces = {(INTERFACE, name): Plugged(*parts) for name, parts in arguments.interfaces.items()}
        self.plugs = Plugs(guest, arguments.free_ports, interfaces)
        self.growth = Growth(guest, self.plugs)
        self.drives = drives
        self.told: Told | None = None
        self.asking: asyncio.Task[None] | None = None
        self.stopping = False
        self.credentials: str | None = None
        self.agent = Agent(qemu.short(guest.folder / domain.AGENT))


class Guests:
    """Starts and ends guests. program: makes domains."""

    def __init__(self, program: str, disks: Disks) -> None:
        self._program = program
        self._disks = disks
        self._changed: Callable[[Key], None] = lambda _key: None
        self._running: dict[str, _Running] = {}  # by uid of the VMI
        self._host: asyncio.Task[Host] | None = None

    def on_change(self, handler: Callable[[Key], None]) -> None:
        """Calls the handler with the key of a VMI whose guest has ended, or told something new."""
        self._changed = handler

    def open(self) -> None:
        """Ends what is left of a node that was killed, and begins to look for what the machine can."""
        for record in FOLDER.glob(f"*/{qemu.RECORD}"):
            processes.stop(record, 0)
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(mode=0o700)
        self._host = asyncio.create_task(_find_host())

    async def close(self) -> None:
        """Ends all guests at once."""
        if self._host is not None:
            self._host.cancel()
        await asyncio.gather(*(self._forget(uid) for uid in list(self._running)))

    async def start(self, vmi: Manifest) -> Report:
        """Starts the guest of a VMI unless it runs. Raises GuestFailed.

        A VMI that cannot have a real one is simulated: the annotation SIMULATED of its report says why.
        """
        uid = vmi["metadata"]["uid"]
        if uid not in self._running:
            try:
                self._disks.check(vmi)
                await self._start(vmi)
            except Unsupported as error:
                return Report({SIMULATED: str(error)})
            except (NotStarted, ToolFailed, OSError) as error:
                shutil.rmtree(FOLDER / uid, ignore_errors=True)
                raise GuestFailed(str(error)) from error
        return self.report(vmi)

    def is_real(self, vmi: Manifest) -> bool:
        """Whether the VMI has a real guest, or had one that is gone with its node."""
        return vmi["metadata"]["uid"] in self._running or SSH in (vmi["metadata"].get("annotations") or {})

    def report(self, vmi: Manifest) -> Report:
        """What is known of the guest of a VMI. One that is gone with its node has failed."""
        running = self._running.get(vmi["metadata"]["uid"])
        if running is None:
            return Report(ended="Failed")
        guest = running.guest
        # Without a network there is no address, but the annotation says that the guest is real.
        annotations = {SSH: f"127.0.0.1:{guest.port}" if guest.port else ""}
        told = running.told if guest.agent_is_open else None
        return Report(annotations, guest.ended, told, guest.plugged_memory, running.credentials)

    async def plug(self, vmi: Manifest) -> None:
        """Gives a guest what it lacks, and takes away what is no longer its own. Raises GuestFailed."""
        running = self._running.get(vmi["metadata"]["uid"])
        if running is None or running.guest.ended or running.stopping:
            return
        try:
            for gone in sorted(running.plugs.superfluous(vmi)):
                await running.plugs.unplug(gone)
            for kind, name in sorted(running.plugs.missing(vmi)):
                await self._plug(vmi, running, kind, name)
            await running.growth.apply(vmi)
        except (CommandFailed, ToolFailed, Unsupported) as error:
            raise GuestFailed(str(error)) from error

    async def _plug(self, vmi: Manifest, running: _Running, kind: str, name: str) -> None:
        folder, port = running.guest.folder, running.plugs.port()
        text = (await self._domain(vmi, folder, running.drives))["domain"]
        if kind == DISK:
            volume = next(entry for entry in attached(vmi) if entry["name"] == name)
            drive = await self._disks.drive(vmi, volume, folder)
            parts = domain.plugged_disk(text, name, drive, port)
        else:
            parts = domain.plugged_interface(text, name, _macs(vmi), port)
        await running.plugs.plug((kind, name), *parts)
        log.info("%s/%s: the %s %s is plugged", *running.key, kind, name)

    async def shut_down(self, vmi: Manifest) -> None:
        """Asks a guest to shut down, once: its agent if there is one, else by the power button."""
        running = self._running.get(vmi["metadata"]["uid"])
        if running is None or running.stopping:
            return
        running.stopping = True
        with contextlib.suppress(CommandFailed):
            if "paused" in str((await running.guest.command("query-status"))["status"]):
                await running.guest.command("cont")
            if running.told is not None and running.guest.agent_is_open:
                await running.agent.tell("guest-shutdown", mode="powerdown")
            else:
                await running.guest.command("system_powerdown")

    async def destroy(self, vmi: Manifest) -> None:
        """Ends a guest at once."""
        running = self._running.get(vmi["metadata"]["uid"])
        if running is not None:
            await running.guest.destroy()

    async def keep_only(self, key: Key, uid: str) -> None:
        """Ends the guests of VMIs of this name that have ended or gone. uid: of the one that runs; "" for none."""
        for other, running in list(self._running.items()):
            if running.key == key and other != uid:
                await self._forget(other)

    async def command(self, vmi: Manifest, name: str) -> None:
        """Pauses, unpauses, resets, reboots, freezes or thaws a real guest. Raises CommandFailed."""
        running = self._running.get(vmi["metadata"]["uid"])
        if running is None:
            return
        connected = running.told is not None and running.guest.agent_is_open
        commands = {"pause": "stop", "unpause": "cont", "reset": "system_reset"}
        if name in commands:
            await running.guest.command(commands[name])
        elif name == "softreboot" and connected:
            await running.agent.tell("guest-shutdown", mode="reboot")
        elif name == "softreboot":
            raise CommandFailed("the guest has no agent that could reboot it")
        elif connected:
            await running.agent.command({"freeze": "guest-fsfreeze-freeze", "unfreeze": "guest-fsfreeze-thaw"}[name])
        else:
            raise CommandFailed(f"{name}: the guest has no agent")

    async def _start(self, vmi: Manifest) -> None:
        uid = vmi["metadata"]["uid"]
        folder = FOLDER / uid
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "name").write_text("/".join(key_of(vmi)))
        assert self._host is not None
        host = await asyncio.shield(self._host)
        drives = await self._disks.make(vmi, folder)
        await self._disks.write_secrets(vmi, folder / "secrets")
        made = await self._domain(vmi, folder, drives)
        (folder / "domain.xml").write_text(made["domain"])
        if made["volume"]:
            drives[made["volume"]] = Drive(str(Path(made["cloudInit"]).absolute()), "raw")
        arguments = domain.arguments(made["domain"], drives, _macs(vmi), host)
        guest = Guest(folder, lambda: self._noticed(vmi))
        running = self._running[uid] = _Running(key_of(vmi), guest, drives, arguments)
        try:
            await running.guest.start(arguments, self._port(vmi), vmi["spec"].get("startStrategy") == "Paused")
        except BaseException:
            del self._running[uid]
            raise
        self._keep_port(vmi, running.guest.port)
        log.info("%s/%s: QEMU runs with %s", *key_of(vmi), host.accelerator)

    async def _domain(self, vmi: Manifest, folder: Path, drives: Mapping[str, Drive]) -> Manifest:
        assert self._host is not None
        host = await asyncio.shield(self._host)
        values = {
            "vmi": vmi,
            "formats": {name: drive.format for name, drive in drives.items()},
            "directory": str((folder / "cloud-init").absolute()),
            "secrets": str((folder / "secrets").absolute()),
            "accelerated": host.accelerator != "tcg",
        }
        made: Manifest = json.loads(await images.run(self._program, text=json.dumps(values)))
        return made

    def _noticed(self, vmi: Manifest) -> None:
        """The guest has ended, or its agent has come or gone."""
        running = self._running.get(vmi["metadata"]["uid"])
        if running is None:
            return
        if running.guest.agent_is_open and running.asking is None:
            running.asking = asyncio.create_task(self._ask(vmi, running))
        self._changed(key_of(vmi))

    async def _ask(self, vmi: Manifest, running: _Running) -> None:
        """Asks the agent again and again as long as it is there."""
        while running.guest.agent_is_open and not running.stopping:
            try:
                told: Told | None = await ask(running.agent)
            except CommandFailed as error:
                log.debug("%s/%s: %s", *key_of(vmi), error)
                told = None
            if told is not None and running.credentials != "":
                running.credentials = await self._give_credentials(vmi, running.agent)
            if told != running.told:
                running.told = told
                self._changed(key_of(vmi))
            addressed = told is not None and any(entry["addresses"] for entry in told.interfaces.values())
            await asyncio.sleep(_ASKED_AGAIN if addressed else _SOON)
        running.asking = None
        if not running.guest.agent_is_open:
            running.told = running.credentials = None

    async def _give_credentials(self, vmi: Manifest, agent: Agent) -> str | None:
        """Brings keys and passwords into a guest; as `Report.credentials`."""
        names, namespace = credentials.secrets_of(vmi), vmi["metadata"]["namespace"]
        try:
            secrets = {name: await self._disks.secret(namespace, name) for name in names}
            for name, values in credentials.commands(vmi, secrets):
                await agent.command(name, **values)
        except (ApiError, CommandFailed) as error:
            return str(error)
        return "" if names else None

    async def _forget(self, uid: str) -> None:
        running = self._running.pop(uid, None)
        if running is not None:
            if running.asking is not None:
                running.asking.cancel()
            running.agent.close()
            await running.guest.destroy()
            shutil.rmtree(running.guest.folder, ignore_errors=True)

    def _port(self, vmi: Manifest) -> int:
        """The port of an earlier guest of the same name: a restart must not move it under a play that runs."""
        return int(_ports().get("/".join(key_of(vmi)), 0))

    def _keep_port(self, vmi: Manifest, port: int) -> None:
        _PORTS.write_text(json.dumps({**_ports(), "/".join(key_of(vmi)): port}))


def _macs(vmi: Manifest) -> dict[str, str]:
    devices = vmi["spec"]["domain"].get("devices", {}).get("interfaces") or []
    return {entry["name"]: guest_mac(vmi, entry) for entry in devices}


async def _find_host() -> Host:
    accelerator = await qemu.accelerator()
    # Apple's hypervisor has no system management mode.
    host = Host(accelerator, _found(_FIRMWARE), _found(_SECURE_FIRMWARE) if accelerator != "hvf" else None)
    log.info("guests run with %s", host.accelerator)
    return host


def _found(pairs: Iterable[tuple[str, str]]) -> domain.Firmware | None:
    return next((domain.Firmware(*pair) for pair in pairs if all(Path(file).exists() for file in pair)), None)


def _ports() -> dict[str, int]:
    try:
        ports: dict[str, int] = json.loads(_PORTS.read_text())
    except (OSError, ValueError):
        return {}
    return ports
