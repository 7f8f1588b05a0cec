"""Values of parameters as users write them, and as a VM has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...api import go_json
from ...api.errors import FieldError
from .expression import ExpressionError, pattern
from .substitution import REFERENCE, WHOLE, references


def texts(parameters: Mapping[str, Any], path: str = "parameters") -> dict[str, str]:
    """Values by name as texts, as the API takes them. Raises FieldError."""
    return {str(name): _text(value, f"{path}.{name}") for name, value in parameters.items()}


def _text(value: Any, path: str) -> str:
    if isinstance(value, (Mapping, list)):
        raise FieldError(path, "expected text; write JSON, with to_json")
    if value is None:
        return ""
    return str(value) if isinstance(value, str) else go_json.write(value)


def recovered(
    declared: Iterable[Mapping[str, Any]], names: Iterable[str], vm: Any, live: Any, known: Mapping[str, str]
) -> dict[str, str]:
    """The values with which a live VM was made of a template, as far as its texts show them.

    declared: the template's parameters. names: those to recover. vm: the template's VM. live: the live VM, or the part
    of it that `vm` is of. known: values of other parameters, which the live VM may have been made without.
    """
    expressions = {str(entry.get("name")): str(entry.get("from") or "") for entry in declared}
    requested = set(names)
    pairs = [(text, live_text) for text, live_text in _pairs(vm, live) if not requested.isdisjoint(references(text))]
    values: dict[str, str] = {}
    for text, live_text in pairs:
        _add(values, requested, generated_in(text, live_text, known, expressions))
    for text, live_text in pairs:
        _add(values, requested, explicit_in(text, live_text, known) or explicit_in(text, live_text, {}))
    return values


def _add(values: dict[str, str], requested: set[str], matched: Mapping[str, str] | None) -> None:
    for name, value in (matched or {}).items():
        if name in requested and value:
            values.setdefault(name, value)


def _pairs(template: Any, live: Any) -> Iterator[tuple[str, str]]:
    """The texts of a template's VM with those that a live VM has in their places."""
    if isinstance(template, str):
        if isinstance(live, str):
            yield template, live
        elif WHOLE.fullmatch(template) and live is not None:
            yield template, go_json.write(live)
    elif isinstance(template, dict) and isinstance(live, dict):
        for key, entry in template.items():
            yield from _pairs(entry, live.get(key))
    elif isinstance(template, list) and isinstance(live, list):
        by_name = {entry.get("name"): entry for entry in live if isinstance(entry, dict)}
        for index, entry in enumerate(template):
            name = entry.get("name") if isinstance(entry, dict) else None
            namesake = by_name.get(name) if isinstance(name, str) else None
            yield from _pairs(entry, namesake or (live[index] if index < len(live) else None))


def generated_in(
    text: str, live_text: str, known: Mapping[str, str], expressions: Mapping[str, str]
) -> dict[str, str] | None:
    """The values in `live_text` that the expressions of the unknown parameters may have generated, or None."""
    parts, names_seen = [], set()
    for is_name, part in _parts(text, known):
        if not is_name:
            parts.append(re.escape(part))
        elif part in names_seen:
            parts.append(f"(?P=_{part})")
        elif expressions.get(part):
            try:
                parts.append(f"(?P<_{part}>{pattern(expressions[part])})")
            except ExpressionError:
                return None
            names_seen.add(part)
        else:
            return None
    # All parts have a fixed length, so the search is short for any text.
    match = re.fullmatch("".join(parts), live_text)
    return {name[1:]: value for name, value in match.groupdict().items()} if match else None


def explicit_in(text: str, live_text: str, known: Mapping[str, str]) -> dict[str, str] | None:
    """The values in `live_text` of the parameters that are not known; None unless there is one way to read them."""
    parts = _parts(text, known)
    values: dict[str, str] = {}
    rest, name = live_text, ""
    if len(parts) > 1 and not parts[-1][0]:
        suffix = parts.pop()[1]
        if not rest.endswith(suffix):
            return None
        rest = rest[: len(rest) - len(suffix)]
    for is_name, part in [*parts, (False, "")]:
        if is_name and name:
            return None
        if is_name:
            name = part
            continue
        if name:
            if part and rest.count(part) != 1:
                return None
            value, _part, rest = rest.partition(part) if part else (rest, "", "")
            if values.setdefault(name, value) != value:
                return None
            name = ""
        elif rest.startswith(part):
            rest = rest[len(part) :]
        else:
            return None
    return None if rest else values


def _parts(text: str, known: Mapping[str, str]) -> list[tuple[bool, str]]:
    """What a text consists of: (True, name of a parameter) and (False, text), with the known values put in."""
    whole = WHOLE.fullmatch(text)
    split = ["", whole[1], ""] if whole else REFERENCE.split(text)
    parts: list[tuple[bool, str]] = []
    for index, part in enumerate(split):
        if index % 2 and part not in known:
            parts.append((True, part))
            continue
        literal = known[part] if index % 2 else part
        if parts and not parts[-1][0]:
            parts[-1] = (False, parts[-1][1] + literal)
        elif literal:
            parts.append((False, literal))
    return parts
