"""Checks the default instancetypes and preferences in the labels of boot sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.boot import source
from ..._resolver.choose.pair import unfit
from ..client.session import Session
from .kubevirt import kubevirt
from .lookup import ClusterLookup

Manifest = dict[str, Any]


class Fault(NamedTuple):
    """text: one line. missing: an object does not exist; else KubeVirt rejects an existing one."""

    text: str
    missing: bool


class Defaults:
    """Instancetypes and preferences of the cluster: one LIST for each kind and namespace, on first use."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lookup = ClusterLookup(session)

    def faults(self, namespace: str, labels: Mapping[str, str], architecture: str = "") -> list[Fault]:
        """What is wrong with the defaults in labels, for VMs in the namespace. Unreadable objects count as right.

        architecture: of the image, "" if unknown.
        """
        found: dict[str, Manifest] = {}
        faults = []
        for role, (kind, name) in source.matchers(labels).items():
            there = self._lookup.get(kind, namespace, name) if kind in BY_NAME else None
            if there is None:
                faults.append(Fault(f"{role}: there is no {kind} {name}", missing=True))
            elif isinstance(there, dict):
                found[role] = there
        if len(found) == 2:
            why = unfit(found["instancetype"], found["preference"], architecture, kubevirt(self._session).release)
            names = " and ".join(f"the {role} {one['metadata']['name']}" for role, one in found.items())
            faults += [Fault(f"{names} do not go together: {why}", missing=False)] if why else []
        return faults
