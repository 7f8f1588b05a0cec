"""Runs the check as users do, by its command."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from plugins.plugin_utils._check.command import main

Check = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Check:
    """Runs the command over files given by their names, or over `paths`; answers with its exit code and lines."""
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, Any], *options: str, paths: Sequence[str] = ()) -> tuple[int, list[str]]:
        for name, content in files.items():
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, list):
                content = yaml.safe_dump_all(content)
            path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        code = main([*options, *(paths or files)])
        return code, capsys.readouterr().out.splitlines()

    return run


@pytest.fixture
def findings(check: Check) -> Callable[..., list[dict[str, Any]]]:
    """The findings of the report in JSON about files."""

    def run(files: dict[str, Any], *options: str) -> list[dict[str, Any]]:
        _code, lines = check(files, "--format", "json", *options)
        result: list[dict[str, Any]] = json.loads("\n".join(lines))["findings"]
        return result

    return run
