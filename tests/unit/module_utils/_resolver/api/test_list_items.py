"""The items of lists, as kubectl and must-gather write them."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.manifest import list_items

ITEM = {"metadata": {"name": "a"}}


@pytest.mark.parametrize(
    ("manifest", "items"),
    [
        ({"kind": "List", "items": [{"kind": "Pod"}]}, [{"kind": "Pod"}]),
        ({"kind": "PodList", "apiVersion": "v1", "items": [ITEM]}, [{"kind": "Pod", "apiVersion": "v1", **ITEM}]),
        ({"kind": "PodList", "items": [ITEM, "text"]}, [{"kind": "Pod", **ITEM}, "text"]),
        ({"kind": "PodList", "items": [{"kind": "Other"}]}, [{"kind": "Other"}]),
        ({"kind": "PodList", "items": None}, None),
        ({"kind": "Pod", "items": [ITEM]}, None),
        ({"items": [ITEM]}, None),
    ],
)
def test_items_get_the_kind_of_their_list(manifest: dict[str, Any], items: list[Any] | None) -> None:
    assert list_items(manifest) == items
