"""Limits as users write them: what they permit of a catalog, and what is wrong with them."""

import json
from typing import Any

import pytest

from plugins.module_utils._governance.language import Limit, as_data, limit_from_data, limits
from plugins.module_utils._governance.policy import limit_of
from plugins.module_utils._resolver.api.keys import LIMIT_ANNOTATION
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.catalog.errors import CatalogError
from plugins.plugin_utils._catalog_files import builtin_objects

WITH_GPU = {
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "gpu1.small"},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}, "gpus": [{"name": "a", "deviceName": "example.com/a"}]},
}
CATALOG = [*builtin_objects(NEWEST), WITH_GPU]


def limit(**fields: Any) -> Limit:
    [only] = limits([{"name": "a", **fields}], CATALOG)
    return only


def test_unlimited_fields_are_permitted() -> None:
    assert limit(require=["instancetype"]) == Limit("a", require=["instancetype"])


def test_sizes_and_devices_select_from_the_catalog() -> None:
    permitted = limit(max_cpu=2, max_memory="4Gi", gpus=False, host_devices=False)
    assert permitted.instancetypes and "u1.medium" in permitted.instancetypes
    assert not {"u1.large", "gpu1.small"} & set(permitted.instancetypes)
    assert permitted.own_instancetypes


def test_criteria_combine_and_exclude_namespaced_instancetypes() -> None:
    permitted = limit(series=["u1", "cx1"], classes=["general.*"], max_cpu=1)
    assert permitted.instancetypes == ["u1.medium", "u1.micro", "u1.nano", "u1.small"]
    assert not permitted.own_instancetypes


def test_preferences_are_patterns() -> None:
    assert limit(preferences=["rhel.9", "fedora"]).preferences == ["fedora", "rhel.9"]


def test_namespaced_objects_are_not_part_of_catalog() -> None:
    own = {"kind": "VirtualMachineInstancetype", "metadata": {"name": "own"}, "spec": CATALOG[0]["spec"]}
    [permitted] = limits([{"name": "a", "max_cpu": 64}], [*CATALOG, own])
    assert permitted.instancetypes and "own" not in permitted.instancetypes


def test_an_unreadable_instancetype_is_not_permitted() -> None:
    odd = {"kind": "VirtualMachineClusterInstancetype", "metadata": {"name": "odd"}, "spec": {"cpu": "many"}}
    [permitted] = limits([{"name": "a", "max_cpu": 64}], [*CATALOG, odd])
    assert permitted.instancetypes and "odd" not in permitted.instancetypes


@pytest.mark.parametrize(
    ("where", "namespace", "labels", "applies"),
    [
        ({}, "shop", {}, True),
        ({"namespaces": ["shop"]}, "shop", {}, True),
        ({"namespaces": ["shop"]}, "office", {}, False),
        ({"except_namespaces": ["shop"]}, "shop", {}, False),
        ({"namespace_labels": {"tier": "gold"}}, "shop", {"tier": "gold"}, True),
        ({"namespace_labels": {"tier": "gold"}}, "shop", {}, False),
        ({"namespace_labels": {"tier": "gold"}, "except_namespaces": ["shop"]}, "shop", {"tier": "gold"}, False),
    ],
)
def test_limit_applies_to_selected_namespaces(
    where: dict[str, Any], namespace: str, labels: dict[str, str], applies: bool
) -> None:
    assert limit(gpus=False, **where).applies(namespace, labels) is applies


