"""Finds the secrets in values: options, manifests, kubeconfigs and environments."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import unquote

# The annotation contains the whole object as kubectl applied it, including cloud-init data.
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
# cloud-init data and download headers often contain passwords and tokens.
SECRET: Final = frozenset(
    {
        "userData",
        "userDataBase64",
        "networkData",
        "networkDataBase64",
        "extraHeaders",
        "user_data",
        "user_data_base64",
        "network_data",
        "network_data_base64",
        "extra_headers",
        "kubevirt.io/ignitiondata",
        LAST_APPLIED,
    }
)
# Names of parameters whose values are secret.
_SECRET_NAME: Final = re.compile(
    r"pass(?!ive|through)|pwd|secret|token|credential|(private|api|access)[_-]?key(?!_?id)|authorization|bearer|cookie",
    re.IGNORECASE,
)
# User and password of a URL, also with a slash in the password, unless that is the path after a port.
USER_INFO: Final = re.compile(r"(?<=://)(?:[^\s/?#\"'<>]+|[^\s/?#@:\"'<>]*:(?![0-9]+[/?#])[^\s@\"'<>]+)(?=@)")
# The same of an address that is not a URL, such as `user:password@proxy`, but not the tag before an image's digest.
_BARE_USER_INFO: Final = re.compile(
    r"^\s*(?:[a-z][a-z0-9+.-]*:?/+|/+)?([^\s/].*)(?=@(?!sha[0-9]+:))", re.IGNORECASE | re.DOTALL
)
# Its query may be a signature.
QUERY: Final = re.compile(r"(?<=\?).*", re.DOTALL)
# Names of options, fields and variables that contain an address, also one without a scheme.
_ADDRESS: Final = re.compile(r"(url|uri|proxy|host|server|address|endpoint|image)$", re.IGNORECASE)
_SPACE: Final = re.compile(r"\s")
# A user without a password is no secret, as in ssh://git@example.com; a token is longer.
_SHORTEST_TOKEN: Final = 16
# A shorter password would be found in many other texts.
_SHORTEST_PASSWORD: Final = 4
_PRIVATE_KEY: Final = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----")
_SHORTEST_KEY_LINE: Final = 16
# Variables of the environment are seldom secrets if their values are this short, or paths.
_SHORTEST_VARIABLE: Final = 8
_PATHS: Final = ("/", "~", "./")
# The lists and dictionaries of a walk, by their ID and the key above them.
_Seen = dict[tuple[int, str], Any]
# Replaces the key of values whose texts are all secret. No key of an option contains a space.
_ALL: Final = "all texts"
_REFERENCE: Final = re.compile(r"(^|_)(file|path|dir|name|id|url|uri|socket|sock)$", re.IGNORECASE)


def is_secret(parameter: Any) -> bool:
    """Whether the name of a template's parameter is like the name of a secret."""
    return isinstance(parameter, str) and bool(_SECRET_NAME.search(parameter))


def secret_texts(value: Any, name: str = "") -> frozenset[str]:
    """All texts in a value (options or a manifest) that must be hidden wherever they occur.

    These are cloud-init data and the like, values of secret parameters, private keys, and users and passwords of URLs.
    """
    return frozenset(_texts(value, name, {}))


def _texts(value: Any, name: str, seen: _Seen) -> Iterator[str]:
    if isinstance(value, (dict, list)):
        if _is_new(value, name, seen):
            yield from _texts_inside(value, name, seen)
    elif isinstance(value, str):
        if "@" in value:
            for found in logins(value, name):
                yield from _forms(found)
        if name == "url":
            yield from filter(None, QUERY.findall(value))
        if is_private_key(value):
            yield value
            # Messages are one line.
            lines = map(str.strip, value.splitlines())
            yield from (line for line in lines if len(line) >= _SHORTEST_KEY_LINE and not line.startswith("-----"))


def _texts_inside(value: Any, name: str, seen: _Seen) -> Iterator[str]:
    if isinstance(value, list):
        for entry in value:
            yield from _texts(entry, name, seen)
        return
    for key, entry in value.items():
        if key in SECRET or is_value(value, name, key):
            yield from _scalars(entry, seen)
        # Secret data may hold logins and keys, which messages quote alone.
        yield from _texts(entry, str(key), seen)


def _is_new(value: Any, name: str, seen: _Seen) -> bool:
    """Whether a list or dictionary is met for the first time below a key of this name.

    YAML aliases may repeat a value so often that a walk through all repetitions would not end.
    """
    known = (id(value), name) in seen
    # The value is kept, because its ID belongs to it only while it exists.
    seen[id(value), name] = value
    return not known


