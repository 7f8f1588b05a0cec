"""The tests that break things on purpose share the fleet of the playbooks' tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "integration" / "playbooks"))
