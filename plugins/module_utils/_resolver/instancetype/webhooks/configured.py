"""What virt-api rejects because of the cluster's configuration, besides instancetypes and preferences."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..vmi.cluster import KubeVirt
from . import gates
from .admission import Cause
from .live_updates import live_updates

Manifest = dict[str, Any]


class Barred(NamedTuple):
    """closed: fields that need a closed feature gate. not_live: values that live updates do not permit."""

    closed: list[Cause]
    not_live: list[Cause]


def barred(spec: Manifest, path: str, kubevirt: KubeVirt) -> Barred:
    """The causes for a canonical VMI spec, with everything applied, at a path."""
    closed = [
        *gates.architecture(spec, path, kubevirt.configuration.architecture, kubevirt.closed_gates),
        *gates.persistent_state(spec, path, kubevirt.closed_gates),
    ]
    return Barred(closed, list(live_updates(spec, path)) if kubevirt.live_updates else [])
