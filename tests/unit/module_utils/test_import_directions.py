"""Imports run one way: the table says which room may import which, and no room imports a later one."""

import ast
import functools
import graphlib
import importlib
import re
from pathlib import Path
from typing import Any

from plugins.module_utils._capacity.cluster.vm_capacity import Capacity
from plugins.module_utils._resolver.api import schema

PLUGINS = Path(__file__).parents[3] / "plugins"
COLLECTION = ("ansible_collections", "virtshape", "instancetypes", "plugins")

API = {"_resolver.secrets", "_resolver.api"}
OWNERSHIP = API | {"_resolver.ownership"}
# The computations of KubeVirt import none of our decisions.
INSTANCETYPE = API | {"_resolver.kubevirt.instancetype"}
VM = INSTANCETYPE | {"_resolver.kubevirt.cluster", "_resolver.kubevirt.gates"}
ADMISSION = VM | {"_resolver.kubevirt.vm"}
COMPUTED = ADMISSION | {"_resolver.kubevirt.admission"}
GUEST = COMPUTED | OWNERSHIP | {"_resolver.guest"}
PREFLIGHT = GUEST | {"_resolver.choose"}
DECLARE = PREFLIGHT | {"_resolver.preflight"}
CHANGE = DECLARE | {"_resolver.declare"}
CATALOG = CHANGE | {"_resolver.change"}
RESOLVER = CATALOG | {"_resolver.catalog"}
CLIENT = OWNERSHIP
READS = RESOLVER | {"_cluster.client"}
WRITES = READS | {"_cluster.reads", "_cluster.task"}
MODULES = WRITES | {"_cluster.writes", "_columns"}
YAML = {"_yaml"}
CORE = MODULES | YAML | {"_cluster.modules", "_task_files", "_task_objects"}

MAY_IMPORT: dict[str, set[str]] = {
    "_resolver.secrets": set(),
    "_resolver.api": {"_resolver.secrets"},
    "_resolver.ownership": API,
    "_resolver.kubevirt.instancetype": API,
    "_resolver.kubevirt": VM,
    "_resolver.kubevirt.vm": VM,
    "_resolver.kubevirt.admission": ADMISSION,
    "_resolver.guest": COMPUTED,
    "_resolver.choose": GUEST,
    "_resolver.preflight": PREFLIGHT,
    # Which option a user means is asked of all options.
    "_resolver.declare": DECLARE | {"_known_as"},
    "_resolver.change": CHANGE,
    "_resolver.catalog": CATALOG,
    "_cluster.client": CLIENT,
    "_cluster.reads": READS | YAML,
    "_cluster": READS,
    "_cluster.task": READS,
    "_cluster.writes": WRITES,
    "_cluster.modules": MODULES | YAML,
    "_yaml": CLIENT | {"_cluster.client"},
    "doc_fragments": set(),
    # Files beside the rooms.
    "": CLIENT | YAML | {"_cluster.client", "_task_objects"},
    "_python": set(),
    "_columns": set(),
    "_known_as": set(),
}
# Capabilities import the core, and of each other only their base.
BASES: dict[str, set[str]] = {
    "_adoption": set(),
    "_rollout": set(),
    "_git": set(),
    "_boot_sources": set(),
    "_capacity": set(),
    "_estate": set(),
    "_diagnosis": set(),
    "_governance": set(),
    "_matrix": set(),
    "_sizes": set(),
    "_snapshots": set(),
    "_templates": set(),
    "_conversion": {"_adoption", "_boot_sources", "_templates"},
    "_events": set(),
    "_upgrade": {"_capacity", "_conversion", "_templates"},
}
# Modules and plugins are put together here.
ASSEMBLED = {"modules", "plugin_utils", "filter", "inventory", "action", "_vm_options", "_catalog_conversions"}