def test_limit_survives_a_json_round_trip() -> None:
    for item in (limit(max_cpu=2, namespaces=["shop"], action="warn"), limit(max_cpu=1), limit(require=["preference"])):
        assert limit_from_data(json.loads(json.dumps(as_data(item)))) == item
    assert limit_from_data({"name": "a", "colour": "red"}) is None
    assert limit_from_data([]) is None


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "limits: expected a list, found {}; write each limit as an item of a list"),
        (["a"], "limits[0]: expected a limit, found 'a'; write a name and what is limited"),
        ([{}], "limits[0]: name: expected a name, found None; write a name such as standard"),
        (
            [{"name": "a b"}],
            "limits: 'a b': name: 'a b' must consist of a-z, 0-9 and '-', with a letter or digit at both ends",
        ),
        ([{"name": "a", "max_cpus": 1}], "limits: 'a': max_cpus: unknown field; did you mean max_cpu?"),
        (
            [{"name": "a", "gpus": True}],
            "limits: 'a': limits nothing; write one of instancetypes, series, classes, preferences, require, max_cpu,"
            " max_memory, gpus, host_devices",
        ),
        (
            [{"name": "a", "classes": "general"}],
            "limits: 'a': classes: expected a list of names, found 'general'; write classes: [name]",
        ),
        (
            [{"name": "a", "max_cpu": 0}],
            "limits: 'a': max_cpu: expected a number of vCPUs, found 0; write an integer from 1",
        ),
        (
            [{"name": "a", "max_cpu": True}],
            "limits: 'a': max_cpu: expected a number of vCPUs, found True; write an integer from 1",
        ),
        (
            [{"name": "a", "max_memory": "much"}],
            "limits: 'a': max_memory: expected an amount of memory, found 'much'; write it as 32Gi",
        ),
        (
            [{"name": "a", "max_memory": 32}],
            "limits: 'a': max_memory: expected an amount of memory, found 32; write it as 32Gi",
        ),
        ([{"name": "a", "gpus": "no"}], "limits: 'a': gpus: expected true or false, found 'no'"),
        (
            [{"name": "a", "require": ["disk"]}],
            "limits: 'a': require: 'disk' is unknown; choose from instancetype, preference",
        ),
        (
            [{"name": "a", "gpus": False, "action": "forbid"}],
            "limits: 'a': action: 'forbid' is unknown; choose from deny, warn, audit",
        ),
        (
            [{"name": "a", "gpus": False, "namespaces": ["Shop"]}],
            "limits: 'a': namespaces: 'Shop' must consist of a-z, 0-9 and '-', with a letter or digit at both ends;"
            " write names of namespaces",
        ),
        (
            [{"name": "a", "gpus": False, "namespace_labels": {"tier": 1}}],
            "limits: 'a': namespace_labels: expected labels, found {'tier': 1}; write key: value, both as text",
        ),
        (
            [{"name": "a", "gpus": False, "namespace_labels": {"tier": "a b"}}],
            "limits: 'a': namespace_labels: 'a b' must consist of letters, digits, '-', '_' and '.', with a letter or"
            " digit at both ends; write a label as namespaces have it",
        ),
        (
            [{"name": "a", "series": ["u2"]}],
            "limits: 'a': series: nothing in the catalog matches 'u2'; choose from u1, ",
        ),
        (
            [{"name": "a", "max_memory": "1Mi"}],
            "limits: 'a': permits no instancetype of the catalog; raise max_cpu or max_memory, or name others",
        ),
        (
            [{"name": "a", "gpus": False}, {"name": "a", "gpus": False}],
            "limits: 'a': name: two limits have this name; rename one of them",
        ),
    ],
)
def test_invalid_limits_are_refused(entries: Any, message: str) -> None:
    with pytest.raises(CatalogError) as caught:
        limits(entries, CATALOG)
    assert str(caught.value).startswith(message)


def test_limit_describes_namespaces_and_permitted_names() -> None:
    limit = Limit("a", namespaces=["x", "y"], namespace_labels={"tier": "b"}, except_namespaces=["z"])
    assert limit.where == "namespaces x, y with tier=b but z"
    assert limit.permits("VirtualMachineClusterPreference", "linux") and limit.permits(
        "VirtualMachineInstancetype", "big"
    )
    chosen = Limit("a", instancetypes=["u1.small"], preferences=["linux"], own_instancetypes=False)
    assert chosen.where == "all namespaces"
    assert chosen.permits("VirtualMachineClusterInstancetype", "u1.small") and not chosen.permits(
        "VirtualMachineInstancetype", "u1.small"
    )
    assert not chosen.permits("VirtualMachinePreference", "linux")


def test_policies_of_others_have_no_limit() -> None:
    for text in ("{", "[]", '{"name": "a", "later": 1}'):
        assert limit_of({"metadata": {"annotations": {LIMIT_ANNOTATION: text}}}) is None
