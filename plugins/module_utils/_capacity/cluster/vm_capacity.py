"""The options `preflight_quota` and `preflight_placement` of VMs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from ..._cluster.client.errors import RequestFailed, TaskFailed
from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.task import Task
from ..._cluster.writes.vm_extension import VMExtension
from ..._resolver.api.errors import FieldError, first_of
from ..._resolver.api.manifest import Manifest
from ..._resolver.change.declared import DeclareJob
from ..._resolver.change.step import Facts, Step
from ..._resolver.declare.virtual_machine import as_created
from ..vm_options import PLACEMENT, QUOTA

Options = dict[str, Any]

_OPTIONS: Final = (QUOTA, PLACEMENT)
_VERDICT: Final = "will_run"


class _Verdicts(NamedTuple):
    """The verdicts about the VMs of a task.

    verdicts: {evaluated, fits, problem} of each VM that is to run, by namespace and name.

    refusals: why the task must not send anything. refused: the VMs for which it must not.
    """

    verdicts: dict[tuple[str, str], Options]
    warnings: list[str]
    refusals: list[str]
    refused: set[tuple[str, str]]


class Capacity(VMExtension):
    kept = (_VERDICT,)

    @property
    def complete(self) -> tuple[Step, ...]:
        return (Step("capacity", prepare=self._note_verdicts),)

    def _note_verdicts(self, jobs: Sequence[DeclareJob], _facts: Facts) -> None:
        """Tells whether VMs fit, as far as the task asks for it. Raises TaskFailed for VMs that do not."""
        verdicts, warnings, refusals, refused = self._judge([job.goal.manifest for job in jobs])
        self.task.warnings += warnings
        if refusals:
            results = [
                {
                    "namespace": key[0],
                    "name": key[1],
                    _VERDICT: will_run,
                    "kind": "VirtualMachine",
                    "action": "none",
                    "changed": False,
                    "failed": key in refused,
                    **({"msg": will_run["problem"]} if key in refused else {}),
                }
                for key, will_run in verdicts.items()
            ]
            raise TaskFailed(f"{'; '.join(refusals)}. Nothing was sent", changed=False, results=results)
        for job in jobs:
            job.goal.facts[_VERDICT] = verdicts.get((job.key.namespace, job.key.name))

    def obstacle(self, vm: Manifest) -> str | None:
        found = next(iter(self._judge([vm]).verdicts.values()), None)
        return None if found is None or found["fits"] or not found["evaluated"] else found["problem"]

    def _judge(self, manifests: Iterable[Manifest]) -> _Verdicts:
        levels = {name: level for name in _OPTIONS if (level := self.task.options[name]) != "off"}
        if not levels:
            return _Verdicts({}, [], [], set())
        from ..pod.render import KEEP, MIGRATE, joint_verdict
        from .reads import read_placement, read_quota_effects

        session = self.task.session
        checks: dict[str, Callable[[list[Manifest]], tuple[Options, list[str]]]] = {
            QUOTA: lambda vms: read_quota_effects(session, vms, KEEP),
            PLACEMENT: lambda vms: read_placement(session, vms, [], [], MIGRATE, Task()),
        }
        # A new VM gets a run strategy and memory.
        created = map(as_created, manifests)
        vms = [
            vm for vm in created if vm["spec"].get("runStrategy") != "Halted" and vm["spec"].get("running") is not False
        ]
        lines_by_vm: dict[tuple[str, str], list[Options]] = {}
        warnings: list[str] = []
        refusals: list[str] = []
        refused: set[tuple[str, str]] = set()
        for option, level in levels.items() if vms else ():
            problems: list[str] = []
            lines: list[Options] = []
            try:
                checked, check_warnings = checks[option](vms)
                lines = checked["virtual_machines"]
                warnings += [*check_warnings, kubevirt(session).assumption]
            except (RequestFailed, FieldError) as error:
                problems.append(str(error))
            for line in lines:
                key = (line["namespace"], line["name"])
                lines_by_vm.setdefault(key, []).append(line)
                if line["fits"]:
                    continue
                problem = f"{key[0]}/{key[1]}: {line['problem']}"
                if not line["evaluated"]:
                    warnings.append(f"{option}: {problem}")
                else:
                    problems.append(problem)
                    refused |= {key} if level == "strict" else set()
            if problems:
                (refusals if level == "strict" else warnings).append(f"{option}: {first_of(problems)}")
        verdicts = {key: joint_verdict(lines) for key, lines in lines_by_vm.items()}
        return _Verdicts(verdicts, [text for text in dict.fromkeys(warnings) if text], refusals, refused)
