"""The filter _fleet_clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from .._fleet_clusters import combined
from .._fleet_summary import FleetError


def fleet_clusters(value: Any, failed: Any = None) -> dict[str, Any]:
    """See its documentation."""
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise AnsibleFilterError(f"_fleet_clusters: expected a list of clusters, found {value!r}")
    try:
        return combined(value, failed or {})
    except FleetError as error:
        raise AnsibleFilterError(f"_fleet_clusters: {error}") from error
