"""The filter workload: its options, the built-in catalog, and its errors."""

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS


def workload(*arguments: Any, **options: Any) -> dict[str, Any]:
    result: dict[str, Any] = FILTERS["workload"](*arguments, **options)
    return result


SOURCE = {
    "kind": "DataSource",
    "metadata": {
        "name": "fedora",
        "namespace": "golden",
        "labels": {"instancetype.kubevirt.io/default-preference": "fedora"},
    },
}
OBJECTS = [
    {"kind": "VirtualMachinePreference", "metadata": {"name": "fedora", "namespace": "shop"}, "spec": {}},
    {
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "web.small", "namespace": "shop"},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
    },
]


def test_built_in_catalog_is_the_default() -> None:
    choice = workload("fedora", data_sources=SOURCE)
    assert choice["boot"] == {"data_source": "golden/fedora"}
    assert choice["preference"] == {"name": "fedora", "kind": "VirtualMachineClusterPreference"}
    assert choice["instancetype"] == {"name": "u1.small", "kind": "VirtualMachineClusterInstancetype"}
    assert choice["others"]["instancetype"][:2] == ["u1.medium", "u1.2xmedium"]
    assert sorted(choice["rejected"]) == ["u1.micro", "u1.nano"]
    assert len(choice["reasons"]) == 3


def test_objects_replace_the_builtin_catalog() -> None:
    choice = workload("fedora", objects=OBJECTS)
    assert "boot" not in choice
    assert choice["instancetype"] == {"name": "web.small", "kind": "VirtualMachineInstancetype"}


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        (["rhel"], {}, "workload: workload: 'rhel' means several preferences: rhel.7, "),
        (["fedora"], {"data_sources": []}, "workload: boot: no DataSource has the default preference fedora; set boot"),
        (["fedora"], {"size": 5}, "workload: size: expected a string, found 5"),
        (["fedora"], {"objects": []}, "workload: workload: no preference and no DataSource is named 'fedora'"),
        (["fedora"], {"objects": OBJECTS[:1]}, "workload: size: there are no instancetypes; deploy a catalog"),
        (["fedora"], {"memory": "much"}, "workload: memory: 'much' is not a quantity"),
    ],
)
def test_invalid_input_is_refused(arguments: list[Any], options: dict[str, Any], error: str) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        workload(*arguments, **options)
    assert str(caught.value).startswith(error)
