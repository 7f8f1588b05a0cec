"""Adds the diagnosis to the check: why VMs of a cluster do not run, if the files hold their status."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...module_utils._diagnosis.case import VMI
from ...module_utils._resolver.api.finding import ERROR, WARNING
from ...module_utils._resolver.api.manifest import namespaced_name
from ...module_utils._resolver.kubevirt.cluster import KubeVirt
from .._filter_functions.diagnosis import diagnosed
from .check_extension import CheckExtension
from .checked_objects import VM, CheckedObject, KnownObjects, label
from .findings import LocatedFinding
from .sources import LocatedDocument, manifests

_RULE = "does-not-run"


def _findings(
    sources: Sequence[LocatedDocument],
    objects: Sequence[CheckedObject],
    lookup: KnownObjects,
    kubevirt: KubeVirt,
) -> Iterator[LocatedFinding]:
    items = [
        item
        for item in manifests(sources)
        if (item.manifest["kind"] != VM or item.manifest.get("status"))
        and isinstance(item.manifest.get("metadata"), dict)
    ]
    # A VMI is diagnosed by itself if its VM is gone.
    live = {
        namespaced_name(item.manifest): item for kind in (VMI, VM) for item in items if item.manifest["kind"] == kind
    }
    try:
        results = diagnosed([item.manifest for item in items], kubevirt) if live else []
    except ValueError as error:
        item = next(iter(live.values()))
        text = f"no VM is diagnosed: {error}"
        yield LocatedFinding(text, WARNING, rule=_RULE, location=item.location, label=label(item.manifest))
        return
    for result in results:
        found = result["diagnosis"]
        if found["state"] == "broken":
            item = live[result["namespace"], result["name"]]
            shown = "; ".join(f"{evidence['source']} {evidence['reason']}" for evidence in found["evidence"][:1])
            message = f"{found['link']}: {found['problem']} ({shown}); {found['remedy']}"
            yield LocatedFinding(message, ERROR, rule=_RULE, location=item.location, label=label(item.manifest))


DIAGNOSIS: Final = CheckExtension(findings=_findings)
