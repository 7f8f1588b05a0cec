"""The numbers and names of a task itself."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import option_checks


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concurrency": 0}, "concurrency: expected 1 to 256 requests, found 0; write a number between these"),
        ({"concurrency": 10**9}, "concurrency: expected 1 to 256 requests, found 1000000000; write"),
        ({"wait_timeout": -1}, "wait_timeout: expected 0 to 2592000 seconds, found -1"),
        ({"retry_timeout": 10**12}, "retry_timeout: expected 0 to 2592000 seconds, found 1000000000000"),
        ({"keep": -1}, "keep: expected 0 to 1000000 revisions, found -1"),
        ({"grace_period": -5}, "grace_period: expected 0 to 2592000 seconds, found -5"),
        ({"qps": 0.0}, "qps: expected more than 0 requests a second, found 0; leave it out for no limit"),
        ({"qps": float("nan")}, "qps: expected more than 0 requests a second, found nan"),
        ({"qps": float("inf")}, "qps: expected more than 0 requests a second, found inf"),
        ({"namespace": "größe"}, "namespace: 'größe' must consist of a-z"),
        ({"namespace": ""}, "namespace: '' is empty"),
        ({"namespaces": ["a", "a.b"]}, "namespaces: 'a.b' must consist of a-z"),
        ({"names": ["ok", "../../x"]}, "names: '../../x' must consist of a-z"),
        ({"name": "x" * 300}, f"name: '{'x' * 60}'... (300 characters) is longer than 253 characters"),
    ],
)
def test_invalid_options_have_a_problem(options: dict[str, Any], message: str) -> None:
    problem = option_checks.option_problem(options)
    assert problem is not None and problem.startswith(message)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"concurrency": 256, "wait_timeout": 0, "keep": 0, "qps": 0.5, "grace_period": None},
        {"namespace": None, "names": None, "name": "u1.small", "namespaces": []},
    ],
)
def test_valid_options_have_no_problem(options: dict[str, Any]) -> None:
    assert option_checks.option_problem(options) is None


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"cpu": {"sockets": float("inf")}}, "cpu.sockets"),
        ({"a": [1, {"b": float("nan")}]}, "a[1].b"),
        ({"cpu": {"cores": "-Infinity"}}, "cpu.cores"),
        ({"a": 1.5, "b": "infinite", "c": None}, None),
    ],
)
def test_not_finite_returns_the_path(value: Any, place: str | None) -> None:
    assert option_checks.not_finite(value) == place
