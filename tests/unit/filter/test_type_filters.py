"""The filters over instancetypes and quantities."""

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS


def instancetype(name: str, cpu: int, memory: str, labels: Any = None, **spec: Any) -> dict[str, Any]:
    return {
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"cpu": {"guest": cpu}, "memory": {"guest": memory}, **spec},
    }


CATALOG = [
    instancetype("u1.large", 4, "8Gi", {"instancetype.kubevirt.io/class": "general.purpose"}),
    instancetype("u1.small", 1, "2Gi", {"instancetype.kubevirt.io/class": "general.purpose"}),
    instancetype("m1.large", 2, "16Gi", {"team": "db"}),
    {
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "windows"},
        "spec": {"requirements": {"cpu": {"guest": 2}}},
    },
]


def names(result: list[dict[str, Any]]) -> list[str]:
    return [manifest["metadata"]["name"] for manifest in result]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["u1.small", "m1.large", "u1.large"]),
        ({"preference": "windows"}, ["m1.large", "u1.large"]),
        ({"preference": {"requirements": {"memory": {"guest": "8193Mi"}}}}, ["m1.large"]),
        ({"cpu": 3}, ["u1.large"]),
        ({"cpu": "3"}, ["u1.large"]),
        ({"memory": "4Gi"}, ["m1.large", "u1.large"]),
        ({"class": "general.purpose"}, ["u1.small", "u1.large"]),
        ({"labels": {"team": "db"}}, ["m1.large"]),
        ({"series": "m1"}, ["m1.large", "u1.small", "u1.large"]),
        ({"cpu": 64}, []),
    ],
)
def test_fitting_instancetypes_come_in_order(options: dict[str, Any], expected: list[str]) -> None:
    assert names(FILTERS["fitting"](CATALOG, **options)) == expected


def test_single_manifest_fits_or_not() -> None:
    assert names(FILTERS["fitting"](CATALOG[0])) == ["u1.large"]
    assert FILTERS["fitting"](CATALOG[0], cpu=5) == []
    assert FILTERS["fitting"]([None]) == []


@pytest.mark.parametrize(
    ("value", "options", "result"),
    [
        ("u1", {}, "expected manifests of instancetypes, found 'u1'"),
        ([1], {}, "[0]: expected a manifest, found 1"),
        ([{"spec": {}}], {}, "[0].kind: missing"),
        ([instancetype("x", 1, "4GB")], {}, "[0] (x): spec.memory.guest: '4GB' is not a quantity"),
        (CATALOG, {"preference": "linux"}, "preference: the manifests do not contain the preference 'linux'"),
        (CATALOG, {"preference": 1}, "preference: expected a manifest, a spec or a name, found 1"),
        (CATALOG, {"preference": {"spec": {"cpu": 1}}}, "preference: spec.cpu: expected an object, found 1"),
        (CATALOG, {"cpu": "many"}, "cpu: expected a whole number, found 'many'"),
        (CATALOG, {"memory": "4GB"}, "memory: '4GB' is not a quantity"),
        (CATALOG, {"labels": "x"}, "labels: expected an object, found 'x'"),
        (CATALOG, {"series": 1}, "series: expected a string, found 1"),
        (CATALOG, {"size": 1}, "size: unknown option; choose cpu, memory, class, labels, series"),
        (CATALOG, {"kubevirt_version": "x"}, "kubevirt_version: 'x' is not a version of KubeVirt"),
    ],
)
def test_fitting_refuses_invalid_input(value: Any, options: dict[str, Any], result: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        FILTERS["fitting"](value, **options)
    assert str(error.value).startswith(f"fitting: {result}")


SPREAD = {"cpu": {"preferredCPUTopology": "spread"}}


def test_fitting_instancetypes_are_divisible() -> None:
    assert FILTERS["fitting"]([instancetype("odd", 3, "1Gi")], SPREAD) == []


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        ("1.5Gi", "integer", 1610612736),
        ("500m", "integer", 1),
        (2048, "integer", 2048),
        ("1024Mi", "canonical", "1Gi"),
        (" 0.5 ", "canonical", "500m"),
        (1610612736, "human", "1.5Gi"),
        (1610612736, "human_decimal", "1.61G"),
        (["1Ki", "2k"], "integer", [1024, 2000]),
        (map(str, [1, 2]), "integer", [1, 2]),
    ],
)
def test_quantity(value: Any, form: str, expected: Any) -> None:
    assert FILTERS["quantity"](value, form) == expected


def test_comparison_of_quantities() -> None:
    quantity = FILTERS["quantity"]
    assert quantity(["1000Mi", "1024Mi", "2Gi"], compare="1Gi") == [-1, 0, 1]
    assert quantity("1m", compare=0) == 1


@pytest.mark.parametrize(
    ("value", "options", "result"),
    [
        ("4GB", {}, "'4GB' is not a quantity; write a quantity such as 512Mi or 4G"),
        (None, {}, "expected a quantity such as 512Mi, found None"),
        ([True], {}, "expected a quantity such as 512Mi, found True"),
        ({}, {}, "expected a quantity such as 512Mi, found {}"),
        ("1", {"form": "roman"}, "form: 'roman' is not a valid value; choose integer or canonical or human or"),
        ("1", {"compare": "x"}, "compare: 'x' is not a quantity"),
    ],
)
def test_quantity_refuses_invalid_input(value: Any, options: dict[str, Any], result: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        FILTERS["quantity"](value, **options)
    assert str(error.value).startswith(f"quantity: {result}")
