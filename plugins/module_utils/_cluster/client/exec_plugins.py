"""Exec plugins of kubeconfigs, which print credentials."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any, Final, NamedTuple

from ..._resolver.api.name_rules import one_line
from .kubeconfig import Access

# Seconds for which a plugin may run unless it can ask the user at a terminal.
_SECONDS: Final = 60
# Seconds before the end of a token at which another is asked for.
_EARLIER: Final = 300
_HANGS: Final = (
    "{} did not end within {} s and was stopped; run it in a terminal to see what it waits for, or set api_key"
)
_MISSING: Final = re.compile(r"No such file|[Pp]ermission denied|not found")
_CERTIFICATE: Final = ("clientCertificateData", "clientKeyData")
# Python before 3.11 reads six digits of a second, neither more nor fewer.
_FRACTION: Final = re.compile(r"[.,]\d+")


class PluginFailed(Exception):
    """A plugin gave no credentials. The text may be secret."""


# Commands that did not end. No command is run again for each token and each object of a task.
_hung: list[list[str]] = []


class _Command(NamedTuple):
    api_version: str
    words: list[str]
    environment: dict[str, str]
    folder: str | None


class ExecLogin:
    """The credentials that a plugin has printed. It runs again shortly before they expire.

    certificate, key: as PEM; "" if the plugin gave a token.
    """

    def __init__(self, access: Access) -> None:
        """Runs the plugin of the access' user. Raises PluginFailed."""
        self._access = access
        self._read()

    def authorization(self) -> str:
        """The header's value; "" for a certificate."""
        if self._expiry is not None and time.time() >= self._expiry - _EARLIER:
            # If it fails, the server says that the token has expired.
            with suppress(PluginFailed):
                self._read()
        return f"Bearer {self._token}" if self._token else ""

    def _read(self) -> None:
        status = credentials(self._access)
        expiry = status.get("expirationTimestamp")
        self._expiry = None if expiry is None else _seconds(expiry)
        self._token = str(status.get("token") or "")
        self.certificate, self.key = ("", "") if self._token else (str(status[name]) for name in _CERTIFICATE)


def _seconds(timestamp: Any) -> float:
    try:
        parsed = datetime.fromisoformat(_FRACTION.sub("", str(timestamp).strip().upper()).replace("Z", "+00:00"))
    except ValueError:
        raise PluginFailed(f"exec: expirationTimestamp: {timestamp!r} is no time of RFC 3339") from None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=timezone.utc)).timestamp()


def failure_text(access: Access, error: PluginFailed) -> str:
    """The message about a plugin that failed, with its hint how to install it if it is missing."""
    plugin = access.user.fields["exec"]
    reason, hint = access.hidden(str(error)), one_line(plugin.get("installHint"))
    more = f"; {plugin['command']}: {hint}" if hint and _MISSING.search(reason) else ""
    return f"{access.name}: the credential plugin returned no credentials: {reason}{more}"


def credentials(access: Access) -> dict[str, Any]:
    """The `status` of an ExecCredential. Raises PluginFailed."""
    command = _command(access)
    interactive = sys.stdout is not None and sys.stdout.isatty()
    spec: dict[str, Any] = {"interactive": interactive}
    if access.user.fields["exec"].get("provideClusterInfo"):
        spec["cluster"] = dict(access.cluster.fields)
        for extension in spec["cluster"].get("extensions") or ():
            if extension["name"] == "client.authentication.k8s.io/exec":
                spec["cluster"]["config"] = extension["extension"]
    request = {"apiVersion": command.api_version, "kind": "ExecCredential", "spec": spec}
    printed = _run(command, interactive, {**command.environment, "KUBERNETES_EXEC_INFO": json.dumps(request)})
    try:
        answer = json.loads(printed)
    except ValueError as error:
        raise PluginFailed(f"exec: failed to decode process output: {error}") from None
    for key in ("apiVersion", "kind", "status"):
        if not isinstance(answer, dict) or key not in answer:
            raise PluginFailed(f"exec: malformed response. missing key '{key}'")
    if answer["apiVersion"] != command.api_version:
        raise PluginFailed(f"exec: plugin api version {answer['apiVersion']} does not match {command.api_version}")
    status = answer["status"]
    if not isinstance(status, dict):
        raise PluginFailed("exec: malformed response. status is no object")
    if not status.get("token") and not all(status.get(name) for name in _CERTIFICATE):
        raise PluginFailed("exec: the plugin returned neither a token nor a certificate with its key")
    return status


def _command(access: Access) -> _Command:
    """The plugin of the kubeconfig's user. Raises ConnectionFailed if it is malformed."""
    plugin = access.user.fields["exec"]
    if not isinstance(plugin, dict):
        raise access.user.error("exec", "expected a dictionary with command and apiVersion")
    for key in ("command", "apiVersion"):
        if not isinstance(plugin.get(key), str):
            raise access.user.error(f"exec.{key}", "expected a string")
    arguments, settings = plugin.get("args") or [], plugin.get("env") or []
    if not isinstance(arguments, list):
        raise access.user.error("exec.args", "expected a list")
    environment = dict(os.environ)
    for item in settings if isinstance(settings, list) else [settings]:
        if not isinstance(item, dict) or not {"name", "value"} <= item.keys():
            raise access.user.error("exec.env", "expected a list of dictionaries with name and value")
        environment[item["name"]] = item["value"]
    return _Command(plugin["apiVersion"], [plugin["command"], *arguments], environment, access.cluster.folder or None)


def _run(command: _Command, interactive: bool, environment: dict[str, str]) -> str:
    """The output of the plugin."""
    if command.words in _hung:
        raise PluginFailed(_HANGS.format(command.words[0], _SECONDS))
    try:
        done = subprocess.run(
            command.words,
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if interactive else subprocess.PIPE,
            cwd=command.folder,
            env=environment,
            text=True,
            errors="replace",
            timeout=None if interactive else _SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        _hung.append(command.words)
        # The arguments may be secret.
        raise PluginFailed(_HANGS.format(command.words[0], _SECONDS)) from None
    except (OSError, TypeError, ValueError) as error:
        # The program is missing, or an argument is no text.
        raise PluginFailed(str(error)) from None
    if done.returncode:
        raise PluginFailed(f"exec: process returned {done.returncode}. {(done.stderr or '').strip()}")
    return done.stdout
