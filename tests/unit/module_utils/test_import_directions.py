"""Imports run one way: the table says which room may import which, and no room imports a later one."""

from __future__ import annotations

import ast
import functools
import graphlib
from pathlib import Path

PLUGINS = Path(__file__).parents[3] / "plugins"
COLLECTION = ("ansible_collections", "virtshape", "instancetypes", "plugins")

API = {"_resolver.api"}
# What KubeVirt, Kubernetes and CDI compute imports nothing of what we decide.
APPLY = API | {"_resolver.kubevirt.preference"}
FIND = API
REVISION = APPLY | {"_resolver.kubevirt.apply", "_resolver.kubevirt.find"}
VMI = REVISION
WEBHOOKS = VMI | {"_resolver.kubevirt.vmi", "_resolver.kubevirt.revision"}
TEMPLATE = API
ADMISSION = WEBHOOKS | {"_resolver.kubevirt.webhooks"}
POD = WEBHOOKS
PLACEMENT = POD | {"_capacity.pod"}
QUOTA = PLACEMENT | {"_capacity.placement"}
CDI = API
COMPUTED = QUOTA | ADMISSION | {"_resolver.cdi", "_capacity.quota", "_resolver.kubevirt.admission", "_templates"}
GUEST = COMPUTED
BOOT = COMPUTED | {"_resolver.guest"}
CHOOSE = BOOT | {"_boot_sources"}
REFRESH = COMPUTED | {"_resolver.guest"}
PREFLIGHT = CHOOSE | {"_resolver.choose"}
DECLARE = PREFLIGHT | {"_resolver.preflight"}
CATALOG = DECLARE | {"_resolver.declare", "_resolver.refresh"}
LIMITS = UPGRADE = CATALOG | {"_resolver.catalog"}
RESOLVER = UPGRADE | {"_governance", "_upgrade"}
CLIENT = API
READ = RESOLVER | {"_cluster.client"}
ACT = READ | {"_cluster.reads"}
ACT_BOOT = ACT | {"_cluster.writes"}
ENTRY = ACT_BOOT | {"_boot_sources.cluster"}
CLUSTER = {"_cluster.client", "_cluster.reads", "_cluster.writes", "_boot_sources.cluster", "_cluster.modules"}

MAY_IMPORT: dict[str, set[str]] = {
    "_resolver.api": set(),
    "_resolver.kubevirt.preference": API,
    "_resolver.kubevirt.apply": APPLY,
    "_resolver.kubevirt.find": FIND,
    "_resolver.kubevirt.revision": REVISION,
    "_resolver.kubevirt.vmi": VMI,
    "_resolver.kubevirt.webhooks": WEBHOOKS,
    "_resolver.kubevirt.admission": ADMISSION,
    "_capacity.pod": POD,
    "_templates": TEMPLATE,
    "_capacity.placement": PLACEMENT,
    "_capacity.quota": QUOTA,
    "_resolver.cdi": CDI,
    "_resolver.guest": GUEST,
    "_boot_sources": BOOT,
    "_resolver.choose": CHOOSE,
    "_resolver.refresh": REFRESH,
    "_resolver.preflight": PREFLIGHT,
    "_resolver.declare": DECLARE,
    "_resolver.catalog": CATALOG,
    "_governance": LIMITS,
    "_upgrade": UPGRADE,
    "_cluster.client": CLIENT,
    "_cluster.reads": READ,
    "_cluster.writes": ACT,
    "_boot_sources.cluster": ACT_BOOT,
    "_cluster.modules": ENTRY,
    "plugin_utils": RESOLVER | CLUSTER,
    "doc_fragments": set(),
    "_python": set(),
    "modules": RESOLVER | CLUSTER | {"_python"},
    "filter": RESOLVER | {"plugin_utils"},
    "inventory": RESOLVER | CLUSTER | {"plugin_utils"},
    "action": {"_cluster.reads", "_capacity.pod", "plugin_utils"},
}


def room_of(parts: tuple[str, ...]) -> str:
    """The room of a module, given by its path below `plugins`."""
    if parts[0] != "module_utils":
        return parts[0]
    inner = parts[1:3] in (("_resolver", "kubevirt"), ("_resolver", "kubernetes")) or parts[1:4] == (
        "_cluster",
        "act",
        "boot",
    )
    return ".".join(parts[1 : 4 if inner else 3])


@functools.cache
def imported(path: Path) -> list[tuple[int, tuple[str, ...]]]:
    """(line, path below `plugins`) of each import of another module of the collection."""
    result: list[tuple[int, tuple[str, ...]]] = []
    place = path.relative_to(PLUGINS).parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


def reached(path: Path) -> set[Path]:
    """The file and all that it imports, directly or by way of others."""
    result: set[Path] = set()
    due = {path}
    while due:
        result |= due
        due = {PLUGINS.joinpath(*parts).with_suffix(".py") for item in due for _line, parts in imported(item)} - result
    return result


def test_no_import_runs_up() -> None:
    wrong = []
    for path in sorted(PLUGINS.rglob("*.py")):
        place = path.relative_to(PLUGINS)
        room = room_of(place.parts[:-1] or ("",))
        if path.name == "__init__.py":
            if path.read_text(encoding="utf-8"):
                wrong.append(f"{place} is not empty")
            continue
        wrong += [
            f"{place}:{line}: {room} imports {other}"
            for line, other in ((line, room_of(parts)) for line, parts in imported(path))
            if other != room and other not in MAY_IMPORT[room]
        ]
    assert wrong == []


def test_the_table_has_no_circle() -> None:
    """A room that another one may import may not import that other one, directly or by way of others."""
    graphlib.TopologicalSorter(MAY_IMPORT).prepare()


def test_modules_that_read_reach_nothing_that_writes() -> None:
    for path in sorted(PLUGINS.glob("modules/*_info.py")):
        rooms = {room_of(module.relative_to(PLUGINS).parts[:-1]) for module in reached(path)}
        assert "_cluster.modules" in rooms, path.name
        assert not rooms & {"_cluster.writes", "_boot_sources.cluster"}, path.name
