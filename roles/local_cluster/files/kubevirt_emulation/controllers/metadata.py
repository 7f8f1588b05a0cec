"""What virt-controller writes into a VM: observed API versions, its finalizer, a missing firmware UUID."""

from __future__ import annotations

from typing import Any

from _resolver.instancetype.vmi.vmi import firmware_uuid
from kubevirt_emulation.controllers.context import Context, Work
from kubevirt_emulation.controllers.vm_state import FINALIZER

Manifest = dict[str, Any]

OBSERVED = {
    "kubevirt.io/latest-observed-api-version": "v1",
    "kubevirt.io/storage-observed-api-version": "v1",
}


async def sync(context: Context, work: Work) -> None:
    patch = _patch(work.vm, context.configuration.behaviour.adds_firmware_uuid)
    if patch:
        answer = await context.patch_vm(work.vm, patch)
        work.vm = {**answer, "status": answer.get("status") or {}}


def _patch(vm: Manifest, with_firmware_uuid: bool) -> Manifest:
    metadata = vm["metadata"]
    annotations = metadata.get("annotations") or {}
    missing = {key: value for key, value in OBSERVED.items() if annotations.get(key) != value}
    patch: Manifest = {}
    if missing:
        patch["annotations"] = missing
    finalizers = metadata.get("finalizers") or []
    if FINALIZER not in finalizers:
        patch["finalizers"] = [*finalizers, FINALIZER]
    result = {"metadata": patch} if patch else {}
    domain = vm["spec"]["template"]["spec"]["domain"]
    if with_firmware_uuid and not (domain.get("firmware") or {}).get("uuid"):
        firmware = {"uuid": firmware_uuid(metadata["name"])}
        result["spec"] = {"template": {"spec": {"domain": {"firmware": firmware}}}}
    return result
