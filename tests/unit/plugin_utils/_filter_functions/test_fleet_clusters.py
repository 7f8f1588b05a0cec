"""The reports of several clusters as one: its figures, in what the clusters differ, and the page."""

import re
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

from fleet_samples import LABEL, captured, entry, vm

fleet, fleet_clusters, page = (FILTERS[name] for name in ("_fleet", "_fleet_clusters", "_page"))
NOW = "2026-03-01T08:00:00Z"


def size(name: str, vcpus: int = 1, **more: Any) -> dict[str, Any]:
    return entry(name, spec={"cpu": {"guest": vcpus}, "memory": {"guest": "1024Mi"}}, used_by=["shop/a"], **more)


def cluster(name: str, *sizes: dict[str, Any], version: str = "v1.9.0", vms: Any = (), **read: Any) -> dict[str, Any]:
    report = fleet(list(vms), now=NOW, instancetypes=list(sizes), **read)
    return {
        "cluster": name,
        "kubevirt_version": version,
        "report": report,
        "instancetypes": list(sizes),
        "preferences": [],
    }


def test_figures_are_added_and_entries_have_their_cluster() -> None:
    east = cluster("east", vms=[vm("a", labels={"team": "web"}, restart_required=True)])
    drifts = [vm(name, state="drifted") for name in "ab"]
    west = cluster("west", vms=drifts, revisions=[captured("a"), captured("b")])
    joined = fleet_clusters([east, west], {"north": "cannot reach it"})
    totals = joined["totals"]
    assert (totals["virtual_machines"], totals["drifted"], totals["memory_bytes"]) == (3, 2, 6 * 2**30)
    assert (totals["clusters"], totals["failed_clusters"]) == (3, 1)
    assert [(row["cluster"], row["name"]) for row in joined["virtual_machines"]] == [
        ("east", "a"),
        ("west", "a"),
        ("west", "b"),
    ]
    assert joined["restart_required"] == ["east/shop/a"]
    assert sum(row["virtual_machines"] for row in joined["drift"]["by_age"]) == 2
    assert len({row["age"] for row in joined["drift"]["by_age"]}) == len(joined["drift"]["by_age"])
    # The largest come first, and those without a name last.
    assert [(row["cluster"], row["virtual_machines"]) for row in joined["namespaces"]] == [("west", 2), ("east", 1)]
    assert [(row["cluster"], row["team"]) for row in joined["teams"]] == [("east", "web"), ("west", "")]
    assert [(row["cluster"], row["failed"], row["msg"]) for row in joined["clusters"]] == [
        ("east", False, ""),
        ("west", False, ""),
        ("north", True, "cannot reach it"),
    ]


def test_differences_from_most_clusters_are_listed() -> None:
    usual = (size("u1"), size("u2"), size("local", namespace="shop", catalog=""))
    other_memory = size("u1")
    other_memory["spec"]["memory"]["guest"] = "1Gi"  # the same amount
    odd = (other_memory, size("u2", 4), size("u3", catalog_version="v1"))
    joined = fleet_clusters(
        [cluster("odd", *odd, version="v1.4.0"), cluster("east", *usual), cluster("west", *usual[:2])]
    )
    different = joined["differences"]
    assert different["kubevirt"] == [{"cluster": "odd", "value": "v1.4.0", "most": "v1.9.0"}]
    assert different["catalogs"] == [
        {"name": "common", "cluster": "odd", "value": ["v1", "v1.8.0"], "most": ["v1.8.0"]}
    ]
    kind = f"{LABEL}Instancetype"
    changes = [{"field": "cpu.guest", "before": 1, "after": 4}]
    assert different["objects"] == [
        {"cluster": "odd", "kind": kind, "difference": "changed", "changes": changes, "names": ["u2"]},
        {"cluster": "odd", "kind": kind, "difference": "additional", "changes": [], "names": ["u3"]},
    ]
    assert [row["totals"]["cluster_differences"] for row in joined["clusters"]] == [4, 0, 0]
    assert joined["totals"]["cluster_differences"] == 4
    assert joined["clusters"][0]["catalogs"] == [{"name": "common", "versions": {"v1": 1, "v1.8.0": 2}}]


def test_of_two_clusters_the_first_counts() -> None:
    joined = fleet_clusters([cluster("east", size("u1"), size("u2")), cluster("west")])
    (row,) = joined["differences"]["objects"]
    assert (row["cluster"], row["difference"], row["names"]) == ("west", "missing", ["u1", "u2"])
    assert joined["differences"]["catalogs"][0]["value"] == []


def test_the_page_has_a_column_and_a_filter() -> None:
    evil = '"]</style><script>'
    parts = [
        cluster("east", size("u1"), vms=[vm("a", restart_required=True)]),
        cluster(evil, size("u1", 2), version="v1.4.0", vms=[vm("b", state="drifted")]),
    ]
    shown = page(fleet_clusters(parts, {"north": "cannot <reach> it"}), "fleet", "Fleet", "all")
    assert "<script>" not in shown and shown.count("</style>") == 2
    assert '#cluster-1:checked ~ * tr[data-cluster]:not([data-cluster="east"]) { display: none }' in shown
    assert shown.count('type="radio"') == 4
    plain = " ".join(re.sub(r"<[^>]*>", " ", shown).split())
    assert "3 clusters 1 could not be read" in plain and "2 differences between the clusters" in plain
    assert "north cannot &lt;reach&gt; it" in plain
    assert f"{LABEL}Instancetype cpu.guest : 1 → 2 1 u1" in plain
    # Every row of VMs, also grouped ones.
    assert '<tr data-cluster="east"><td data-head="Cluster">east</td><td data-head="VM">shop/' in shown
    assert '<tr data-cluster="east"><td data-head="Cluster">east</td><td data-head="Namespace">shop</td>' in shown
    same = fleet_clusters([cluster("east"), cluster("west")])
    assert "The clusters have the same KubeVirt" in page(same, "fleet", "Fleet", "all")
    # One cluster alone has neither.
    alone = page(cluster("east", vms=[vm("a")])["report"], "fleet", "Fleet", "all")
    assert "data-cluster" not in alone and "radio" not in alone.partition("</style>")[2]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("east", "_fleet_clusters: expected a list of clusters, found 'east'"),
        ([], "_fleet_clusters: expected at least one cluster"),
        ([{"cluster": "east"}], "_fleet_clusters: [0]: kubevirt_version is missing"),
    ],
)
def test_bad_input_is_one_line(value: Any, message: str) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        fleet_clusters(value)
    assert str(caught.value) == message
