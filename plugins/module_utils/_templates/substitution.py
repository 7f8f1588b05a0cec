"""References to parameters in texts, ``${NAME}`` and ``${{NAME}}``, and their substitution (virt-template's engine).

``${NAME}`` may be anywhere in a text; there is no escape. ``${{NAME}}`` is a whole text; its value is read as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from .._resolver.api.errors import FieldError
from . import go_json

REFERENCE: Final = re.compile(r"\$\{([a-zA-Z0-9_]+)\}")
WHOLE: Final = re.compile(r"\$\{\{([a-zA-Z0-9_]+)\}\}")


def references(value: Any) -> Iterator[str]:
    """The names in all texts and keys of a JSON value, perhaps more than once."""
    if isinstance(value, str):
        whole = WHOLE.fullmatch(value)
        yield from [whole[1]] if whole else REFERENCE.findall(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from references(key)
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def has_reference(text: str) -> bool:
    """Whether a text has ``${NAME}`` somewhere."""
    return bool(REFERENCE.search(text))


def escaped(value: Any, dollar: str) -> Any:
    """A copy of a JSON value in which nothing is a reference but to a parameter whose value is ``$``.

    dollar: the parameter's name, to which the value has no reference.
    """

    def escape(text: str) -> str:
        pattern = WHOLE if WHOLE.fullmatch(text) else REFERENCE
        return pattern.sub(lambda match: f"${{{dollar}}}{match[0][1:]}", text)

    return _map_texts(value, escape, escape)


def substitute(value: Any, values: Mapping[str, str]) -> Any:
    """A copy of a JSON value with the parameters' values in place of all references; of equal keys the last stays.

    values: the values of all parameters that are referenced. Raises FieldError.
    """

    def replace(text: str) -> Any:
        whole = WHOLE.fullmatch(text)
        return _read(whole[1], values) if whole else _replace(text, values)

    return _map_texts(value, lambda key: _key(key, values), replace)


def _map_texts(value: Any, of_key: Callable[[str], str], of_text: Callable[[str], Any]) -> Any:
    """A copy of a JSON value with what the functions return for each key and each other text."""
    if isinstance(value, str):
        return of_text(value)
    if isinstance(value, dict):
        return {of_key(key): _map_texts(item, of_key, of_text) for key, item in value.items()}
    if isinstance(value, list):
        return [_map_texts(item, of_key, of_text) for item in value]
    return value


def substitute_text(text: str, values: Mapping[str, str]) -> str:
    """A text in which ``${{NAME}}`` too is replaced by text."""
    whole = WHOLE.fullmatch(text)
    return values[whole[1]] if whole else _replace(text, values)


def _key(key: str, values: Mapping[str, str]) -> str:
    whole = WHOLE.fullmatch(key)
    if not whole:
        return _replace(key, values)
    read = _read(whole[1], values)
    if not isinstance(read, str):
        raise FieldError("", f"the value of {whole[1]} is no text, and {key} is a key; write ${{{whole[1]}}}")
    return read


def _replace(text: str, values: Mapping[str, str]) -> str:
    # The names are found once; each then takes the first place that is left, also one in a value put in before it.
    for name in REFERENCE.findall(text):
        text = text.replace(f"${{{name}}}", values[name], 1)
    return text


def _read(name: str, values: Mapping[str, str]) -> Any:
    """The value of a parameter as JSON, or as text if it is no JSON."""
    try:
        value = go_json.parse(values[name])
    except ValueError:
        return values[name]
    if value is None:
        raise FieldError("", f"the value of {name} is null, which ${{{{{name}}}}} cannot put in")
    return value
