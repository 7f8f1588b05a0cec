"""What the unit tests share lies in `support`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).with_name("support")))
