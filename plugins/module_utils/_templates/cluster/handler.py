"""VirtualMachineTemplates as objects to declare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._cluster.client.session import Session
from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.writes.kind_handler import KindHandler
from ..._resolver.api.finding import WARNING, Finding
from ..._resolver.change.declared import DeclareJob, Findings
from ..._resolver.declare.plan import DELETE
from ..._resolver.kubevirt.admission.mutate import admit
from ..._resolver.kubevirt.cluster import Cluster
from ..._resolver.preflight import findings as preflight
from ..._resolver.preflight.findings import Check
from ..._resolver.preflight.object_keys import keys_for_admission
from ..._resolver.preflight.references import keys_for_start
from ..declared import checkable

Options = dict[str, Any]


class TemplateHandler(KindHandler):
    """Declares VirtualMachineTemplates. checks: add to the findings about the VM of a template."""

    def __init__(self, session: Session, checks: Sequence[Check]) -> None:
        self._session = session
        self._checks = checks

    def check(self, planned: list[DeclareJob]) -> Findings:
        """Findings about a VM of each template, as warnings, because parameters may have other values."""
        planned = [job for job in planned if job.goal.action != DELETE]
        lookup = ClusterLookup(self._session)
        cluster = Cluster(lookup, kubevirt(self._session))
        vms = [checkable(job.goal.plan.manifest) for job in planned]
        checkable_vms = [vm for vm in vms if vm is not None]
        lookup.gather(
            dict.fromkeys(
                key for vm in checkable_vms for key in (*keys_for_admission(vm, cluster.release), *keys_for_start(vm))
            )
        )
        return {
            job: [
                Finding(f"a VM of the template: {found.line}", WARNING, missing=found.missing)
                for found in (
                    preflight.findings(admit(vm, None, cluster), None, cluster, lookup.list, self._checks) if vm else ()
                )
            ]
            for job, vm in zip(planned, vms)
        }
