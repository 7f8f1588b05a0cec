"""Shorthand, and how an entry goes over its defaults."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.argument_spec import (
    expand_shorthand,
    merge_options,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.vm.options import SPEC

CLUSTER = "VirtualMachineClusterInstancetype"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"instancetype": "u1.small"}, {"instancetype": {"name": "u1.small"}}),
        ({"preference": "fedora"}, {"preference": {"name": "fedora"}}),
        ({"boot": "fedora"}, {"boot": {"data_source": "fedora"}}),
        ({"boot": "images/fedora"}, {"boot": {"data_source": "images/fedora"}}),
        ({"size": "medium"}, {"size": {"name": "medium"}}),
        ({"instancetype": ""}, {"instancetype": {"name": ""}}),
        ({"instancetype": '{"name": "a"}'}, {"instancetype": '{"name": "a"}'}),
        ({"instancetype": "name=a"}, {"instancetype": "name=a"}),
        ({"instancetype": 5, "boot": None}, {"instancetype": 5, "boot": None}),
        ({"name": "fedora"}, {"name": "fedora"}),
        *(
            ({"instancetype": {"name": "a", "kind": kind}}, {"instancetype": {"name": "a", "kind": CLUSTER}})
            for kind in (CLUSTER, CLUSTER.lower(), f"{CLUSTER.lower()}s", f"{CLUSTER}s", CLUSTER.upper())
        ),
        ({"instancetype": {"kind": "size"}}, {"instancetype": {"kind": "size"}}),
        ({"instancetype": {"kind": 5}}, {"instancetype": {"kind": 5}}),
    ],
)
def test_shorthand(options: dict[str, Any], expected: dict[str, Any]) -> None:
    assert expand_shorthand(options, SPEC) == expected


def test_shorthand_applies_only_to_objects() -> None:
    assert expand_shorthand({"size": "30Gi"}, {"size": {"type": "str"}}) == {"size": "30Gi"}


def test_object_kind_is_accepted_in_any_spelling() -> None:
    spec = {"kind": {"choices": ["VirtualMachinePreference", "VirtualMachineClusterPreference"]}}
    assert expand_shorthand({"kind": "virtualmachinepreferences"}, spec) == {"kind": "VirtualMachinePreference"}


@pytest.mark.parametrize(
    ("below", "above", "together"),
    [
        ({"memory": "1Gi"}, {"memory": "2Gi"}, {"memory": "2Gi"}),
        ({"labels": {"a": "1", "b": "2"}}, {"labels": {"b": "3"}}, {"labels": {"a": "1", "b": "3"}}),
        ({"labels": {"a": "1", "b": "2"}}, {"labels": {"b": None}}, {"labels": {"a": "1"}}),
        ({"preference": {"name": "fedora"}}, {"preference": None}, {}),
        ({"volumes": [{"name": "a"}]}, {"volumes": [{"name": "b"}]}, {"volumes": [{"name": "b"}]}),
        ({"instancetype": {"name": "a"}}, {"instancetype": {"infer": "auto"}}, {"instancetype": {"infer": "auto"}}),
        (
            {"instancetype": {"name": "a", "kind": CLUSTER}},
            {"instancetype": {"name": "b"}},
            {"instancetype": {"name": "b", "kind": CLUSTER}},
        ),
        (
            {"instancetype": {"name": "a"}},
            {"instancetype": {"inferFromVolume": "root"}},
            {"instancetype": {"infer_from_volume": "root"}},
        ),
        (
            {"boot": {"data_source": "fedora", "size": "30Gi"}},
            {"boot": {"url": "https://x/y"}},
            {"boot": {"url": "https://x/y", "size": "30Gi"}},
        ),
        ({"cpu": {"sockets": 2}}, {"cpu": {"cores": 2, "sockets": None}}, {"cpu": {"cores": 2}}),
        ({"template": "x"}, {"template": {"spec": {"a": None, "b": 1}}}, {"template": {"spec": {"b": 1}}}),
    ],
)
def test_an_entry_over_its_defaults(below: dict[str, Any], above: dict[str, Any], together: dict[str, Any]) -> None:
    retained = repr(below)
    assert merge_options(below, above, SPEC) == together
    assert repr(below) == retained


def test_exclusive_options_of_entry_override_the_top() -> None:
    assert merge_options({"a": 1, "c": 3}, {"b": 2}, {}, [("a", "b")]) == {"b": 2, "c": 3}
    assert merge_options({"a": 1}, {"b": None}, {}, [("a", "b")]) == {"a": 1}
