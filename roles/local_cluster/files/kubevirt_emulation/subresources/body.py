"""Options in the body of a subresource request, parsed like Go's decoders, with their errors."""

from __future__ import annotations

import json
from typing import Any

import yaml

from kubevirt_emulation.subresources.answers import Refused, bad_request

Manifest = dict[str, Any]

# Go's name of the struct → the types of the fields that are checked here.
_TYPES: dict[str, dict[str, type]] = {
    "StartOptions": {"paused": bool, "dryRun": list},
    "StopOptions": {"gracePeriod": int, "dryRun": list},
    "RestartOptions": {"gracePeriodSeconds": int, "dryRun": list},
    "PauseOptions": {"dryRun": list},
    "UnpauseOptions": {"dryRun": list},
}
_GO_TYPES: dict[type, str] = {bool: "bool", int: "int64", list: "[]string"}


def options(content: bytes, struct: str) -> Manifest:
    """The options; {} for an empty body. Raises Refused."""
    text = content.decode("utf-8", "replace").strip()
    if not text:
        return {}
    value = _json(text) if text.startswith("{") else _yaml(text)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _unreadable(f"json: cannot unmarshal {_kind(value)} into Go value of type v1.{struct}")
    for name, wanted in _TYPES[struct].items():
        if value.get(name) is not None and not _is_of(wanted, value[name]):
            found = f"json: cannot unmarshal {_kind(value[name])} into Go struct field {struct}.{name} of type"
            raise _unreadable(f"{found} {_GO_TYPES[wanted]}")
    return value


def _is_of(wanted: type, value: Any) -> bool:
    """Like isinstance, but a boolean is not a number."""
    return isinstance(value, wanted) and isinstance(value, bool) == (wanted is bool)


def json_body(content: bytes) -> Any:
    """The JSON value of a body; raises Refused."""
    try:
        return json.loads(content)
    except ValueError:
        raise _unreadable("unexpected end of JSON input") from None


def is_dry_run(values: Manifest) -> bool:
    return bool(values.get("dryRun"))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise _unreadable("unexpected EOF" if "Expecting" in str(error) else str(error)) from None


def _yaml(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        reason = f"yaml: line {line}: did not find expected node content"
        raise _unreadable(f"error converting YAML to JSON: {reason}") from None


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    kinds: dict[type, str] = {dict: "object", list: "array", str: "string"}
    return kinds.get(type(value), "number")


def _unreadable(reason: str) -> Refused:
    return bad_request(f"Can not unmarshal Request body to struct, error: {reason}")
