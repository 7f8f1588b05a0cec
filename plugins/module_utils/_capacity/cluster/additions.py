"""The additions of capacity to modules that show VMs. The code is imported when a task asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..._cluster.modules.virtual_machine_info import Addition, Asked
from ..._resolver.api.manifest import Manifest
from ..._resolver.change.drift import Drift

Result = dict[str, Any]


def resources(vm: Drift) -> Result:
    """See `vm_resources`."""
    from .vm_resources import vm_resources

    return vm_resources(vm)


def node_reasons(nodes: Sequence[Manifest], pods: Sequence[Manifest]) -> Callable[[Manifest], list[Result]]:
    """See `placement.reasons`."""
    from ..placement.reasons import node_reasons

    return node_reasons(nodes, pods)


def _add_resources(asked: Asked) -> None:
    for vm, shown in zip(asked.vms, asked.result["virtual_machines"]):
        shown.update(resources(vm))


RESOURCES: Final = Addition(_add_resources, "resources", by_default=True)
