"""Chooses the version of a catalog: the requested version, or the version for the cluster's KubeVirt."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..._resolver.api import release
from ..._resolver.catalog.versions import fitting_version, version_names
from ..client.session import Session
from ..read.kubevirt import kubevirt
from .catalog_fit import release_by_fields

AUTO: Final = "auto"


class Chosen(NamedTuple):
    """version: "" if the catalog has no versions. reason: why this version; "" if it was requested."""

    version: str = ""
    reason: str = ""


def choose_version(session: Session, documents: list[Any], wanted: str) -> Chosen:
    """Chooses the version of a catalog. wanted: a version, or `auto` for the version that fits the cluster.

    Raises CatalogError if the list of versions is invalid, and ConnectionFailed.
    """
    if wanted != AUTO:
        return Chosen(wanted)
    if not version_names(documents):
        return Chosen()
    known, reason = _release(session)
    return Chosen(fitting_version(documents, known), reason)


def _release(session: Session) -> tuple[release.Release, str]:
    """The release of the cluster's KubeVirt, and how the task knows it."""
    version = kubevirt(session).version
    try:
        return release.of(version), f"the cluster runs KubeVirt {version}"
    except release.UnknownRelease:
        pass
    # The cluster may hide its version, or run a custom build.
    found = release_by_fields(session)
    if found is None:
        return release.NEWEST, "the newest version, because the cluster does not report its KubeVirt release"
    major, minor, _patch = found.version
    return found, f"the cluster's API has all fields of KubeVirt {major}.{minor}"
