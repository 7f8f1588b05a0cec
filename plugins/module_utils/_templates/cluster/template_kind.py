"""VirtualMachineTemplates as objects to declare."""

from __future__ import annotations

from collections.abc import Sequence

from ..._resolver.api.finding import WARNING, Finding
from ..._resolver.change.declare_steps import DeclaredKind
from ..._resolver.change.declared import DeclareJob
from ..._resolver.change.step import Facts, Step
from ..._resolver.declare.plan import DELETE
from ..._resolver.kubevirt.admission.mutate import admit
from ..._resolver.preflight import findings as preflight
from ..._resolver.preflight.findings import Check
from ..._resolver.preflight.object_keys import keys_for_admission
from ..._resolver.preflight.references import keys_for_start
from ..declared import checkable


def template_kind(checks: Sequence[Check]) -> DeclaredKind:
    """VirtualMachineTemplates. checks: add to the findings about the VM of a template."""

    def check(jobs: Sequence[DeclareJob], facts: Facts) -> None:
        """Notes findings about a VM of each template, as warnings, because parameters may have other values."""
        planned = [job for job in jobs if job.goal.action != DELETE]
        if not planned:
            return
        cluster = facts.cluster
        vms = [checkable(job.goal.plan.manifest) for job in planned]
        checkable_vms = [vm for vm in vms if vm is not None]
        facts.gather(
            dict.fromkeys(
                key for vm in checkable_vms for key in (*keys_for_admission(vm, cluster.release), *keys_for_start(vm))
            )
        )
        for job, vm in zip(planned, vms):
            found = preflight.findings(admit(vm, None, cluster), None, cluster, facts.list, checks) if vm else ()
            job.goal.findings = [
                Finding(f"a VM of the template: {item.line}", WARNING, missing=item.missing) for item in found
            ]

    return DeclaredKind(checks=(Step("check", prepare=check),))
