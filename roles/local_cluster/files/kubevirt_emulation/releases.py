"""The releases of KubeVirt that can be emulated. No imports, so that the launcher can use it too."""

from __future__ import annotations

import re

NEWEST = "1.9.0"
KNOWN = (NEWEST, "1.8.4", "1.7.4", "1.6.6", "1.5.3", "1.4.1")
"""The releases with recorded behaviour."""


def problem(version: str) -> str:
    """Why a release cannot be emulated; "" if it can.

    Other patch releases of these minor versions are accepted: their results are known (`_resolver.api.release`);
    otherwise they count as the recorded release.
    """
    minors = {known.rpartition(".")[0] for known in KNOWN}
    if re.fullmatch(r"\d+\.\d+\.\d+", version) and version.rpartition(".")[0] in minors:
        return ""
    return f"kubevirt_version: the behaviour of KubeVirt {version!r} is not known; use one of {', '.join(KNOWN)}"
