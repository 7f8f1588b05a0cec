"""The filter over catalogs: what it takes and gives, and that mistakes become Ansible's errors."""

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

catalog_objects = FILTERS["catalog_objects"]

SERIES = {"series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "1Gi"}, "large": {"cpu": 4, "memory": "8Gi"}}}}}
FAMILY = {"families": {"acme": {"os": "linux", "preferences": {"acme": {}}}}}


def names(objects: list[dict[str, Any]]) -> list[str]:
    return [entry["metadata"]["name"] for entry in objects]


def test_several_catalogs_are_joined() -> None:
    assert names(catalog_objects(SERIES)) == ["web.small", "web.large"]
    assert names(catalog_objects([SERIES, None, FAMILY])) == ["web.small", "web.large", "acme"]
    assert names(catalog_objects(iter([SERIES, FAMILY]))) == ["web.small", "web.large", "acme"]
    assert catalog_objects(catalog_objects([SERIES, FAMILY])) == catalog_objects([SERIES, FAMILY])
    assert catalog_objects([]) == []


def test_options_select_and_adapt_objects() -> None:
    both = [SERIES, FAMILY]

    assert names(catalog_objects(both, kind="instancetype", sizes=["large"])) == ["web.large"]
    assert names(catalog_objects(both, kind="preference", name_prefix="my-")) == ["my-acme"]
    assert names(catalog_objects(both, names=["*small", "acme"], series=["web"])) == ["web.small", "acme"]
    assert [entry["kind"] for entry in catalog_objects(both, namespace="shop", names=["acme", "web.small"])] == [
        "VirtualMachineInstancetype",
        "VirtualMachinePreference",
    ]


def test_entries_are_options_of_the_modules() -> None:
    assert catalog_objects(FAMILY, form="entries", namespace="shop", labels={"team": "a"}) == [
        {
            "name": "acme",
            "namespace": "shop",
            "labels": {"instancetype.kubevirt.io/os-type": "linux", "team": "a"},
            "spec": {"annotations": {"vm.kubevirt.io/os": "linux"}},
        }
    ]


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        ("series: {}", {}, "expected catalogs or manifests, found text; read YAML with from_yaml or from_yaml_all"),
        (5, {}, "expected catalogs or manifests, found 5"),
        ([5], {}, "catalog 0: expected a definition or a manifest, found 5"),
        (SERIES, {"kind": "vm"}, "kind: 'vm' is not a valid value; choose instancetype or preference"),
        (SERIES, {"form": "yaml"}, "form: 'yaml' is not a valid value; choose manifests or entries"),
        (SERIES, {"series": "web"}, "series: expected a list of names, found 'web'"),
        (SERIES, {"names": [1]}, "names: expected a list of names, found [1]"),
        (SERIES, {"labels": ["a"]}, "labels: expected an object, found ['a']"),
        (SERIES, {"namespace": 5}, "namespace: expected a string, found 5"),
        (SERIES, {"sizes": ["smal"]}, "sizes: nothing in the catalog matches 'smal'; did you mean small?"),
    ],
)
def test_invalid_input_is_refused(value: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        catalog_objects(value, **options)

    assert str(caught.value) == f"catalog_objects: {message}"
