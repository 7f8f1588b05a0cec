"""A module ends in one line on a target whose Python is too old."""

import ast
import json
import runpy
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
MODULE_UTILS = "ansible_collections.virtshape.instancetypes.plugins.module_utils"
CHECK = CHECKOUT / "plugins" / "module_utils" / "_python.py"


def test_old_python_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 8, 18))
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(CHECK))
    assert end.value.code == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["failed"] is True
    assert answer["msg"].endswith(
        " is Python 3.8; the modules of virtshape.instancetypes need 3.9 or newer: set ansible_python_interpreter"
    )


def test_oldest_supported_python_is_accepted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 0))
    runpy.run_path(str(CHECK))
    assert not capsys.readouterr().out


def test_modules_import_the_check_first() -> None:
    """The imports after it need not load on such a Python."""
    for path in sorted(CHECKOUT.glob("plugins/modules/*.py")):
        imports = [node for node in ast.parse(path.read_text()).body if isinstance(node, (ast.Import, ast.ImportFrom))]
        _future, first = imports[:2]
        assert isinstance(first, ast.ImportFrom) and first.module == MODULE_UTILS, path.name
        assert [entry.name for entry in first.names] == ["_python"], path.name


def test_oldest_python_matches_the_documentation() -> None:
    oldest = ".".join(map(str, runpy.run_path(str(CHECK))["OLDEST"]))
    assert f"python >= {oldest}" in (CHECKOUT / "plugins" / "doc_fragments" / "auth.py").read_text()
    assert f'python_requires: ">={oldest}"' in (CHECKOUT / "tests" / "config.yml").read_text()
    assert f"Python {oldest} or newer" in (CHECKOUT / "README.md").read_text()
