"""The differences between KubeVirt's releases for templates, as rows like in `_resolver.api.behaviour`."""

from __future__ import annotations

from typing import Final

HAS_TEMPLATES: Final = "1.9"  # KubeVirt has VirtualMachineTemplates
