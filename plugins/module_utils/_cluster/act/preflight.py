"""Checks planned VMs against what the cluster holds, before anything is sent."""

from __future__ import annotations

from ..._resolver.declare.preflight import issues
from ..._resolver.instancetype.vmi.cluster import Cluster, KubeVirt
from ..read.lookup import ClusterLookup
from .declare import Finding, Planned

__all__ = ["preflight"]


def preflight(lookup: ClusterLookup, kubevirt: KubeVirt, planned: list[Planned]) -> list[list[Finding]]:
    """Findings for each planned VM, in order; all VMs share what is read of the cluster."""
    cluster = Cluster(lookup, kubevirt)
    doubt = [Finding(kubevirt.doubt, note=True)] if kubevirt.doubt else []
    return [
        [
            *(
                Finding(issue.text, note=not issue.certain, missing=issue.missing)
                for issue in issues(step.plan, step.live, cluster, lookup.list)
            ),
            *doubt,
        ]
        for step in planned
    ]
