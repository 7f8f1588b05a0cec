"""The volumes of a VM: by name, their claims, and the DataVolumes that are created for them."""

from __future__ import annotations

from .manifest import Manifest, name_of

# A DataVolume's claim has the same name.
_CLAIMS = (("dataVolume", "name"), ("persistentVolumeClaim", "claimName"), ("memoryDump", "claimName"))


def volume_of(vm: Manifest, name: str) -> Manifest:
    """The volume of a VM by name, {} if it has none of that name."""
    volumes = ((vm["spec"].get("template") or {}).get("spec") or {}).get("volumes") or ()
    return next((volume for volume in volumes if volume.get("name") == name), {})


def claim_of(volume: Manifest) -> str:
    """The name of a volume's PersistentVolumeClaim, "" for none (``PVCNameFromVirtVolume``)."""
    for source, field in _CLAIMS:
        if volume.get(source) is not None:
            return str(volume[source].get(field) or "")
    return ""


def data_volume_of(volume: Manifest) -> str:
    """The name of a volume's DataVolume, "" for none."""
    return str((volume.get("dataVolume") or {}).get("name") or "")


def template_specs(vm: Manifest) -> dict[str, Manifest]:
    """The specs of a VM's dataVolumeTemplates by name."""
    templates = (vm.get("spec") or {}).get("dataVolumeTemplates") or ()
    return {name_of(template): template.get("spec") or {} for template in templates}
