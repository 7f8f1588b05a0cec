"""The outcome of virtual_machine_adopt for many VMs."""

from __future__ import annotations

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.act.adopt import AdoptOutcome
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry import virtual_machine_adopt
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.outcome import Mode


class Alone(AdoptOutcome):
    """A result that is not compared with others, which takes long."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("results are compared")


def test_refused_vms_are_counted_without_comparing_results() -> None:
    a, b, c = (Alone({"metadata": {"name": name, "namespace": "shop"}, "spec": {}}) for name in "abc")
    a.failed, b.changed = "no", True
    outcome = virtual_machine_adopt._outcome({"results_on_failure": "all"}, Mode(), [a, b, c])
    assert outcome.failed
    assert [result["failed"] for result in outcome.result["results"]] == [True, False, False]
    assert outcome.result["msg"] == "1 of 3 virtual machines failed: shop/a: no; 1 adopted, 1 unchanged"
