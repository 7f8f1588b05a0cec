"""The emulation imports `_resolver` as a top-level package, as its launcher has it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "plugins" / "module_utils"))
