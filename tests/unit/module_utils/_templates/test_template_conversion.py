"""OpenShift Templates; tests/templates has more, from virtctl."""

import pytest

from plugins.module_utils._templates.conversion import convert


@pytest.mark.parametrize("metadata", [{}, {"labels": {"app": "old", "os": "linux"}}])
def test_labels_for_all_objects_go_to_the_vm(metadata: dict[str, dict[str, str]]) -> None:
    template = {
        "metadata": {"name": "t"},
        "labels": {"app": "${NAME}"},
        "objects": [{"kind": "VirtualMachine", "metadata": metadata}],
    }
    result = convert(template, object_labels=True)["spec"]["virtualMachine"]
    assert result["metadata"]["labels"] == {**metadata.get("labels", {}), "app": "${NAME}"}
    assert convert(template)["spec"]["virtualMachine"]["metadata"] == metadata


@pytest.mark.parametrize(
    ("value", "text"),
    [(5, "5"), (True, "true"), (2.5, "2.5"), (1e6, "1e+06"), (1.25e-7, "1.25e-07"), (100000.0, "100000"), (0.0, "0")],
)
def test_numbers_in_place_of_texts_become_texts(value: object, text: str) -> None:
    template = {"objects": [{}], "parameters": [{"name": "A", "value": value}]}
    assert convert(template)["spec"]["parameters"][0]["value"] == text
