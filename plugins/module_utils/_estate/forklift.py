"""The objects of forklift that migrate the machines: a Plan for each namespace, a NetworkMap and a StorageMap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .._resolver.api.manifest import Manifest
from .machine import Machine, without_absent
from .rules import POD, Rules

_API: Final = "forklift.konveyor.io/v1beta1"
_NAME: Final = "estate"


def objects(machines: Sequence[Machine], vms: Sequence[Mapping[str, Any]], rules: Rules) -> list[Manifest]:
    """The manifests; none without `forklift` in the rules. vms: options of the VMs, in the order of the machines."""
    if not rules.forklift:
        return []
    namespace = rules.forklift.get("namespace", "openshift-mtv")
    providers = {
        "source": {"name": rules.forklift.get("source_provider", "source"), "namespace": namespace},
        "destination": {"name": rules.forklift.get("destination_provider", "host"), "namespace": namespace},
    }
    maps = {
        "network": ("NetworkMap", [_network(source, target) for source, target in sorted(rules.networks.items())]),
        "storage": ("StorageMap", [_storage(source, target) for source, target in sorted(rules.storage.items())]),
    }
    references = {key: {"name": _NAME, "namespace": namespace} for key in maps}
    made = [_object(kind, _NAME, namespace, {"provider": providers, "map": entries}) for kind, entries in maps.values()]
    for target in sorted({vm["namespace"] for vm in vms}):
        entries = [
            {
                "id": machine["id"],
                "name": machine["name"],
                "targetName": vm["name"],
                "instanceType": vm["instancetype"]["name"],
            }
            for machine, vm in zip(machines, vms)
            if vm["namespace"] == target
        ]
        spec = {"targetNamespace": target, "provider": providers, "map": references, "vms": entries}
        made.append(_object("Plan", f"{_NAME}-{target}", namespace, spec))
    return made


def _object(kind: str, name: str, namespace: str, spec: Manifest) -> Manifest:
    return {"apiVersion": _API, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def _network(source: str, target: str | None) -> Manifest:
    if target is None:
        destination = {"type": "ignored"}
    elif target == POD:
        destination = {"type": "pod"}
    else:
        namespace, _slash, name = target.rpartition("/")
        destination = without_absent({"type": "multus", "name": name, "namespace": namespace})
    return {"source": {"name": source}, "destination": destination}


def _storage(source: str, target: Mapping[str, Any]) -> Manifest:
    modes = target.get("access_modes") or [None]
    told = without_absent({"accessMode": modes[0], "volumeMode": target.get("volume_mode")})
    return {"source": {"name": source}, "destination": {"storageClass": target.get("storage_class", ""), **told}}
