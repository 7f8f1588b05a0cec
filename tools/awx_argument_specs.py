"""Record what the modules of awx.awx accept: `python tools/awx_argument_specs.py ansible-12.3.0-py3-none-any.whl`.

The wheel is that of the PyPI package ansible, which has the collection awx.awx: `pip download --no-deps ansible`.
Writes tests/unit/playbooks/awx_modules.json: names and types of the options of the modules that playbooks/awx_setup.yml
uses, against which a test holds it. Nothing else of the collection is kept.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PLAYBOOK = ROOT / "playbooks" / "awx_setup.yml"
RECORD = ROOT / "tests" / "unit" / "playbooks" / "awx_modules.json"
COLLECTION = "ansible_collections/awx/awx"

# What of an option's spec is recorded.
RECORDED = ("type", "elements", "choices", "required", "aliases", "no_log")


def options(source: str) -> dict[str, dict[str, Any]]:
    """The options of a module, from the dict() that its source assigns to argument_spec."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "argument_spec":
            assert isinstance(node.value, ast.Call)
            return {str(option.arg): _spec(option.value) for option in node.value.keywords}
    raise SystemExit("a module has no argument_spec that is a dict()")


def _spec(node: ast.expr) -> dict[str, Any]:
    assert isinstance(node, ast.Call)
    return {
        str(entry.arg): ast.literal_eval(entry.value) for entry in node.keywords if entry.arg in RECORDED and entry.arg
    }


def record(wheel: Path) -> str:
    """The text of the record."""
    names = sorted(set(re.findall(r"awx\.awx\.(\w+):", PLAYBOOK.read_text())))
    with zipfile.ZipFile(wheel) as archive:
        manifest = json.loads(archive.read(f"{COLLECTION}/MANIFEST.json"))
        modules = {name: options(archive.read(f"{COLLECTION}/plugins/modules/{name}.py").decode()) for name in names}
    content = {"version": manifest["collection_info"]["version"], "modules": modules}
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path, help="such as ansible-12.3.0-py3-none-any.whl")
    RECORD.write_text(record(parser.parse_args().wheel))
    print(RECORD.relative_to(ROOT))
