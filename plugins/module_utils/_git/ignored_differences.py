"""Lists the fields that may differ between Git and the cluster, as Argo CD's `ignoreDifferences`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from .._resolver.api.manifest import Manifest
from .._resolver.api.matcher import MATCHER_FIELDS
from .._resolver.api.tree import value_at
from .._resolver.declare.rewrites import RUN_STRATEGY, RUNNING

_VM: Final = {"group": "kubevirt.io", "kind": "VirtualMachine"}


def ignored_differences(vms: Iterable[Manifest], power: bool) -> list[dict[str, Any]]:
    """Entries for `ignoreDifferences` of an Application of Argo CD: what KubeVirt and users rewrite; see `rewrites`.

    vms: manifests of VirtualMachines. power: whether users start and stop the VMs.
    Returns one entry for all VMs if it is the same for each, else one for each VM that has any.
    """
    found = [(vm.get("metadata") or {}, _pointers(vm, power)) for vm in vms]
    if found and found[0][1] and all(pointers == found[0][1] for _metadata, pointers in found):
        return [{**_VM, "jsonPointers": found[0][1]}]
    return [
        {**_VM, **{key: metadata[key] for key in ("namespace", "name") if metadata.get(key)}, "jsonPointers": pointers}
        for metadata, pointers in found
        if pointers
    ]


def _pointers(vm: Manifest, power: bool) -> list[str]:
    fields = [field for field in (RUN_STRATEGY, RUNNING) if power and value_at(vm, field) is not None]
    # An absent interface is not among them: Argo CD would not write its state either.
    fields += [
        ("spec", matcher_field.name)
        for matcher_field in MATCHER_FIELDS
        if (matcher_field.matcher_of(vm) or {}).get("inferFromVolume")
    ]
    return ["/" + "/".join(field) for field in fields]
