"""Writes the doc fragments that follow from the schema: the options of instancetypes and preferences.

The fields are those of `plugins/module_utils/_resolver/api/fields`, their descriptions those of `tools/descriptions`:
type → field → text, or {text, deprecated: what to use instead}. Text in backticks is a value, or the path of a field
from the spec.

Run it after a change of either. With --check it writes nothing and exits 1 if a
fragment is not up to date. Ansible reads doc fragments without running them, so their text has to be static.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "plugins" / "module_utils"), str(ROOT / "tools")]

import module_docs  # noqa: E402

from _resolver.api.fields.enums import ENUMS  # noqa: E402
from _resolver.api.schema import TYPES  # noqa: E402
from _resolver.declare import argument_spec  # noqa: E402

FRAGMENTS = {
    "instancetype_fields": ("VirtualMachineInstancetypeSpec", "an instancetype"),
    "preference_fields": ("VirtualMachinePreferenceSpec", "a preference"),
}

HEADER = '''\
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Written by tools/generate_docs.py from plugins/module_utils/_resolver/api/fields and tools/descriptions; do not edit.

"""The options for the fields of {what}."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
'''

ENTRIES_HEADER = HEADER.replace(
    "plugins/module_utils/_resolver/api/fields and tools/descriptions", "the module's own documentation"
).replace("The options for the fields of {what}", "The option for a list of {noun}s, with the options of its entries")


def main(arguments: list[str]) -> int:
    stale = []
    for path, text in generated():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path)
            if "--check" not in arguments:
                path.write_text(text, encoding="utf-8")
    for path in stale:
        print(path.relative_to(ROOT))
    return 1 if stale and "--check" in arguments else 0


def generated() -> Iterator[tuple[Path, str]]:
    """Each generated file with its text, in the order in which one follows from another."""
    for name in FRAGMENTS:
        yield fragment_path(name), fragment(name)
    for module in module_docs.LISTED:
        yield fragment_path(f"{module}_entries"), entries_fragment(module)
    yield ROOT / "docs" / "results.md", module_docs.results_page()


def fragment_path(name: str) -> Path:
    return ROOT / "plugins" / "doc_fragments" / f"{name}.py"


def fragment(name: str) -> str:
    """The text of a generated doc fragment's file."""
    type_name, what = FRAGMENTS[name]
    return HEADER.format(what=what) + _options_text(_options(type_name, type_name, required=False))


def entries_fragment(module: str) -> str:
    """The text of the doc fragment with the option for a module's list of objects."""
    listed = module_docs.LISTED[module]
    return ENTRIES_HEADER.format(noun=listed.noun) + _options_text({listed.option: module_docs.entries(module)})


def _options_text(options: dict[str, Any]) -> str:
    text = yaml.dump({"options": options}, Dumper=_Dumper, sort_keys=False, width=90, allow_unicode=True)
    return text + '"""\n'


def _options(root: str, type_name: str, *, required: bool = True) -> dict[str, Any]:
    """The documented options of a type; `root` is the type that paths in descriptions begin at."""
    documented = {}
    spec = argument_spec.options(type_name, required=required)
    for field in argument_spec.fields(type_name):
        option = {"description": _description(root, type_name, field), **spec[field.option]}
        option.pop("no_log", None)
        inner = option.pop("options", None)
        if inner:
            option["suboptions"] = _options(root, field.type.removeprefix("[]"))
        documented[field.option] = option
    return documented


@cache
def descriptions() -> dict[str, dict[str, str | dict[str, str]]]:
    """The files of `tools/descriptions` as one: type → field → description."""
    found = {}
    for path in sorted((ROOT / "tools" / "descriptions").glob("*.yml")):
        found.update(yaml.safe_load(path.read_text(encoding="utf-8")))
    return found


def described(type_name: str, field: str) -> tuple[str, str]:
    """The description of a field, and what to use instead of it where it is deprecated, else ""."""
    found = descriptions().get(type_name, {}).get(field, "")
    return (found, "") if isinstance(found, str) else (found["text"], found["deprecated"])


def _description(root: str, type_name: str, field: argument_spec.Field) -> list[str]:
    choices = ENUMS.get(field.type, ())
    text, instead = described(type_name, field.name)
    paragraphs = [text]
    if field.since:
        paragraphs.append(f"Needs KubeVirt {field.since} or later; earlier releases drop it without a word.")
    if instead:
        paragraphs.append(f"Deprecated by KubeVirt. {instead}")
    return [re.sub(r"`([^`]+)`", lambda match: _mark(root, choices, match[1]), text) for text in paragraphs]


def _mark(root: str, choices: tuple[str, ...], text: str) -> str:
    """Ansible's markup for a text in backticks: a value of the option itself, another option, or any other text."""
    if text in choices:
        return f"V({text})"
    path = _option_path(root, text)
    return f"O({path})" if path else f"C({text})"


def _option_path(type_name: str, path: str) -> str:
    """The option at a path of fields, or "" if there is none."""
    names = []
    for name in path.split("."):
        known = {field.name: field for field in argument_spec.fields(type_name)} if type_name in TYPES else {}
        if name not in known:
            return ""
        names.append(known[name].option)
        type_name = known[name].type.removeprefix("[]")
    return ".".join(names)


class _Dumper(yaml.SafeDumper):
    """YAML as Ansible's documentation is usually written: list items indented, no anchors."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
