"""The check finds what breaks a limit that the files write, or that policies of the cluster have."""

from collections.abc import Callable
from typing import Any

import pytest
from checked_files import instancetype, vm

from plugins.module_utils._governance.language import Limit
from plugins.module_utils._governance.policy import policies

Broken = Callable[..., list[str]]

STANDARD = {"name": "standard", "namespaces": ["shop"], "series": ["u1"], "max_cpu": 1}
REFUSED = "spec.instancetype.name: u1.large is not permitted here; choose from u1.medium, u1.micro, u1.nano, u1.small"


def user(instancetype: str = "u1.large") -> dict[str, Any]:
    return vm(instancetype={"name": instancetype})


def namespace(**labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": labels}}


@pytest.fixture
def broken(check: Any, findings: Any) -> Callable[..., list[str]]:
    """`level: field: message [rule]` of each finding about documents. objects: those of the cluster."""

    def run(*documents: Any, objects: Any = None) -> list[str]:
        if objects is not None:
            check({"objects.yaml": list(objects)})
        known = [] if objects is None else ["--objects", "objects.yaml"]
        found = findings({"a.yml": list(documents)}, *known)
        return [f"{item['level']}: {item['field']}: {item['message']} [{item['rule']}]" for item in found]

    return run


@pytest.mark.parametrize(
    "limits",
    [
        {"limits": [STANDARD]},
        {"common_instancetypes_limits": [STANDARD]},
        [{"hosts": "all", "tasks": [{"virtshape.instancetypes.catalog": {"limits": [STANDARD]}}]}],
        [{"hosts": "all", "vars": {"common_instancetypes_limits": [STANDARD]}}],
    ],
)
def test_limits_of_files(broken: Broken, limits: Any) -> None:
    assert broken(limits, user()) == [f"error: {REFUSED} (limit standard) [limit]"]
    assert broken(limits, user("u1.small")) == []


def test_limits_of_other_tools_are_not_ours(broken: Broken) -> None:
    assert broken({"resources": {"limits": ["cpu"]}}, user()) == []


def test_limits_of_the_clusters_policies(broken: Broken) -> None:
    limit = Limit("standard", instancetypes=["u1.small"], own_instancetypes=False, action="warn")
    assert broken(user(), objects=policies(limit, "common", "x")) == [
        "warning: spec.instancetype.name: u1.large is not permitted here; choose from u1.small (limit standard) [limit]"
    ]


def test_labels_of_namespaces_must_be_known(broken: Broken) -> None:
    gold = {"limits": [{"name": "gold", "namespace_labels": {"tier": "gold"}, "series": ["u1"], "max_cpu": 1}]}
    assert broken(gold, user()) == [
        "note: : the limit gold depends on the labels of the namespace shop, which is not among the checked files; pass"
        " its manifest with --objects [unchecked]"
    ]
    assert broken(gold, user(), objects=[namespace(tier="silver")]) == []
    assert broken(gold, user(), namespace(tier="gold")) == [f"error: {REFUSED} (limit gold) [limit]"]


def test_instancetypes_of_a_namespace(broken: Broken) -> None:
    own = instancetype("own", 4, "shop")
    assert broken({"limits": [{"name": "small", "max_cpu": 2}]}, own) == [
        "error: spec.cpu.guest: 4 is more than 2 vCPUs (limit small) [limit]"
    ]


def test_bad_limits(broken: Broken) -> None:
    [text] = broken({"limits": [{"name": "a", "series": ["u9"]}]}, user())
    assert text.startswith("error: : limits: 'a': series: nothing in the catalog matches 'u9'")


@pytest.mark.parametrize("namespace", [123, ["shop"]])
def test_a_wrong_namespace_chooses_no_limit(broken: Broken, namespace: Any) -> None:
    machine = user()
    machine["metadata"]["namespace"] = namespace
    [text] = broken({"limits": [STANDARD]}, machine)
    assert text.startswith("error: metadata.namespace: expected a string")
