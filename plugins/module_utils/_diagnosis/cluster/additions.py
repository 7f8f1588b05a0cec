"""The addition of diagnosis to the module virtual_machine_info. The code is imported when a task asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._cluster.client.session import Session
from ..._cluster.modules.virtual_machine_info import Diagnosis
from ..._resolver.api.manifest import Manifest
from ..._resolver.change.drift import Drift

NodeReasons = Callable[[Sequence[Manifest], Sequence[Manifest]], Callable[[Manifest], list[dict[str, Any]]]]


def diagnosis(node_reasons: NodeReasons | None = None) -> Diagnosis:
    """See `diagnosis.diagnoser`."""

    def diagnoses(
        session: Session, vms: list[Drift], namespace: str | None, warnings: list[str]
    ) -> list[dict[str, Any]]:
        from .diagnosis import diagnoser

        return diagnoser(node_reasons)(session, vms, namespace, warnings)

    return diagnoses
