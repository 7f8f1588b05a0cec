"""What virtual_machine_adopt says of many VMs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.act.adopt import Adopted
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry import virtual_machine_adopt


class Alone(Adopted):
    """A result that is not compared with others, which takes long."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("results are compared")


def test_the_refused_are_told_without_comparing_them() -> None:
    metadata = [{"name": name, "namespace": "shop"} for name in "abc"]
    a, b, c = (Alone({"metadata": one, "spec": {}}) for one in metadata)
    a.failed, b.changed = "no", True
    told: dict[str, Any] = {}

    def fail_json(**result: Any) -> None:
        told.update(result)

    module = SimpleNamespace(
        check_mode=False, shows_diff=False, params={"results_on_failure": "all"}, fail_json=fail_json, warn=None
    )
    with pytest.raises(AssertionError, match="fail_json returned"):
        virtual_machine_adopt._exit(module, [a, b, c])
    assert [one["failed"] for one in told["results"]] == [True, False, False]
    assert told["msg"] == "1 of 3 virtual machines failed: shop/a: no; 1 adopted, 1 unchanged"
