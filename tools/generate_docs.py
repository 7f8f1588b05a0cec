"""Writes the doc fragments that follow from argument specs: the options of VMs, instancetypes and preferences.

Options of VMs and their descriptions are those of `_vm_options.py`; others follow from the fields in
`_resolver/api/fields`. Their descriptions are in `tools/descriptions`: of a field type → field → text, or {text,
deprecated: what to use instead}, where text in backticks is a value, or the path of a field from the spec; of any other
option module → path → text, or paragraphs.

Run it after a change of either. With --check it writes nothing and exits 1 if a
fragment is not up to date. Ansible reads doc fragments without running them, so their text has to be static.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
DESCRIPTIONS = ROOT / "tools" / "descriptions"
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import module_docs  # noqa: E402
import public_names  # noqa: E402

from plugins.module_utils._cluster.modules.declaration import with_states  # noqa: E402
from plugins.module_utils._git.cluster.rendered_state import RENDERED  # noqa: E402
from plugins.module_utils._resolver.api.fields import ENUMS  # noqa: E402
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE  # noqa: E402
from plugins.module_utils._resolver.api.schema import TYPES  # noqa: E402
from plugins.module_utils._resolver.declare import argument_spec  # noqa: E402
from plugins.module_utils._resolver.declare import instancetypes as manifests  # noqa: E402
from plugins.module_utils._vm_options import VM_OPTIONS  # noqa: E402


class Declared(NamedTuple):
    """What a module declares. spec: the options of an object. type_name: the type whose fields are among them."""

    noun: str
    spec: dict[str, Any]
    type_name: str = ""


STATES = (RENDERED,)
MODULES = {
    "virtual_machine": Declared("VM", with_states(VM_OPTIONS.spec, STATES)),
    "instancetype": Declared(
        "instancetype", with_states(manifests.argument_spec(INSTANCETYPE), STATES), INSTANCETYPE.spec_type
    ),
    "preference": Declared(
        "preference", with_states(manifests.argument_spec(PREFERENCE), STATES), PREFERENCE.spec_type
    ),
}

HEADER = '''\
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Written by tools/generate_docs.py from the options and their descriptions; do not edit.

"""The options of {noun}s, of one and of a list."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
'''

_DOCUMENTED = ("type", "elements", "default", "choices", "aliases", "required")


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
    for module in MODULES:
        yield fragment_path(module), fragment(module)
    yield ROOT / "docs" / "results.md", module_docs.results_page()
    yield ROOT / "docs" / "public_names.txt", public_names.page()


def fragment_path(module: str) -> Path:
    return ROOT / "plugins" / "doc_fragments" / f"{module}_options.py"


def fragment(module: str) -> str:
    """The text of a generated doc fragment's file."""
    noun, spec, type_name = MODULES[module]
    options = _fields(type_name, type_name, required=False) if type_name else {}
    options |= _own(module, {name: option for name, option in spec.items() if name not in options})
    # What an entry does not give is the task's.
    state = {key: value for key, value in options["state"].items() if key != "default"}
    name = {"description": f"Name of the {noun}.", "type": "str", "required": True}
    options[f"{module}s"] = {
        "description": f"A list of {noun}s. An entry takes the same options as the task does for one {noun}. An option"
        " that an entry leaves out has the value that the task gives, and an option with the value V(null) has none.",
        "type": "list",
        "elements": "dict",
        # The same dictionaries, which YAML writes once.
        "suboptions": {**options, "name": name, "state": state},
    }
    text = yaml.dump({"options": options}, Dumper=_Dumper, sort_keys=False, width=sys.maxsize, allow_unicode=True)
    return HEADER.format(noun=noun) + "".join(map(_filled, text.splitlines())) + '"""\n'


def _filled(line: str) -> str:
    """A line of YAML as lines of at most 120 characters."""
    below = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(line, 120, subsequent_indent=below, break_long_words=False, break_on_hyphens=False) + "\n"


def _own(module: str, spec: dict[str, Any], above: str = "") -> dict[str, Any]:
    """The documented options of an object that are no fields of a type."""
    documented = {}
    for name, option in spec.items():
        path = f"{above}{name}"
        row = VM_OPTIONS.rows.get(path) if module == "virtual_machine" else None
        own = row.description if row is not None else descriptions()[module].get(path)
        text = own or descriptions()["object"][path]
        if path == "state":
            text = [*([text] if isinstance(text, str) else text), *(state.description for state in STATES)]
        documented[name] = {"description": text, **{key: option[key] for key in _DOCUMENTED if key in option}}
        if inner := option.get("options"):
            documented[name]["suboptions"] = _own(module, inner, f"{path}.")
    return documented


def _fields(root: str, type_name: str, *, required: bool = True) -> dict[str, Any]:
    """The documented options of a type; `root` is the type that paths in descriptions begin at."""
    documented = {}
    spec = argument_spec.options(type_name, required=required)
    for field in argument_spec.fields(type_name):
        option = {"description": _description(root, type_name, field), **spec[field.option]}
        option.pop("no_log", None)
        inner = option.pop("options", None)
        if inner:
            option["suboptions"] = _fields(root, field.type.removeprefix("[]"))
        documented[field.option] = option
    return documented


@cache
def descriptions() -> dict[str, dict[str, Any]]:
    """The files of `tools/descriptions` as one: type → field, or module → path → description."""
    result = {}
    for path in sorted(DESCRIPTIONS.glob("*.yml")):
        result.update(yaml.safe_load(path.read_text(encoding="utf-8")))
    return result


def described(type_name: str, field: str) -> tuple[str, str]:
    """The description of a field, and what to use instead of it where it is deprecated, else ""."""
    entry = descriptions().get(type_name, {}).get(field, "")
    return (entry, "") if isinstance(entry, str) else (entry["text"], entry["deprecated"])


def _description(root: str, type_name: str, field: argument_spec.OptionField) -> str | list[str]:
    choices = ENUMS.get(field.type, ())
    text, instead = described(type_name, field.name)
    paragraphs = [text]
    if field.since:
        # Before the last period are backports.
        first = field.since.split()[-1]
        paragraphs.append(f"Needs KubeVirt {first} or later; earlier releases drop it without a word.")
    if instead:
        paragraphs.append(f"Deprecated by KubeVirt. {instead}")
    marked = [re.sub(r"`([^`]+)`", lambda match: _mark(root, choices, match[1]), text) for text in paragraphs]
    return marked if len(marked) > 1 else marked[0]


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
        by_name = {field.name: field for field in argument_spec.fields(type_name)} if type_name in TYPES else {}
        if name not in by_name:
            return ""
        names.append(by_name[name].option)
        type_name = by_name[name].type.removeprefix("[]")
    return ".".join(names)


class _Dumper(yaml.SafeDumper):
    """YAML as Ansible's documentation is usually written: names in one line, and paragraphs as items that are indented;
    only options have anchors."""

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        return super().represent_sequence(tag, sequence, flow_style=not any(" " in str(item) for item in sequence))

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return not isinstance(data, dict)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
