"""Settings of the property tests: the same examples in every run, drawn anew by `make random`; no deadline."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

# crd_schemas.py takes `_resolver` for a top-level package.
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "plugins" / "module_utils"))

# Generating whole objects takes its time; how long is not what is tested.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None}

settings.register_profile("ci", max_examples=100, derandomize=True, **_COMMON)
settings.register_profile("random", max_examples=1000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
