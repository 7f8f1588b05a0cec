"""The end of a message about a name that a catalog does not know."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.names import nearest

TWENTY = [f"a{number}" for number in range(20)]


@pytest.mark.parametrize(
    ("existing", "result"),
    [
        (["sizes", "size", "labels"], "; did you mean size or sizes?"),
        (["labels", "spec"], "; choose from labels, spec"),
        (TWENTY, f"; choose from {', '.join(TWENTY)}"),
        ([*TWENTY, "b"], "; check the spelling"),
        ([], "; check the spelling"),
    ],
)
def test_nearest_suggests_a_similar_name(existing: Sequence[str], result: str) -> None:
    assert nearest("siz", existing) == result
