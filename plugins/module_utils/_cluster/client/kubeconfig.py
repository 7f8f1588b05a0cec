"""Kubeconfigs: found, merged, and read down to the cluster and the user of one context."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..._resolver.api.name_rules import first_names, one_line, quoted
from ..._resolver.api.tree import value_at
from ..._resolver.secrets.redaction import mask_secrets
from ..._resolver.secrets.secret_texts import environment_secrets, kubeconfig_secrets
from .errors import ConnectionFailed, reason_of

CREDENTIALS: Final = ("api_key", "username", "client_cert")
"""Options with which a host needs no kubeconfig."""
_DEFAULT: Final = "~/.kube/config"
# A text that no path of a kubeconfig has.
_CONTENT: Final = re.compile(r"\n|^\s*\{|^\s*(apiVersion|kind|clusters|contexts|users)\s*:")
_NOT_A_PATH: Final = (
    "kubeconfig: expected a path or a dictionary, found text that is no kubeconfig; write the path of a file"
)
_VAULT: Final = b"$ANSIBLE_VAULT;"
_ENCRYPTED: Final = "is encrypted with Ansible Vault; decrypt it, or give its content as a dictionary"
# A shorter one, such as "true" or "prod", occurs in many texts.
_SHORTEST_SETTING: Final = 5
LISTS: Final = {"clusters": "cluster", "contexts": "context", "users": "user"}
_CURRENT: Final = "current-context"
_SHOWN: Final = 5


class Entry(NamedTuple):
    """The fields of a cluster or a user.

    place: what messages call it. folder: that of its file, to which its paths are relative.
    """

    place: str
    fields: Mapping[str, Any]
    folder: str

    def text(self, name: str) -> str:
        """A field; "" if it is not set."""
        value = self.fields.get(name)
        # YAML reads a token or a password of digits as a number.
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is not None and not isinstance(value, str):
            raise self.error(name, f"expected a string, found {_kind(value)}")
        return value or ""

    def flag(self, name: str) -> bool:
        value = self.fields.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.error(name, f"expected true or false, found {_kind(value)}")
        return bool(value)

    def path(self, name: str) -> str:
        """The path of a file, which exists; "" if the field is not set."""
        written = self.text(name)
        path = os.path.normpath(Path(self.folder, written)) if written else ""
        if path and not Path(path).is_file():
            raise self.error(name, f"{path}: {'is a directory' if Path(path).is_dir() else 'no such file'}")
        return path

    def data(self, name: str) -> bytes:
        """The content of a field in base64; b"" if it is not set."""
        try:
            return base64.b64decode(self.text(name))
        except ValueError:
            raise self.error(name, "expected data in base64") from None

    def error(self, name: str, problem: str) -> ConnectionFailed:
        return ConnectionFailed(f"{self.place}: {name}: {problem}", final=True)


class Access(NamedTuple):
    """The cluster and the user of a context.

    name: the kubeconfig in messages. context: its name. paths: the files; none if the content was given.
    contents: the contents of the kubeconfigs, whose secrets no message may show.
    """

    name: str
    context: str
    cluster: Entry
    user: Entry
    paths: list[str]
    contents: list[dict[str, Any]]

    def hidden(self, text: str) -> str:
        """A message of a credential plugin on one line, without the secrets of kubeconfigs and of the environment.

        A kubeconfig's setting for a plugin may be secret under any name.
        """
        settings = {
            str(item.get("value"))
            for plugin in plugins(self.contents)
            for item in (plugin["env"] if isinstance(plugin.get("env"), list) else ())
            if isinstance(item, dict)
        }
        secrets = environment_secrets(os.environ).union(*map(kubeconfig_secrets, self.contents))
        long = {value for value in settings if len(value) >= _SHORTEST_SETTING}
        return str(mask_secrets(one_line(text), secrets | long))


def plugins(contents: Iterable[Any]) -> list[dict[str, Any]]:
    """The exec plugins of kubeconfigs."""
    found = []
    for content in contents:
        users = content.get("users") if isinstance(content, dict) else None
        found += [value_at(user, ("user", "exec")) for user in (users if isinstance(users, list) else ())]
    return [plugin for plugin in found if isinstance(plugin, dict)]


def kubeconfig_content(source: Any) -> Any:
    """The content of a kubeconfig that stands in the option itself, parsed if it is YAML; None for a path."""
    if not isinstance(source, str):
        return source
    if not _CONTENT.search(source):
        return None
    try:
        return _parsed(source.encode(errors="surrogateescape"))
    except _Unreadable:
        return source


def name_of(options: Mapping[str, Any]) -> str:
    """The kubeconfig of a task in messages."""
    source = options.get("kubeconfig")
    if source is None:
        return f"kubeconfig {_default()}"
    return f"kubeconfig {source}" if isinstance(source, str) and not _CONTENT.search(source) else "kubeconfig"


def is_missing(options: Mapping[str, Any]) -> bool:
    """Whether none of the files of the default kubeconfig exists, which counts without the option."""
    return options.get("kubeconfig") is None and not any(path.exists() for path in _paths(_default()))


def access_of(options: Mapping[str, Any]) -> Access | None:
    """The access that the options kubeconfig (paths or content) and context name; None if there is no kubeconfig.

    Without the option the default kubeconfig counts, if it names a cluster. Raises ConnectionFailed with one line
    without secrets.
    """
    source, context, name = options.get("kubeconfig"), options.get("context") or "", name_of(options)
    content = kubeconfig_content(source)
    if content is not None:
        if isinstance(content, str):
            raise ConnectionFailed(_NOT_A_PATH, final=True)
        if not isinstance(content, dict):
            raise ConnectionFailed(f"kubeconfig: expected a path or a dictionary, found {_kind(content)}", final=True)
        return _chosen(name, {"": content}, context)
    contents = _files(name, source)
    if not source and not any(content.get("clusters") for content in contents.values()):
        if context:
            raise ConnectionFailed(f"{name}: names no cluster, and no context {context}; set kubeconfig", final=True)
        return None
    return _chosen(name, contents, context)


def _default() -> str:
    return os.environ.get("KUBECONFIG") or _DEFAULT


def _paths(source: str) -> list[Path]:
    return [Path(path).expanduser() for path in source.split(os.pathsep) if path]


def _files(name: str, source: str | None) -> dict[str, dict[str, Any]]:
    """The contents of the files by their paths. Some of several paths, or the default, may be missing."""
    paths = _paths(source or _default())
    if source and not any(path.is_file() for path in paths):
        # A path may contain a colon.
        path = Path(source).expanduser()
        if path.is_file():
            paths = [path]
        elif path.is_dir():
            raise ConnectionFailed(f"kubeconfig {path}: is a directory; set kubeconfig to a file", final=True)
        else:
            raise ConnectionFailed(
                f"kubeconfig {path}: no such file; set kubeconfig or K8S_AUTH_KUBECONFIG", final=True
            )
    contents = {}
    for path in filter(Path.exists, paths):
        place = name if len(paths) == 1 else f"kubeconfig {path}"
        try:
            content = _parsed(path.read_bytes())
        except OSError as error:
            raise ConnectionFailed(f"{place} cannot be used: {reason_of(error)}", final=True) from error
        except _Unreadable as error:
            raise ConnectionFailed(f"{place} cannot be used: {error}", final=True) from None
        if content is None and len(paths) > 1:
            continue
        if not isinstance(content, dict):
            found = "nothing" if content is None else _kind(content)
            raise ConnectionFailed(
                f"{place} cannot be used: expected the YAML of a kubeconfig, found {found}", final=True
            )
        contents[str(path)] = content
    return contents


class _Unreadable(Exception):
    """Why a text is no YAML, without a part of it, which may be secret."""


def _parsed(data: bytes) -> Any:
    if data.startswith(_VAULT):
        raise _Unreadable(_ENCRYPTED)
    # A host and a token need no kubeconfig.
    import yaml

    try:
        # The one in C is ten times as fast, and not everywhere.
        return yaml.load(data, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise _Unreadable(f"expected the YAML of a kubeconfig, found text that is none{where}") from None


def _chosen(name: str, contents: Mapping[str, dict[str, Any]], context: str) -> Access:
    used = f"{name} cannot be used: "
    found, current = merged(used, contents)
    context = context or current
    if not context:
        raise ConnectionFailed(f"{used}{_CURRENT}: is not set; set it, or context", final=True)
    about = _entry(used, found, "contexts", context)
    place = f"{used}context {context}: "
    cluster = _entry(place, found, "clusters", about.text("cluster"))
    user = about.text("user")
    # Without a user, requests are anonymous.
    if user in found["users"]:
        entry = _entry(place, found, "users", user)
    else:
        entry = Entry(f"{place}user {user}", {}, cluster.folder)
    return Access(name, context, cluster, entry, [path for path in contents if path], list(contents.values()))


def _entry(place: str, found: Mapping[str, Mapping[str, Entry]], plural: str, name: str) -> Entry:
    entry = found[plural].get(name)
    if entry is None:
        known = first_names(sorted(found[plural]), _SHOWN)
        raise ConnectionFailed(
            f"{place}{plural}: there is no {LISTS[plural]} {quoted(name)}, only {known or 'an empty list'}", final=True
        )
    return entry._replace(place=f"{place}{LISTS[plural]} {name}")


def merged(place: str, contents: Mapping[str, dict[str, Any]]) -> tuple[dict[str, dict[str, Entry]], str]:
    """The entries of kubeconfigs by their names, and the current context, as the official client merges files.

    The first entry of a name counts, and the last current context.

    contents: path → content; the path is "" for a dictionary. place: begins messages.
    """
    found: dict[str, dict[str, Entry]] = {plural: {} for plural in LISTS}
    current = ""
    for plural, key in LISTS.items():
        listed = False
        for path, content in contents.items():
            items = content.get(plural)
            if items is None:
                continue
            listed = True
            if not isinstance(items, list):
                raise ConnectionFailed(f"{place}{plural}: expected a list, found {_kind(items)}", final=True)
            for index, item in enumerate(items):
                fields = item.get(key, {}) if isinstance(item, dict) and isinstance(item.get("name"), str) else None
                if fields is not None and not isinstance(fields, dict):
                    fields = None
                if fields is None:
                    raise ConnectionFailed(
                        f"{place}{plural}[{index}]: expected a dictionary with name and {key}", final=True
                    )
                folder = str(Path(path).absolute().parent) if path else ""
                found[plural].setdefault(item["name"], Entry("", fields, folder))
        if not listed and plural != "users":
            raise ConnectionFailed(f"{place}{plural}: expected a list, found nothing", final=True)
    for content in contents.values():
        named = content.get(_CURRENT)
        if named is not None and not isinstance(named, str):
            raise ConnectionFailed(f"{place}{_CURRENT}: expected a string, found {_kind(named)}", final=True)
        current = named or current
    return found, current


def _kind(value: Any) -> str:
    return {str: "a string", list: "a list", bool: "a boolean", dict: "a dictionary"}.get(type(value), "a number")
