"""Where a dictionary is due."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.limits import misshapen, own_name

SPEC: dict[str, Any] = {
    "memory": {"type": "dict", "options": {"guest": {"type": "str"}, "swap": {"type": "dict"}}, "aliases": ["ram"]},
    "login": {"type": "dict", "options": {"name": {"type": "str"}, "password": {"type": "str", "no_log": True}}},
    "disks": {"type": "list", "elements": "dict", "options": {"source": {"type": "dict"}}},
    "volumes": {"type": "list", "elements": "dict", "options": {"name": {"type": "str"}}},
    "name": {"type": "str"},
    "cores": {"type": "int", "aliases": ["cpus"]},
}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"memory": "4Gi"}, "memory: expected a dictionary, found '4Gi'; write memory: {guest: ...}"),
        ({"ram": 4}, "ram: expected a dictionary, found 4; write ram: {guest: ...}"),
        ({"memory": ["4Gi"]}, "memory: expected a dictionary, found a list"),
        ({"memory": {"swap": 1.5}}, "memory.swap: expected a dictionary, found a number"),
        ({"memory": {"swap": True}}, "memory.swap: expected a dictionary, found a truth value"),
        # It may be the password.
        ({"login": "secret"}, "login: expected a dictionary, found text"),
        ({"disks": [{"source": {}}, {"source": "x"}]}, "disks[1].source: expected a dictionary, found text"),
        ({"disks": "root"}, "disks[0]: expected a dictionary, found text"),
        ({"volumes": ["root"]}, "volumes[0]: expected a dictionary, found 'root'; write {name: ...}"),
    ],
)
def test_what_is_no_dictionary(options: dict[str, Any], told: str) -> None:
    assert misshapen(options, SPEC) == told


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "-inf"])
def test_what_is_no_finite_number(value: Any) -> None:
    assert misshapen({"cores": value}, SPEC) == "cores: expected a finite number such as 2"
    assert misshapen({"cpus": value}, SPEC) == "cpus: expected a finite number such as 2"
    # Text may say so.
    assert misshapen({"name": "inf"}, SPEC) is None


def test_how_deeply_a_value_may_be_nested() -> None:
    def nested(depth: int) -> dict[str, Any]:
        value: Any = {}
        for level in range(depth):
            value = {"a": value} if level % 2 else {"a": [value]}
        return {"a": value}

    assert misshapen({"memory": {"swap": nested(40)}}, SPEC) is None
    assert (
        misshapen({"memory": {"swap": nested(5000)}}, SPEC)
        == "memory.swap: is nested more than 64 levels deep; no KubeVirt object is"
    )


@pytest.mark.parametrize(
    "options",
    [
        {"cores": 4, "cpus": "4"},
        {"memory": None, "disks": None, "name": "a", "unknown": 1},
        {"memory": '{"guest": "4Gi"}', "login": "name=a password=b"},
        {"disks": [], "memory": {"guest": "4Gi", "swap": {}}},
    ],
)
def test_what_ansible_reads(options: dict[str, Any]) -> None:
    assert misshapen(options, SPEC) is None


def test_the_name_of_an_option() -> None:
    assert [own_name(key, SPEC) for key in ("memory", "ram", "other")] == ["memory", "memory", "other"]
