"""The command line of `virtctl image-upload`, as options of the module boot_source."""

import re
from typing import Any, NamedTuple

_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_SWITCHES = ("insecure", "block-volume", "no-create", "force-bind", "datasource")
_NUMBERS = {"wait-secs": 300, "retry": 5}
_TEXTS = (
    *("uploadproxy-url", "pvc-name", "pvc-size", "size", "storage-class", "access-mode", "volume-mode"),
    *("image-path", "archive-path", "default-instancetype", "default-instancetype-kind"),
    *("default-preference", "default-preference-kind"),
)
_MODES = {"block": "Block", "filesystem": "Filesystem"}
_MOST_WORDS = 2


class Refused(Exception):
    """A command line that virtctl refuses, in its words. Its flag is no option here, or another one."""


class Wish(NamedTuple):
    """options: the options of the module. labels: the defaults for VMs."""

    options: dict[str, Any]
    labels: dict[str, str]


def wish(args: list[str], namespace: str) -> Wish:
    """The upload that a command line asks for. Raises Refused."""
    words, flags = _parsed(args)
    kind, name, claim = _target(words, flags)
    mode = flags["volume-mode"]
    if not flags["pvc-name"]:
        mode = _checked_mode(flags)
        _check_file(flags)
        if len(words) != _MOST_WORDS:
            raise Refused("expecting two args")
        if kind not in ("dv", "pvc"):
            raise Refused(f"invalid resource type {words[0]}")
    _check_defaults(flags)
    # With the name as a flag virtctl overlooks the archive.
    archive = bool(flags["archive-path"]) and not flags["pvc-name"]
    path = flags["archive-path"] if archive else flags["image-path"]
    texts = {
        "name": name,
        "namespace": namespace,
        "size": flags["size"] or flags["pvc-size"],
        "storage_class": flags["storage-class"],
        "volume_mode": _MODES.get(mode, ""),
    }
    options = {
        **{option: text for option, text in texts.items() if text},
        **({"access_modes": [flags["access-mode"]]} if flags["access-mode"] else {}),
        "force_bind": flags["force-bind"],
        "upload": {
            "path": path,
            "archive": archive,
            "volume": name,
            "claim": claim,
            "create": not flags["no-create"],
            "data_source": flags["datasource"],
            "tries": flags["retry"],
            "ready_timeout": flags["wait-secs"],
        },
        "upload_proxy": {"url": flags["uploadproxy-url"], "validate_certs": not flags["insecure"]},
        **_matchers(flags),
    }
    return Wish(options, _labels(flags))


def _parsed(args: list[str]) -> tuple[list[str], dict[str, Any]]:
    flags: dict[str, Any] = {**dict.fromkeys(_TEXTS, ""), **dict.fromkeys(_SWITCHES, False), **_NUMBERS}
    words = []
    rest = iter(args)
    for word in rest:
        if not word.startswith("--"):
            words.append(word)
            continue
        flag, equals, value = word[2:].partition("=")
        if flag not in flags:
            raise Refused(f"unknown flag: --{flag}")
        if flag in _SWITCHES:
            flags[flag] = not equals or value in _TRUE
            continue
        text = value if equals else next(rest)
        if flag in _NUMBERS and not re.fullmatch("[0-9]+", text, re.ASCII):
            reason = f'strconv.ParseUint: parsing "{text}": invalid syntax'
            raise Refused(f'invalid argument "{text}" for "--{flag}" flag: {reason}')
        flags[flag] = int(text) if flag in _NUMBERS else text
    if len(words) > _MOST_WORDS:
        raise Refused(f"accepts at most {_MOST_WORDS} arg(s), received {len(words)}")
    return words, flags


def _target(words: list[str], flags: dict[str, Any]) -> tuple[str, str, bool]:
    if flags["size"] and flags["pvc-size"] and flags["size"] != flags["pvc-size"]:
        raise Refused("--pvc-size and --size can not be specified at the same time")
    if flags["pvc-name"]:
        if words:
            raise Refused("cannot use --pvc-name and args")
        return "pvc", flags["pvc-name"], True
    kind = words[0].lower() if words else ""
    return kind, words[1] if len(words) > 1 else "", kind == "pvc"


def _checked_mode(flags: dict[str, Any]) -> str:
    mode: str = flags["volume-mode"]
    if flags["block-volume"]:
        if mode not in ("", "block"):
            raise Refused(f"incompatible --volume-mode '{mode}' and --block-volume")
        return "block"
    if mode not in ("", *_MODES):
        raise Refused(f"Invalid volume mode '{mode}'. Valid values are 'block' and 'filesystem'.")
    return mode


def _check_file(flags: dict[str, Any]) -> None:
    if not flags["image-path"] and not flags["archive-path"]:
        raise Refused("either image-path or archive-path must be provided")
    if flags["image-path"] and flags["archive-path"]:
        raise Refused("cannot handle both image-path and archive-path, provide only one")


def _check_defaults(flags: dict[str, Any]) -> None:
    for matcher_field in ("instancetype", "preference"):
        if flags[f"default-{matcher_field}-kind"] and not flags[f"default-{matcher_field}"]:
            raise Refused(f"--default-{matcher_field} must be provided with --default-{matcher_field}-kind")
    if flags["no-create"] and (flags["default-instancetype"] or flags["default-preference"]):
        raise Refused("--default-instancetype and --default-preference cannot be used with --no-create")


def _matchers(flags: dict[str, Any]) -> dict[str, Any]:
    """The module writes a kind, too, where virtctl writes a name only."""
    result = {}
    for matcher_field in ("instancetype", "preference"):
        if flags[f"default-{matcher_field}"]:
            result[matcher_field] = {
                "name": flags[f"default-{matcher_field}"],
                "kind": flags[f"default-{matcher_field}-kind"],
            }
    return result


def _labels(flags: dict[str, Any]) -> dict[str, str]:
    names = [name for name in _TEXTS if name.startswith("default-") and flags[name]]
    return {f"instancetype.kubevirt.io/{name}": flags[name] for name in names}
