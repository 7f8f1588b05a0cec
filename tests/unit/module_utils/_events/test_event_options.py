"""The arguments of the event source, and its schema of them."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from plugins.module_utils._events.facts import BEGINNINGS
from plugins.module_utils._events.source_options import source_options
from plugins.module_utils._resolver.api.errors import FieldError

SOURCES = Path(__file__).parents[4] / "extensions" / "eda" / "plugins" / "event_source"
SCHEMA = json.loads((SOURCES / "schemas" / "virtual_machines.json").read_text(encoding="utf-8"))

VALID: list[dict[str, Any]] = [
    {},
    {"kubeconfig": "k", "namespace": "shop", "label_selectors": ["a=b"], "field_selectors": "metadata.name=x"},
    {"transitions": ["drifted"], "fields": ["metadata.labels"], "report_existing": False, "state_directory": "s"},
    {"clusters": [{"name": "a"}, {"name": "b", "host": "h"}], "state_config_map": "eda/x", "delay": 0.5, "resync": 5},
]
INVALID: list[tuple[dict[str, Any], str]] = [
    ({"lable_selectors": []}, "lable_selectors: unknown argument; did you mean label_selectors"),
    ({"transitions": ["drift"]}, "transitions: 'drift' is unknown; choose from drifted"),
    ({"label_selectors": [1]}, "label_selectors: expected a list of texts"),
    ({"namespace": 1}, "namespace: expected a text"),
    ({"report_existing": "yes"}, "report_existing: expected true or false"),
    ({"delay": 0}, "delay: expected seconds above 0"),
    ({"state_config_map": "x"}, "state_config_map: found 'x'; write NAMESPACE/NAME"),
    ({"state_config_map": "a/b", "state_directory": "x"}, "state_directory: there is also state_config_map"),
    ({"clusters": {}}, "clusters: expected a list"),
    ({"clusters": [{"name": "a", "hots": "h"}]}, r"clusters\[0\].hots: unknown argument; did you mean host"),
    ({"clusters": [{"host": "h"}]}, r"clusters\[0\].name: write a name"),
]


def test_defaults() -> None:
    options = source_options({"feedback": True}, {})
    [cluster] = options.clusters
    assert (cluster.name, cluster.auth, options.namespace, options.state_config_map) == ("", {}, None, None)
    assert (options.transitions, options.report_existing, options.delay, options.resync) == (BEGINNINGS, True, 1, 600)


def test_values() -> None:
    options = source_options({"label_selectors": ["a=b", "c"], "fields": "metadata.labels", "delay": 2}, {})
    assert (options.label_selector, options.fields, options.delay) == ("a=b,c", (("metadata", "labels"),), 2.0)
    assert source_options({"state_config_map": "eda/vms"}, {}).state_config_map == ("eda", "vms")


def test_clusters_override_what_is_beside_them() -> None:
    clusters = [{"name": "east", "host": "e"}, {"name": "west", "api_key": None}]
    east, west = source_options({"clusters": clusters, "host": "h"}, {"K8S_AUTH_API_KEY": "t"}).clusters
    assert (east.name, east.auth, west.auth) == ("east", {"host": "e"}, {"host": "h"})


def test_the_environment_gives_defaults() -> None:
    environment = {"K8S_AUTH_HOST": "h", "K8S_AUTH_VERIFY_SSL": "No", "K8S_AUTH_API_KEY": ""}
    [cluster] = source_options({"context": "c"}, environment).clusters
    assert cluster.auth == {"host": "h", "validate_certs": False, "context": "c"}


@pytest.mark.parametrize("arguments", VALID)
def test_valid_arguments(arguments: dict[str, Any]) -> None:
    source_options(arguments, {})
    jsonschema.validate(arguments, SCHEMA, jsonschema.Draft202012Validator)


@pytest.mark.parametrize(("arguments", "message"), INVALID)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError, match=message):
        source_options(arguments, {})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(arguments, SCHEMA, jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"label_selectors": ["a=b=c"]}, "label_selectors: "),
        ({"clusters": [{"name": "a"}, {"name": "a"}]}, "clusters: two have the same name"),
    ],
)
def test_what_no_schema_finds(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError, match=message):
        source_options(arguments, {})
