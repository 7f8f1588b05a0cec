"""Embedded metadata as Go writes them: until KubeVirt 1.7 with `creationTimestamp: null`."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.behaviour import Behaviour

Manifest = dict[str, Any]


def of_spec(spec: Manifest, behaviour: Behaviour) -> Manifest:
    """A VM's spec with such metadata in its templates."""
    if not behaviour.writes_null_timestamps:
        return spec
    spec = {**spec, "template": of_object(spec["template"], behaviour)}
    if spec.get("dataVolumeTemplates"):
        spec["dataVolumeTemplates"] = [of_object(volume, behaviour) for volume in spec["dataVolumeTemplates"]]
    return spec


def of_object(manifest: Manifest, behaviour: Behaviour) -> Manifest:
    """An object with such metadata, for an embedded or never stored object."""
    if not behaviour.writes_null_timestamps:
        return manifest
    return {**manifest, "metadata": {"creationTimestamp": None, **(manifest.get("metadata") or {})}}
