"""Paths: the unit tests share `support`; `crd_schemas` imports `_resolver` from its folder."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).with_name("support")))
sys.path.append(str(Path(__file__).resolve().parents[2] / "plugins" / "module_utils"))
