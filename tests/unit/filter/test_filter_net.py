"""No filter lets a message of Python's through."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from jinja2.exceptions import UndefinedError

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils import _filters

PLUGINS = "ansible_collections.virtshape.instancetypes.plugins"
NAMES = sorted(path.stem for path in (Path(__file__).parents[3] / "plugins" / "filter").glob("*.py"))


def filter_of(name: str) -> Any:
    return importlib.import_module(f"{PLUGINS}.filter.{name}").FilterModule().filters()[name]


def failing(error: BaseException) -> Any:
    def filter_(_value: Any) -> None:
        raise error

    return _filters.netted({"mine": filter_})["mine"]


@pytest.mark.parametrize("name", NAMES)
def test_an_option_that_there_is_not(name: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        filter_of(name)({}, no_such_option=1)
    assert str(error.value).startswith(f"{name}: no_such_option: unknown option")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [5, "text", [5], [[]], {"spec": []}, {"metadata": 5, "spec": 5}, None])
def test_values_of_any_shape(name: str, value: Any) -> None:
    try:
        filter_of(name)(value)
    except AnsibleFilterError as error:
        assert "mistake of the collection" not in str(error), error
        assert "\n" not in str(error)


def test_what_nobody_has_foreseen() -> None:
    for error in (KeyError("a-secret"), TypeError("a-secret"), ValueError("a-secret")):
        with pytest.raises(AnsibleFilterError, match=r"^mine: this is a bug in the collection \(") as caught:
            failing(error)("x")
        assert "a-secret" not in str(caught.value)
    with pytest.raises(AnsibleFilterError, match="nested too deeply or contains itself"):
        failing(RecursionError())("x")


def test_what_templates_say_passes() -> None:
    for error in (UndefinedError("x is undefined"), AnsibleFilterError("mine: no")):
        with pytest.raises(type(error), match=str(error)):
            failing(error)("x")


def test_calls_that_do_not_fit() -> None:
    with pytest.raises(AnsibleFilterError, match=r"^mine: invalid arguments; see ansible-doc"):
        failing(KeyError())()


def test_a_catalog_that_holds_itself_or_one_part_again_and_again() -> None:
    own: dict[str, Any] = {}
    own["series"] = own
    with pytest.raises(AnsibleFilterError, match="the catalog is nested more than 64 levels deep or contains itself"):
        filter_of("catalog_objects")(own)
    bomb: Any = ["x"] * 9
    for _level in range(12):
        bomb = [bomb] * 9
    with pytest.raises(
        AnsibleFilterError, match="the catalog contains more than 500,000 values with all aliases expanded"
    ):
        filter_of("catalog_objects")({"series": bomb})
