"""Tables of options: a row each, of which the argument spec, the documentation and plain fields of the API follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Union

from ..api.manifest import Manifest, Options
from ..api.matcher import Inferring
from ..api.tree import set_at, value_at

Spec = dict[str, Any]
Description = Union[str, Sequence[str]]

STR: Final[Spec] = {"type": "str"}
BOOL: Final[Spec] = {"type": "bool"}
INT: Final[Spec] = {"type": "int"}
DICT: Final[Spec] = {"type": "dict"}
TEXTS: Final[Spec] = {"type": "list", "elements": "str"}
DICTS: Final[Spec] = {"type": "list", "elements": "dict"}
SECRET: Final[Spec] = {"type": "str", "no_log": True}
NOT_SECRET: Final[Spec] = {"type": "str", "no_log": False}
"""A name or a path, which Ansible mistakes for a secret because of the option's name."""
NEEDED: Final[Spec] = {"type": "str", "required": True}


class Row(NamedTuple):
    """An option.

    spec: its type, choices and the like, as for AnsibleModule, without its suboptions, which have rows of their own.
    description: a paragraph or several, in Ansible's markup; "" for the description shared by all objects.
    field: the path of the API's field with its value; "" if code makes it. shorthand: the suboption that a text sets.
    """

    spec: Spec
    description: Description = ""
    field: str = ""
    shorthand: str = ""


Rows = Mapping[str, Row]
"""Paths of options, such as `cpu.cores`, and their rows. An option is before its suboptions."""


def choice(*choices: str, **more: Any) -> Spec:
    """The spec of a text with choices."""
    return {"type": "str", "choices": list(choices), **more}


def exactly_one(*options: str, **more: Any) -> Spec:
    """The spec of an object that needs exactly one of these suboptions."""
    return {"type": "dict", "mutually_exclusive": [options], "required_one_of": [options], **more}


_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class Table(NamedTuple):
    """The options of an object, or what a capability adds to them.

    settings: options of the whole task. exclusive: groups of options of which an object has one. needs: options that
    need another one, and what to set instead. inferring: options with which a task infers what KubeVirt does not.
    """

    rows: Rows = _NONE
    settings: Rows = _NONE
    exclusive: Sequence[tuple[str, ...]] = ()
    needs: Mapping[str, tuple[str, str]] = _NONE
    inferring: Inferring = _NONE

    @property
    def spec(self) -> Spec:
        """The argument spec of the object."""
        return spec_of(self.rows)

    @property
    def shorthand(self) -> dict[str, str]:
        """The options for which a text is short, and the suboptions that it sets."""
        return {path: row.shorthand for path, row in self.rows.items() if row.shorthand}


def spec_of(rows: Rows) -> Spec:
    """The argument spec of rows."""
    result: Spec = {}
    for path, row in rows.items():
        *above, name = path.split(".")
        level = result
        for part in above:
            level = level[part].setdefault("options", {})
        level[name] = dict(row.spec)
    return result


def joined(tables: Sequence[Table]) -> Table:
    """Tables as one."""
    return Table(
        {path: row for table in tables for path, row in table.rows.items()},
        {name: row for table in tables for name, row in table.settings.items()},
        [group for table in tables for group in table.exclusive],
        {option: need for table in tables for option, need in table.needs.items()},
        {option: infers for table in tables for option, infers in table.inferring.items()},
    )


class PlainField(NamedTuple):
    """The path of an option and of its field. empty: the field is an object, whose own fields are options too."""

    option: tuple[str, ...]
    field: tuple[str, ...]
    empty: bool


def plain_fields(rows: Rows) -> list[PlainField]:
    """The fields of the API that options give without any code."""
    parents = {path.rpartition(".")[0] for path in rows}
    return [
        PlainField(tuple(path.split(".")), tuple(row.field.split(".")), path in parents)
        for path, row in rows.items()
        if row.field
    ]


def set_fields(fields: Iterable[PlainField], options: Options, manifest: Manifest) -> None:
    """Sets the fields of a manifest that options give. None means not given, at every depth."""
    for option, field, empty in fields:
        value = value_at(options, option)
        if value is not None:
            set_at(manifest, field, {} if empty else value)


def unmet_needs(table: Table, options: Options) -> Iterator[tuple[str, str]]:
    """The options of an object without the one that they need, each with the problem and its remedy."""
    for option, (other, remedy) in table.needs.items():
        if options.get(option) is not None and options.get(other) is None:
            yield option, f"requires {other}; {remedy}"