def room_of(parts: tuple[str, ...]) -> str:
    """The room of a module, given by its path below `plugins`. A capability is one room."""
    if parts[0] != "module_utils":
        return parts[0]
    if parts[1:] and parts[1] in BASES:
        return parts[1]
    if parts[1:2] == ("_yaml",):
        return parts[1]
    return ".".join(parts[1 : 4 if parts[1:3] == ("_resolver", "kubevirt") else 3])


def allowed(room: str, other: str) -> bool:
    """Whether a room may import another."""
    if room in ASSEMBLED or room == other:
        return True
    return other in (CORE | BASES[room] if room in BASES else MAY_IMPORT[room])


@functools.cache
def imported(path: Path, deferred: bool = True) -> list[tuple[int, tuple[str, ...]]]:
    """(line, path below `plugins`) of each import of another module of the collection.

    deferred: also those that functions make when they are called.
    """
    result: list[tuple[int, tuple[str, ...]]] = []
    place = path.relative_to(PLUGINS).parts
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree) if deferred else tree.body:
        if not isinstance(node, ast.ImportFrom):
            continue
        parts = tuple((node.module or "").split(".")) if node.module else ()
        if node.level:
            parts = place[: len(place) - node.level] + parts
        elif parts[: len(COLLECTION)] == COLLECTION:
            parts = parts[len(COLLECTION) :]
        else:
            continue
        for alias in node.names:
            whole = (*parts, alias.name)
            result.append((node.lineno, whole if PLUGINS.joinpath(*whole).with_suffix(".py").exists() else parts))
    return result


def reached(path: Path, deferred: bool = True) -> set[Path]:
    """The file and all that it imports, directly or by way of others. deferred: see `imported`."""
    result: set[Path] = set()
    due = {path}
    while due:
        result |= due
        found = {parts for item in due for _line, parts in imported(item, deferred)}
        due = {PLUGINS.joinpath(*parts).with_suffix(".py") for parts in found} - result
    return result


def test_no_import_runs_up() -> None:
    wrong = []
    for path in sorted(PLUGINS.rglob("*.py")):
        place = path.relative_to(PLUGINS)
        room = room_of(place.parts[:-1] or ("",))
        room = place.stem if place.stem in ASSEMBLED else room
        if path.name == "__init__.py":
            wrong.append(f"{place}: Ansible takes every folder as a package; delete it")
        wrong += [
            f"{place}:{line}: {room} imports {other}"
            for line, other in ((line, room_of(parts)) for line, parts in imported(path))
            if not allowed(room, other)
        ]
    assert wrong == []


def test_the_table_has_no_circle() -> None:
    """A room that another one may import may not import that other one, directly or by way of others."""
    graphlib.TopologicalSorter(MAY_IMPORT).prepare()


def test_no_files_import_in_a_circle() -> None:
    """Not even for types, or when a function is called."""
    files = {
        path: {PLUGINS.joinpath(*parts).with_suffix(".py") for _line, parts in imported(path)}
        for path in PLUGINS.rglob("*.py")
    }
    graphlib.TopologicalSorter(files).prepare()


def test_modules_that_read_reach_nothing_that_writes() -> None:
    for path in sorted(PLUGINS.glob("modules/*_info.py")):
        rooms = {room_of(module.relative_to(PLUGINS).parts[:-1]) for module in reached(path)}
        assert "_cluster.modules" in rooms, path.name
        assert "_cluster.writes" not in rooms, path.name


def loaded(module: str) -> set[str]:
    """The files of module_utils that a module loads before its task does anything, such as `_resolver/api/kinds`."""
    files = reached(PLUGINS / "modules" / f"{module}.py", deferred=False)
    utils = PLUGINS / "module_utils"
    return {path.relative_to(utils).with_suffix("").as_posix() for path in files if utils in path.parents}


def test_instancetype_loads_no_code_for_vms() -> None:
    of_vms = (
        "_resolver/kubevirt/vm",
        "_resolver/kubevirt/admission",
        "_resolver/change/drift",
    )
    of_vms += ("_resolver/guest/predict", "_resolver/declare/vm", "_resolver/preflight", "_cluster/writes/handlers/v")
    for module in ("instancetype", "preference"):
        assert [name for name in sorted(loaded(module)) if name.startswith(of_vms)] == []


