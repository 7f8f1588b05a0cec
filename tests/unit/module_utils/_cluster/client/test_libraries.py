"""A host without libraries: modules can be documented there, and say what they lack."""

import importlib.util
import sys

import pytest

from plugins.module_utils._cluster.client import libraries


@pytest.mark.parametrize("name", ["urllib3", "yaml"])
def test_missing_library_is_recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    spec = importlib.util.spec_from_file_location(f"{libraries.__package__}.without", str(libraries.__file__))
    assert spec is not None and spec.loader is not None
    without = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(without)
    assert without.MISSING.startswith("Traceback") and name in without.MISSING
    assert (without.urllib3, without.yaml) == (None, None)
    assert libraries.MISSING is None
