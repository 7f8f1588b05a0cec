"""No filter lets a message of Python's through."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from ansible.errors import AnsibleError, AnsibleFilterError
from filtered_vms import INSTANCETYPE, VM
from jinja2.exceptions import UndefinedError
from loaded_filters import FILTERS

from plugins.filter import core
from plugins.module_utils._resolver.api.type_remedies import AS_TEXT
from plugins.plugin_utils._filter_functions import _deferred

# A filter of a capability is only there with it.
VM_FILTERS = [name for name in ("expand", "explain", "resources") if name in FILTERS]
PLUGINS = "ansible_collections.virtshape.instancetypes.plugins"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], Any]:
    """Makes a filter `mine` that raises the error."""

    def filter_that_raises(error: BaseException) -> Any:
        def mine(_value: Any) -> None:
            raise error

        monkeypatch.setattr(_deferred, "import_module", lambda _name: mock.Mock(mine=mine))
        return _deferred.filters("any", "mine")["mine"]

    return filter_that_raises


def test_the_file_of_all_filters_imports_no_code() -> None:
    imported = f"import sys, {core.__name__}; print(*(name for name in sys.modules if name.startswith('{PLUGINS}.')))"
    done = subprocess.run([sys.executable, "-c", imported], check=True, stdout=subprocess.PIPE, text=True)
    packages = [f"{PLUGINS}.filter", f"{PLUGINS}.plugin_utils", f"{PLUGINS}.plugin_utils._filter_functions"]
    assert done.stdout.split() == [*packages, _deferred.__name__, core.__name__]


@pytest.mark.parametrize(("options", "loaded"), [("objects=[]", False), ("", True)])
def test_catalog_is_loaded_only_without_objects(options: str, loaded: bool) -> None:
    vm = {"metadata": {"name": "vm"}, "spec": {"template": {"spec": {"domain": {}}}}}
    call = f"import sys, {core.__name__} as core; core.FilterModule().filters()['expand']({vm}, {options})"
    program = f"{call}; print('{PLUGINS}.module_utils._resolver.catalog.bundle' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout.strip() == str(loaded)


@pytest.mark.parametrize("name", FILTERS)
def test_unknown_option_is_refused(name: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        FILTERS[name]({}, no_such_option=1)
    assert str(error.value).startswith(f"{name}: no_such_option: unknown option")


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("value", [5, "text", [5], [[]], {"spec": []}, {"metadata": 5, "spec": 5}, None])
def test_values_of_any_shape_give_one_line_errors(name: str, value: Any) -> None:
    try:
        FILTERS[name](value)
    except AnsibleError as error:
        assert "bug in the collection" not in str(error), error
        assert "\n" not in str(error)


def test_unexpected_error_is_reported_as_a_bug(failing: Callable[[BaseException], Any]) -> None:
    for error in (KeyError("a-secret"), TypeError("a-secret"), ValueError("a-secret")):
        with pytest.raises(AnsibleFilterError, match=r"^mine: this is a bug in the collection \(") as caught:
            failing(error)("x")
        assert "a-secret" not in str(caught.value)
    with pytest.raises(AnsibleFilterError, match="nested too deeply or contains itself"):
        failing(RecursionError())("x")


def test_errors_of_templates_pass_unchanged(failing: Callable[[BaseException], Any]) -> None:
    for error in (UndefinedError("x is undefined"), AnsibleError("the filter other failed")):
        with pytest.raises(type(error), match=f"^{error}"):
            failing(error)("x")


def test_own_errors_begin_with_the_filter(failing: Callable[[BaseException], Any]) -> None:
    with pytest.raises(AnsibleFilterError, match=r"^mine: form: unknown"):
        failing(AnsibleFilterError("form: unknown"))("x")


def test_invalid_arguments_refer_to_ansible_doc(failing: Callable[[BaseException], Any]) -> None:
    with pytest.raises(AnsibleFilterError, match=r"^mine: invalid arguments; see ansible-doc"):
        failing(KeyError())()


def test_a_catalog_that_contains_itself_is_an_error() -> None:
    own: dict[str, Any] = {}
    own["series"] = own
    with pytest.raises(AnsibleFilterError, match="is nested more than 64 levels deep or contains itself"):
        FILTERS["catalog_objects"](own)
    bomb: Any = ["x"] * 9
    for _level in range(12):
        bomb = [bomb] * 9
    with pytest.raises(AnsibleFilterError, match="the value repeats more than 1,000,000 values by aliases"):
        FILTERS["catalog_objects"]({"series": bomb})


def test_own_errors_do_not_quote_secrets(failing: Callable[[BaseException], Any]) -> None:
    quoting = failing(AnsibleFilterError("proxy: expected a port, found me:hunter2@proxy; userData: found 'abcd'"))
    with pytest.raises(AnsibleFilterError) as error:
        quoting([{"proxy": "http://me:hunter2@proxy", "userData": "abcd"}])
    assert str(error.value) == "mine: proxy: expected a port, found ********@proxy; userData: found '********'"


def test_values_too_large_to_search_are_not_quoted(failing: Callable[[BaseException], Any]) -> None:
    bomb: Any = ["hunter2"] * 9
    for _level in range(12):
        bomb = [bomb] * 9
    with pytest.raises(AnsibleFilterError, match=r"^mine: the value repeats more than 1,000,000 values by aliases"):
        failing(AnsibleFilterError("found hunter2"))(bomb)


MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"kind": "X", "metadata": ["a"]}, "metadata: expected a mapping, found ['a']"),
    ({"kind": ["X"], "metadata": {}}, "kind: expected a string, found ['X']"),
    ({"kind": "X", "metadata": {"name": ["a"]}}, "metadata.name: expected a string, found ['a']"),
    ({"kind": "X", "metadata": {"name": 5}}, f"metadata.name: expected a string, found 5{AS_TEXT}"),
    ({"kind": "X", "metadata": {"labels": "a"}}, "metadata.labels: expected a mapping, found 'a'"),
    (
        {"kind": "X", "metadata": {"labels": {"a": 1}}},
        f"metadata.labels.a: expected a string, found 1{AS_TEXT}",
    ),
    ({"kind": "DataSource", "spec": {"source": {"pvc": "x"}}}, "spec.source.pvc: expected a mapping, found 'x'"),
]


@pytest.mark.parametrize("name", [*VM_FILTERS, "infer", "drift"])
@pytest.mark.parametrize(("manifest", "problem"), MALFORMED)
def test_malformed_objects_give_one_line_errors(name: str, manifest: dict[str, Any], problem: str) -> None:
    option = "current" if name == "drift" else "objects"
    with pytest.raises(AnsibleFilterError) as error:
        FILTERS[name](VM, **{option: [INSTANCETYPE, None, manifest]})
    assert str(error.value) == f"{name}: {option}[1]: {problem}"


@pytest.mark.parametrize(("manifest", "problem"), MALFORMED)
def test_malformed_objects_to_choose_from(manifest: dict[str, Any], problem: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        FILTERS["fitting"]([INSTANCETYPE, manifest])
    assert str(error.value) == f"fitting: [1]: {problem}"


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ({"status": -1}, "status: expected a mapping, found -1"),
        ({"status": {"instancetypeRef": "x"}}, "status.instancetypeRef: expected a mapping, found 'x'"),
        ({"metadata": "x"}, "metadata: expected a mapping, found 'x'"),
    ],
)
def test_malformed_vm_gives_a_one_line_error(part: dict[str, Any], problem: str) -> None:
    for name in VM_FILTERS:
        with pytest.raises(AnsibleFilterError) as error:
            FILTERS[name]({**VM, **part}, objects=INSTANCETYPE)
        assert str(error.value).endswith(f": {problem}")
