"""Requests that plug volumes into the running guests of VMs and take them away, before the VMs are written."""

from __future__ import annotations

from functools import partial
from typing import Final

from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, Progress
from ..._resolver.api.tree import value_at
from ..._resolver.change.declared import DeclareJob
from ..._resolver.declare.rewrites import CONTROLLER
from ..._resolver.preflight.plugging import PlugRequests, is_carried_out, is_requested, plug_write
from ..client.session import Session
from ..reads.watch import wait_for
from .send import send

_VM = KINDS["VirtualMachine"]
_LISTS: Final[tuple[tuple[str, ...], ...]] = (
    ("spec", "template", "spec", "volumes"),
    ("spec", "template", "spec", "domain", "devices", "disks"),
)


def plug(session: Session, job: DeclareJob, requests: PlugRequests, timeout: float) -> None:
    """Sends the requests for the volumes of a VM, and waits until virt-controller has carried them out.

    The job fails if that takes longer than the timeout (seconds). Raises RequestFailed.
    """
    key = job.key
    namespace = str(key.namespace)

    def requested(volume: str, options: Manifest) -> bool:
        live = session.get(_VM, namespace, key.name)
        return live is not None and is_requested(live, volume, options)

    def probe(_name: str, live: Manifest | None) -> Progress:
        if live is None:
            return Progress(failed="the VM was deleted while the task waited for its volumes")
        waits = [name for name, options in requests.items() if not is_carried_out(live, name, options)]
        return Progress(not waits, pending=f"virt-controller to plug or unplug the volumes {', '.join(waits)}")

    for volume, options in requests.items():
        write = plug_write(namespace, key.name, volume, options, session.is_dry_run)
        send(session, write, None if session.is_dry_run else partial(requested, volume, options))
    if requests and not session.is_dry_run:
        waited = wait_for(session, _VM, namespace, [key.name], probe, timeout)
        live, job.failed = waited[key.name]
        job.before = job.before._replace(live=live)
        job.written = job.acted = True
        _take_lists_over(job)


def _take_lists_over(job: DeclareJob) -> None:
    """Has the write take the declared lists over from virt-controller, which owns them as it has changed them.

    Otherwise, a volume that the task no longer declares would stay as that of virt-controller.
    """
    step = job.goal.plan
    lists = {path: value_at(step.manifest, path) for path in _LISTS}
    declared = {path: value for path, value in lists.items() if value is not None}
    job.goal.plan = step._replace(taken_from=(*step.taken_from, CONTROLLER), fields={**step.fields, **declared})
