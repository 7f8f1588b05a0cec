"""The interface by which capabilities add to the declaration of VMs.

The file of a module names its extensions, so that the core imports none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from ..._resolver.api.errors import FieldError
from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.change.declared import DeclareJob, refuse
from ..._resolver.change.step import UNKNOWN_IN_CHECK_MODE, Decision, Facts, Step
from ..._resolver.choose.rejected import MissingObject, Rejected
from ..._resolver.declare.option_rows import Table
from ..._resolver.declare.vm.options import VM
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.lookup import ClusterLookup
from ..task import Task

if TYPE_CHECKING:
    from ..._resolver.preflight.findings import Check


class VMTask:
    """A task that declares VMs.

    options: the options of the module. table: all options of a VM. lookup: reads each object of the cluster once.
    warnings: texts that the task shows. secrets: texts that no result may show. Extensions add to both.
    """

    def __init__(
        self,
        options: Options,
        session: Session,
        task: Task,
        extensions: Sequence[type[VMExtension]],
        table: Table = VM,
    ) -> None:
        self.options, self.session, self.task, self.table = options, session, task, table
        self.warnings, self.secrets = task.warnings, task.secrets
        self.lookup = ClusterLookup(session)
        self.extensions = [extension(self) for extension in extensions]

    def obstacle(self, vm: Manifest) -> str | None:
        """Why the cluster would not run a VM, as far as the extensions know; None if it would."""
        return next(filter(None, (extension.obstacle(vm) for extension in self.extensions)), None)


class VMExtension:
    """A capability's addition to a task that declares VMs.

    checks: further findings about a VM that KubeVirt admits. needs_connection: options that need an answer of a server,
    each with what to set instead. needs_none: values of these options that need none. kept: keys that it adds to
    results, also of failed VMs.
    """

    checks: ClassVar[tuple[Check, ...]] = ()
    needs_connection: ClassVar[Mapping[str, str]] = {}
    needs_none: ClassVar[frozenset[str]] = frozenset()
    kept: ClassVar[tuple[str, ...]] = ()

    def __init__(self, task: VMTask) -> None:
        self.task = task

    @property
    def complete(self) -> tuple[Step, ...]:
        """The steps that complete VMs which are to be present, before they are planned."""
        return ()

    @property
    def findings(self) -> tuple[Step, ...]:
        """The steps that add findings about VMs to be written or deleted."""
        return ()

    @property
    def after(self) -> tuple[Step, ...]:
        """The steps after a VM is written. One with the name RELATED writes its `related_changes`."""
        return ()

    def obstacle(self, vm: Manifest) -> str | None:
        """Why the cluster would not run a VM; None if it would, or if the task does not ask."""
        return None


def completing(option: str, complete: Callable[[DeclareJob], None], check_mode: bool) -> Step:
    """The step that completes jobs which have an option. One that fails gets a problem.

    In check mode a missing object is a warning, because an earlier task might create it.
    """

    def decide(job: DeclareJob, _facts: Facts) -> Decision:
        try:
            complete(job)
        except MissingObject as error:
            if check_mode:
                job.warn(f"{error}; {UNKNOWN_IN_CHECK_MODE}")
            else:
                refuse(job, str(error))
        except (Rejected, FieldError, RequestFailed) as error:
            refuse(job, str(error))
        return None

    return Step(option, decide, takes=lambda job: job.goal.options.get(option) is not None)
