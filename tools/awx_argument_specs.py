"""Record what the modules of a collection for AWX accept: `python tools/awx_argument_specs.py FOLDER...`.

Each folder is a collection: awx/awx of an unpacked PyPI package `ansible`, or ctrliq/ascender as ansible-galaxy
installs it. Writes their part of tests/unit/playbooks/awx_modules.json, a line for each module that
playbooks/awx_setup.yml uses: names and types of its options, against which tests hold it. Nothing else is kept.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
PLAYBOOK = ROOT / "playbooks" / "awx_setup.yml"
RECORD = ROOT / "tests" / "unit" / "playbooks" / "awx_modules.json"


def options(source: str) -> dict[str, str]:
    """The types of the options of a module, from the dict() that its source assigns to argument_spec."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "argument_spec":
            assert isinstance(node.value, ast.Call)
            return {str(option.arg): _type(option.value) for option in node.value.keywords}
    raise SystemExit("a module has no argument_spec that is a dict()")


def _type(node: ast.expr) -> str:
    assert isinstance(node, ast.Call)
    return next((ast.literal_eval(entry.value) for entry in node.keywords if entry.arg == "type"), "str")


def text(content: dict[str, Any]) -> str:
    """The recorded collections as JSON with a line for each module."""
    collections = []
    for name, found in sorted(content.items()):
        modules = ",\n".join(f'  "{module}": {json.dumps(types)}' for module, types in found["modules"].items())
        collections.append(f'"{name}": {{\n "version": "{found["version"]}",\n "modules": {{\n{modules}\n }}\n}}')
    return "{\n" + ",\n".join(collections) + "\n}\n"


def record(folder: Path) -> dict[str, Any]:
    """The version of a collection and the options of its modules."""
    if (folder / "MANIFEST.json").exists():
        version = json.loads((folder / "MANIFEST.json").read_text())["collection_info"]["version"]
    else:
        version = yaml.safe_load((folder / "galaxy.yml").read_text())["version"]
    names = sorted(set(re.findall(r"awx_setup_collection \}\}\.(\w+)", PLAYBOOK.read_text())))
    modules = {name: options((folder / "plugins" / "modules" / f"{name}.py").read_text()) for name in names}
    return {"version": version, "modules": modules}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="such as ansible_collections/awx/awx")
    content = json.loads(RECORD.read_text())
    for folder in parser.parse_args().folders:
        content[f"{folder.parent.name}.{folder.name}"] = record(folder)
    RECORD.write_text(text(content))
    print(RECORD.relative_to(ROOT))
