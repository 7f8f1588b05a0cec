"""The entries of a list as users write them: shorthand, and what they leave to the task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..api.matcher import ROLES
from ..api.shapes import own_name

Options = dict[str, Any]
Spec = dict[str, Any]

# Options of which a text alone says enough → the suboption that it is.
_TEXTS = {**{role.matcher: "name" for role in ROLES}, "boot": "data_source"}


def spelled_out(options: Options, spec: Spec) -> Options:
    """The options without shorthand: objects instead of texts, kinds as the API has them. What is wrong stays."""
    result = dict(options)
    for name, part in _TEXTS.items():
        # Text that holds an object is Ansible's to read.
        if name in spec and isinstance(result.get(name), str) and not set(result[name]) & set("{="):
            result[name] = {part: result[name]}
    for role in ROLES:
        if role.matcher in spec and isinstance(result.get(role.matcher), dict):
            result[role.matcher] = _with_kind(result[role.matcher], (role.kind, role.cluster_kind))
    return _with_kind(result, spec["kind"].get("choices", ())) if "kind" in spec else result


def _with_kind(options: Options, kinds: Iterable[str]) -> Options:
    """KubeVirt takes the plural, too, and capitals do not matter to it."""
    given = options.get("kind")
    if not isinstance(given, str):
        return options
    found = next((kind for kind in kinds if given.lower() in (kind.lower(), f"{kind.lower()}s")), given)
    return {**options, "kind": found}


def merged(below: Options, above: Options, spec: Spec, exclusive: Iterable[Iterable[str]] = ()) -> Options:
    """Options over others: objects are merged, a null drops what is below it, anything else replaces it.

    spec: the argument spec of both. exclusive: its groups of options of which one is given at most; one of them above
    replaces whichever is below.
    """
    result = dict(below)
    given = {own_name(key, spec): value for key, value in above.items()}
    for group in exclusive:
        if any(given.get(name) is not None for name in group):
            for name in group:
                result.pop(name, None)
    for name, value in given.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            inner = spec.get(name) or {}
            under = result.get(name)
            result[name] = merged(
                under if isinstance(under, dict) else {},
                value,
                inner.get("options") or {},
                inner.get("mutually_exclusive") or (),
            )
        else:
            result[name] = value
    return result
