"""Runs the check as users do, by its command."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from plugins.plugin_utils._check.command import main


@pytest.fixture
def check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, list[str]]]:
    """Runs the command over files given by their names; answers with its exit code and lines."""
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, Any], *options: str) -> tuple[int, list[str]]:
        for name, content in files.items():
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, list):
                content = yaml.safe_dump_all(content)
            path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        code = main([*options, *files])
        return code, capsys.readouterr().out.splitlines()

    return run
