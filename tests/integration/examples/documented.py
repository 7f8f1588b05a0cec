"""The examples of the documentation: where they are, what they are, and the tasks in them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

CHECKOUT = Path(__file__).resolve().parents[3]
_FENCE = re.compile(r"^( *)```yaml\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """page: the file, relative to the checkout. line: where it begins. kind: `plays`, `tasks`, `inventory` or `data`.
    content: one YAML document."""

    page: str
    line: int
    kind: str
    content: Any

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def examples() -> Iterator[Example]:
    """All of them, page by page: blocks of YAML in Markdown, and EXAMPLES of modules and inventory plugins.

    tests/unit/filter/test_examples.py runs those of the filters.
    """
    markdown = [CHECKOUT / "README.md", *CHECKOUT.glob("docs/*.md"), *CHECKOUT.glob("roles/*/README.md")]
    for path in sorted(markdown):
        text = path.read_text(encoding="utf-8")
        for match in _FENCE.finditer(text):
            yield from _documents(path, text.count("\n", 0, match.start()) + 1, match[2])
    for path in sorted([*CHECKOUT.glob("plugins/modules/*.py"), *CHECKOUT.glob("plugins/inventory/*.py")]):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "EXAMPLES":
                yield from _documents(path, node.lineno, ast.literal_eval(node.value))


def _documents(path: Path, line: int, text: str) -> Iterator[Example]:
    for content in yaml.safe_load_all(text):
        yield Example(str(path.relative_to(CHECKOUT)), line, _kind(content), content)


def _kind(content: Any) -> str:
    if isinstance(content, list) and all(isinstance(entry, dict) for entry in content):
        if all("hosts" in entry or "ansible.builtin.import_playbook" in entry for entry in content):
            return "plays"
        # A task has a module, whose name has dots; data of a list have not.
        if all(any(key.count(".") == 2 for key in entry) or "block" in entry for entry in content):
            return "tasks"
    return "inventory" if isinstance(content, dict) and "plugin" in content else "data"


def tasks_of(example: Example) -> list[dict[str, Any]]:
    """The tasks of an example: each play is a block with the play's variables, and roles are included."""
    if example.kind == "tasks":
        return list(example.content)
    result = []
    for play in example.content if example.kind == "plays" else ():
        roles = [role if isinstance(role, dict) else {"role": role} for role in play.get("roles", ())]
        block = [
            {
                "name": f"Role {role['role']}",
                "ansible.builtin.include_role": {"name": role["role"]},
                "vars": role.get("vars", {}),
            }
            for role in roles
        ] + list(play.get("tasks", ()))
        shared = {key: play[key] for key in ("vars", "module_defaults") if key in play}
        result.append({"name": str(play.get("name", "Play")), "block": block, **shared})
    return result
