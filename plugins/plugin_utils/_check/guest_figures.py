"""Figures of a guest in a few words, for tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def figures_text(figures: Mapping[str, Any] | None) -> str:
    """``2 vCPUs, 8Gi, nvidia.com/A100`` of the figures of `vmi.guest_figures`."""
    figures = figures or {}
    vcpus = figures.get("vcpus", 0)
    devices = [*figures.get("gpus", ()), *figures.get("host_devices", ())]
    return ", ".join([f"{vcpus} vCPU{'' if vcpus == 1 else 's'}", str(figures.get("memory") or "no memory"), *devices])
