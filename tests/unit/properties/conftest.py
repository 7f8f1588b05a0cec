"""Settings of the property tests: the same examples in every run of CI, fresh ones elsewhere; no deadline."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

# What KubeVirt's webhook makes of a VMI is in the emulation, which has `_resolver` as a top-level package.
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "plugins" / "module_utils"))

# Generating whole objects takes its time; how long is not what is tested.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None}

settings.register_profile("ci", max_examples=100, derandomize=True, **_COMMON)
settings.register_profile("default", max_examples=100, **_COMMON)
settings.register_profile("thorough", max_examples=1000, **_COMMON)
# Few, and the same ones for every mutant (tools/mutants.py).
settings.register_profile("mutants", max_examples=10, derandomize=True, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))
