"""Checks planned VMs against what the cluster holds, before anything is sent."""

from __future__ import annotations

from ..._resolver.declare.preflight import issues
from ..read.lookup import ClusterLookup
from .declare import Finding, Planned

__all__ = ["preflight"]


def preflight(lookup: ClusterLookup, planned: list[Planned]) -> list[list[Finding]]:
    """Findings for each planned VM, in order; all VMs share what is read of the cluster."""
    return [
        [Finding(issue.text, note=not issue.certain) for issue in issues(step.plan, step.live, lookup, lookup.list)]
        for step in planned
    ]
