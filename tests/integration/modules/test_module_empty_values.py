"""Every option with every empty value: the value is refused, or the second run is unchanged."""

from collections.abc import Iterator
from typing import Any

import pytest

from modules_support import Task
from plugins.module_utils._boot_sources.cluster import boot_source
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from plugins.module_utils._resolver.declare import instancetypes as manifests
from plugins.module_utils._vm_options import VM_OPTIONS

Path = tuple[str, ...]
Spec = dict[str, dict[str, Any]]

FURTHER = pytest.mark.nightly("a further module; two of the four are asked each day")
EMPTY: tuple[Any, ...] = ({}, [], "", None, 0, False)
ROOT = {"name": "root", "container_disk": "registry.example.com/disk:1"}
VM: dict[str, Any] = {"name": "web", "run_strategy": "Halted", "memory": "1Gi", "volumes": [ROOT]}
IMAGE = {
    "name": "disk",
    "image": "docker://registry.example.com/disk:1",
    "schedule": "0 0 * * *",
    "size": "1Gi",
    # None answers.
    "query_registry": False,
}
# The options that tell the object, or that it is to go.
IDENTITY = {"name", "namespace", "kind", "state"}
CPU_AND_MEMORY: dict[str, Any] = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
# Module → its options, an object that needs nothing more, and what an option needs beside the empty value.
MODULES: dict[str, tuple[Spec, dict[str, Any], dict[Path, dict[str, Any]]]] = {
    "virtual_machine": (
        VM_OPTIONS.spec,
        VM,
        {
            ("volumes",): ROOT,
            ("networks",): {"name": "default"},
            ("access_credentials",): {"secret": "keys", "users": ["root"]},
            ("boot",): {"container_disk": ROOT["container_disk"]},
            ("instancetype",): {"name": "small"},
            ("preference",): {"name": "linux"},
            ("cloud_init",): {"user": "root"},
        },
    ),
    "instancetype": (
        manifests.argument_spec(INSTANCETYPE),
        {"name": "small", **CPU_AND_MEMORY},
        {("cpu",): CPU_AND_MEMORY["cpu"], ("memory",): CPU_AND_MEMORY["memory"]},
    ),
    "preference": (manifests.argument_spec(PREFERENCE), {"name": "linux"}, {}),
    "boot_source": (
        boot_source._SPEC,
        IMAGE,
        {("instancetype",): {"name": "small"}, ("preference",): {"name": "linux"}},
    ),
}


def paths_of(spec: Spec, path: Path = ()) -> Iterator[Path]:
    """The paths of all options, at every depth."""
    for name, option in spec.items():
        if path or name not in IDENTITY:
            yield (*path, name)
            yield from paths_of(option.get("options") or {}, (*path, name))


def with_value(base: dict[str, Any], spec: Spec, needed: dict[Path, dict[str, Any]], path: Path, value: Any) -> Any:
    """The options of the base with an empty value for one option."""
    result = dict(base)
    node = result
    for depth, name in enumerate(path[:-1]):
        option = spec[name]
        inside = dict(needed.get(path[: depth + 1], {}))
        node[name] = [inside] if option["type"] == "list" else inside
        node, spec = inside, option["options"]
    node[path[-1]] = value
    return result


@pytest.mark.parametrize(
    "module",
    ["virtual_machine", "instancetype", *(pytest.param(name, marks=FURTHER) for name in ("preference", "boot_source"))],
)
def test_empty_options_are_unchanged_or_refused(task: Task, module: str) -> None:
    spec, base, needed = MODULES[module]
    changed, unchanged = [], 0
    for path in paths_of(spec):
        for value in EMPTY:
            options = with_value(base, spec, needed, path, value)
            if task.outcome(module, **options).get("failed"):
                continue
            second = task(module, **options)
            unchanged += not second["changed"]
            if second["changed"]:
                changed.append((path, value, second.get("diff")))
    assert changed == []
    assert unchanged > 10
