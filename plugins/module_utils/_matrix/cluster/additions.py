"""What the matrix adds to the modules of catalogs. Which objects fit together is computed when a task runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..._cluster.client.session import Session
from ..._cluster.reads.lookup import ClusterLookup
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import MATCHER_FIELD_OF_KIND
from ..._resolver.api.release import Release
from ..._resolver.kubevirt.instancetype.lookup import get_readable


def read_matrix(_session: Session, manifests: Sequence[Manifest]) -> dict[str, Any]:
    """The result `matrix` of catalog_info."""
    from ..matrix import compatibility_matrix, pairs

    return pairs(compatibility_matrix(manifests))


def catalog_notes(
    session: Session, available: Iterable[Manifest], declared: Sequence[Manifest], release: Release
) -> tuple[dict[str, Any], list[str]]:
    """The preferences of a catalog that nothing satisfies, and the ends of declared objects: facts and notes."""
    from ..matrix import compatibility_matrix, unsatisfied
    from ..replacement import as_facts, replacements, unknown_replacements

    # These are the users of objects that are not active, whose replacements may be objects of the cluster.
    lookup = ClusterLookup(session)
    successors = [get_readable(lookup, *key) for key in unknown_replacements(declared)]
    others = [manifest for manifest in successors if manifest is not None]
    ends = [as_facts(state) for state in replacements(declared, others, release)]
    notes = [
        f"no instancetype of the catalog satisfies the preference {name}"
        for name in unsatisfied(compatibility_matrix(available))
    ]
    notes += dict.fromkeys(
        f"{MATCHER_FIELD_OF_KIND[state['kind']].name} {state['name']}: {problem}"
        for state in ends
        for problem in state["problems"]
    )
    return {"deprecated_objects": ends}, notes
