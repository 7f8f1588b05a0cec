"""The numbers and names of a task itself."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.type_remedies import AS_TEXT, FROM_YAML, OMIT
from plugins.module_utils._resolver.declare import option_checks
from plugins.module_utils._resolver.declare.option_checks import oversized, own_name, shape_problem


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


# A dictionary is due in these places.


SPEC: dict[str, Any] = {
    "memory": {"type": "dict", "options": {"guest": {"type": "str"}, "swap": {"type": "dict"}}, "aliases": ["ram"]},
    "login": {"type": "dict", "options": {"name": {"type": "str"}, "password": {"type": "str", "no_log": True}}},
    "disks": {"type": "list", "elements": "dict", "options": {"source": {"type": "dict"}}},
    "volumes": {"type": "list", "elements": "dict", "options": {"name": {"type": "str"}}},
    "name": {"type": "str"},
    "users": {"type": "list", "elements": "str"},
    "preflight": {"type": "str", "choices": ["strict", "off"]},
    "cores": {"type": "int", "aliases": ["cpus"]},
}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory": "4Gi"}, "memory: expected a dictionary, found '4Gi'; write memory: {guest: ...}"),
        ({"ram": 4}, "ram: expected a dictionary, found 4; write ram: {guest: ...}"),
        ({"memory": ["4Gi"]}, "memory: expected a dictionary, found a list"),
        ({"memory": {"swap": 1.5}}, "memory.swap: expected a dictionary, found a number"),
        ({"memory": {"swap": True}}, "memory.swap: expected a dictionary, found a boolean"),
        # It may be the password.
        ({"login": "secret"}, "login: expected a dictionary, found text; write login: {name: ...}"),
        ({"disks": [{"source": {}}, {"source": "x"}]}, "disks[1].source: expected a dictionary, found text"),
        ({"disks": "root"}, "disks[0]: expected a dictionary, found text"),
        ({"volumes": ["root"]}, "volumes[0]: expected a dictionary, found 'root'; write {name: ...}"),
        # Ansible makes a dictionary of these, or reports the text without the option.
        ({"memory": "guest=4Gi, swop=x"}, "memory.swop: unknown option; did you mean swap?"),
        ({"memory": '{"gest": "4Gi"}'}, "memory.gest: unknown option; did you mean guest?"),
        ({"memory": "{'guest': '4Gi'}"}, None),
        ({"memory": "{guest: 4Gi}"}, f"memory: expected a dictionary, found '{{guest: 4Gi}}'{FROM_YAML}"),
        ({"memory": "{[]: 1}"}, f"memory: expected a dictionary, found '{{[]: 1}}'{FROM_YAML}"),
        ({"memory": "{1}"}, f"memory: expected a dictionary, found '{{1}}'{FROM_YAML}"),
        ({"memory": "guest=4Gi x"}, "memory: expected a dictionary, found 'guest=4Gi x'; write memory: {guest: ...}"),
        ({"login": "{name: root"}, f"login: expected a dictionary, found text{FROM_YAML}"),
        ({"volumes": "name=a, nam=b"}, "volumes[1].nam: unknown option; did you mean name?"),
        ({"volumes": ["{name: a}"]}, f"volumes[0]: expected a dictionary, found '{{name: a}}'{FROM_YAML}"),
    ],
)
def test_dictionary_options_reject_other_types(options: dict[str, Any], message: str | None) -> None:
    assert shape_problem(options, SPEC) == message


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "-inf"])
def test_number_options_reject_infinity(value: Any) -> None:
    assert shape_problem({"cores": value}, SPEC) == "cores: expected a finite number such as 2"
    assert shape_problem({"cpus": value}, SPEC) == "cpus: expected a finite number such as 2"
    # Text may say so.
    assert shape_problem({"name": "inf"}, SPEC) is None


def test_text_options_reject_other_types() -> None:
    quotes, text = AS_TEXT.removeprefix("; "), "write it as text"
    for options, problem in (
        ({"name": False}, f"name: expected a string, found a boolean; {quotes}"),
        ({"users": ["a", True]}, f"users: expected a string, found a boolean; {quotes}"),
        ({"memory": {"guest": False}}, f"memory.guest: expected a string, found a boolean; {quotes}"),
        ({"name": {"first": "a"}}, f"name: expected a string, found a dictionary; {text}"),
        ({"name": ["a"]}, f"name: expected a string, found a list; {text}"),
        ({"users": ["a", {"name": "b"}]}, f"users: expected a string, found a dictionary; {text}"),
        ({"memory": {"guest": ["4Gi"]}}, f"memory.guest: expected a string, found a list; {text}"),
        (
            {"login": {"password": {"a": "b"}}},
            f"login.password: expected a string, found a dictionary; {text}, or use a filter such as to_nice_yaml",
        ),
    ):
        assert shape_problem(options, SPEC) == problem
    # Ansible knows which of the choices it is.
    assert shape_problem({"preflight": False}, SPEC) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        # Ansible would split the text at its commas.
        ({"users": '["a", "b"]'}, f"users: expected a list, found text{FROM_YAML}"),
        ({"volumes": '[{"name": "a"}]'}, f"volumes: expected a list, found text{FROM_YAML}"),
        ({"cores": ""}, f"cores: expected a whole number, found an empty text{OMIT}"),
        ({"memory": " "}, f"memory: expected a dictionary, found an empty text{OMIT}"),
        ({"memory": "guest: 4Gi"}, f"memory: expected a dictionary, found 'guest: 4Gi'{FROM_YAML}"),
        ({"disks": [{"source": "[]"}]}, f"disks[0].source: expected a dictionary, found text{FROM_YAML}"),
        ({"users": "a,b", "cores": "2", "memory": '{"guest": "4Gi"}'}, None),
    ],
)
def test_values_of_templates_get_their_filter(options: dict[str, Any], message: str | None) -> None:
    assert shape_problem(options, SPEC) == message


def test_nesting_limit() -> None:
    def nested(depth: int) -> dict[str, Any]:
        value: Any = {}
        for level in range(depth):
            value = {"a": value} if level % 2 else {"a": [value]}
        return {"a": value}

    assert shape_problem({"memory": {"swap": nested(40)}}, SPEC) is None
    assert (
        shape_problem({"memory": {"swap": nested(5000)}}, SPEC)
        == "memory.swap: is nested more than 64 levels deep; no KubeVirt object is"
    )


def test_only_values_that_aliases_repeat_are_limited() -> None:
    shared = {"a": {"b": 1}}
    assert oversized([shared, *({"a": {"b": 1}} for _number in range(8))], maximum=2) == "contains more than 20 values"
    assert oversized([{"a": {}} for _number in range(9)], maximum=2) is None
    assert oversized([shared, {"c": shared}], maximum=3) is None
    assert oversized([shared, (shared,)], maximum=2) == "repeats more than 2 values by aliases"
    assert oversized("text") is None
    shared["a"] = shared
    assert oversized(shared) == "is nested more than 64 levels deep or contains itself"


@pytest.mark.parametrize(
    "options",
    [
        {"cores": 4, "cpus": "4"},
        {"memory": None, "disks": None, "name": "a", "_ansible_verbosity": 1},
        {"memory": '{"guest": "4Gi"}', "login": "name=a password=b"},
        {"disks": [], "memory": {"guest": "4Gi", "swap": {}}},
    ],
)
def test_values_that_ansible_parses_have_no_problem(options: dict[str, Any]) -> None:
    assert shape_problem(options, SPEC) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memroy": 1}, "memroy: unknown option; did you mean memory?"),
        ({"ram": {"geust": "1Gi"}}, "ram.geust: unknown option; did you mean guest?"),
        ({"disks": [{}, {"sorce": {}}]}, "disks[1].sorce: unknown option; did you mean source?"),
        ({"a b": 1, "cors": 2}, "'a b': unknown option"),
        ({"cors": 2, "users": True}, "cors: unknown option; did you mean cores?; users: expected a string"),
    ],
)
def test_unknown_options_are_named(options: dict[str, Any], message: str) -> None:
    problem = shape_problem(options, SPEC)
    assert problem is not None and problem.startswith(message)


def test_five_problems_are_shown() -> None:
    problem = shape_problem({f"cores{number}": 1 for number in range(7)}, SPEC)
    assert problem is not None and problem.count("unknown option") == 5 and problem.endswith("; and 2 more")


def test_own_name_of_an_alias() -> None:
    assert [own_name(key, SPEC) for key in ("memory", "ram", "other")] == ["memory", "memory", "other"]


def test_options_of_the_object_are_suggested_first() -> None:
    assert shape_problem({"nam": 1}, {**SPEC, "nama": {}}, ["nama"]) == "nam: unknown option; did you mean name?"
    assert shape_problem({"usernam": 1}, {**SPEC, "username": {}}, ["username"]) == (
        "usernam: unknown option; did you mean username?"
    )
    assert "username" not in str(shape_problem({"serie": 1}, {**SPEC, "username": {}}, ["username"]))
