"""A thousand random machines of each source: no guest is smaller than its machine, and KubeVirt accepts each pair."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from estate_samples import BUILTIN, proposed
from random_estates import COUNT, SOURCES

from plugins.module_utils._estate.readers.reading import Reading
from plugins.module_utils._resolver.api import name_rules
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.choose.fitting import rejection_of_pair

MIB = 1 << 20


@pytest.mark.parametrize("rules", [None, {"new_sizes": 10}], ids=["fewest", "limited"])
@pytest.mark.parametrize("read", SOURCES)
def test_no_guest_is_smaller(read: Callable[[random.Random], Reading], rules: Any) -> None:
    machines = read(random.Random(29)).machines
    assert len(machines) == COUNT
    result = proposed(machines, rules=rules)
    rows, vms = result["machines"], result["virtual_machines"]
    specs = {item["metadata"]["name"]: item for item in (*BUILTIN, *result["instancetypes"])}
    for item, row, vm in zip(machines, rows, vms, strict=True):
        assert row["source"] == {"vcpus": item["vcpus"], "memory": item["memory"]}
        assert row["guest"]["vcpus"] >= item["vcpus"] and row["guest"]["memory"] >= item["memory"], row
        assert row["reasons"] and name_rules.label(vm["name"]) == ""
    assert len({row["virtual_machine"] for row in rows}) == COUNT
    pairs = {(row["instancetype"], row["preference"]) for row in rows if row["preference"]}
    assert [pair for pair in pairs if rejection_of_pair(*(specs[name] for name in pair), "", NEWEST)] == []
    for row in rows:
        # Huge pages and what preferences require are needs too.
        if not rules and not any("requires" in reason or "huge pages" in reason for reason in row["reasons"]):
            assert row["guest"]["memory"] <= (row["source"]["memory"] + 2 * MIB) * 1.15, row
