"""virtctl's command line: words → flags, and the small language inside some of their values."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")
_DIGITS = {"": r"[1-9][0-9]*|0", "0x": r"[0-9a-f]+", "0b": r"[01]+", "0o": r"[0-7]+", "0": r"[0-7]+"}
_BASES = {"": 10, "0x": 16, "0b": 2, "0o": 8, "0": 8}


class Syntax(Exception):
    """A value that the command line's own language does not allow, in virtctl's words."""


class Flags(NamedTuple):
    """values: flag → its values in order, as texts, truth values, numbers, or a list of keys."""

    values: dict[str, list[Any]]

    def all(self, flag: str) -> list[Any]:
        return self.values.get(flag, [])

    def last(self, flag: str) -> Any:
        """The value of a flag, whose last use counts; None if it is not given."""
        return self.all(flag)[-1] if flag in self.values else None

    def any(self, *flags: str) -> bool:
        return any(flag in self.values for flag in flags)


def _text(value: str) -> str:
    return value


def _switch(value: str) -> bool:
    if value not in (*_TRUE, *_FALSE):
        raise Syntax(f'strconv.ParseBool: parsing "{value}": invalid syntax')
    return value in _TRUE


def _integer(function: str, lowest: int, highest: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        match = re.fullmatch(r"([+-]?)(0x|0b|0o|0(?=[0-9_])|)([0-9a-f_]+)", value.lower(), re.ASCII)
        sign, prefix, digits = match.groups() if match else ("", "", "")
        # An underscore stands between digits, or after the base; without a base there is none.
        plain = digits[1:] if prefix and digits.startswith("_") else digits
        fits = re.fullmatch(_DIGITS[prefix], plain.replace("_", "")) and not re.search(r"__|^_|_$", plain)
        if not fits or (sign and not lowest):
            raise Syntax(f'strconv.{function}: parsing "{value}": invalid syntax')
        result = int(sign + plain.replace("_", ""), _BASES[prefix])
        if not lowest <= result <= highest:
            raise Syntax(f'strconv.{function}: parsing "{value}": value out of range')
        return result

    return read


def _keys(value: str) -> list[str]:
    """One record of comma separated values; what follows it on other lines is dropped."""
    keys: list[str] = []
    rest, column = value, 1
    while rest or column > 1:
        if rest.startswith('"'):
            match = re.match(r'"((?:[^"]|"")*)"(?=,|\n|$)', rest)
            if not match:
                raise Syntax(
                    f'parse error on line 1, column {column + len(rest)}: extraneous or missing " in quoted-field'
                )
            keys.append(match[1].replace('""', '"'))
        else:
            match = re.match(r"([^,\n]*)", rest)
            assert match
            if '"' in match[1]:
                raise Syntax(
                    f'parse error on line 1, column {column + match[1].index(chr(34))}: bare " in non-quoted-field'
                )
            keys.append(match[1])
        if not rest[match.end() :].startswith(","):
            break
        column += match.end() + 1
        rest = rest[match.end() + 1 :]
    return keys


_INT64 = _integer("ParseInt", -(2**63), 2**63 - 1)
_UINT32 = _integer("ParseUint", 0, 2**32 - 1)

_COMMON: dict[str, Callable[[str], Any]] = {"name": _text, "namespace": _text}
_CATALOG = {**_COMMON, "namespaced": _switch}
_KNOWN: dict[str, dict[str, Callable[[str], Any]]] = {
    "vm": {
        **_COMMON,
        **dict.fromkeys(
            (
                *("run-strategy", "memory", "instancetype", "infer-instancetype-from", "preference"),
                *("infer-preference-from", "volume-containerdisk", "volume-pvc", "volume-import", "volume-sysprep"),
                *("volume-datasource", "volume-clone-pvc", "volume-blank", "user", "password-file", "access-cred"),
                *("cloud-init", "cloud-init-user-data", "cloud-init-network-data"),
            ),
            _text,
        ),
        **dict.fromkeys(("infer-instancetype", "infer-preference", "ga-manage-ssh"), _switch),
        "termination-grace-period": _INT64,
        "ssh-key": _keys,
    },
    "instancetype": {
        **_CATALOG,
        "cpu": _UINT32,
        **dict.fromkeys(("memory", "gpu", "hostdevice", "iothreadspolicy"), _text),
    },
    "preference": {**_CATALOG, **dict.fromkeys(("cpu-topology", "machine-type", "volume-storage-class"), _text)},
}


def parse(kind: str, args: list[str]) -> Flags:
    """The flags of a command line. Raises Syntax with virtctl's whole line."""
    values: dict[str, list[Any]] = {}
    others = []
    rest = iter(args)
    for word in rest:
        if not word.startswith("-"):
            others.append(word)
            continue
        flag, equals, value = word.partition("=")
        name = "namespace" if flag == "-n" else flag[2:]
        read = _KNOWN[kind].get(name)
        if read is None:
            raise Syntax(f"unknown flag: {flag}")
        if not equals:
            following = "true" if read is _switch else next(rest, None)
            if following is None:
                raise Syntax(f"flag needs an argument: {flag}")
            value = following
        try:
            values.setdefault(name, []).append(read(value))
        except Syntax as error:
            quoted = value.replace('"', '\\"')
            raise Syntax(f'invalid argument "{quoted}" for "--{name}" flag: {error}') from error
    if others and kind == "vm":
        raise Syntax(f'unknown command "{others[0]}" for "virtctl create vm"')
    return Flags(values)


def params(text: str) -> dict[str, str]:
    """`k:v,k:v` as a dict. Raises Syntax."""
    if not text:
        raise Syntax("params may not be empty")
    result = {}
    for part in text.split(","):
        key, colon, value = part.partition(":")
        if not colon:
            raise Syntax(f"params need to have at least one colon: {part}")
        result[key] = value
    return result


def named(text: str) -> tuple[str, str]:
    """`[prefix/]name` as prefix ("" for none) and name. Raises Syntax."""
    if text.count("/") > 1:
        raise Syntax(f"invalid count {text.count('/')} of slashes in prefix/name")
    prefix, _slash, name = text.rpartition("/")
    if not name:
        raise Syntax("name cannot be empty")
    return prefix, name


def number(param: str, text: str) -> int:
    """A 32-bit number without sign, in decimal digits. Raises Syntax."""
    problem = f'failed to parse param "{param}": strconv.ParseUint: parsing "{text}": '
    if not re.fullmatch(r"[0-9]+", text, re.ASCII):
        raise Syntax(f"{problem}invalid syntax")
    if int(text) >= 2**32:
        raise Syntax(f"{problem}value out of range")
    return int(text)


def unused(given: dict[str, str]) -> dict[str, None]:
    """Parameters that no option takes, as options that nobody knows: the module's options refuse them."""
    return {f"{key}:{value}": None for key, value in given.items()}
