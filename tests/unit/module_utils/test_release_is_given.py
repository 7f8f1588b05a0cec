"""A judge of a cluster names the KubeVirt; only the filters assume the newest release."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

UTILS = Path(__file__).parents[3] / "plugins" / "module_utils"
ROOMS = ("_resolver/choose", "_resolver/change", "_resolver/declare", "_cluster")
JUDGING = [path for room in ROOMS for path in sorted((UTILS / room).rglob("*.py"))]
# These need none: they read fields that have the same form in every release.
FREE = {
    # An expansion is compared with all that the newest release knows.
    "_cluster/modules/virtual_machine_info.py",
    # It looks at where this very VM keeps its revisions.
    "_cluster/writes/pruning.py",
}


class Parameter(NamedTuple):
    name: str
    position: int


def optional(function: ast.FunctionDef) -> Parameter | None:
    """The parameter for the release, where it may be left out."""
    plain = function.args.args
    first = len(plain) - len(function.args.defaults)
    for position, argument in enumerate(plain):
        if argument.arg == "release" and position >= first:
            return Parameter("release", position)
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults):
        if argument.arg == "release" and default is not None:
            return Parameter("release", len(plain))
    return None


def asking() -> dict[tuple[str, str], Parameter]:
    """Functions whose release may be left out, by module and name."""
    result = {}
    for path in (UTILS / "_resolver").rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and (parameter := optional(node)) is not None:
                result[path.stem, node.name] = parameter
    return result


ASKING = asking()
# The VM itself says which revision it refers to, wherever its KubeVirt keeps it.
del ASKING["revision_names", "referenced_revision"]


def calls_without(path: Path) -> Iterator[str]:
    """Calls that leave the release to its default."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").rpartition(".")[2]
            names.update({alias.asname or alias.name: (module, alias.name) for alias in node.names})
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = None
        if isinstance(node.func, ast.Name):
            called = names.get(node.func.id)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            module = names.get(node.func.value.id)
            called = (module[1], node.func.attr) if module is not None else None
        parameter = ASKING.get(called) if called is not None else None
        if parameter is None or len(node.args) > parameter.position or any(map(_is_starred, node.args)):
            continue
        if not any(keyword.arg in (parameter.name, None) for keyword in node.keywords):
            yield f"{path.relative_to(UTILS)}:{node.lineno}: {ast.unparse(node.func)}"


def _is_starred(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Starred)


def test_functions_are_found() -> None:
    assert {
        ("mutate", "mutate"),
        ("validate", "validate"),
        ("find", "effective_spec"),
        ("migrate_revisions", "migrate"),
    } <= ASKING.keys()


def test_no_call_leaves_the_release_to_its_default() -> None:
    judging = [path for path in JUDGING if path.relative_to(UTILS).as_posix() not in FREE]
    assert [call for path in judging for call in calls_without(path)] == []
