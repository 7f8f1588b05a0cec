"""The option `workload` of VMs: chooses boot source, preference and the smallest instancetype that runs."""

from __future__ import annotations

import json
from functools import cache
from typing import Final

from ..._cluster.modules.virtual_machine import vm_from_options
from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.reads.surroundings import list_if_permitted
from ..._cluster.writes.vm_extension import VMTask
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, Options, name_of
from ..._resolver.api.matcher import INSTANCETYPE, PREFERENCE, MatcherField
from ..._resolver.change.declared import DeclareJob
from ..._resolver.choose.rejected import Rejected
from ..stored_choice import StoredChoice, stored_choice
from ..workload import AvailableObjects, WorkloadRequest, apply_choice, request_of, resolve, size_option

_SOURCE: Final = KINDS["DataSource"]


class Workloads:
    """Chooses once for all new VMs of a namespace with the same options."""

    def __init__(self, task: VMTask) -> None:
        self._task = task
        self._data_sources = cache(self._list_data_sources)
        self._choices: dict[str, Options] = {}

    def completed(self, job: DeclareJob) -> None:
        """Gives the declared VM what is chosen for its workload. Raises Rejected, FieldError and RequestFailed."""
        options = job.goal.options
        size, stored = size_option(options), stored_choice(job.seen.live) if job.seen.live is not None else None
        if job.seen.live is None:
            choice = chosen = self._choice(job)
        elif stored is None:
            problem = "workload: the VM exists, and was not declared with a workload"
            raise Rejected(f"{problem}; set boot, instancetype and preference")
        elif stored.workload != options["workload"]:
            problem = f"workload: the VM was created for {stored.workload}, and keeps its disk"
            raise Rejected(f"{problem}; declare a VM of another name")
        elif not size or size == stored.size:
            choice, size = stored.choice, stored.size
            chosen = {**choice, "reasons": ["the VM keeps what was chosen for it", *choice["reasons"]]}
        else:
            choice = chosen = self._resized(job, stored)
        options = apply_choice(options, choice, size)
        job.goal.options, job.goal.manifest = options, vm_from_options(options, self._task.table)
        job.goal.facts["choice"] = chosen

    def _choice(self, job: DeclareJob) -> Options:
        namespace, options = job.key.namespace, job.goal.options
        key = json.dumps({**options, "name": "", "namespace": namespace}, sort_keys=True, default=str)
        if key not in self._choices:
            sources, notes = (None, []) if options.get("boot") else self._data_sources(namespace)
            objects = [*self._list(PREFERENCE, namespace), *self._list(INSTANCETYPE, namespace)]
            choice = self._smallest_runnable(options, request_of(options), AvailableObjects(objects, sources))
            self._choices[key] = {**choice, "reasons": [*choice["reasons"], *notes]}
        return self._choices[key]

    def _resized(self, job: DeclareJob, stored: StoredChoice) -> Options:
        namespace, options = job.key.namespace, job.goal.options
        preference = stored.choice["preference"]
        preferences = [
            manifest
            for manifest in self._list(PREFERENCE, namespace)
            if {"name": name_of(manifest), "kind": manifest["kind"]} == preference
        ]
        available = AvailableObjects([*preferences, *self._list(INSTANCETYPE, namespace)])
        request = request_of(options)._replace(workload=preference["name"])
        choice = self._smallest_runnable(options, request, available)
        reasons = ["the VM keeps its boot source and its preference", choice["reasons"][-1]]
        kept: Options = {name: stored.choice[name] for name in ("boot", "preference") if name in stored.choice}
        return {**choice, **kept, "reasons": reasons}

    def _smallest_runnable(self, options: Options, request: WorkloadRequest, available: AvailableObjects) -> Options:
        """The smallest choice that the quotas and nodes let run, as far as the task asks for it.

        If none runs, the smallest, which the task then refuses or warns of.
        """
        refused: dict[tuple[str, str], str] = {}
        smallest: Options | None = None
        while True:
            try:
                choice = resolve(request, available._replace(refused=refused), kubevirt(self._task.session).release)
            except Rejected:
                if smallest is None:
                    raise
                return smallest
            smallest = smallest or choice
            vm = vm_from_options(apply_choice(options, choice, {}), self._task.table)
            obstacle = self._task.obstacle(vm)
            if obstacle is None:
                return choice
            instancetype = choice[INSTANCETYPE.name]
            refused[instancetype["kind"], instancetype["name"]] = obstacle

    def _list(self, matcher_field: MatcherField, namespace: str) -> list[Manifest]:
        """The objects that VMs of a namespace can name in the field. Raises Rejected if they cannot be listed."""
        objects = []
        for kind, place in ((matcher_field.cluster_kind, ""), (matcher_field.kind, namespace)):
            if problem := self._task.lookup.problem(kind, place):
                raise Rejected(problem.message)
            objects += self._task.lookup.list(kind, place)
        return objects

    def _list_data_sources(self, namespace: str) -> tuple[list[Manifest], list[str]]:
        """(the DataSources of all namespaces, notes). If the user may not list them, only the DataSources of the VM's
        namespace, and a note.
        """
        notes: list[str] = []
        live = list_if_permitted(self._task.session, _SOURCE, notes)
        if live is None and notes:
            live = list_if_permitted(self._task.session, _SOURCE, [], namespace)
            notes = ["only the DataSources of the VM's namespace count, because you may not list the others"]
        return live or [], notes
