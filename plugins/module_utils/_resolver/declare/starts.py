"""What keeps KubeVirt from starting a VM that it accepts."""

from __future__ import annotations

from typing import Any

from ..admission import cluster as configured
from ..admission import launcher_pod, order
from ..admission.rule import INVALID, Cause
from ..api.errors import Crash
from ..api.tree import copy
from ..instancetype.vmi import vmi
from ..instancetype.vmi.cluster import Cluster
from ..instancetype.vmi.vmi_defaults import set_vmi_defaults

Manifest = dict[str, Any]


def failures(vm: Manifest, applied: Manifest, live: Manifest | None, cluster: Cluster) -> list[Cause]:
    """Why KubeVirt will not create the VMI of a VM (startVMI) or its pod, with the fields of the VM; empty if it will,
    or if it already rejects the VM.

    vm: the admitted VM, canonical. applied: the same with instancetype, preference and defaults in its template.
    live: the live VM.
    """
    built = vmi.build_in_place(copy(vm), cluster.objects, cluster.configuration, cluster.release)
    if built.error is not None:
        return [Cause(INVALID, built.error.message, "")]
    metadata, spec = built.metadata or {}, built.spec or {}
    set_vmi_defaults(spec, cluster.configuration, allowed=None, release=cluster.release)
    known = configured.read(dict(cluster.kubevirt.settings), cluster.configuration.architecture, cluster.release)
    before = None if live is None else live["spec"]
    namespace = vm["metadata"].get("namespace", "")
    try:
        causes = list(dict.fromkeys(order.vmi(metadata, spec, known)))
        if causes and order.virtual_machine_causes(applied["spec"], vm["spec"], before, namespace, known):
            return []
    except Crash:
        # virt-api crashes on the VM, too.
        return []
    return causes or list(launcher_pod.causes(spec, "spec.template.spec"))
