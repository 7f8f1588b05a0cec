"""The entries of a list option: shorthand, and inheritance from the task's options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..api.matcher import ROLES
from ..api.option_checks import own_name

Options = dict[str, Any]
Spec = dict[str, Any]

# Options that accept a text as shorthand → the suboption that the text sets.
_TEXTS = {**{role.matcher: "name" for role in ROLES}, "boot": "data_source", "size": "name", "from_template": "name"}


def expand_shorthand(options: Options, spec: Spec) -> Options:
    """The options without shorthand: objects instead of texts, kinds as in the API. Invalid values stay unchanged."""
    result = dict(options)
    for name, part in _TEXTS.items():
        # Ansible parses a text that contains an object.
        takes_object = (spec.get(name) or {}).get("type") == "dict"
        if takes_object and isinstance(result.get(name), str) and not set(result[name]) & set("{="):
            result[name] = {part: result[name]}
    for role in ROLES:
        if role.matcher in spec and isinstance(result.get(role.matcher), dict):
            result[role.matcher] = _with_kind(result[role.matcher], (role.kind, role.cluster_kind))
    return _with_kind(result, spec["kind"].get("choices", ())) if "kind" in spec else result


def _with_kind(options: Options, kinds: Iterable[str]) -> Options:
    """The options with normalized kinds: KubeVirt accepts plurals, and ignores case."""
    kind = options.get("kind")
    if not isinstance(kind, str):
        return options
    normalized = next((name for name in kinds if kind.lower() in (name.lower(), f"{name.lower()}s")), kind)
    return {**options, "kind": normalized}


def merge_options(below: Options, above: Options, spec: Spec, exclusive: Iterable[Iterable[str]] = ()) -> Options:
    """Options on top of others: objects are merged, null removes the value below, other values replace it.

    spec: the argument spec of both. exclusive: its mutually exclusive groups; an option above removes the others of its
    group below.
    """
    result = dict(below)
    overrides = {own_name(key, spec): value for key, value in above.items()}
    for group in exclusive:
        if any(overrides.get(name) is not None for name in group):
            for name in group:
                if overrides.get(name) is None:
                    result.pop(name, None)
    for name, value in overrides.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            inner = spec.get(name) or {}
            inherited = result.get(name)
            result[name] = merge_options(
                inherited if isinstance(inherited, dict) else {},
                value,
                inner.get("options") or {},
                inner.get("mutually_exclusive") or (),
            )
        else:
            result[name] = value
    return result
