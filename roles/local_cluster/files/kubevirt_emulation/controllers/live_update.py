"""Changes of a running VM: what can change in the guest is changed in the VMI, the rest asks for a restart."""

from __future__ import annotations

from typing import Any, NamedTuple

from _resolver import find, quantity, vmi
from _resolver.copying import copy
from _resolver.defaults import Configuration
from kubevirt_emulation.controllers import vmi_state
from kubevirt_emulation.controllers.context import Context, Work
from kubevirt_emulation.controllers.start_revisions import StartRevisions
from kubevirt_emulation.controllers.vm_state import condition
from kubevirt_emulation.controllers.vmi_factory import GENERATION

Manifest = dict[str, Any]

_OTHER_FIELD = "a non-live-updatable field was changed in the template spec"
_MEMORY = "memory updated in template spec. Memory-hotplug is only available for migratable VMs"
_FEWER_SOCKETS = "Reduction of CPU socket count requires a restart"
_TOO_MANY_SOCKETS = "CPU sockets updated in template spec to a value higher than what's available"
_MULTIQUEUE = "Changes to CPU sockets require a restart when NetworkInterfaceMultiQueue is enabled"
# Fields of a VMI's spec, besides sockets and memory, that KubeVirt changes while the guest runs.
_LIVE_FIELDS = ("nodeSelector", "affinity", "tolerations")


class Update(NamedTuple):
    """patch: JSON patch of the VMI, empty for no change. restart_required: why a restart is needed."""

    patch: tuple[Manifest, ...] = ()
    restart_required: str | None = None


async def observe_generation(context: Context, revisions: StartRevisions, work: Work) -> None:
    """Notes in the VMI that it is that of the VM's present generation, as far as the template goes."""
    instance = work.vmi
    started = revisions.spec(work.vm, instance) if instance is not None else None
    if instance is None or started is None or started["template"] != work.vm["spec"]["template"]:
        return
    generation = str(work.vm["metadata"]["generation"])
    if (instance["metadata"].get("annotations") or {}).get(GENERATION) != generation:
        work.vmi = await context.patch_vmi(instance, {"metadata": {"annotations": {GENERATION: generation}}})


async def sync(context: Context, revisions: StartRevisions, work: Work) -> None:
    """Changes the VMI, or notes in `work` that a restart is needed."""
    vm, instance = work.vm, work.vmi
    if instance is None or vmi_state.phase(instance) != "Running" or vmi_state.is_being_deleted(instance):
        return
    started = revisions.spec(vm, instance)
    if started is None:
        return
    update = await context.objects.resolve(
        lambda lookup: compare(vm, started, instance, lookup, context.configuration.defaults)
    )
    work.restart_required = update.restart_required
    # While a restart is asked for, nothing is changed live.
    waits = update.restart_required is not None and condition(vm, "RestartRequired") is not None
    if update.patch and not waits:
        work.vmi = await context.patch_vmi(instance, list(update.patch))


def compare(
    vm: Manifest, started: Manifest, instance: Manifest, lookup: find.Lookup, defaults: Configuration
) -> Update:
    """Pure: what the VM's changes since its start mean. started: its spec then; instance: its running VMI."""
    then = vmi.build({**vm, "spec": started, "status": {}}, lookup, defaults).spec
    now = vmi.build(vm, lookup, defaults).spec
    if then is None or now is None:
        return Update()
    if _fixed(then) != _fixed(now):
        return Update(restart_required=_OTHER_FIELD)
    running = instance["spec"]
    sockets = _sockets(now, running)
    patch = [_set(field, now.get(field)) for field in _LIVE_FIELDS if now.get(field) != running.get(field)]
    if isinstance(sockets, int):
        patch.append(_set("domain/cpu/sockets", sockets))
    restart = sockets if isinstance(sockets, str) else None
    return Update(tuple(patch), _MEMORY if _memory_differs(now, running) else restart)


def _set(field: str, value: Any) -> Manifest:
    if value is None:
        return {"op": "remove", "path": f"/spec/{field}"}
    return {"op": "add", "path": f"/spec/{field}", "value": value}


def _sockets(now: Manifest, running: Manifest) -> int | str | None:
    """The sockets that the guest is to get, or why that needs a restart; None for no change."""
    cpu, current = now["domain"].get("cpu") or {}, running["domain"].get("cpu") or {}
    wanted, present = cpu.get("sockets", 0), current.get("sockets", 0)
    if not cpu or not current or wanted == present:
        return None
    if wanted > current.get("maxSockets", 0):
        return _TOO_MANY_SOCKETS
    if wanted < present:
        return _FEWER_SOCKETS
    if now["domain"]["devices"].get("networkInterfaceMultiqueue"):
        return _MULTIQUEUE
    return int(wanted)


def _memory_differs(now: Manifest, running: Manifest) -> bool:
    wanted, present = ((spec["domain"].get("memory") or {}).get("guest") for spec in (now, running))
    return bool(wanted and present and quantity.parse(wanted).nanos != quantity.parse(present).nanos)


def _fixed(spec: Manifest) -> Manifest:
    """The spec without what can change while the guest runs."""
    fixed = copy({key: value for key, value in spec.items() if key not in _LIVE_FIELDS})
    (fixed["domain"].get("cpu") or {}).pop("sockets", None)
    memory = fixed["domain"].get("memory")
    if memory is not None:
        memory.pop("guest", None)
        if not memory:
            del fixed["domain"]["memory"]
    return fixed
