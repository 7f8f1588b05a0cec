"""Writes the fields of the API, `_resolver/api/go_types.py`, from Go's types, virt-api's OpenAPI and tools/fields.yml.

Go's types are KubeVirt's recorded answer of tests/conformance. With --check it writes nothing and exits 1 if the file
is not up to date. With --openapi FILE it first records the values that the OpenAPI of a KubeVirt, its
`api/openapi-spec/swagger.json`, permits for fields.
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
PERMITTED = "tests/conformance/openapi.json"
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
# Written by tools/generate_fields.py; do not edit.
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
GoTypes = dict[str, list[dict[str, Any]]]


def permitted(swagger: dict[str, Any], go_types: GoTypes) -> dict[str, list[str]]:
    """The values that an OpenAPI permits for a field of Go's types, or for the items of its list, by TYPE.FIELD."""
    known = {(name.rpartition(".")[2], field["json"]) for name, fields in go_types.items() for field in fields}
    result = {}
    for definition, content in swagger["definitions"].items():
        name = definition.rpartition(".")[2]
        for field, schema in content.get("properties", {}).items():
            values = schema.get("enum") or schema.get("items", {}).get("enum")
            if values and (name, field) in known:
                result[f"{name}.{field}"] = values
    return dict(sorted(result.items()))


def types(go_types: GoTypes, own: dict[str, Any], values: dict[str, list[str]]) -> dict[str, Fields]:
    """Type → field → type expression and notes, in Go's order of the fields. values: see `permitted`."""
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
    for path in sorted({*values, *own["notes"]}):
        fields, field = _found(result, path, "notes")
        notes = {**({"values": " ".join(values[path])} if path in values else {}), **own["notes"].get(path, {})}
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
    lines = {
        name: ", ".join(f"{field} {expression}".replace(" ", _KEPT) for field, expression in fields.items())
        for name, fields in types(_json(ROOT / RECORDED), own, _json(ROOT / PERMITTED)).items()
    }
    choices = {name: " ".join(entry["values"]) for name, entry in own["choices"].items()}
    return _TEXT.format(types=_wrapped(lines), choices=_wrapped(choices))


def _wrapped(lines: dict[str, str]) -> str:
    wrapped = (
        textwrap.fill(f"{name}: {line}".strip(), _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        for name, line in sorted(lines.items())
    )
    return "\n".join(wrapped).replace(_KEPT, " ")


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def main(arguments: list[str]) -> int:
    if "--openapi" in arguments:
        swagger = _json(Path(arguments[arguments.index("--openapi") + 1]))
        values = permitted(swagger, _json(ROOT / RECORDED))
        lines = ",\n".join(f"{json.dumps(path)}: {json.dumps(permits)}" for path, permits in values.items())
        (ROOT / PERMITTED).write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
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
