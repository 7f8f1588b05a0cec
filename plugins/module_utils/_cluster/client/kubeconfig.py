"""Kubeconfigs: what the official client reads of them, with errors that say what is wrong in them and what to do."""

from __future__ import annotations

import base64
import logging
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Final

from ..._resolver.api.redaction import mask_secrets
from ..._resolver.api.secret_texts import environment_secrets, kubeconfig_secrets
from ..._resolver.api.tree import value_at
from .errors import ConnectionFailed

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

CREDENTIALS: Final = ("api_key", "username", "client_cert")
"""Options with which a host needs no kubeconfig."""
# Seconds for which an exec plugin may run.
_PLUGIN: Final = 60
_MISSING_PLUGIN: Final = re.compile(r"No such file|[Pp]ermission denied|not found")
_HANGS: Final = (
    "{} did not end within {} s and was stopped; run it in a terminal to see what it waits for, or set api_key"
)
# What a path of a kubeconfig does not have.
_CONTENT: Final = re.compile(r"\n|^\s*\{|^\s*(apiVersion|kind|clusters|contexts|users)\s*:")
_NOT_A_PATH: Final = (
    "kubeconfig: expected a path or a dictionary, found the content of a file; write the path, or add `| from_yaml`"
)
# A shorter one, such as "true" or "prod", occurs in many texts.
_SHORTEST_SETTING: Final = 5
_DATA: Final = ("certificate-authority-data", "client-certificate-data", "client-key-data")


def kubeconfig_content(source: Any) -> Any:
    """The content of a kubeconfig that stands in the option itself, parsed if it is YAML; None for a path."""
    if isinstance(source, str):
        return _parsed(source) if _CONTENT.search(source) else None
    return source


def name_of(options: dict[str, Any]) -> str:
    """The kubeconfig of a task in messages."""
    source = options.get("kubeconfig")
    return f"kubeconfig {source or '(default)'}" if source is None or isinstance(source, str) else "kubeconfig"