def logins(text: str, name: str) -> list[str]:
    """The users with passwords of URLs in a text. name: the field or option that has it."""
    found = USER_INFO.findall(text)
    if not found and _ADDRESS.search(name) and ("://" not in text or _SPACE.search(text)):
        found = _BARE_USER_INFO.findall(text)
    return [login for login in found if name == "url" or ":" in login or len(login) >= _SHORTEST_TOKEN]


def _forms(info: str) -> Iterator[str]:
    """The texts by which a user with a password may occur: as it is, decoded, in a header, and the password alone."""
    plain = unquote(info)
    yield from (info, plain, base64.b64encode(plain.encode()).decode())
    for text in (info, plain):
        password = text.partition(":")[2]
        if len(password) >= _SHORTEST_PASSWORD:
            yield password


def is_private_key(text: str) -> bool:
    """Whether a text contains a private key in PEM."""
    return "PRIVATE KEY" in text and bool(_PRIVATE_KEY.search(text))


def option_secrets(options: Any, spec: Mapping[str, Any]) -> frozenset[str]:
    """The texts of the options that an argument spec marks with `no_log`, also where Ansible would reject the options.

    A text in place of a dictionary with such options may be a secret.
    """
    return frozenset(_marked(options, spec))


def _marked(options: Any, spec: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(options, list):
        for entry in options:
            yield from _marked(entry, spec)
    elif isinstance(options, str):
        if options.startswith(("{", "[")):
            with suppress(ValueError, RecursionError):
                yield from _marked(json.loads(options), spec)
        if any(option.get("no_log") for option in spec.values()):
            yield from (options, *(word for word in options.split() if len(word) >= _SHORTEST_PASSWORD))
    elif isinstance(options, dict):
        for name, option in spec.items():
            for key in (name, *option.get("aliases", ())):
                if key in options and (option.get("no_log") or "options" in option):
                    value = options[key]
                    yield from _scalars(value, {}) if option.get("no_log") else _marked(value, option["options"])


def _scalars(value: Any, seen: _Seen, shortest: int = 1) -> Iterator[str]:
    """The texts of a secret value. In a dictionary, shorter values than a password are no secrets: 1, x, yes."""
    if isinstance(value, (dict, list)):
        if _is_new(value, _ALL, seen):
            shortest = _SHORTEST_PASSWORD if isinstance(value, dict) else shortest
            for entry in value.values() if isinstance(value, dict) else value:
                yield from _scalars(entry, seen, shortest)
    elif value is not None and not isinstance(value, bool) and len(str(value)) >= shortest:
        yield str(value)


def kubeconfig_secrets(kubeconfig: Any) -> frozenset[str]:
    """The secrets in a kubeconfig: credentials, also in the options of exec plugins, and passwords in URLs."""
    texts = {*secret_texts(kubeconfig), *_credentials(kubeconfig, "")}
    return frozenset(text for text in texts if len(text) >= _SHORTEST_PASSWORD)


def _credentials(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _secret_arguments(entry) if key == "args" else _credentials(entry, str(key))
    elif isinstance(value, list):
        for entry in value:
            yield from _credentials(entry, name)
    elif (is_secret(name) or name == "client-key-data") and value and not str(value).startswith(_PATHS):
        yield str(value)


def environment_secrets(environment: Mapping[str, str]) -> frozenset[str]:
    """The secrets in the variables of a process: values with names of secrets, and passwords in URLs."""
    values = {
        name: value
        for name, value in environment.items()
        if len(value) >= _SHORTEST_VARIABLE and not value.startswith(_PATHS) and not _REFERENCE.search(name)
    }
    return secret_texts({"parameters": values, **environment})


def _secret_arguments(arguments: Any) -> set[str]:
    """The values of arguments such as `--client-secret x` and `--token=x`."""
    texts = [str(argument) for argument in arguments] if isinstance(arguments, list) else []
    secrets = set()
    for text, following in zip(texts, [*texts[1:], ""]):
        option, equals, value = text.partition("=")
        if option.startswith("-") and is_secret(option):
            secrets.add(value if equals else following)
    return {secret for secret in secrets if secret and not secret.startswith(("-", *_PATHS))}


def is_value(owner: dict[str, Any], field: str, key: str) -> bool:
    """Whether a key of an object has a secret parameter's value. field: which has the object."""
    return (key == "value" and is_secret(owner.get("name"))) or (field == "parameters" and is_secret(key))
