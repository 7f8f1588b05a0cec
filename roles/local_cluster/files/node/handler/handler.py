"""Simulates virt-handler of each node: VMIs run, and end when they are deleted or their pod is."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Collection
from typing import Any, Callable

from node.agents import Agents
from node.api.client import ApiError, Client
from node.api.controller import Controller, NotYet
from node.api.informer import Informer, Key, key_of
from node.api.resources import VMI
from node.guests.guests import GuestFailed, Guests
from node.guests.report import SIMULATED, SSH, Report, Told
from node.handler import vmi as steps
from node.handler.vmi import Traits
from node.launcher_pods import FINAL, LauncherPods, behaviour, holds_guest, phase

Manifest = dict[str, Any]

_HERE = ("Scheduled", "Running")
_GRACE = 30  # seconds, KubeVirt's default


class Handler(Controller):
    """Simulates the virt-handlers of all nodes.

    client: for reading; stop_seconds: a guest takes to shut down; guests: the real ones, None for none.
    """

    workers = 16

    def __init__(
        self,
        client: Client,
        agents: Agents,
        vmis: Informer,
        migrations: Informer,
        launcher_pods: LauncherPods,
        nodes: Collection[str],
        traits: Traits,
        stop_seconds: float,
        guests: Guests | None = None,
    ) -> None:
        super().__init__(vmis)
        self._client = client
        self._agents = agents
        self._migrations = migrations
        self._launcher_pods = launcher_pods
        self._nodes = nodes
        self._traits = traits
        self._stop_seconds = stop_seconds
        self._guests = guests
        self._stopping: dict[str, float] = {}  # by uid of the VMI: since when its guest shuts down
        self._phases: dict[str, str] = {}  # of migrations, by uid
        launcher_pods.on_pod_change(self.queue.add)
        migrations.on_change(self._migration_changed)

    def _migration_changed(self, key: Key) -> None:
        migration = self._migrations.get(key)
        if migration is not None:
            self._phases[migration["metadata"]["uid"]] = phase(migration)
            self.queue.add((key[0], migration["spec"]["vmiName"]))

    async def sync(self, key: Key) -> None:
        vmi = self.cache.get(key)
        ended = vmi is None or phase(vmi) in FINAL
        if self._guests is not None:
            await self._guests.keep_only(key, "" if vmi is None or ended else vmi["metadata"]["uid"])
        if vmi is None or ended:
            if vmi is not None:
                self._stopping.pop(vmi["metadata"]["uid"], None)
            return
        if phase(vmi) not in _HERE or vmi["status"].get("nodeName") not in self._nodes:
            return
        if self._is_asked_to_stop(vmi):
            await self._stop(vmi)
        else:
            move = vmi["status"].get("migrationState") or {}
            migration_phase = self._phases.get(move.get("migrationUid", ""), "")
            report = await self._report(vmi)
            await self.change(vmi, lambda copied: self._advance(copied, migration_phase, report))

    async def _report(self, vmi: Manifest) -> Report | None:
        """What is known of the VMI's real guest, which is started if it has to be; None for a simulated one."""
        real = SSH in _annotations(vmi)
        if self._guests is None:
            return Report(ended="Failed") if real and phase(vmi) == "Running" else None
        if behaviour(vmi) or (phase(vmi) == "Running" and not real):
            return None
        try:
            if phase(vmi) == "Scheduled":
                return await self._guests.start(vmi)
            await self._guests.plug(vmi)
            return self._guests.report(vmi)
        except GuestFailed as error:
            message = f"server error. command SyncVMI failed: {error}"
            await self.change(vmi, lambda copied: steps.fail_to_synchronize(copied, message))
            raise NotYet from error

    def _advance(self, vmi: Manifest, migration_phase: str, report: Report | None) -> None:
        if report is not None and SIMULATED in report.annotations:
            vmi["metadata"].setdefault("annotations", {}).update(report.annotations)
            report = None
        steps.advance(vmi, self._traits, self._pod_ip(vmi), migration_phase, report)

    async def command(self, key: Key, name: str) -> None:
        """Carries out a command of virt-api in a real guest. Raises CommandFailed (see `channel`)."""
        vmi = self.cache.get(key)
        if self._guests is not None and vmi is not None:
            await self._guests.command(vmi, name)

    def told(self, vmi: Manifest) -> Told | None:
        """What the agent in the guest has told; None without one."""
        if self._guests is None or SSH not in _annotations(vmi):
            return steps.simulated(vmi, self._traits)
        return self._guests.report(vmi).told

    async def change(self, vmi: Manifest, step: Callable[[Manifest], None]) -> None:
        """Lets a step change the VMI, and writes it as the virt-handler of its node if it has."""
        changed = copy.deepcopy(vmi)
        step(changed)
        if changed == vmi:
            return
        client = self._agents.client(vmi["status"]["nodeName"])
        self.cache.observe(await client.update(VMI, changed))

    async def change_with_retry(self, key: Key, step: Callable[[Manifest], None]) -> None:
        """Like `change`, but tries again with the newest VMI if another client has written it. Raises ApiError."""
        vmi = self.cache.get(key)
        while True:
            try:
                await self.change(vmi or await self._client.get(VMI, *key), step)
                return
            except ApiError as error:
                if error.code != 409:
                    raise
                vmi = None

    def _is_asked_to_stop(self, vmi: Manifest) -> bool:
        """virt-launcher shuts its guest down, too, when its pod is deleted."""
        if vmi["metadata"].get("deletionTimestamp") or vmi["metadata"]["uid"] in self._stopping:
            return True
        return any(
            pod["metadata"].get("deletionTimestamp") and holds_guest(pod, vmi)
            for pod in self._launcher_pods.pods_of(vmi)
        )

    async def _stop(self, vmi: Manifest) -> None:
        """Ends the VMI once its guest has shut down; a forced stop gives it less time meanwhile."""
        clock = asyncio.get_running_loop().time
        began = self._stopping.setdefault(vmi["metadata"]["uid"], clock())
        grace = vmi["spec"].get("terminationGracePeriodSeconds", _GRACE)
        guests = self._guests if self._guests is not None and self._guests.is_real(vmi) else None
        ended = guests.report(vmi).ended if guests is not None else ""
        remaining = began + (grace if guests is not None else min(self._stop_seconds, grace)) - clock()
        if remaining > 0 and not ended:
            self.queue.add_after(key_of(vmi), remaining)
            if guests is not None:
                await guests.shut_down(vmi)
        else:
            if guests is not None and not ended:
                await guests.destroy(vmi)
                ended = guests.report(vmi).ended
            await self.change(vmi, lambda copied: steps.end(copied, ended or "Succeeded"))

    def _pod_ip(self, vmi: Manifest) -> str:
        for pod in self._launcher_pods.pods_of(vmi):
            if holds_guest(pod, vmi):
                return str((pod.get("status") or {}).get("podIP") or "")
        return ""


def _annotations(vmi: Manifest) -> dict[str, str]:
    return vmi["metadata"].get("annotations") or {}
