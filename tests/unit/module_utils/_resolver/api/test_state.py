"""The states that labels of instancetypes and preferences mean."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.keys import STATE_LABEL
from plugins.module_utils._resolver.api.state import DEPRECATED_LABEL, state_of


@pytest.mark.parametrize(
    ("labels", "state"),
    [
        (None, "active"),
        ({DEPRECATED_LABEL: "true"}, "deprecated"),
        ({DEPRECATED_LABEL: "false"}, "active"),
        ({STATE_LABEL: "deprecated"}, "deprecated"),
        ({STATE_LABEL: "obsolete"}, "obsolete"),
        ({STATE_LABEL: "retired"}, "active"),
    ],
)
def test_labels_of_others(labels: dict[str, Any] | None, state: str) -> None:
    assert state_of({"metadata": {"labels": labels}}).name == state
