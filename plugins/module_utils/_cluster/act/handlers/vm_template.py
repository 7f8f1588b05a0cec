"""VirtualMachineTemplates as objects to declare."""

from __future__ import annotations

from typing import Any

from ...._resolver.declare.vm_template import checkable
from ...._resolver.kubevirt.vmi.cluster import Cluster
from ...._resolver.preflight import issues as rules
from ...._resolver.preflight.admit import admit
from ...._resolver.preflight.object_keys import keys_for_admission
from ...._resolver.preflight.references import keys_for_start
from ...client.session import Session
from ...read.kubevirt import kubevirt
from ...read.lookup import ClusterLookup
from ..kind_handler import Finding, KindHandler, Planned


class TemplateHandler(KindHandler):
    def __init__(self, _options: dict[str, Any]) -> None:
        super().__init__("virtual machine templates")

    def preflight(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        """Findings about a VM of each template, as warnings, because parameters may have other values."""
        lookup = ClusterLookup(session)
        cluster = Cluster(lookup, kubevirt(session))
        vms = [checkable(step.plan.manifest) for step in planned]
        checkable_vms = [vm for vm in vms if vm is not None]
        lookup.gather(
            dict.fromkeys(
                key for vm in checkable_vms for key in (*keys_for_admission(vm, cluster.release), *keys_for_start(vm))
            )
        )
        return [
            [
                Finding(f"a VM of the template: {issue.text}", note=True, missing=issue.missing)
                for issue in (rules.issues(admit(vm, None, cluster), None, cluster, lookup.list) if vm else ())
            ]
            for vm in vms
        ]
