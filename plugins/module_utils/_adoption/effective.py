"""The guest and the pod that a VM makes, in a form that can be compared."""

from __future__ import annotations

from typing import Final

from .._resolver.api import release_schema
from .._resolver.api.manifest import Manifest
from .._resolver.api.matcher import MATCHER_FIELDS
from .._resolver.api.quantity import BINARY_SI, Quantity, parse
from .._resolver.kubevirt.cluster import Cluster, KubeVirt
from .._resolver.kubevirt.instancetype.find import Specs
from .._resolver.kubevirt.vm import defaults, vmi

_MATCHER_ANNOTATIONS: Final = frozenset(
    name for matcher_field in MATCHER_FIELDS for name in (matcher_field.annotation, matcher_field.cluster_annotation)
)


def effective(vm: Manifest, cluster: Cluster, specs: Specs | None = None) -> Manifest:
    """The parts of a VM that determine its guest and pod, normalized for comparison. Raises KubeVirtError.

    specs: see `vmi.build`.
    """
    built = vmi.build(vm, cluster, specs)
    spec = built.spec
    defaults.set_spec_defaults(spec, cluster.kubevirt)
    _equalize(spec["domain"], cluster.kubevirt)
    annotations = built.metadata.get("annotations") or {}
    stored = release_schema.canonical("VirtualMachine", vm, cluster.release)["spec"]
    return {
        **spec,
        "annotations": {key: value for key, value in annotations.items() if key not in _MATCHER_ANNOTATIONS},
        # A preference may set the storage class of these.
        "dataVolumeTemplates": stored.get("dataVolumeTemplates") or [],
    }


def _equalize(domain: Manifest, kubevirt: KubeVirt) -> None:
    """Normalizes values that KubeVirt treats alike."""
    for count in ("cores", "threads"):
        # Sockets have no such default: without them, sockets cannot be hotplugged.
        domain["cpu"].setdefault(count, 1)
    memory, resources = domain.get("memory", {}), domain["resources"]
    requests, limits = (resources.get(part) or {} for part in ("requests", "limits"))
    for amounts in (memory, requests, limits):
        for name in ("guest", "maxGuest", "memory"):
            if name in amounts:
                amounts[name] = Quantity.from_integer(parse(amounts[name]).value, BINARY_SI).text
    requested_by_default = "memory" not in limits and kubevirt.memory_overcommit == 100
    if requested_by_default and "memory" in requests and requests["memory"] == memory.get("guest"):
        # The pod requests the same without it.
        del requests["memory"]
    if not requests:
        resources.pop("requests", None)
