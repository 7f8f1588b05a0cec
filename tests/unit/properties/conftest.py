"""Settings of the property tests: the same examples in every run of CI, fresh ones elsewhere; no deadline."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Generating whole objects takes its time; how long is not what is tested.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None}

settings.register_profile("ci", max_examples=100, derandomize=True, **_COMMON)
settings.register_profile("default", max_examples=100, **_COMMON)
settings.register_profile("thorough", max_examples=1000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))
