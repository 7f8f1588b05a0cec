"""The size of a VM whose matchers the cluster's reference policy has replaced by their values."""

from __future__ import annotations

from ..api.manifest import Manifest
from ..kubevirt.config.cluster import Cluster
from ..kubevirt.vmi import vmi
from ..kubevirt.vmi.vmi import guest
from ..kubevirt.webhooks import mutate


def size_mismatch(declared: Manifest, live: Manifest, cluster: Cluster) -> str | None:
    """A note if an expanded VM has another size than its declared matchers give now, or None.

    The cluster's reference policy replaced the matchers, so the VM does not follow them. Whether the play or the
    instancetype changed is unknown.
    """
    admitted = mutate.mutate(declared, cluster.objects, release=cluster.release).vm
    intended = vmi.build(admitted, cluster).spec if admitted else None
    actual = vmi.build(live, cluster).spec
    if intended is None or actual is None or _size(intended) == _size(actual):
        return None
    return (
        f"the cluster's reference policy replaced the instancetype by its values ({_size(actual)}); the instancetype"
        f" now gives {_size(intended)}, which the VM does not get: declare cpu and memory to change the VM"
    )


def _size(spec: Manifest) -> str:
    figures = guest(spec)
    return f"{figures['vcpus']} vCPU, {figures.get('memory', 'no memory')}"
