"""quota_info: a quota and a limit range that the API server holds, beside what it says of the same pod."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def quota(api: Any, shop: str) -> str:
    """The name of a quota that has room for one VM of the instancetype small."""
    quotas = api.resources.get(api_version="v1", kind="ResourceQuota")
    hard = {"requests.memory": "4Gi", "pods": "5"}
    quotas.create({"metadata": {"name": "team"}, "spec": {"hard": hard}}, namespace=shop)
    return "team"


def test_room_for_one_of_two(run: Run, api: Any, shop: str, quota: str) -> None:
    manifests = [
        {
            "metadata": {"name": name},
            "spec": {
                "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
                "template": {"spec": {"domain": {"devices": {}}}},
            },
        }
        for name in ("a", "b")
    ]
    found = run("quota_info", namespace=shop, manifests=manifests)
    assert "msg" not in found, found
    assert [one["fits"] for one in found["virtual_machines"]] == [True, False]
    assert f"ResourceQuota {quota} lacks " in found["virtual_machines"][1]["problem"]
    (line,) = found["quotas"]
    assert (line["name"], line["resources"]["pods"]["wanted"]) == (quota, "2")

    limits = api.resources.get(api_version="v1", kind="LimitRange")
    limit = {"type": "Container", "max": {"memory": "1Gi"}}
    limits.create({"metadata": {"name": "little"}, "spec": {"limits": [limit]}}, namespace=shop)
    found = run("quota_info", namespace=shop, manifests=manifests[:1])
    assert "more than its limit of 1Gi" in found["virtual_machines"][0]["problem"]
