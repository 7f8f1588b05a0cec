"""The canonical form of any object of the API."""

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from objects import objects

from plugins.module_utils._resolver.api import schema

NAMES = ("VirtualMachine", "VirtualMachineInstancetype", "VirtualMachinePreference")
OBJECTS = st.sampled_from(NAMES).flatmap(lambda name: st.tuples(st.just(name), objects(name)))


class Tagged(str):
    """A text as Ansible hands it over."""

    __slots__ = ()


class Lazy(dict[str, Any]):
    """A dict as Ansible hands it over."""


def tagged(value: Any) -> Any:
    if isinstance(value, dict):
        return Lazy({Tagged(name): tagged(entry) for name, entry in value.items()})
    if isinstance(value, list):
        return [tagged(entry) for entry in value]
    return Tagged(value) if isinstance(value, str) else value


@given(OBJECTS)
def test_canonical_form_is_idempotent(given_object: tuple[str, dict[str, Any]]) -> None:
    name, value = given_object
    once = schema.canonical(name, value)
    assert schema.canonical(name, once) == once
    assert schema.equal(name, once, once)


@given(OBJECTS)
def test_declared_form_is_idempotent_and_complete(given_object: tuple[str, dict[str, Any]]) -> None:
    name, value = given_object
    declared = schema.as_declared(name, value)
    assert schema.as_declared(name, declared) == declared
    # The canonical form keeps empty values that declare nothing.
    assert schema.as_declared(name, schema.canonical(name, value)) == schema.as_declared(
        name, schema.canonical(name, declared)
    )


@given(OBJECTS)
def test_the_input_stays_and_is_not_shared(given_object: tuple[str, dict[str, Any]]) -> None:
    name, value = given_object
    before = copy.deepcopy(value)
    shared = _containers(schema.canonical(name, value)) & _containers(value)
    assert value == before
    # A value that the API takes as it is (`any`) is handed on.
    assert all(result in _containers_of_any(value) for result in shared)


@given(OBJECTS)
def test_ansible_string_classes_make_no_difference(given_object: tuple[str, dict[str, Any]]) -> None:
    name, value = given_object
    expected = schema.canonical(name, value)
    assert schema.canonical(name, tagged(value)) == expected
    assert json.loads(json.dumps(expected)) == expected


@given(OBJECTS, st.integers(0, 3))
def test_unknown_fields_and_nulls_are_ignored(given_object: tuple[str, dict[str, Any]], depth: int) -> None:
    name, value = given_object
    assert schema.canonical(name, {**value, "noSuchField": [depth], "status": value.get("status")}) == schema.canonical(
        name, value
    )


def _containers(value: Any) -> set[int]:
    result = {id(value)} if isinstance(value, (dict, list)) else set()
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        result |= _containers(entry)
    return result


def _containers_of_any(value: Any) -> set[int]:
    if isinstance(value, dict):
        result = set().union(*(_containers_of_any(entry) for entry in value.values()))
        return result | (_containers(value) if value == {"a": [1]} else set())
    return set().union(*(_containers_of_any(entry) for entry in value)) if isinstance(value, list) else set()
