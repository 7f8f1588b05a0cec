"""Metadata as Go writes it where it is not an object's own: until KubeVirt 1.7 with `creationTimestamp: null`."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.behaviour import Behaviour

Manifest = dict[str, Any]


def of_spec(spec: Manifest, behaviour: Behaviour) -> Manifest:
    """A VM's spec with the metadata of its templates so."""
    if not behaviour.writes_null_timestamps:
        return spec
    volumes = [
        {**volume, "metadata": _written(volume.get("metadata"))} for volume in spec.get("dataVolumeTemplates", ())
    ]
    template = {**spec["template"], "metadata": _written(spec["template"].get("metadata"))}
    return {**spec, "template": template, **({"dataVolumeTemplates": volumes} if volumes else {})}


def of_object(manifest: Manifest, behaviour: Behaviour) -> Manifest:
    """An object that is within another one, or was never stored, with its own metadata so."""
    if not behaviour.writes_null_timestamps:
        return manifest
    return {**manifest, "metadata": _written(manifest.get("metadata"))}


def _written(metadata: Manifest | None) -> Manifest:
    return {"creationTimestamp": None, **(metadata or {})}
