"""What the diagnosis adds to the check: why VMs of a cluster do not run, if the files hold their status."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...module_utils._diagnosis.offline import flattened
from ...module_utils._resolver.api.finding import ERROR
from ...module_utils._resolver.api.manifest import namespaced_name
from ...module_utils._resolver.kubevirt.config.cluster import KubeVirt
from .._filter_functions.diagnosis import diagnosed
from .extension import CheckExtension
from .findings import LocatedFinding
from .objects import VM, Declared, KnownObjects, label
from .sources import Source, manifests


class Diagnosis(CheckExtension):
    def findings(
        self, sources: Sequence[Source], objects: Sequence[Declared], lookup: KnownObjects, kubevirt: KubeVirt
    ) -> Iterator[LocatedFinding]:
        live = {
            namespaced_name(item.manifest): item
            for item in manifests(sources)
            if item.manifest["kind"] == VM and item.manifest.get("status")
        }
        if not live:
            return
        everything = list(flattened(source.content for source in sources if isinstance(source.content, dict)))
        known = [item for item in everything if item.get("kind") != VM or namespaced_name(item) in live]
        for result in diagnosed(known, kubevirt):
            found = result["diagnosis"]
            if found["state"] == "broken":
                item = live[result["namespace"], result["name"]]
                shown = "; ".join(f"{evidence['source']} {evidence['reason']}" for evidence in found["evidence"][:1])
                message = f"{found['link']}: {found['problem']} ({shown}); {found['remedy']}"
                yield LocatedFinding("does-not-run", ERROR, item.location, label(item.manifest), "", message)