class Plugin(subprocess.Popen[str]):
    """An exec plugin, which has an end, unless it can ask the user at a terminal."""

    # The commands that hung. They are not tried again for each token and each object of a task.
    _hung: ClassVar[list[list[str]]] = []

    def __init__(self, command: list[str], **kwargs: Any) -> None:
        self._command, self._seconds = command, None if kwargs.get("stdin") else _PLUGIN
        if command in self._hung:
            raise self._hangs()
        super().__init__(command, **kwargs)

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:
        try:
            return super().communicate(input, timeout or self._seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait()
            self._hung.append(self._command)
            raise self._hangs() from None

    def _hangs(self) -> ConnectionFailed:
        # Its arguments may be secret.
        return ConnectionFailed(_HANGS.format(self._command[0], _PLUGIN))


def load(options: dict[str, Any], configuration: Any) -> None:
    """Reads the kubeconfig of a task's options into the official client's configuration.

    Raises ConnectionFailed with one line without secrets if it is unusable or its exec plugin fails.
    """
    from kubernetes import config as kubernetes_config

    config: Any = kubernetes_config
    source = options.get("kubeconfig")
    if isinstance(source, str) and _CONTENT.search(source):
        raise ConnectionFailed(_NOT_A_PATH, final=True)
    if source is not None and not isinstance(source, (str, dict)):
        raise ConnectionFailed(f"kubeconfig: expected a path or a dictionary, found {_kind(source)}", final=True)
    name, logged_errors = name_of(options), _logged_errors()
    # An invalid file raises many types of errors: YAML errors, missing keys, wrong types, failing exec plugins.
    try:
        _read(config, options, configuration)
    except ConnectionFailed:
        raise
    except Exception as error:
        contents = _contents(source)
        reason = next(filter(None, map(_problem, contents)), "") or _hidden(_one_line(error), contents)
        raise ConnectionFailed(f"{name} cannot be used: {reason}") from error
    given = any(options.get(name) for name in CREDENTIALS)
    if logged_errors and not (given or configuration.api_key or configuration.cert_file or configuration.username):
        contents = _contents(source)
        reason = _hidden(_one_line(logged_errors[-1]), contents)
        hint = "".join(_install_hints(contents)) if _MISSING_PLUGIN.search(reason) else ""
        raise ConnectionFailed(f"{name}: the credential plugin returned no credentials: {reason}{hint}")


def _contents(source: Any) -> list[Any]:
    """What stands in the kubeconfig, of several files in their order. Only for what is said of errors."""
    if isinstance(source, dict):
        return [source]
    from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION

    contents = []
    for path in str(source or KUBE_CONFIG_DEFAULT_LOCATION).split(os.pathsep):
        with suppress(OSError, UnicodeDecodeError):
            contents.append(_parsed(Path(path).expanduser().read_text(encoding="utf-8")))
    return contents


def _parsed(text: str) -> Any:
    try:
        return text if yaml is None else yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return text


def _hidden(text: str, contents: list[Any]) -> str:
    """A message without the secrets of kubeconfigs and of the environment, which exec plugins may print.

    What a kubeconfig sets for a plugin may be secret under any name.
    """
    settings = {
        str(entry.get("value"))
        for plugin in _plugins(contents)
        for entry in (plugin["env"] if isinstance(plugin.get("env"), list) else ())
        if isinstance(entry, dict)
    }
    secrets = environment_secrets(os.environ).union(*map(kubeconfig_secrets, contents))
    return str(mask_secrets(text, secrets | {value for value in settings if len(value) >= _SHORTEST_SETTING}))


def _problem(content: Any) -> str:
    """What is wrong in a kubeconfig where the client's message does not tell; "" if nothing is found."""
    if not isinstance(content, dict):
        return f"expected the YAML of a kubeconfig, found {'nothing' if content is None else _kind(content)}"
    for plural, key in (("clusters", "cluster"), ("users", "user"), ("contexts", "context")):
        entries = content.get(plural)
        if not isinstance(entries, list):
            return f"{plural}: expected a list, found {'nothing' if entries is None else _kind(entries)}"
        for index, entry in enumerate(entries):
            place = f"{plural}[{index}]"
            part = entry.get(key) if isinstance(entry, dict) else None
            if not isinstance(part, dict):
                return f"{place}: expected a dictionary with name and {key}"
            for field in _DATA:
                if field in part and not _is_base64(part[field]):
                    return f"{place}.{key}.{field} ({entry.get('name')}): expected data in base64"
    return ""


def _is_base64(value: Any) -> bool:
    try:
        base64.b64decode(value)
    except (TypeError, ValueError):
        return False
    return True


def _kind(value: Any) -> str:
    return {str: "a string", list: "a list", bool: "a boolean", dict: "a dictionary"}.get(type(value), "a number")


def _install_hints(contents: list[Any]) -> Iterator[str]:
    """What exec plugins say on how to install them, for a message about one that there is not."""
    for plugin in _plugins(contents):
        if plugin.get("installHint"):
            yield f"; {plugin.get('command')}: {_one_line(str(plugin['installHint']))}"


def _plugins(contents: list[Any]) -> Iterator[dict[str, Any]]:
    for content in contents:
        users = content.get("users") if isinstance(content, dict) else None
        for user in users if isinstance(users, list) else ():
            plugin = value_at(user, ("user", "exec"))
            if isinstance(plugin, dict):
                yield plugin


def _read(config: Any, options: dict[str, Any], configuration: Any) -> None:
    source, context = options.get("kubeconfig"), options.get("context")
    if isinstance(source, dict):
        config.load_kube_config_from_dict(source, context=context, client_configuration=configuration)
    elif source:
        path = Path(source).expanduser()
        if path.is_dir():
            raise ConnectionFailed(f"kubeconfig {path}: is a directory; set kubeconfig to a file")
        if not path.is_file():
            raise ConnectionFailed(f"kubeconfig {path}: no such file; set kubeconfig or K8S_AUTH_KUBECONFIG")
        config.load_kube_config(str(path), context=context, client_configuration=configuration)
    elif not (options.get("host") and any(options.get(name) for name in CREDENTIALS)):
        try:
            config.load_kube_config(context=context, client_configuration=configuration)
        except config.ConfigException as error:
            try:
                config.load_incluster_config(client_configuration=configuration)
            except config.ConfigException:
                raise ConnectionFailed(
                    f"no cluster is configured ({_one_line(error)}); set kubeconfig, or host and api_key, or"
                    " K8S_AUTH_KUBECONFIG"
                ) from error


def _logged_errors() -> list[str]:
    """Collects what the client logs: if an exec plugin fails, it continues without credentials.

    The log of Ansible gets nothing of it, also later, when a token is renewed: it would contain what the plugin prints.
    """
    from kubernetes.config import kube_config

    messages: list[str] = []
    client: Any = kube_config
    client.logging = SimpleNamespace(**{**vars(logging), "error": lambda text, *_values: messages.append(str(text))})
    return messages


def _one_line(error: Exception | str) -> str:
    text = " ".join(str(error).split())
    return text or type(error).__name__
