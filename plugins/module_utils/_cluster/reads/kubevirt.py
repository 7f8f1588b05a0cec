"""The cluster's KubeVirt: its release and its configuration."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ..._resolver.api.kinds import Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.kubevirt.cluster import KubeVirt, kubevirt_of, version_of
from ..client.errors import ApiError, ConnectionFailed, value_or_default
from ..client.session import Session

Version = tuple[int, int, int]

KUBEVIRT: Final = Kind("KubeVirt", "kubevirt.io", "v1", "kubevirts", True)
_SERVED_VERSION: Final = "/apis/subresources.kubevirt.io/v1/version"


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
def kubevirt_object(session: Session) -> Manifest | None:
    """The KubeVirt object, None if there is none. Raises RequestFailed."""
    return next(iter(session.list(KUBEVIRT)), None)


def _served(session: Session) -> str:
    """The version that virt-api reports; "" if it does not respond."""
    served: Manifest = value_or_default(lambda: session.request("GET", _SERVED_VERSION, final=(500, 502, 503, 504)), {})
    return str(served.get("gitVersion") or "")
