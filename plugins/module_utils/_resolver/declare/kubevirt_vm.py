"""The VM that a task of the module kubevirt.core.kubevirt_vm declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..api.manifest import Manifest

MODULES: Final = frozenset(("kubevirt.core.kubevirt_vm", "community.kubevirt.kubevirt_vm", "kubevirt_vm"))
"""The names of the module in tasks."""

_METADATA: Final = ("name", "namespace", "labels", "annotations")
_SPEC: Final = (
    ("instancetype", "instancetype"),
    ("preference", "preference"),
    ("data_volume_templates", "dataVolumeTemplates"),
)


def manifest_of(options: Mapping[str, Any], halted: bool) -> Manifest:
    """The manifest. halted: whether the option `running`, which is a boolean in many spellings, is false."""
    metadata = {name: options[name] for name in _METADATA if options.get(name)}
    if options.get("generate_name"):
        metadata["name"] = f"{options['generate_name']}x"
    return {
        "apiVersion": options.get("api_version") or "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": {
            "runStrategy": options.get("run_strategy") or ("Halted" if halted else "Always"),
            **{field: options[name] for name, field in _SPEC if options.get(name)},
            "template": {
                "metadata": {name: metadata[name] for name in ("labels", "annotations") if name in metadata},
                "spec": options.get("spec") or {"domain": {"devices": {}}},
            },
        },
    }
