"""The launcher pod of a VMI: its requests and scheduling (``renderLaunchManifest``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..api.quantity import Quantity
from . import affinity, supporting, totals
from .amounts import Amounts
from .compute import compute
from .container import Container
from .devices import UnknownNetwork, not_permitted
from .environment import Environment
from .labels import labels
from .overhead import overhead
from .scheduling import node_selector
from .traits import Spec

Manifest = dict[str, Any]


class Unrenderable(ValueError):
    """KubeVirt cannot render the pod of the VMI; one line says why.

    overhead: the pod's memory overhead nevertheless.
    """

    def __init__(self, message: str, extra: Quantity) -> None:
        super().__init__(message)
        self.overhead = extra


class Pod(NamedTuple):
    """A launcher pod.

    labels: of the pod. containers, init_containers: in its order. overhead: the first container's memory beyond the
    guest's. node_selector, affinity, tolerations, spread, claims, scheduler, priority_class, runtime_class: as in a
    pod's spec, empty if there is none. overhead_reported: an annotation has the overhead.
    """

    labels: dict[str, str]
    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...]
    overhead: Quantity
    node_selector: dict[str, str]
    affinity: Manifest
    tolerations: list[Manifest]
    spread: list[Manifest]
    claims: list[Manifest]
    scheduler: str
    priority_class: str
    runtime_class: str
    overhead_reported: bool

    @property
    def requests(self) -> Amounts:
        """The requests of the whole pod, as scheduler and quota count them."""
        return totals.requests(self.containers, self.init_containers)

    @property
    def limits(self) -> Amounts:
        return totals.limits(self.containers, self.init_containers)

    @property
    def qos_class(self) -> str:
        return totals.qos_class(self.containers, self.init_containers)


def pod(
    metadata: Manifest,
    spec: Spec,
    around: Environment,
    status: Mapping[str, Any] | None = None,
    migrated: bool = False,
) -> Pod:
    """The pod of a VMI as stored, from its canonical spec, metadata and known status.

    migrated: the target of a migration, before `migration.target` completes it. Raises Unrenderable.
    """
    extra = overhead(spec, around)
    problems = [*_problems(spec), *not_permitted(spec, around)]
    if problems:
        raise Unrenderable(" ".join(problems), extra)
    try:
        main = compute(metadata, spec, around, extra)
        hooks = supporting.hooks(metadata, spec, around)
    except (UnknownNetwork, supporting.Unreadable) as error:
        raise Unrenderable(str(error), extra) from None
    log = supporting.console_log(spec, around)
    logs = [log] if log is not None else []
    beside = around.rules.console_log_is_sidecar
    return Pod(
        labels=labels(metadata, spec),
        containers=(
            main,
            *supporting.disks(spec, around),
            *supporting.filesystems(spec, around),
            *(() if beside else logs),
            *hooks,
        ),
        init_containers=(
            *(logs if beside else ()),
            *supporting.disk_init_containers(spec, around, migrated),
        ),
        overhead=extra,
        node_selector=node_selector(spec, status or {}, around),
        affinity=affinity.affinity(spec, around),
        tolerations=spec.get("tolerations", []),
        spread=spec.get("topologySpreadConstraints", []),
        claims=spec.get("resourceClaims", []),
        scheduler=spec.get("schedulerName", ""),
        priority_class=spec.get("priorityClassName", ""),
        runtime_class=around.configuration.get("defaultRuntimeClass") or "",
        overhead_reported=around.has_gate("VmiMemoryOverheadReport"),
    )


def _problems(spec: Spec) -> list[str]:
    return [
        f"the volume {volume['name']}: Sysprep must have Secret or ConfigMap reference set"
        for volume in spec.get("volumes", ())
        if "sysprep" in volume and not volume["sysprep"].keys() & {"secret", "configMap"}
    ]
