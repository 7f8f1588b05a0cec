"""Failures of what mirrors KubeVirt, for assertions."""

from collections.abc import Callable
from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import KubeVirtError


def failure(compute: Callable[..., Any], *arguments: Any) -> KubeVirtError:
    """The error that a function raises."""
    with pytest.raises(KubeVirtError) as raised:
        compute(*arguments)
    return raised.value


def status(error: KubeVirtError) -> tuple[str, str, int]:
    """Message, reason and code."""
    return error.message, error.reason, error.code
