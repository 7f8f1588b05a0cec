"""The cases of a directory of conformance vectors, in groups.

A group is a file; its name is the path below the directory without the suffix (``apply/it_cpu``). A
``.json`` file is an array of cases, a ``.jsonl`` file has one case per line. ``requirements/matrix.json``
(pairs of catalog objects) has a form of its own; ``types.json`` is what `tools/generate_fields.py` reads.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

MATRIX = "requirements/matrix"
TYPES = "types"


class Case(NamedTuple):
    """name: unique in its group. op: key of ops.OPS. input: its arguments. expect: what KubeVirt's own code gave.
    release: the tag of an older release, whose ops are those of ops.RELEASE_OPS; "" for the newest.
    ignored: the fields of the input that the release does not know, None if the case does not say."""

    name: str
    op: str
    input: dict[str, Any]
    expect: Any
    release: str = ""
    ignored: tuple[str, ...] | None = None


def groups(directory: Path) -> list[str]:
    """The names of all groups below a directory, sorted."""
    files = [*directory.rglob("*.json"), *directory.rglob("*.jsonl")]
    found = {file.relative_to(directory).with_suffix("").as_posix() for file in files}
    return sorted(found - {TYPES})


def load(directory: Path, group: str) -> list[Case]:
    """The cases of one group."""
    lines = directory / f"{group}.jsonl"
    if lines.exists():
        with lines.open(encoding="utf-8") as stream:
            return [_case(json.loads(line)) for line in stream if line.strip()]
    content = json.loads((directory / f"{group}.json").read_text(encoding="utf-8"))
    if group == MATRIX:
        return list(_matrix(content["rows"]))
    return [_case(case) for case in content]


def _case(written: dict[str, Any]) -> Case:
    return Case(*(written[field] for field in ("name", "op", "input", "expect")))


def _matrix(rows: list[dict[str, Any]]) -> Iterator[Case]:
    """An otherwise empty VM with an instancetype and a preference of the catalog, through admission."""
    for row in rows:
        expect = dict(row)
        instancetype, preference = expect.pop("instancetype"), expect.pop("preference")
        vm = {
            "metadata": {"name": "testvm", "namespace": "vmns"},
            "spec": {
                "instancetype": {"name": instancetype},
                "preference": {"name": preference},
                "template": {"spec": {"domain": {"devices": {}}}},
            },
        }
        objects = [
            {"kind": "VirtualMachineClusterInstancetype", "fromBundle": instancetype},
            {"kind": "VirtualMachineClusterPreference", "fromBundle": preference},
        ]
        case_input = {"kind": "VirtualMachine", "object": vm, "objects": objects}
        yield Case(f"{instancetype} + {preference}", "matrix", case_input, expect)