def test_options_that_are_off_load_nothing() -> None:
    """The computations of boot sources, capacity, templates and limits are imported when an option asks for it."""
    computing = (
        "_capacity/p",
        "_capacity/quota",
        "_templates/process",
        "_boot_sources/source",
        "_boot_sources/workload",
        "_diagnosis/c",
    )
    light = {"_diagnosis/cluster/additions"}
    for module in ("virtual_machine", "catalog", "revision_rollout"):
        wrong = {name for name in loaded(module) if name.startswith((*computing, "_governance/policy"))}
        assert wrong - light == set()
    # Only a VM to be written is judged.
    instancetypes = {f"_resolver/kubevirt/admission/{name}" for name in ("apply", "mutate", "response")}
    admission = {name for name in loaded("virtual_machine") if name.startswith("_resolver/kubevirt/admission")}
    assert admission == instancetypes
    assert not {name for name in loaded("virtual_machine_info") if name.startswith(("_diagnosis", "_git/e"))} - light


def test_a_task_that_restarts_nothing_loads_no_restarts() -> None:
    """Nor does one that moves no VM ask who else writes it, or one with a token look for a credential plugin."""
    unused = ("_resolver/change/power", "_resolver/change/guest_steps", "_resolver/guest/outstanding")
    unused += ("_resolver/kubevirt/vm/vmi_defaults", "_resolver/ownership", "_cluster/client/exec_plugins")
    assert [name for name in sorted(loaded("controller_revision")) if name.startswith(unused)] == []


def test_only_the_state_rendered_loads_its_code() -> None:
    for module in ("instancetype", "preference", "virtual_machine", "boot_source", "virtual_machine_template"):
        assert [name for name in loaded(module) if name.startswith("_git/")] == ["_git/cluster/rendered_state"]


def options_of(spec: dict[str, Any], above: str = "") -> set[str]:
    """The paths of options and, after a `=`, their choices."""
    paths = {f"{above}{name}" for name in spec}
    for name, option in spec.items():
        paths |= {f"{above}{name}={choice}" for choice in option.get("choices") or ()}
        paths |= options_of(option.get("options") or {}, f"{above}{name}.")
    return paths


def test_the_core_names_no_option_of_a_capability() -> None:
    core, added = set[str](), set[str]()
    for path in sorted((PLUGINS / "module_utils/_cluster/modules").glob("*.py")):
        alone = importlib.import_module(f"plugins.module_utils._cluster.modules.{path.stem}")
        if (PLUGINS / "modules" / path.name).exists() and hasattr(alone, "module"):
            of_core = options_of(alone.module().argument_spec)
            core |= of_core
            added |= options_of(importlib.import_module(f"plugins.modules.{path.stem}").MODULE.argument_spec) - of_core
    assert {"infer_from_registry", "boot.expand", "state=rendered", "include=diagnosis", "limits"} <= added
    inside_another = {path for path in added for other in added if path.startswith((f"{other}.", f"{other}="))}
    options = {re.split("[.=]", path)[-1] for path in added - inside_another} | {*Capacity.kept}
    # The core has these for something else: an option, a field of the API, a result.
    options -= {part for path in core for part in re.split("[.=]", path)}
    options -= {field for fields in schema.TYPES.values() for field in fields} | {"kubevirt_version"}
    # In a sentence, only a word that English does not have is surely an option.
    inside = re.compile(rf"\b({'|'.join(sorted(option for option in options if '_' in option))})\b")
    named = [
        f"{path.relative_to(PLUGINS)}:{node.lineno}: {node.value}"
        for room in ("_resolver", "_cluster")
        for path in sorted((PLUGINS / "module_utils" / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (node.value in options or inside.search(node.value))
    ]
    assert named == []
