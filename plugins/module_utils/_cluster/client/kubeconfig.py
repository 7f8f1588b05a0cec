"""Kubeconfigs: what the official client reads of them, with errors that say what is wrong in them and what to do."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ..._resolver.api.name_rules import one_line
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
_MISSING_PLUGIN: Final = re.compile(r"No such file|[Pp]ermission denied|not found")
# A text that no path of a kubeconfig has.
_CONTENT: Final = re.compile(r"\n|^\s*\{|^\s*(apiVersion|kind|clusters|contexts|users)\s*:")
_NOT_A_PATH: Final = (
    "kubeconfig: expected a path or a dictionary, found text that is no kubeconfig; write the path of a file"
)
_VAULT: Final = "$ANSIBLE_VAULT;"
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


def load(options: dict[str, Any], configuration: Any) -> None:
    """Reads the kubeconfig of a task's options into the official client's configuration.

    Raises ConnectionFailed with one line without secrets if it is unusable or its exec plugin fails.
    """
    from kubernetes import config as kubernetes_config

    config: Any = kubernetes_config
    source = options.get("kubeconfig")
    if isinstance(source, str) and _CONTENT.search(source):
        # For example, a variable that Ansible Vault has encrypted.
        source = kubeconfig_content(source)
        if not isinstance(source, dict):
            raise ConnectionFailed(_NOT_A_PATH, final=True)
        options = {**options, "kubeconfig": source}
    if source is not None and not isinstance(source, (str, dict)):
        raise ConnectionFailed(f"kubeconfig: expected a path or a dictionary, found {_kind(source)}", final=True)
    name = name_of(options)
    # An invalid file raises many types of errors: YAML errors, missing keys, wrong types, failing exec plugins.
    try:
        failure = _read(config, options, configuration)
    except ConnectionFailed:
        raise
    except Exception as error:
        contents = _contents(source)
        reason = next(filter(None, map(_problem, contents)), "") or _hidden(_one_line(error), contents)
        raise ConnectionFailed(f"{name} cannot be used: {reason}") from error
    given = any(options.get(name) for name in CREDENTIALS)
    if failure and not (given or configuration.api_key or configuration.cert_file or configuration.username):
        contents = _contents(source)
        reason = _hidden(_one_line(failure), contents)
        hint = "".join(_install_hints(contents)) if _MISSING_PLUGIN.search(reason) else ""
        raise ConnectionFailed(f"{name}: the credential plugin returned no credentials: {reason}{hint}")


def _contents(source: Any) -> list[Any]:
    """The contents of the kubeconfig's files, in their order. Only messages of errors use them."""
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

    A kubeconfig's setting for a plugin may be secret under any name.
    """
    settings = {
        str(item.get("value"))
        for plugin in _plugins(contents)
        for item in (plugin["env"] if isinstance(plugin.get("env"), list) else ())
        if isinstance(item, dict)
    }
    secrets = environment_secrets(os.environ).union(*map(kubeconfig_secrets, contents))
    return str(mask_secrets(text, secrets | {value for value in settings if len(value) >= _SHORTEST_SETTING}))


def _problem(content: Any) -> str:
    """The mistake in a kubeconfig that the client's message does not tell; "" if none is found."""
    if isinstance(content, str) and content.startswith(_VAULT):
        return "is encrypted with Ansible Vault; decrypt it, or give its content as a dictionary"
    if not isinstance(content, dict):
        return f"expected the YAML of a kubeconfig, found {'nothing' if content is None else _kind(content)}"
    for plural, key in (("clusters", "cluster"), ("users", "user"), ("contexts", "context")):
        items = content.get(plural)
        if not isinstance(items, list):
            return f"{plural}: expected a list, found {'nothing' if items is None else _kind(items)}"
        for index, item in enumerate(items):
            place = f"{plural}[{index}]"
            part = item.get(key) if isinstance(item, dict) else None
            if not isinstance(part, dict):
                return f"{place}: expected a dictionary with name and {key}"
            for field in _DATA:
                if field in part and not _is_base64(part[field]):
                    return f"{place}.{key}.{field} ({item.get('name')}): expected data in base64"
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
    """The exec plugins' hints how to install them, for a message about a missing one."""
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


def _read(config: Any, options: dict[str, Any], configuration: Any) -> str:
    """Reads the kubeconfig that counts. Returns why an exec plugin gave no credentials, or ""."""
    source, context = options.get("kubeconfig"), options.get("context")
    if isinstance(source, dict):
        return _loaded(source, context, configuration)
    if source:
        path = Path(source).expanduser()
        # Several paths, as in KUBECONFIG.
        parts = [Path(part).expanduser() for part in source.split(os.pathsep)]
        if len(parts) > 1 and any(part.is_file() for part in parts):
            return _loaded(source, context, configuration)
        if path.is_dir():
            raise ConnectionFailed(f"kubeconfig {path}: is a directory; set kubeconfig to a file")
        if not path.is_file():
            raise ConnectionFailed(f"kubeconfig {path}: no such file; set kubeconfig or K8S_AUTH_KUBECONFIG")
        return _loaded(str(path), context, configuration)
    if options.get("host") and any(options.get(name) for name in CREDENTIALS):
        return ""
    try:
        return _loaded(config.KUBE_CONFIG_DEFAULT_LOCATION, context, configuration)
    except config.ConfigException as error:
        try:
            config.load_incluster_config(client_configuration=configuration)
        except config.ConfigException:
            raise ConnectionFailed(
                f"no cluster is configured ({_one_line(error)}); set kubeconfig, or host and api_key, or"
                " K8S_AUTH_KUBECONFIG"
            ) from error
    return ""


def _loaded(source: Any, context: str | None, configuration: Any) -> str:
    """Loads a kubeconfig as load_kube_config of the client does. source: its content, or paths."""
    from kubernetes.config import kube_config

    from .exec_plugins import loader_class

    client: Any = kube_config
    persister = None
    if isinstance(source, str):
        merger = client.KubeConfigMerger(source)
        source, persister = merger.config, merger.save_changes
    if source is None:
        raise client.ConfigException("Invalid kube-config file. No configuration found.")
    loader = loader_class()(
        config_dict=source, active_context=context, config_base_path=None, config_persister=persister
    )
    loader.load_and_set(configuration)
    return str(loader.failure)


def _one_line(error: Exception | str) -> str:
    text = one_line(error)
    return text or type(error).__name__
