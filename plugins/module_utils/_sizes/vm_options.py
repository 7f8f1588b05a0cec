"""The option of a VM by which it names its instancetype and preference, or declares their values."""

from __future__ import annotations

from typing import Final

from .._resolver.declare.option_rows import Row, Table, choice

SIZES: Final = "sizes"
NAMED: Final = "named"
EXPANDED: Final = "expanded"
AUTO: Final = "auto"

SIZE_FORMS: Final = Table(
    {
        SIZES: Row(
            choice(NAMED, EXPANDED, AUTO),
            [
                "How the VM has O(instancetype) and O(preference): V(named) names them, V(expanded) declares what they"
                " resolve to, and records in annotations of which objects. V(auto) names them if the cluster accepts"
                " that in a dry run, which a task makes once; Harvester since 1.7 does not. Default is V(named).",
                "An expanded VM keeps its values when the instancetype changes, as a VM keeps its revision;"
                " M(virtshape.instancetypes.controller_revision) refreshes both. A change of O(sizes) does not change"
                " the guest.",
            ],
        )
    }
)
