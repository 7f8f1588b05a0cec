"""Checks of a VM that only older releases make: what needs a feature gate there that is no longer needed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from _resolver.instancetype.vmi.defaults import DEFAULT_ARCHITECTURE
from _resolver.instancetype.webhooks.admission import INVALID, REQUIRED, Cause
from kubevirt_emulation.behaviour import MULTI_ARCHITECTURE, PERSISTENT_STATE

Spec = dict[str, Any]

_TEMPLATE = "spec.template.spec"


def causes(spec: Spec, closed: Collection[str]) -> list[Cause]:
    """What is wrong with the canonical spec of a VM's template, to which all has been applied.

    closed: the gates that the release asks for and the configuration does not open.
    """
    return [
        *(_architecture(spec) if MULTI_ARCHITECTURE in closed else ()),
        *(_persistent_state(spec["domain"]) if PERSISTENT_STATE in closed else ()),
    ]


def _architecture(spec: Spec) -> Iterator[Cause]:
    field = f"{_TEMPLATE}.architecture"
    if spec.get("architecture", DEFAULT_ARCHITECTURE) != DEFAULT_ARCHITECTURE:
        message = f"{_not_enabled(MULTI_ARCHITECTURE)}, invalid entry {field}"
        yield Cause(REQUIRED, message, field)


def _persistent_state(domain: Spec) -> Iterator[Cause]:
    tpm = domain["devices"].get("tpm") or {}
    if tpm.get("persistent") and tpm.get("enabled") is not False:
        yield Cause(INVALID, _not_enabled(PERSISTENT_STATE), f"{_TEMPLATE}.domain.devices.tpm.persistent")
    bootloader = (domain.get("firmware") or {}).get("bootloader") or {}
    if (bootloader.get("efi") or {}).get("persistent"):
        field = f"{_TEMPLATE}.domain.firmware.bootloader.efi.persistent"
        yield Cause(INVALID, _not_enabled(PERSISTENT_STATE), field)


def _not_enabled(gate: str) -> str:
    return f"{gate} feature gate is not enabled in kubevirt-config"
