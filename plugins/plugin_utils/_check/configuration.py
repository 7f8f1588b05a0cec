"""The KubeVirt of the cluster that the check judges for."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from ...module_utils._resolver.api import release as releases
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.kubevirt.cluster import KubeVirt, kubevirt_of, version_of
from . import sources
from .sources import UsageError

_KIND = "KubeVirt"
_GROUP = "kubevirt.io/"


def chosen(options: argparse.Namespace, files: Iterable[sources.LocatedDocument]) -> tuple[KubeVirt, bool]:
    """The KubeVirt, and whether its configuration is assumed.

    Without `--kubevirt`, the object counts that is among the files. Files of several clusters may have several, which
    say nothing about any of them. Raises UsageError.
    """
    version = options.kubevirt_version
    if options.kubevirt is not None:
        named = next(_objects(sources.read_repository([options.kubevirt]).sources), None)
        if named is None:
            raise UsageError(
                f"--kubevirt: {options.kubevirt} has no KubeVirt object; kubectl get kubevirt -A -o yaml prints it"
            )
        kubevirt = _configured(named, version)
        if kubevirt.assumption:
            raise UsageError(f"--kubevirt: {kubevirt.assumption}")
        return kubevirt, False
    found = [_configured(manifest, version) for manifest in _objects(files)]
    if len(found) == 1 and not found[0].assumption:
        return found[0], False
    return _configured({}, version), True


def _objects(files: Iterable[sources.LocatedDocument]) -> Iterator[Manifest]:
    for item in sources.manifests(files):
        if item.manifest["kind"] == _KIND and str(item.manifest["apiVersion"]).startswith(_GROUP):
            yield item.manifest


def _configured(manifest: Manifest, version: str | None) -> KubeVirt:
    newest = f"v{'.'.join(map(str, releases.NEWEST.version))}"
    text = (version_of(manifest) or newest) if version is None else version
    try:
        releases.parse_release(text) if version is None else releases.parse_known_release(version, releases.UPCOMING)
    except releases.UnknownRelease as error:
        raise UsageError(f"--kubevirt-version: {error}") from None
    return kubevirt_of(manifest, text)
