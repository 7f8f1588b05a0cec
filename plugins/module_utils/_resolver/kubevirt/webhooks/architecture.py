"""The architecture of a VM's boot sources, which virt-api prefers over its default."""

from __future__ import annotations

from typing import Any, Final

from ...api.release import Release
from ...api.tree import copy
from ..find.lookup import Lookup

Manifest = dict[str, Any]

_LABEL: Final = "template.kubevirt.io/architecture"
_ARCHITECTURES: Final = ("amd64", "arm64", "s390x")


def with_source_architecture(vm: Manifest, objects: Lookup, release: Release) -> Manifest:
    """A canonical VM with the architecture of its boot sources; unchanged if the VM sets it or they have none.

    The first DataSource of its dataVolumeTemplates with the label of a known architecture counts.
    """
    template = vm["spec"]["template"]
    if template is None or template["spec"].get("architecture") or not release.takes_architecture_of_sources:
        return vm
    architecture = _source_architecture(vm, objects)
    if not architecture:
        return vm
    vm = copy(vm)
    vm["spec"]["template"]["spec"]["architecture"] = architecture
    return vm


def _source_architecture(vm: Manifest, objects: Lookup) -> str:
    for template in vm["spec"].get("dataVolumeTemplates", ()):
        reference = template["spec"].get("sourceRef") or {}
        if reference.get("kind", "").lower() != "datasource":
            continue
        namespace = reference.get("namespace") or vm["metadata"].get("namespace", "")
        source = _source(objects, namespace, reference.get("name", ""))
        architecture = ((source or {}).get("metadata", {}).get("labels") or {}).get(_LABEL)
        if architecture in _ARCHITECTURES:
            return str(architecture)
    return ""


def _source(objects: Lookup, namespace: str, name: str) -> Manifest | None:
    """A DataSource, or the DataSource to which it refers; None if it does not exist or cannot be read."""
    source = objects.get("DataSource", namespace, name)
    if not isinstance(source, dict):
        return None
    other = ((source.get("spec") or {}).get("source") or {}).get("dataSource")
    if other is None:
        return source
    target = objects.get("DataSource", other.get("namespace") or "", other.get("name") or "")
    return target if isinstance(target, dict) else None
