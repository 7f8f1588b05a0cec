"""What VMs want of each quota of a namespace, all together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..api.quantity import of_nanos
from .budget import Nanos, Quota, most_wanted
from .item import Item


class Sums:
    """The sums by quota, of VMs that fit and of those that do not."""

    def __init__(self, namespace: str, quotas: Sequence[Quota]) -> None:
        self._namespace, self._quotas = namespace, quotas
        self._wanted: list[Nanos] = [{} for _quota in quotas]

    def add(self, variants: Sequence[Sequence[Item]], gone: Sequence[Item]) -> None:
        """Counts what is created for a VM, and what is deleted; see budget.most_wanted."""
        for quota, wanted in zip(self._quotas, self._wanted):
            for name, amount in most_wanted(quota, variants, gone).items():
                wanted[name] = wanted.get(name, 0) + amount

    def lines(self) -> Iterator[dict[str, Any]]:
        """{kind, name, namespace, fits, resources}. namespace: unless it is of several. resources: by name {hard, used,
        wanted, left, lacks}, quantities; lacks where it is exceeded."""
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
    # A quota that was exceeded before is not exceeded by VMs that want nothing of it.
    return {**found, "lacks": text(-left)} if left < 0 and wanted > 0 else found
