"""Every error of a value, of checks that raise the first one."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.all_errors import all_errors, collect_errors, without_fields
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.formats import checked


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("", {"name": "web", "labels": {"a.b/c": 1, "a": [{"x": 1}, [2]]}}),
        ("name", {"name": "x", "labels": {"a.b/c": 1, "a": [{"x": 1}, [2]]}}),
        ("labels.a.b/c", {"name": "web", "labels": {"a": [{"x": 1}, [2]]}}),
        ("labels.a[0].x", {"name": "web", "labels": {"a.b/c": 1, "a": [{}, [2]]}}),
        ("labels.a[1][0]", {"name": "web", "labels": {"a.b/c": 1, "a": [{"x": 1}, [None]]}}),
        ("labels.a[1]", {"name": "web", "labels": {"a.b/c": 1, "a": [{"x": 1}, []]}}),
        ("labels.a[0]", {"name": "web", "labels": {"a.b/c": 1, "a": [{}, [2]]}}),
        ("labels.a[2]", {"name": "web", "labels": {"a.b/c": 1, "a": [{"x": 1}, [2]]}}),
        ("labels.a[x]", {"name": "web", "labels": {"a.b/c": 1, "a": [{"x": 1}, [2]]}}),
        ("name.x", {"name": "web", "labels": {"a.b/c": 1, "a": [{"x": 1}, [2]]}}),
        ("labelsx", {"name": "web", "labels": {"a.b/c": 1, "a": [{"x": 1}, [2]]}}),
    ],
)
def test_without_leaves_the_rest(path: str, left: Any) -> None:
    value = {"name": "web", "labels": {"a.b/c": 1, "a": [{"x": 1}, [2]]}}
    assert without_fields(value, [path]) == left
    assert value == {"name": "web", "labels": {"a.b/c": 1, "a": [{"x": 1}, [2]]}}


def test_every_error_in_order() -> None:
    value = {"cpu": {"guest": "x", "maxSockets": -1}, "gpus": [{"nam": "x"}, 5], "memory": {"guest": "1!"}, "y": 1}
    errors = all_errors(lambda spec: checked("VirtualMachineInstancetypeSpec", spec), value)
    assert [error.path for error in errors] == [
        "cpu.guest",
        "cpu.maxSockets",
        "gpus[0].nam",
        "gpus[1]",
        "memory.guest",
        "y",
    ]
    joined = FieldError.joined(errors)
    assert joined.path == "cpu.guest" and joined.all[1:] == tuple(errors[1:])
    assert str(joined).count("; ") >= 5 and str(joined).endswith("; and 1 more")
    assert [error.path for error in joined.with_parent("spec").all][-1] == "spec.y"


def test_an_error_that_stays_is_named_once() -> None:
    def check(_value: Any) -> None:
        raise FieldError("absent", "is missing")

    assert [str(error) for error in all_errors(check, {"a": 1})] == ["absent: is missing"]


def test_what_is_missing_hides_no_other_error() -> None:
    def check(value: Any) -> None:
        for index, key in enumerate(value.get("keys", ())):
            if key != "ssh":
                raise FieldError(f"keys[{index}]", "is no key")
        if not value.get("name"):
            raise FieldError("name", "is missing")
        if value.get("size") != 1:
            raise FieldError("size", "is wrong")

    assert [error.path for error in all_errors(check, {"keys": ["ssh", "x", "y"], "size": 2})] == [
        "keys[1]",
        "name",
        "size",
    ]


def test_lack_of_a_wrong_value_is_no_error() -> None:
    def check(value: Any) -> None:
        if value.get("cpu") != 1:
            raise FieldError("cpu" if "cpu" in value else "spec.cpu", "is wrong or missing")
        if "disk" in value and not value["disk"]:
            raise FieldError("disk", "requires one of url, blank")
        if value.get("disk", {}).get("url") is not None:
            raise FieldError("disk.url", "is wrong")

    assert [error.path for error in all_errors(check, {"cpu": 2, "disk": {"url": 1}})] == ["cpu"]
    assert [error.path for error in all_errors(check, {"cpu": 1, "disk": {"url": 1}})] == ["disk.url"]
    assert [error.path for error in all_errors(check, {"cpu": 1, "disk": {}})] == ["disk"]


def test_the_number_of_errors_is_limited() -> None:
    errors = all_errors(lambda spec: checked("ObjectMeta", spec), {f"field{number}": 1 for number in range(99)})
    assert len(errors) == 50


@pytest.mark.parametrize(
    ("value", "rest", "is_right"),
    [
        ({"a": [1], "b": 2}, {"a": [1], "b": 2}, True),
        ({"a": ["x"], "b": 2}, {"b": 2}, True),
        ({"a": [1]}, {"a": [1]}, False),
    ],
)
def test_mended_values_have_nothing_wrong(value: Any, rest: Any, is_right: bool) -> None:
    def check(value: Any) -> None:
        if any(isinstance(entry, str) for entry in value.get("a", ())):
            raise FieldError("a[0]", "expected a number")
        if "b" not in value:
            raise FieldError("b", "is missing")

    assert collect_errors(check, value)[1:] == (rest, is_right)
