"""What user data mean: one configuration, and scripts. Pure, and tested beside cloud-init's own documentation."""

from __future__ import annotations

import email
import gzip
from typing import Any, NamedTuple

import yaml

DEFAULT_USER = {
    "name": "debian",
    "gecos": "Debian",
    "groups": ["adm", "audio", "cdrom", "dialout", "dip", "floppy", "plugdev", "sudo", "video"],
    "sudo": ["ALL=(ALL) NOPASSWD:ALL"],
    "shell": "/bin/bash",
    "lock_passwd": True,
}
"""As Debian's configuration of cloud-init has it."""
KNOWN = {
    *("hostname", "fqdn", "preserve_hostname", "prefer_fqdn_over_hostname", "manage_etc_hosts"),
    *("user", "users", "groups", "password", "chpasswd", "ssh_authorized_keys", "ssh_pwauth", "disable_root"),
    *("write_files", "bootcmd", "runcmd", "final_message"),
}


class UserData(NamedTuple):
    """config: of all parts. scripts: those of their own. unknown: what is not done, a line each."""

    config: dict[str, Any]
    scripts: list[bytes]
    unknown: list[str]


def parse(data: bytes) -> UserData:
    """The user data in their parts, which may be compressed."""
    result = UserData({}, [], [])
    _part(data, result)
    result.unknown.extend(f"user data: {key} is not known" for key in result.config if key not in KNOWN)
    return result


def _part(data: bytes, result: UserData) -> None:
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    start = data.lstrip()[:200].lower()
    if start.startswith(b"#cloud-config") and not start.startswith(b"#cloud-config-archive"):
        _config(data, result)
    elif start.startswith(b"#!"):
        result.scripts.append(data.lstrip())
    elif start.startswith((b"content-type: multipart", b"mime-version")):
        for part in email.message_from_bytes(data.lstrip()).walk():
            if not part.is_multipart():
                content = part.get_payload(decode=True)
                _part(content if isinstance(content, bytes) else b"", result)
    elif start:
        result.unknown.append(f"user data: not known, they start with {data.lstrip()[:20].decode(errors='replace')!r}")


def _config(data: bytes, result: UserData) -> None:
    try:
        config = yaml.safe_load(data)
    except yaml.YAMLError as error:
        # What surrounds the place may be a password.
        mark = getattr(error, "problem_mark", None)
        result.unknown.append(f"user data: no YAML{f', line {mark.line + 1}' if mark else ''}")
        return
    if isinstance(config, dict):
        result.config.update(config)
    elif config is not None:
        result.unknown.append("user data: no mapping of options")


def host_names(config: dict[str, Any], meta: dict[str, Any]) -> tuple[str, str]:
    """The name of the host, and its full name, which may be the same."""
    given = (
        config.get("hostname")
        or config.get("fqdn")
        or meta.get("local-hostname")
        or meta.get("hostname")
        or "localhost"
    )
    full = str(config.get("fqdn") or given)
    return str(given).partition(".")[0], full


def users(config: dict[str, Any], meta: dict[str, Any]) -> list[dict[str, Any]]:
    """The users to make, the default one with the keys and the password that belong to nobody else."""
    default = dict(DEFAULT_USER)
    given = config.get("user")
    default.update(given if isinstance(given, dict) else {"name": given} if given else {})
    keys = [*_keys(default), *_keys(config), *public_keys(meta)]
    if keys:
        default["ssh_authorized_keys"] = keys
    if config.get("password"):
        default |= {"plain_text_passwd": str(config["password"]), "lock_passwd": False}
    listed = config.get("users", ["default"])
    listed = listed if isinstance(listed, list) else [listed]
    result = []
    for entry in listed:
        if entry == "default":
            result.append(default)
        elif isinstance(entry, dict):
            result.append(entry)
        elif isinstance(entry, str):
            result.extend({"name": name.strip()} for name in entry.split(","))
    return result


def _keys(owner: dict[str, Any]) -> list[str]:
    keys = owner.get("ssh_authorized_keys") or []
    return [str(key).strip() for key in (keys if isinstance(keys, list) else [keys])]


def public_keys(meta: dict[str, Any]) -> list[str]:
    """The keys of the meta data, where KubeVirt puts those of access credentials."""
    keys = meta.get("public-keys") or meta.get("public_keys") or {}
    return [str(key).strip() for key in (keys.values() if isinstance(keys, dict) else keys)]


def passwords(config: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """The passwords of `chpasswd`: user, password, and whether that is a hash."""
    options = config.get("chpasswd") or {}
    listed = options.get("list") or []
    lines = listed.splitlines() if isinstance(listed, str) else listed
    result = []
    for line in lines:
        name, _, password = str(line).strip().partition(":")
        result.append((name, password, password.startswith("$")))
    for user in options.get("users") or []:
        result.append((user["name"], str(user.get("password", "")), user.get("type", "hash") == "hash"))
    return [entry for entry in result if entry[1]]
