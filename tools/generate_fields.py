"""Writes the fields of the API, `_resolver/api/go_types.py`, from Go's types and tools/fields.yml.

Go's types are KubeVirt's recorded answer of tests/conformance. With --check it writes nothing and exits 1 if the file
is not up to date.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
RECORDED = "tests/conformance/vectors/types.json"
OWN = "tools/fields.yml"
WRITTEN = ROOT / "plugins" / "module_utils" / "_resolver" / "api" / "go_types.py"

# Go types that are scalars here.
_SCALARS = {
    "k8s.io/apimachinery/pkg/api/resource.Quantity": "Quantity",
    "k8s.io/apimachinery/pkg/apis/meta/v1.Time": "Time",
    "k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1": "any",
    "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "IntOrString",
}
# The name of all types without fields: their presence says all.
_EMPTY = "Empty"
_PREFIX = re.compile(r"(\*|\[\]|map\[string\])*")
_WIDTH = 120
# Stands for a space at which no line ends.
_KEPT = "\0"
_TEXT = '''\
# Written by tools/generate_fields.py from {recorded} and {own}; do not edit.
"""The types and choices of the API, as text that `fields` reads.

A line, and the indented ones after it, is a type with its fields: name, type expression and notes of each.
"""

from __future__ import annotations

from typing import Final

TYPES: Final = """\\
{types}
"""

CHOICES: Final = """\\
{choices}
"""
'''

Fields = dict[str, str]


def types(go_types: dict[str, list[dict[str, Any]]], own: dict[str, Any]) -> dict[str, Fields]:
    """Type → field → type expression and notes, in Go's order of the fields."""
    names = {name: own["names"].get(name) or name.rpartition(".")[2] for name, fields in go_types.items() if fields}
    twice = [name for name, count in Counter([*names.values(), *own["types"]]).items() if count > 1]
    if twice:
        raise SystemExit(f"{OWN}: names: Go's types or those of the file have the same name: {', '.join(twice)}")
    result = {
        name: {field["json"]: _expression(field, names) for field in go_types[go_name]}
        for go_name, name in names.items()
    }
    result[_EMPTY] = {}
    for choice, entry in own["choices"].items():
        for path in entry["fields"]:
            fields, field = _found(result, path, "choices")
            fields[field] = fields[field].replace("string", choice)
    for path, notes in own["notes"].items():
        fields, field = _found(result, path, "notes")
        fields[field] += f" ({'; '.join(f'{note} {value}' for note, value in notes.items())})"
    for name in own["types"]:
        result[name] = _own_fields(name, own["types"], result)
    return result


def _found(known: dict[str, Fields], path: str, key: str) -> tuple[Fields, str]:
    """The fields of the type in a path such as ``Disk.bus``, and the name of the field."""
    name, _dot, field = path.partition(".")
    if field not in known.get(name, ()):
        raise SystemExit(f"{OWN}: {key}: Go has no field {path}")
    return known[name], field


def _expression(field: dict[str, Any], names: dict[str, str]) -> str:
    """The type, with `!` where Go always writes the field."""
    expression: str = field["type"]
    if ref := field.get("ref"):
        bare = _SCALARS.get(ref) or names.get(ref, _EMPTY)
        prefix = _PREFIX.match(expression)
        # An `any` may be null, so there is no pointer to it.
        expression = bare if bare == "any" or prefix is None else prefix.group() + bare
    if field.get("omitzero"):
        return f"*{expression}"
    return expression if field.get("omitempty") else f"{expression}!"


def _own_fields(name: str, own: dict[str, dict[str, Any]], known: dict[str, Fields]) -> Fields:
    fields = dict(own[name])
    like, without = fields.pop("like", ""), fields.pop("without", ())
    base = (known.get(like) or _own_fields(like, own, known)) if like else {}
    return {**{field: base[field] for field in base if field not in without}, **fields}


def text() -> str:
    """The content of the written file."""
    own = yaml.safe_load((ROOT / OWN).read_text(encoding="utf-8"))
    found = types(json.loads((ROOT / RECORDED).read_text(encoding="utf-8")), own)
    lines = {
        name: ", ".join(f"{field} {expression}".replace(" ", _KEPT) for field, expression in fields.items())
        for name, fields in found.items()
    }
    choices = {name: " ".join(entry["values"]) for name, entry in own["choices"].items()}
    return _TEXT.format(recorded=RECORDED, own=OWN, types=_wrapped(lines), choices=_wrapped(choices))


def _wrapped(lines: dict[str, str]) -> str:
    wrapped = (
        textwrap.fill(f"{name}: {line}".strip(), _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        for name, line in sorted(lines.items())
    )
    return "\n".join(wrapped).replace(_KEPT, " ")


def main(arguments: list[str]) -> int:
    new = text()
    if WRITTEN.exists() and WRITTEN.read_text(encoding="utf-8") == new:
        return 0
    if "--check" in arguments:
        print(f"{WRITTEN.relative_to(ROOT)} is not what tools/generate_fields.py writes")
        return 1
    WRITTEN.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
