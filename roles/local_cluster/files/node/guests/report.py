"""What is known of a real guest: what its agent tells, and how it has ended."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any, Final

from node.guests.channel import Agent, CommandFailed

Manifest = dict[str, Any]

SSH: Final = "instancetypes.virtshape.io/ssh-address"
"""The annotation of a VMI with a real guest: the address of its SSH server on this machine."""
SIMULATED: Final = "instancetypes.virtshape.io/simulated-because"
"""The annotation of a VMI without one, where others have: the reason."""
_SYSTEM: Final = {
    "id": "id",
    "name": "name",
    "version": "version",
    "version-id": "versionId",
    "pretty-name": "prettyName",
    "kernel-release": "kernelRelease",
    "kernel-version": "kernelVersion",
    "machine": "machine",
}


@dataclass(frozen=True)
class Told:
    """What an agent tells. interfaces: by MAC address; users, filesystems: as virt-api lists them."""

    version: str = ""
    system: Manifest = field(default_factory=dict)
    interfaces: dict[str, Manifest] = field(default_factory=dict)
    hostname: str = ""
    timezone: str = ""
    users: list[Manifest] = field(default_factory=list)
    filesystems: list[Manifest] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    """Everything that is known of a guest now. ended: the phase of its VMI then. told: None without an agent.

    plugged_memory: bytes that it has taken since its start. credentials: why its agent has not taken those of the VMI;
    "" if it has, None without any.
    """

    annotations: dict[str, str] = field(default_factory=dict)
    ended: str = ""
    told: Told | None = None
    plugged_memory: int = 0
    credentials: str | None = None


async def ask(agent: Agent) -> Told:
    """Asks an agent for everything. Raises CommandFailed if it is silent; what it does not know is left out."""
    await agent.synchronize()
    answers: dict[str, Any] = {}
    for name in ("info", "get-osinfo", "network-get-interfaces", "get-host-name", "get-timezone", "get-users"):
        answers[name] = await _try(agent, f"guest-{name}")
    answers["get-fsinfo"] = await _try(agent, "guest-get-fsinfo")
    return told(answers)


async def _try(agent: Agent, name: str) -> Any:
    try:
        return await agent.command(name)
    except CommandFailed as error:
        if "silent" in str(error) or "ended" in str(error):
            raise
        return None


def told(answers: Manifest) -> Told:
    """The answers of an agent, by command, in KubeVirt's words."""
    system = answers.get("get-osinfo") or {}
    zone = answers.get("get-timezone") or {}
    return Told(
        version=str((answers.get("info") or {}).get("version") or ""),
        system={ours: str(system[theirs]) for theirs, ours in _SYSTEM.items() if theirs in system},
        interfaces=_interfaces(answers.get("network-get-interfaces") or []),
        hostname=str((answers.get("get-host-name") or {}).get("host-name") or ""),
        timezone=f"{zone['zone']}, {zone.get('offset', 0)}" if zone.get("zone") else "",
        users=[_user(entry) for entry in answers.get("get-users") or []],
        filesystems=[_filesystem(entry) for entry in answers.get("get-fsinfo") or []],
    )


def _interfaces(entries: list[Manifest]) -> dict[str, Manifest]:
    found: dict[str, Manifest] = {}
    for entry in entries:
        mac = str(entry.get("hardware-address") or "").lower()
        if mac and mac != "00:00:00:00:00:00":
            addresses = [str(address["ip-address"]) for address in entry.get("ip-addresses") or []]
            # KubeVirt shows the addresses of version 4 first.
            found[mac] = {"name": entry["name"], "addresses": sorted(addresses, key=lambda text: ":" in text)}
    return found


def _user(entry: Manifest) -> Manifest:
    user: Manifest = {"userName": entry.get("user", ""), "loginTime": entry.get("login-time", 0)}
    with contextlib.suppress(KeyError):
        user["domain"] = entry["domain"]
    return user


def _filesystem(entry: Manifest) -> Manifest:
    return {
        "diskName": entry.get("name", ""),
        "mountPoint": entry.get("mountpoint", ""),
        "fileSystemType": entry.get("type", ""),
        "usedBytes": entry.get("used-bytes", 0),
        "totalBytes": entry.get("total-bytes", 0),
    }
