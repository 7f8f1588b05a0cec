"""The facts about instancetypes and preferences by which users choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..api import schema
from ..api.keys import CATALOG_LABEL, CATALOG_VERSION_LABEL, MANAGED_BY_LABEL
from ..api.manifest import Manifest
from ..api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND
from ..api.quantity import parse
from ..api.state import ACTIVE, state_of
from ..api.tree import value_at
from ..choose.fitting import series_of, size_of
from ..kubevirt.instancetype import topology
from .labels import architecture_of, class_of, os_of, shown_of

Facts = dict[str, Any]

# Feature → the field that enables it unless absent or false. For instancetypes these are demands on the node.
INSTANCETYPE_FEATURES: Final = {
    "dedicated_cpu": "cpu.dedicatedCPUPlacement",
    "isolated_emulator_thread": "cpu.isolateEmulatorThread",
    "numa": "cpu.numa",
    "realtime": "cpu.realtime",
    "max_sockets": "cpu.maxSockets",
    "hugepages": "memory.hugepages",
    "overcommit": "memory.overcommitPercent",
    "max_memory": "memory.maxGuest",
    "gpus": "gpus",
    "host_devices": "hostDevices",
    "io_threads": "ioThreadsPolicy",
    "launch_security": "launchSecurity",
    "node_selector": "nodeSelector",
    "scheduler": "schedulerName",
}
PREFERENCE_FEATURES: Final = {
    "bios": "firmware.preferredUseBios",
    "efi": "firmware.preferredEfi",
    "secure_boot": "firmware.preferredEfi.secureBoot",
    "tpm": "devices.preferredTPM",
    "smm": "features.preferredSmm",
    "hyperv": "features.preferredHyperv",
    "clock": "clock",
    "multi_queue": "devices.preferredNetworkInterfaceMultiQueue",
    "block_multi_queue": "devices.preferredBlockMultiQueue",
    "dedicated_io_thread": "devices.preferredDiskDedicatedIoThread",
    "input": "devices.preferredInputType",
    "rng": "devices.preferredRng",
    "video": "devices.preferredVideoType",
    "sound": "devices.preferredSoundModel",
    "virtio_transitional": "devices.preferredUseVirtioTransitional",
    "launch_security": "preferredLaunchSecurity",
}


def facts(manifest: Manifest) -> Facts:
    """The facts about an instancetype or preference, with memory as a quantity and in bytes.

    vcpus, memory: the size that an instancetype gives or a preference requires (0 for none).
    Raises FieldError for a spec that does not match the schema.
    """
    matcher_field = MATCHER_FIELD_OF_KIND[manifest["kind"]]
    metadata = manifest["metadata"]
    labels, state = metadata.get("labels") or {}, state_of(manifest)
    spec = schema.canonical(matcher_field.spec_type, manifest.get("spec"))
    is_instancetype = matcher_field is INSTANCETYPE
    source = spec if is_instancetype else spec.get("requirements", {})
    memory = str(source.get("memory", {}).get("guest") or "0")
    result: Facts = {
        "kind": manifest["kind"],
        "name": metadata["name"],
        "namespace": metadata.get("namespace") or "",
        "labels": labels,
        "annotations": metadata.get("annotations") or {},
        "generation": metadata.get("generation"),
        "vcpus": source.get("cpu", {}).get("guest") or 0,
        "memory": memory,
        "memory_bytes": parse(memory).value,
        "features": _features(spec, INSTANCETYPE_FEATURES if is_instancetype else PREFERENCE_FEATURES),
        "catalog": labels.get(CATALOG_LABEL, ""),
        "catalog_version": labels.get(CATALOG_VERSION_LABEL, ""),
        "managed_by": labels.get(MANAGED_BY_LABEL, ""),
        "deprecated": state.name != ACTIVE,
        "state": state.name,
        "replacement": state.replacement,
        "obsolete_from": state.obsolete_from,
        **shown_of(manifest),
        "spec": manifest.get("spec") or {},
    }
    if is_instancetype:
        series = series_of(metadata["name"])
        result.update({"class": class_of(manifest), "series": series, "size": size_of(manifest)})
    else:
        result.update(
            os=os_of(manifest), architecture=architecture_of(manifest), topology=topology.preferred(spec) or "sockets"
        )
    return result


def manifest_of(object_facts: Mapping[str, Any]) -> Manifest:
    """The instancetype or preference that has these facts."""
    parts = ("name", "namespace", "labels", "annotations", "generation")
    metadata = {part: object_facts[part] for part in parts}
    return {"kind": object_facts["kind"], "metadata": metadata, "spec": object_facts["spec"]}


def _features(spec: Manifest, paths: dict[str, str]) -> list[str]:
    # An empty object counts as set.
    return [name for name, path in paths.items() if value_at(spec, path.split(".")) not in (None, False, 0, "", [])]


def place(object_facts: Facts) -> tuple[str, str]:
    """Namespace and name, by which results are sorted."""
    return object_facts["namespace"], object_facts["name"]
