"""The filter placement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.kubernetes.placement.demand import DeviceObjects, device_objects
from ...module_utils._resolver.kubernetes.placement.simulation import PlacementObjects
from ...module_utils._resolver.kubernetes.placement.simulation import placement as simulate
from ...module_utils._resolver.kubevirt.pod.vm_pod import MIGRATE, RESTART
from .._filters import manifests
from .._pod_filters import evaluate_vms


def placement(
    vms: Any,
    nodes: Any = (),
    pods: Any = (),
    namespaces: Any = (),
    quotas: Any = (),
    networks: Any = None,
    kubevirt: Any = None,
    kubevirt_version: Any = None,
    objects: Any = (),
    drain: Any = (),
    instancetypes: Any = (),
    device_classes: Any = None,
    resource_slices: Any = None,
    resource_claims: Any = None,
    resource_claim_templates: Any = None,
    running: Any = MIGRATE,
    accept_unknown_fields: Any = False,
) -> dict[str, Any]:
    name = "placement"
    if running not in (MIGRATE, RESTART):
        raise AnsibleFilterError(f"{name}: running: choose from {MIGRATE}, {RESTART}, not {running!r}")
    if isinstance(drain, (str, Mapping)) or not isinstance(drain, Iterable):
        raise AnsibleFilterError(f"{name}: drain: expected a list of names, found {drain!r}")
    cluster = PlacementObjects(
        manifests(name, "nodes", nodes),
        manifests(name, "pods", pods),
        manifests(name, "namespaces", namespaces),
        manifests(name, "quotas", quotas),
        None if networks is None else manifests(name, "networks", networks),
        list(drain),
        manifests(name, "instancetypes", instancetypes),
        devices=_device_objects(
            name,
            device_classes=device_classes,
            resource_slices=resource_slices,
            resource_claims=resource_claims,
            resource_claim_templates=resource_claim_templates,
        ),
    )
    return evaluate_vms(
        name,
        simulate,
        vms,
        cluster,
        running,
        kubevirt=kubevirt,
        kubevirt_version=kubevirt_version,
        objects=objects,
        accept_unknown_fields=accept_unknown_fields,
    )


def _device_objects(name: str, **options: Any) -> DeviceObjects | None:
    if all(value is None for value in options.values()):
        return None
    lists = [manifests(name, option, value or ()) for option, value in options.items()]
    for option, objects in zip(options, lists):
        for manifest in objects:
            if not (manifest.get("metadata") or {}).get("name"):
                raise AnsibleFilterError(f"{name}: {option}: an object has no name")
    return device_objects(*lists)
