"""The schemas of virt-api and of the CRD, which reject a VM before any rule applies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .rule import DUPLICATE, INVALID, NOT_SUPPORTED, REQUIRED, Cause, Spec

_MAX_ENTRIES: Final = 256
_LISTS: Final = ("accessCredentials", "networks", "volumes", "utilityVolumes")
_DEVICE_LISTS: Final = ("disks", "interfaces")
_DNS_POLICIES: Final = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_REBOOT_POLICIES: Final = ("Reboot", "Terminate")


def causes(vm: Spec) -> Iterator[Cause]:
    """The causes for a VM's spec as it was declared. The canonical form has values where these fields are missing."""
    template = vm.get("template")
    if template is None:
        yield _required("spec.template")
    else:
        yield from _template_causes(template.get("spec") or {}, "spec.template.spec")


def _template_causes(spec: Spec, path: str) -> Iterator[Cause]:
    yield from _choice(spec.get("dnsPolicy"), _DNS_POLICIES, f"{path}.dnsPolicy")
    for probe in ("livenessProbe", "readinessProbe"):
        for action in ("tcpSocket", "httpGet"):
            if _lacks((spec.get(probe) or {}).get(action), "port"):
                yield _required(f"{path}.{probe}.{action}.port")
    yield from _volumes(spec.get("volumes") or [], f"{path}.volumes")
    domain = spec.get("domain") or {}
    boot = ((domain.get("firmware") or {}).get("kernelBoot") or {}).get("container") or {}
    yield from _choice(
        boot.get("imagePullPolicy"), _PULL_POLICIES, f"{path}.domain.firmware.kernelBoot.container.imagePullPolicy"
    )
    yield from _supported(domain.get("rebootPolicy"), _REBOOT_POLICIES, f"{path}.domain.rebootPolicy")
    devices = domain.get("devices") or {}
    for field, entries in (
        *((f"{path}.{name}", spec.get(name)) for name in _LISTS),
        *((f"{path}.domain.devices.{name}", devices.get(name)) for name in _DEVICE_LISTS),
    ):
        if len(entries or ()) > _MAX_ENTRIES:
            message = f"Too many: {len(entries or ())}: must have at most {_MAX_ENTRIES} items"
            yield Cause(INVALID, message, field)
    claims = [claim.get("name") for claim in spec.get("resourceClaims") or []]
    for index, name in _duplicates(claims):
        yield Cause(DUPLICATE, f'Duplicate value: {{"name":"{name}"}}', f"{path}.resourceClaims[{index}]")
    for number, credential in enumerate(spec.get("accessCredentials") or []):
        method = ((credential.get("sshPublicKey") or {}).get("propagationMethod") or {}).get("qemuGuestAgent") or {}
        field = f"{path}.accessCredentials[{number}].sshPublicKey.propagationMethod.qemuGuestAgent.users"
        for index, name in _duplicates(method.get("users") or []):
            yield Cause(DUPLICATE, f'Duplicate value: "{name}"', f"{field}[{index}]")


def _volumes(volumes: list[Spec], path: str) -> Iterator[Cause]:
    for index, volume in enumerate(volumes):
        if _lacks(volume.get("emptyDisk"), "capacity"):
            yield _required(f"{path}.emptyDisk.capacity")
        image = volume.get("containerDisk") or {}
        yield from _choice(image.get("imagePullPolicy"), _PULL_POLICIES, f"{path}.containerDisk.imagePullPolicy")
        inside, field = volume.get("containerPath") or {}, f"{path}[{index}].containerPath"
        directory = inside.get("path", "/")
        for invalid, message in (
            (not directory.startswith("/"), "path must be absolute (start with '/')"),
            (".." in directory, "path must not contain '..'"),
        ):
            if invalid:
                yield Cause(INVALID, f'Invalid value: "string": {message}', f"{field}.path")
        if inside.get("readOnly") is False:
            message = "readOnly must be true, write access is not supported"
            yield Cause(INVALID, f'Invalid value: "boolean": {message}', f"{field}.readOnly")


def _choice(value: Any, choices: tuple[str, ...], field: str) -> Iterator[Cause]:
    """A cause with virt-api's message. Its path has no index for an entry of a list."""
    if value is not None and value not in choices:
        yield Cause(NOT_SUPPORTED, f"{field} in body should be one of [{' '.join(choices)}]", field)


def _supported(value: Any, choices: tuple[str, ...], field: str) -> Iterator[Cause]:
    """A cause with the CRD's message."""
    if value is not None and value not in choices:
        supported = ", ".join(f'"{choice}"' for choice in choices)
        yield Cause(NOT_SUPPORTED, f'Unsupported value: "{value}": supported values: {supported}', field)


def _lacks(value: Spec | None, field: str) -> bool:
    """Whether an object exists without a required field."""
    return value is not None and field not in value


def _required(field: str) -> Cause:
    return Cause(REQUIRED, f"{field} in body is required", field)


def _duplicates(names: list[Any]) -> Iterator[tuple[int, Any]]:
    """Entries that repeat an earlier one, with their index."""
    return ((index, name) for index, name in enumerate(names) if name in names[:index])
