"""Metadata as Go writes it where it is not an object's own: until KubeVirt 1.7 with `creationTimestamp: null`."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.behaviour import Behaviour

Manifest = dict[str, Any]


def of_spec(spec: Manifest, behaviour: Behaviour) -> Manifest:
    """A VM's spec with the metadata of its templates so."""
    if not behaviour.writes_null_timestamps:
        return spec
    spec = {**spec, "template": of_object(spec["template"], behaviour)}
    if spec.get("dataVolumeTemplates"):
        spec["dataVolumeTemplates"] = [of_object(volume, behaviour) for volume in spec["dataVolumeTemplates"]]
    return spec


def of_object(manifest: Manifest, behaviour: Behaviour) -> Manifest:
    """An object that is within another one, or was never stored, with its own metadata so."""
    if not behaviour.writes_null_timestamps:
        return manifest
    return {**manifest, "metadata": {"creationTimestamp": None, **(manifest.get("metadata") or {})}}
