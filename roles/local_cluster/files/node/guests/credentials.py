"""SSH keys and passwords from Secrets, which KubeVirt's launcher brings into a guest by the agent."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, Final

Manifest = dict[str, Any]
Secrets = Mapping[str, Mapping[str, bytes]]
"""The values of Secrets, by their names."""

_KEYS: Final = "sshPublicKey"
_PASSWORDS: Final = "userPassword"


def secrets_of(vmi: Manifest) -> list[str]:
    """The names of the Secrets whose contents the agent brings into the guest of a VMI."""
    return [name for _kind, name, _users in _by_agent(vmi)]


def commands(vmi: Manifest, secrets: Secrets) -> list[tuple[str, Manifest]]:
    """The commands for the agent. Users get the keys of all Secrets that name them, and lose others."""
    keys: dict[str, list[str]] = {}
    result: list[tuple[str, Manifest]] = []
    for kind, name, users in _by_agent(vmi):
        values = {key: value.decode(errors="replace").strip() for key, value in sorted(secrets[name].items())}
        if kind == _PASSWORDS:
            for user, password in values.items():
                encoded = base64.b64encode(password.encode()).decode()
                values_of = {"username": user, "password": encoded, "crypted": False}
                result.append(("guest-set-user-password", values_of))
        for user in users:
            lines = (line.strip() for value in values.values() for line in value.splitlines())
            keys.setdefault(user, []).extend(line for line in lines if line)
    result += [
        ("guest-ssh-add-authorized-keys", {"username": user, "keys": lines, "reset": True})
        for user, lines in keys.items()
    ]
    return result


def _by_agent(vmi: Manifest) -> Iterator[tuple[str, str, list[str]]]:
    """Kind, Secret and users of each credential that comes by the agent."""
    for entry in vmi["spec"].get("accessCredentials") or []:
        for kind in (_KEYS, _PASSWORDS):
            given = entry.get(kind) or {}
            agent = (given.get("propagationMethod") or {}).get("qemuGuestAgent")
            name = ((given.get("source") or {}).get("secret") or {}).get("secretName")
            if agent is not None and name:
                yield kind, name, list(agent.get("users") or [])
