"""What all VMs together use of each quota of a namespace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..api.quantity import of_nanos
from .budget import Nanos, Quota, most_wanted
from .item import Item


class Sums:
    """The sums by quota, including VMs that do not fit."""

    def __init__(self, namespace: str, quotas: Sequence[Quota]) -> None:
        self._namespace, self._quotas = namespace, quotas
        self._wanted: list[Nanos] = [{} for _quota in quotas]

    def add(self, variants: Sequence[Sequence[Item]], gone: Sequence[Item]) -> None:
        """Counts the objects that are created and deleted for a VM; see budget.most_wanted."""
        for quota, wanted in zip(self._quotas, self._wanted):
            for name, amount in most_wanted(quota, variants, gone).items():
                wanted[name] = wanted.get(name, 0) + amount

    def lines(self) -> Iterator[dict[str, Any]]:
        """{kind, name, namespace, fits, resources}. namespace: except for a quota of several.

        resources: name → {hard, used, wanted, left, lacks}, quantities; lacks if the quota is exceeded.
        """
        for quota, wanted in zip(self._quotas, self._wanted):
            resources = {name: _figures(quota, name, wanted.get(name, 0)) for name in quota.hard}
            fits = not any("lacks" in figures for figures in resources.values())
            space = {"namespace": self._namespace} if self._namespace else {}
            yield {"kind": quota.kind, "name": quota.name, **space, "fits": fits, "resources": resources}


def _figures(quota: Quota, name: str, wanted: int) -> dict[str, str]:
    hard, used = quota.hard[name], quota.used.get(name, 0)
    left = hard.nanos - used - wanted

    def text(nanos: int) -> str:
        return of_nanos(nanos, hard.format).text

    found = {"hard": hard.text, "used": text(used), "wanted": text(wanted), "left": text(max(0, left))}
    # VMs that use nothing of a quota do not exceed it, even if it was exceeded before.
    return {**found, "lacks": text(-left)} if left < 0 and wanted > 0 else found
