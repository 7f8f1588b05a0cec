"""The cluster's CDI: its release, its configuration, and what it finds."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Final

from ..._cluster.client.errors import value_or_default
from ..._cluster.client.session import Session
from ..._cluster.reads.surroundings import STORAGE_CLASS, default_class
from ..._resolver.api.kinds import Kind
from ..._resolver.api.manifest import Manifest
from ..preflight import Version

CDI_CONFIG: Final = Kind("CDIConfig", "cdi.kubevirt.io", "v1beta1", "cdiconfigs", False)
_CDI: Final = Kind("CDI", "cdi.kubevirt.io", "v1beta1", "cdis", False)
# The APIService names a Service of CDI, and so CDI's namespace.
_API: Final = Kind("APIService", "apiregistration.k8s.io", "v1", "apiservices", False)
_UPLOAD_API: Final = "v1beta1.upload.cdi.kubevirt.io"
_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)\.(\d+)", re.ASCII)


class Cdi:
    """The cluster's CDI. Each part is read once, on first use; a part that the user may not read is unknown."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def config(self) -> Manifest:
        """The spec of the CDIConfig."""
        config = value_or_default(lambda: self._session.get(CDI_CONFIG, None, "config"), None) or {}
        return config.get("spec") or {}

    @cached_property
    def release(self) -> Version | None:
        items = value_or_default(lambda: self._session.list(_CDI), [])
        versions = (str((item.get("status") or {}).get("observedVersion") or "") for item in items)
        match = next(filter(None, map(_VERSION.match, versions)), None)
        return None if match is None else (int(match[1]), int(match[2]), int(match[3]))

    @cached_property
    def namespace(self) -> str:
        """The namespace that CDI runs in; "" if unknown."""
        api = value_or_default(lambda: self._session.get(_API, None, _UPLOAD_API), None) or {}
        service = (api.get("spec") or {}).get("service") or {}
        return str(service.get("namespace") or "")

    @cached_property
    def classes(self) -> dict[str, Manifest] | None:
        """The StorageClasses by name; "" stands for the default, which volumes without a StorageClass get."""
        items = value_or_default(lambda: self._session.list(STORAGE_CLASS), None)
        if items is None:
            return None
        default = default_class(items)
        return {**({"": default} if default else {}), **{item["metadata"]["name"]: item for item in items}}


@lru_cache(maxsize=1)
def cdi(session: Session) -> Cdi:
    """The cluster's CDI, of which each part is read once for each session."""
    return Cdi(session)
