"""The steps of a VMI on its node. Each changes the VMI that it is given, and nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

from node.api.clock import now
from node.handler import conditions, guest, interfaces, migration, volumes

Manifest = dict[str, Any]


class Traits(NamedTuple):
    """Properties of all guests.

    agent: they have a guest agent. migratable: they can be migrated. link_state: interfaces tell it, from 1.5 on.
    """

    agent: bool = True
    migratable: bool = False
    link_state: bool = True


def advance(vmi: Manifest, traits: Traits, pod_ip: str = "", migration_phase: str = "") -> None:
    """The next step of a VMI that is Scheduled or Running."""
    spec, status = vmi["spec"], vmi["status"]
    starts = status.get("phase") == "Scheduled"
    if starts:
        transition(status, "Running")
        if spec.get("startStrategy") == "Paused":
            pause(status)
    status.setdefault("machine", {})["type"] = guest.machine(spec)
    status.setdefault("selinuxContext", "none")  # without one virt-controller makes no pod beside the first
    memory = (spec["domain"].get("memory") or {}).get("guest")
    if starts and memory is not None:
        for name in ("guestAtBoot", "guestCurrent", "guestRequested"):
            status.setdefault("memory", {})[name] = memory
    volumes.advance(vmi)
    interfaces.advance(vmi, pod_ip, traits.agent, starts, traits.link_state)
    if traits.agent:
        conditions.put(status, "AgentConnected")
        if not (status.get("guestOSInfo") or {}).get("name"):
            status["guestOSInfo"] = dict(guest.SYSTEM)
    if traits.migratable:
        conditions.put(status, "LiveMigratable")
        conditions.put(status, "StorageLiveMigratable")
        status.setdefault("migrationMethod", "LiveMigration")
    migration.advance(vmi, migration_phase)
    if traits.migratable and not _is_migrating(status):
        # On a cluster these arrive with a migration that the workload updater starts, if it may.
        migration.plug_cpu(vmi)
        migration.plug_memory(vmi)


def end(vmi: Manifest) -> None:
    """The guest has shut down."""
    transition(vmi["status"], "Succeeded")


def transition(status: Manifest, phase: str) -> None:
    status["phase"] = phase
    moment = {"phase": phase, "phaseTransitionTimestamp": now()}
    status["phaseTransitionTimestamps"] = [*(status.get("phaseTransitionTimestamps") or []), moment]


def pause(status: Manifest) -> None:
    conditions.put(status, "Paused", "PausedByUser", "VMI was paused by user")


def _is_migrating(status: Manifest) -> bool:
    state = status.get("migrationState") or {}
    return bool(state) and not state.get("completed") and not state.get("failed")
