"""The option `sizes` of VMs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..._cluster.client.errors import ApiError
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.writes.vm_extension import VMExtension, VMTask, completing
from ..._resolver.api.errors import FieldError, KubeVirtError
from ..._resolver.api.finding import ERROR
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.api.records import was_expanded
from ..._resolver.api.write import create
from ..._resolver.change.declared import DeclareJob
from ..._resolver.change.step import Facts, Step
from ..._resolver.choose.rejected import MissingObject, Rejected
from ..._resolver.declare.virtual_machine import as_created
from ..._resolver.kubevirt.cluster import Cluster
from ..._resolver.preflight.object_keys import keys_for_admission
from ..vm_options import AUTO, EXPANDED, NAMED, SIZES

_VM = KINDS["VirtualMachine"]
_NOT_FOUND = 404


class Sizes(VMExtension):
    needs_connection: ClassVar[Mapping[str, str]] = {
        SIZES: "leave it out, so that the manifest names its instancetype and preference"
    }
    needs_none: ClassVar[frozenset[str]] = frozenset({NAMED})

    def __init__(self, task: VMTask) -> None:
        super().__init__(task)
        # Whether the cluster takes names of instancetypes.
        self._named = True

    @property
    def complete(self) -> tuple[Step, ...]:
        step = completing(SIZES, self._complete_one, self.task.task.check_mode)
        return (step._replace(takes=_is_completed, prepare=self._look_up),)

    def _look_up(self, due: Sequence[DeclareJob], facts: Facts) -> None:
        """Reads what VMs name, and finds out whether the cluster takes the names."""
        from .. import forms

        for job in due:
            job.goal.manifest = forms.with_recorded_names(job.goal.manifest, job.seen.live)
        vms = (vm for job in due for vm in (job.goal.manifest, job.seen.live) if vm is not None)
        facts.gather(dict.fromkeys(key for vm in vms for key in keys_for_admission(vm, facts.cluster.release)))
        self._named = all(_form(job) != AUTO for job in due) or self._takes_names(due, facts.cluster)

    def _complete_one(self, job: DeclareJob) -> None:
        _complete(self.task.lookup, self._named, job)

    def _takes_names(self, due: Sequence[DeclareJob], cluster: Cluster) -> bool:
        """Whether the cluster takes VMs that name an instancetype, or does not take them with values either."""
        from .. import forms

        auto = [job for job in due if _form(job) == AUTO]
        for job in auto:
            instancetype = forms.instancetype_of(job.goal.manifest, job.seen.live, cluster)
            if instancetype is not None:
                try:
                    named, expanded = forms.probe(instancetype, job.key.namespace, cluster)
                except KubeVirtError:
                    continue
                return self._accepts(named, job.key.namespace) or not self._accepts(expanded, job.key.namespace)
        return True

    def _accepts(self, vm: Manifest, namespace: str) -> bool:
        """Whether the cluster would create a VM, by a dry run."""
        session = self.task.session.dry_run_session()
        try:
            session.write(create(_VM.path(namespace), vm))
        except ApiError:
            return False
        return True


def _form(job: DeclareJob) -> str:
    return job.goal.options.get(SIZES) or NAMED


def _is_completed(job: DeclareJob) -> bool:
    """Whether a VM is to have the values of what it names, or again only the names."""
    return (_form(job) != NAMED or was_expanded(job.seen.live)) and _names_sizes(job.goal.manifest)


def _names_sizes(vm: Manifest) -> bool:
    """Whether a declared VM has an instancetype or a preference."""
    return any(matcher_field.matcher_of(vm) for matcher_field in MATCHER_FIELDS)


def _with_remedy(vm: Manifest, lookup: ClusterLookup) -> str:
    """The refusal of a VM that names its objects, as KubeVirt gives it, with remedies; "" for none."""
    from ..._resolver.kubevirt.admission.mutate import admit
    from ..._resolver.preflight.findings import findings

    created = as_created(vm)
    found = findings(admit(created, None, lookup.cluster), None, lookup.cluster, lookup.list)
    return "; ".join(finding.line for finding in found if finding.severity == ERROR)


def _complete(lookup: ClusterLookup, takes_names: bool, job: DeclareJob) -> None:
    """Gives a VM its form. Raises FieldError and Rejected for one that it cannot have, and MissingObject."""
    from ..._resolver.declare.expanded import with_attached
    from .. import forms

    declared, live, cluster = job.goal, job.seen.live, lookup.cluster
    form = _form(job)
    try:
        if form == AUTO:
            # A VM that would change by its name keeps its values until it is refreshed.
            kept = not takes_names or forms.loses_values(declared.manifest, live, cluster)
            form = EXPANDED if kept else NAMED
        elif form == NAMED and (problem := forms.loses_values(declared.manifest, live, cluster)):
            raise FieldError(SIZES, problem)
        if form == NAMED and live is not None:
            declared.manifest = with_attached(declared.manifest, live)
        if form == EXPANDED:
            declared.manifest = forms.as_expanded(declared.manifest, live, cluster)
    except KubeVirtError as error:
        text = _with_remedy(declared.manifest, lookup) or f"{SIZES}: {error.message}"
        if error.code == _NOT_FOUND:
            raise MissingObject(text) from error
        raise Rejected(text) from error
    if declared.options.get(SIZES):
        declared.facts[SIZES] = form
