"""The fields of the API are what Go's types and tools/fields.yml say."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from loaded_files import load

from plugins.module_utils._resolver.api import schema

CHECKOUT = Path(__file__).resolve().parents[2]
GO_TYPES: dict[str, list[dict[str, Any]]] = {
    "kubevirt.io/api/core/v1.Disk": [
        {"json": "name", "type": "string"},
        {"json": "cache", "type": "string", "omitempty": True},
        {"json": "shareable", "type": "*bool", "omitempty": True},
        {"json": "rng", "type": "*v1.Rng", "ref": "kubevirt.io/api/core/v1.Rng", "omitempty": True},
    ],
    "kubevirt.io/api/core/v1.Rng": [],
}
OWN: dict[str, Any] = {"names": {}, "notes": {}, "choices": {}, "types": {}}


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    return load(CHECKOUT / "tools" / "generate_fields.py")


def test_the_generated_file_is_up_to_date(generator: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert generator.main(["--check"]) == 0, capsys.readouterr().out


def test_every_go_field_has_its_type(generator: ModuleType) -> None:
    own = {
        **OWN,
        "notes": {"Disk.shareable": {"since": "1.6", "kept": "-1.8"}},
        "choices": {"DiskCache": {"values": ["none"], "fields": ["Disk.cache"]}},
        "types": {"Lun": {"like": "Disk", "without": ["shareable", "rng"], "bus": "string"}},
    }
    values = {"Disk.name": ["root", "data"], "Disk.shareable": ["true"]}
    assert generator.types(GO_TYPES, own, values) == {
        "Disk": {
            "name": "string! (values root data)",
            "cache": "DiskCache",
            "shareable": "*bool (values true; since 1.6; kept -1.8)",
            "rng": "*Empty",
        },
        "Empty": {},
        "Lun": {"name": "string! (values root data)", "cache": "DiskCache", "bus": "string"},
    }


def test_openapi_permits_values_of_known_fields(generator: ModuleType) -> None:
    swagger = {
        "definitions": {
            "v1.Disk": {
                "properties": {"name": {"type": "string"}, "cache": {"enum": ["none"]}, "bus": {"enum": ["usb"]}}
            },
            "v1.Empty": {},
            "k8s.io.api.core.v1.Disk": {"properties": {"rng": {"type": "array", "items": {"enum": ["a", "b"]}}}},
        }
    }
    assert generator.permitted(swagger, GO_TYPES) == {"Disk.cache": ["none"], "Disk.rng": ["a", "b"]}


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("notes", {"Disk.bus": {"since": "1.6"}}, "notes: Go has no field Disk.bus"),
        ("choices", {"Bus": {"values": ["usb"], "fields": ["Lun.bus"]}}, "choices: Go has no field Lun.bus"),
        ("types", {"Disk": {}}, "have the same name: Disk"),
    ],
)
def test_own_entries_must_fit_go(generator: ModuleType, key: str, value: Any, problem: str) -> None:
    with pytest.raises(SystemExit, match=problem):
        generator.types(GO_TYPES, {**OWN, key: value}, {})


def test_each_kind_of_declaration_is_read() -> None:
    assert schema.TYPES["Empty"] == {}
    assert schema.TYPES["Machine"] == {"type": ("string!", {"empty": "undeclared"})}
    assert schema.TYPES["GPU"]["claimName"] == ("string", {"since": "1.6", "kept": "-1.8"})
    assert schema.TYPES["DomainSpec"]["devices"] == "Devices!"
