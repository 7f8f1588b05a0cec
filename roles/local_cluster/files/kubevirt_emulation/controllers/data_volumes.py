"""DataVolumes of a VM's dataVolumeTemplates. CDI is not imitated: they stay as they are created."""

from __future__ import annotations

from _resolver.instancetype.find import revision
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.controllers.context import Context, Work
from kubevirt_emulation.resources import DATA_VOLUME


async def sync(context: Context, work: Work) -> None:
    """Creates the DataVolumes that are missing."""
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
                "ownerReferences": [revision.owner_reference(vm)],
            },
            "spec": template["spec"],
        }
        try:
            cache.observe(await context.client.create(DATA_VOLUME, namespace, body))
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise


async def are_ready(context: Context, work: Work) -> bool:
    """Whether all DataVolumes of templates have been filled."""
    namespace = work.vm["metadata"]["namespace"]
    volumes = [
        context.caches["DataVolume"].get((namespace, template["metadata"]["name"]))
        for template in work.vm["spec"].get("dataVolumeTemplates") or []
    ]
    return all(volume is not None and (volume.get("status") or {}).get("phase") == "Succeeded" for volume in volumes)
