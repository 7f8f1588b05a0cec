"""One row of a table of options gives the argument spec, the field of the API, and what the option needs."""

from plugins.module_utils._resolver.declare.option_rows import (
    DICT,
    DICTS,
    INT,
    STR,
    Row,
    Table,
    joined,
    plain_fields,
    set_fields,
    spec_of,
    unmet_needs,
)
from plugins.module_utils._resolver.declare.vm.manifest import manifest
from plugins.module_utils._resolver.declare.vm.options import ROWS
from plugins.module_utils._vm_options import VM_OPTIONS

CPU = {"cpu": Row(DICT, "vCPUs.", "spec.cpu"), "cpu.cores": Row(INT, "Cores.", "spec.cpu.cores", "x")}
PORTS = {"ports": Row(DICTS, "Ports."), "ports.name": Row(STR, "Name.")}


def test_suboptions_stand_below_their_option() -> None:
    assert spec_of({**CPU, **PORTS}) == {
        "cpu": {"type": "dict", "options": {"cores": {"type": "int"}}},
        "ports": {"type": "list", "elements": "dict", "options": {"name": {"type": "str"}}},
    }
    # A row keeps no suboptions of another table.
    assert DICT == {"type": "dict"}


def test_an_empty_object_sets_its_field() -> None:
    fields = plain_fields({**CPU, **PORTS, "labels": Row(DICT, "Labels.", "labels")})
    result: dict[str, object] = {"spec": {"name": "a"}}
    set_fields(fields, {"cpu": {"cores": None}, "labels": {"a": "b"}, "ports": [{"name": "web"}]}, result)
    assert result == {"spec": {"name": "a", "cpu": {}}, "labels": {"a": "b"}}
    set_fields(fields, {"cpu": {"cores": 2}, "labels": None}, result)
    assert result == {"spec": {"name": "a", "cpu": {"cores": 2}}, "labels": {"a": "b"}}


def test_capabilities_add_to_a_table() -> None:
    more = Table(PORTS, {"check": Row(STR)}, [("cpu", "ports")], {"ports": ("cpu", "set cpu")})
    table = joined([Table(CPU), more])
    assert list(table.spec) == ["cpu", "ports"]
    assert (list(table.settings), table.exclusive, table.shorthand) == (
        ["check"],
        [("cpu", "ports")],
        {"cpu.cores": "x"},
    )
    assert list(unmet_needs(table, {"ports": []})) == [("ports", "requires cpu; set cpu")]
    assert list(unmet_needs(table, {"ports": [], "cpu": {}})) == list(unmet_needs(table, {})) == []


def test_plain_fields_get_the_values_of_their_options() -> None:
    """Every row that names a field: the manifest has the value there."""
    values = {"int": 3, "bool": False, "str": "a", "dict": {"a": "b"}, "list": [{"key": "a"}]}
    for path, row in ROWS.items():
        if row.field:
            value = row.spec.get("choices", [values[row.spec["type"]]])[0]
            value = {} if any(other.startswith(f"{path}.") for other in ROWS) else value
            option, _dot, inner = path.partition(".")
            found: object = manifest({"name": "web", option: {inner: value} if inner else value}, VM_OPTIONS)
            for name in row.field.split("."):
                assert isinstance(found, dict), path
                found = found[name]
            assert found == value, path
