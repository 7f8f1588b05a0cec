"""A host without libraries: modules can be documented there, and say what they lack."""

import importlib.util
import sys

import pytest

from plugins.module_utils._cluster.client import libraries


@pytest.mark.parametrize("name", ["urllib3", "yaml"])
def test_missing_library_is_recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda wanted, own=importlib.util.find_spec: None if wanted == name else own(wanted)
    )
    spec = importlib.util.spec_from_file_location(f"{libraries.__package__}.without", str(libraries.__file__))
    assert spec is not None and spec.loader is not None
    without = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(without)
    assert repr(name) in without.MISSING
    assert (without.yaml is None) == (name == "yaml")
    assert libraries.MISSING == "" and libraries.yaml is sys.modules["yaml"]
    assert not hasattr(libraries, "urllib3")
