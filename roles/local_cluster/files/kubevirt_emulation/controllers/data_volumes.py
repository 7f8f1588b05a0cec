"""The DataVolumes of a VM's dataVolumeTemplates."""

from __future__ import annotations

from typing import Any

from _resolver.declare.claims import claims
from _resolver.instancetype.find import naming
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.controllers.context import Context, Work
from kubevirt_emulation.resources import DATA_VOLUME

Manifest = dict[str, Any]

_FILLED = ("Succeeded", "PendingPopulation")


async def sync(context: Context, work: Work) -> None:
    """Creates the missing DataVolumes."""
    vm = work.vm
    namespace = vm["metadata"]["namespace"]
    cache = context.caches["DataVolume"]
    for template in vm["spec"].get("dataVolumeTemplates") or []:
        metadata = template["metadata"]
        if cache.get((namespace, metadata["name"])) is not None:
            continue
        body = {
            "apiVersion": DATA_VOLUME.api_version,
            "kind": DATA_VOLUME.kind,
            "metadata": {
                "name": metadata["name"],
                "namespace": namespace,
                "labels": {**(metadata.get("labels") or {}), "kubevirt.io/created-by": vm["metadata"]["uid"]},
                "annotations": metadata.get("annotations") or {},
                "ownerReferences": [naming.owner_reference(vm)],
            },
            "spec": template["spec"],
        }
        try:
            cache.observe(await context.client.create(DATA_VOLUME, namespace, body))
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise


def named_by(vm: Manifest) -> list[str]:
    """The names of the DataVolumes and claims of a VM's templates and volumes."""
    templates = (vm.get("spec") or {}).get("dataVolumeTemplates") or []
    return [*claims(vm), *(template["metadata"]["name"] for template in templates)]


def are_ready(context: Context, vm: Manifest) -> bool:
    """Whether all DataVolumes of templates are filled, or wait for their first consumer."""
    templates = vm["spec"].get("dataVolumeTemplates") or []
    phases = (_phase(context, vm, template["metadata"]["name"]) for template in templates)
    return all(phase in (*_FILLED, "WaitForFirstConsumer") for phase in phases)


def are_filling(context: Context, vm: Manifest) -> bool:
    """Whether one of the VM's DataVolumes is still being filled."""
    volumes = vm["spec"]["template"]["spec"].get("volumes") or []
    phases = (_phase(context, vm, volume["dataVolume"]["name"]) for volume in volumes if "dataVolume" in volume)
    return any(phase not in (None, *_FILLED, "WaitForFirstConsumer") for phase in phases)


def _phase(context: Context, vm: Manifest, name: str) -> str | None:
    """The phase of a DataVolume, "" before its first; None if it does not exist."""
    volume = context.caches["DataVolume"].get((vm["metadata"]["namespace"], name))
    return None if volume is None else (volume.get("status") or {}).get("phase") or ""
