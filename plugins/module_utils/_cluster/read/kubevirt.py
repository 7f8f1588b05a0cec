"""The cluster's KubeVirt: its release, and the configuration on which defaults depend."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from ..._resolver.api.kinds import Kind
from ..._resolver.kubevirt.vmi.cluster import KubeVirt, kubevirt_of, version_of
from ..client.errors import ApiError, ConnectionFailed, RequestFailed
from ..client.session import Session

KUBEVIRT: Final = Kind("KubeVirt", "kubevirt.io", "v1", "kubevirts", True)
_VERSION = "/apis/subresources.kubevirt.io/v1/version"


@lru_cache(maxsize=1)
def kubevirt(session: Session) -> KubeVirt:
    """The cluster's KubeVirt, read once for each session with one LIST, which every user may make.

    If the object does not name the release, virt-api does. Unreadable facts are assumed, as `assumption` says.
    """
    live, problem = None, ""
    try:
        live = kubevirt_object(session)
        problem = "" if live else "the cluster has no KubeVirt object"
    except ApiError as error:
        problem = str(error)
    except ConnectionFailed as error:
        return kubevirt_of(None, "", str(error))
    return kubevirt_of(live, (version_of(live) if live else "") or _served(session), problem)


@lru_cache(maxsize=1)
def kubevirt_object(session: Session) -> dict[str, Any] | None:
    """The KubeVirt object, None if there is none. Raises RequestFailed."""
    items, _version = session.list(KUBEVIRT)
    return items[0] if items else None


def _served(session: Session) -> str:
    """The version that virt-api reports; "" if it does not respond."""
    try:
        version_info = session.request("GET", _VERSION, final=(500, 502, 503, 504))
    except RequestFailed:
        return ""
    return str(version_info.get("gitVersion") or "") if isinstance(version_info, dict) else ""
