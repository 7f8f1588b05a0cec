"""The cluster's KubeVirt and CDI: their releases, and their configuration."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Any, Final

from ..._boot_sources.data_volume import default_class
from ..._resolver.api.kinds import Kind
from ..._resolver.kubevirt.config.cluster import KubeVirt, kubevirt_of, version_of
from ..client.errors import ApiError, ConnectionFailed, optional
from ..client.session import Session
from .snapshot import STORAGE_CLASS

Manifest = dict[str, Any]
Version = tuple[int, int, int]

KUBEVIRT: Final = Kind("KubeVirt", "kubevirt.io", "v1", "kubevirts", True)
CDI_CONFIG: Final = Kind("CDIConfig", "cdi.kubevirt.io", "v1beta1", "cdiconfigs", False)
_SERVED_VERSION: Final = "/apis/subresources.kubevirt.io/v1/version"
_CDI: Final = Kind("CDI", "cdi.kubevirt.io", "v1beta1", "cdis", False)
# The APIService names a Service of CDI, and so CDI's namespace.
_API: Final = Kind("APIService", "apiregistration.k8s.io", "v1", "apiservices", False)
_UPLOAD_API: Final = "v1beta1.upload.cdi.kubevirt.io"
_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)\.(\d+)", re.ASCII)


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
    served: Manifest = optional(lambda: session.request("GET", _SERVED_VERSION, final=(500, 502, 503, 504)), {})
    return str(served.get("gitVersion") or "")


class Cdi:
    """The cluster's CDI. Each part is read once, on first use; a part that the user may not read is unknown."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def config(self) -> Manifest | None:
        """The spec of the CDIConfig."""
        config = optional(lambda: self._session.get(CDI_CONFIG, None, "config"), None)
        return None if config is None else config.get("spec") or {}

    @cached_property
    def release(self) -> Version | None:
        items = optional(lambda: self._session.list(_CDI), [])
        versions = (str((item.get("status") or {}).get("observedVersion") or "") for item in items)
        match = next(filter(None, map(_VERSION.match, versions)), None)
        return None if match is None else (int(match[1]), int(match[2]), int(match[3]))

    @cached_property
    def namespace(self) -> str:
        """The namespace that CDI runs in; "" if unknown."""
        api = optional(lambda: self._session.get(_API, None, _UPLOAD_API), None) or {}
        service = (api.get("spec") or {}).get("service") or {}
        return str(service.get("namespace") or "")

    @cached_property
    def insecure_registries(self) -> frozenset[str]:
        """The registries, as HOST:PORT, for which CDI takes any certificate, and plain HTTP."""
        return frozenset(map(str, (self.config or {}).get("insecureRegistries") or ()))

    @cached_property
    def classes(self) -> dict[str, Manifest] | None:
        """The StorageClasses by name, that of volumes that name none as ""."""
        items = optional(lambda: self._session.list(STORAGE_CLASS), None)
        if items is None:
            return None
        default = default_class(items)
        return {**({"": default} if default else {}), **{item["metadata"]["name"]: item for item in items}}

    def has(self, kind: Kind, namespace: str, name: str) -> bool | None:
        """Whether an object exists; None if unknown."""
        return optional(lambda: self._session.get(kind, namespace, name) is not None, None)


@lru_cache(maxsize=1)
def cdi(session: Session) -> Cdi:
    """The cluster's CDI, of which each part is read once for each session."""
    return Cdi(session)
