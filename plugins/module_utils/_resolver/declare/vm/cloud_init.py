"""The volume for cloud-init."""

from __future__ import annotations

import binascii
import json
import re
from typing import Any, Final

from ...api.errors import FieldError
from ...api.manifest import Options
from ...api.name_rules import quoted
from ...api.tree import copy
from ..argument_spec import to_manifest

Part = dict[str, Any]

DISK: Final = "cloudinitdisk"
PASSWORD_FILE: Final = "cloud_init.password_file"
NONE: Final = "none"
_FIELDS: Final = {"nocloud": "cloudInitNoCloud", "configdrive": "cloudInitConfigDrive"}
_HEADER: Final = "#cloud-config"
# Permits the guest agent to write authorized keys if SELinux is enforced.
_MANAGE_SSH: Final = "runcmd:\n  - [ setsebool, -P, 'virt_qemu_ga_manage_ssh', 'on' ]"
# White space as in Go's unicode.IsSpace, which virtctl trims from a password.
_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
# A text that needs no quotes in YAML.
_PLAIN: Final = r"[A-Za-z_/$](?:[^\x00-\x1f\x7f-\x9f:# ]|:(?=[^ ])|(?<! )#| (?=[^ #]))*"
# A public key in a line of `authorized_keys`: its type and its data, after options if there are any.
_KEY: Final = r"(?a)(?:^|.*\s)(?:sk-)?(?:ssh|ecdsa)-[\w@.-]+\s+(\S+)"
_PATH: Final = r"(?:[~./]\S*|\S+\.pub)"
_LOOKUP: Final = "write the public key itself, such as {{ lookup('ansible.builtin.file', '~/.ssh/id_ed25519.pub') }}"
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})


def source(options: Options) -> Part:
    """The source of a volume with the data as given. Data may be base64, which is not checked."""
    return {_FIELDS[options.get("type") or "nocloud"]: to_manifest("CloudInitNoCloudSource", options)}


def volume(options: Options | None) -> Part | None:
    """The source of the VM's cloud-init volume, or None if there are no data.

    options: the value of `cloud_init`, with the password read from its file. Missing user data are generated from user,
    password and keys. A given type creates a volume even without data.
    """
    if options is None or options.get("type") == NONE:
        return None
    data = copy(options)
    if not (options.get("user_data") or options.get("user_data_base64")):
        # `quote: false` gives the text of virtctl, right or wrong.
        if options.get("quote") is not False:
            _check_keys(options.get("ssh_keys") or [])
        text = _user_data(options)
        wordless = text == _HEADER and not (options.get("network_data") or options.get("network_data_base64"))
        if wordless and not options.get("type"):
            return None
        data["user_data"] = text
    return source(data)


def with_password(options: Options, content: str) -> Options:
    """The module's options with the content of the password file, without surrounding white space, as the password."""
    return {**options, "cloud_init": {**options["cloud_init"], "password": content.strip(_SPACE)}}


def warnings(options: Options | None) -> list[str]:
    """Warnings about valid options. options: the effective ones of `cloud_init`."""
    if options is None:
        return []
    result = []
    if options.get("password") is not None or options.get("password_file") is not None:
        result.append("cloud_init: the VM stores the password in clear text, readable by everyone who may read the VM")
    unused = [name for name, value in options.items() if value and name not in ("type", "user", "quote")]
    if options.get("type") == NONE and unused:
        result.append(f"cloud_init: type is none, so {', '.join(sorted(unused))} has no effect")
    return result


def _check_keys(keys: list[str]) -> None:
    """Rejects what sshd would ignore without a word. The messages show no value that may be a private key."""
    for index, key in enumerate(keys):
        if reason := _key_problem(key):
            raise FieldError(f"cloud_init.ssh_keys[{index}]", f"{reason}; {_LOOKUP}")


def _key_problem(text: str) -> str | None:
    if "PRIVATE KEY" in text:
        return "is a private key"
    keys = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]
    if not keys:
        return "is empty"
    if len(keys) == 1 and re.fullmatch(_PATH, keys[0]):
        return f"{quoted(keys[0])} is a path, not a public key"
    for line in keys:
        found = re.match(_KEY, line)
        if found is None:
            return "is not a public SSH key, which starts with a type such as ssh-ed25519"
        if not _is_base64(found[1]):
            return "is a public SSH key whose data are not valid base64"
    return None


def _is_base64(data: str) -> bool:
    try:
        return re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", data) is not None and bool(binascii.a2b_base64(data))
    except binascii.Error:
        return False


def _user_data(options: Options) -> str:
    quote = str if options.get("quote") is False else _quoted
    lines = [_HEADER]
    if options.get("user"):
        lines.append(f"user: {quote(options['user'])}")
    if options.get("password"):
        # Otherwise the guest asks for a new password at the first login.
        lines += [f"password: {quote(options['password'])}", "chpasswd: { expire: False }"]
    if options.get("ssh_keys"):
        lines += ["ssh_authorized_keys:", *(f"  - {quote(key)}" for key in options["ssh_keys"])]
    if options.get("manage_ssh"):
        lines.append(_MANAGE_SSH)
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """The text as a YAML scalar: plain if YAML reads it unchanged, else in double quotes."""
    if re.fullmatch(_PLAIN, text) and text.lower() not in _WORDS:
        return text
    return json.dumps(text, ensure_ascii=False)
