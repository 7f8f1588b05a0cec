"""start, stop and restart of a VM.

If the run strategy decides, the spec changes. Otherwise a request goes into the VM's status, and the VM controller
carries it out.
"""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.client import Client
from kubevirt_emulation.controllers import vmi_state
from kubevirt_emulation.controllers.vm_state import run_strategy_of
from kubevirt_emulation.resources import VM, VMI
from kubevirt_emulation.subresources.answers import bad_request, conflict, not_found
from kubevirt_emulation.subresources.body import is_dry_run
from kubevirt_emulation.subresources.objects import get

Manifest = dict[str, Any]

_START = {"action": "Start"}


class Power:
    """The three actions. Each takes the options of the body and raises Refused or ApiError."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def start(self, namespace: str, name: str, options: Manifest) -> None:
        vm, vmi = await self._objects(namespace, name)
        if vmi is not None and not vmi_state.is_final(vmi):
            raise conflict("virtualmachine", name, "VM is already running")
        strategy = run_strategy_of(vm)
        request: Manifest = dict(_START)
        if options.get("paused"):
            request["data"] = {"paused": "true"}
        if strategy == "Halted" and not options.get("paused"):
            await self._set_strategy(vm, "Always", options)
        elif strategy in ("Halted", "Manual", "RerunOnFailure"):
            stop = [_stop(vmi)] if vmi is not None else []
            await self._request(vm, [*stop, request], options)
        else:
            raise conflict("virtualmachine", name, f"{strategy} does not support manual start requests")

    async def stop(self, namespace: str, name: str, options: Manifest) -> None:
        vm, vmi = await self._objects(namespace, name)
        running = vmi is not None and not vmi_state.is_final(vmi)
        strategy = run_strategy_of(vm)
        if strategy in ("Always", "Once"):
            await self._set_strategy(vm, "Halted", options)
        elif strategy == "Halted" or not running:
            raise conflict("virtualmachine", name, "VM is not running")
        else:
            assert vmi is not None
            await self._request(vm, [_stop(vmi)], options)

    async def restart(self, namespace: str, name: str, options: Manifest) -> None:
        period = options.get("gracePeriodSeconds")
        if period is not None and period > 0:
            raise bad_request("For force restart, only gracePeriod=0 is supported for now")
        if period is not None and period < 0:
            raise bad_request("gracePeriod has to be greater or equal to 0")
        vm, vmi = await self._objects(namespace, name)
        strategy = run_strategy_of(vm)
        if strategy in ("Halted", "Once"):
            message = f"RunStategy {strategy} does not support manual restart requests"
            raise conflict("virtualmachine", name, message)
        if vmi is None or vmi_state.is_final(vmi):
            raise conflict("virtualmachine", name, "VM is not running: Halted")
        await self._request(vm, [_stop(vmi), dict(_START)], options)

    async def _objects(self, namespace: str, name: str) -> tuple[Manifest, Manifest | None]:
        vm = await get(self._client, VM, namespace, name)
        if vm is None:
            raise not_found("virtualmachine", name)
        return vm, await get(self._client, VMI, namespace, name)

    async def _set_strategy(self, vm: Manifest, strategy: str, options: Manifest) -> None:
        metadata = vm["metadata"]
        dry_run = "?dryRun=All" if is_dry_run(options) else ""
        path = VM.path(metadata["namespace"], metadata["name"]) + dry_run
        # `running` is the deprecated alternative; both together are rejected.
        says_running = vm["spec"].get("running") is not None
        spec: Manifest = {"running": strategy == "Always"} if says_running else {"runStrategy": strategy}
        await self._client.request("PATCH", path, {"spec": spec}, "application/merge-patch+json")

    async def _request(self, vm: Manifest, requests: list[Manifest], options: Manifest) -> None:
        metadata = vm["metadata"]
        pending = (vm.get("status") or {}).get("stateChangeRequests") or []
        if len(requests) == 1 and requests[0]["action"] == "Start" and [p["action"] for p in pending] == ["Stop"]:
            requests = [*pending, *requests]
        elif pending and not (len(requests) == 1 and requests[0]["action"] == "Stop"):
            message = "unable to complete request: stop/start already underway"
            raise conflict("virtualmachine", metadata["name"], message)
        if not is_dry_run(options):
            await self._client.patch(
                VM,
                metadata["namespace"],
                metadata["name"],
                {"status": {"stateChangeRequests": requests}},
                subresource="status",
            )


def _stop(vmi: Manifest) -> Manifest:
    return {"action": "Stop", "uid": vmi["metadata"]["uid"]}
