"""States in the language of catalogs."""

from typing import Any

import pytest
import yaml

from plugins.module_utils._resolver.api.state import State, state_of
from plugins.module_utils._resolver.catalog.definitions import adapt, expand_catalog
from plugins.module_utils._resolver.catalog.errors import CatalogError
from plugins.module_utils._resolver.catalog.selection import CatalogSelection

CATALOG = """
series:
  old:
    deprecated: {obsolete_from: 2027-03-31, replacement: new.small}
    sizes:
      small: {cpu: 1, memory: 1Gi}
      large: {cpu: 4, memory: 4Gi, deprecated: {replacement: new.large}}
      huge: {cpu: 8, memory: 8Gi, obsolete: {}}
      tiny: {cpu: 1, memory: 512Mi, deprecated: null}
  new:
    sizes:
      small: {cpu: 1, memory: 1Gi}
      large: {cpu: 4, memory: 4Gi}
families:
  acme:
    preferences:
      acme.8: {obsolete: {replacement: other}}
"""


def states(objects: list[dict[str, Any]]) -> dict[str, State]:
    return {manifest["metadata"]["name"]: state_of(manifest) for manifest in objects}


def test_a_series_declares_a_state_for_its_sizes() -> None:
    objects = expand_catalog(yaml.safe_load(CATALOG))
    assert states(objects) == {
        "old.small": State("deprecated", "new.small", "2027-03-31"),
        "old.large": State("deprecated", "new.large", "2027-03-31"),
        "old.huge": State("obsolete", "new.small"),
        "old.tiny": State(),
        "new.small": State(),
        "new.large": State(),
        "acme.8": State("obsolete", "other"),
    }
    huge, tiny = objects[2]["metadata"], objects[3]["metadata"]
    assert huge["annotations"] == {"instancetypes.virtshape.io/replacement": "new.small"}
    assert "annotations" not in tiny


def test_name_prefix_applies_to_replacements_within_catalog() -> None:
    objects = adapt(expand_catalog(yaml.safe_load(CATALOG)), name_prefix="web.")
    assert states(objects)["web.old.large"].replacement == "web.new.large"
    assert states(objects)["web.acme.8"].replacement == "other"


@pytest.mark.parametrize(
    ("deprecated", "names"),
    [
        ("only", ["old.small", "old.large", "old.huge", "acme.8"]),
        ("exclude", ["old.tiny", "new.small", "new.large"]),
    ],
)
def test_obsolete_objects_are_selected_with_the_deprecated(deprecated: str, names: list[str]) -> None:
    chosen = CatalogSelection(deprecated=deprecated).select(expand_catalog(yaml.safe_load(CATALOG)))
    assert [manifest["metadata"]["name"] for manifest in chosen] == names


def test_a_version_may_have_another_state() -> None:
    definition = yaml.safe_load(
        "series: {m: {sizes: {a: {cpu: 1, memory: 1Gi, obsolete: {}}}}}\n"
        "versions: {v2: {}, v1: {series: {m: {sizes: {a: {obsolete: null, deprecated: {}}}}}}}"
    )
    assert states(expand_catalog(definition, version="v1")) == {"m.a": State("deprecated")}
    assert states(expand_catalog(definition)) == {"m.a": State("obsolete")}


def test_invalid_state_names_its_place() -> None:
    definition = {
        "series": {"m": {"sizes": {"a": {"cpu": 1, "memory": "1Gi", "deprecated": {"obsolete_from": "soon"}}}}}
    }
    with pytest.raises(CatalogError) as error:
        expand_catalog(definition)
    assert str(error.value) == (
        "series.m.sizes.a: deprecated.obsolete_from: 'soon' is not a date; write a day such as 2027-03-31"
    )
