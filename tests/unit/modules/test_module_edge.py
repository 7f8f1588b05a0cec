"""All modules are made in one place, which hides what is secret in a kubeconfig and keeps options out of logs."""

from __future__ import annotations

import re
from pathlib import Path

PLUGINS = Path(__file__).parents[3] / "plugins"


def test_no_module_is_made_elsewhere() -> None:
    making = [
        path.relative_to(PLUGINS).as_posix()
        for path in PLUGINS.rglob("*.py")
        if re.search(r"\bAnsibleModule\(", path.read_text(encoding="utf-8"))
    ]
    assert making == ["module_utils/_cluster/ansible_edge.py"]
