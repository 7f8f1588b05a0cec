"""Adds governance to the check: the limits in files and policies, and the objects that break them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ...module_utils._governance.checks import violations
from ...module_utils._governance.language import Limit
from ...module_utils._governance.language import limits as parse
from ...module_utils._governance.policy import POLICY, limit_of
from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.finding import ERROR, NOTE
from ...module_utils._resolver.api.kinds import KINDS
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS
from ...module_utils._resolver.catalog.errors import CatalogError
from ...module_utils._resolver.kubevirt.admission.mutate import admit
from ...module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from .check_extension import CheckExtension
from .checked_objects import VM, CheckedObject, KnownObjects
from .findings import LocatedFinding, Location
from .sources import LocatedDocument, manifests, mapping_items

# The option of the module `catalog`, and the variable of the role.
_KEYS: Final = ("limits", "common_instancetypes_limits")
_MODULE: Final = "virtshape.instancetypes.catalog"


def _writes(location: Location, key: str, _value: Any) -> bool:
    """Whether the value is a list of limits, in a variable, in a task of `catalog` or in a document of its own."""
    return key == _KEYS[1] or (key == _KEYS[0] and location.path[-2:-1] in ((), (_MODULE,)))


def _findings(
    sources: Sequence[LocatedDocument],
    objects: Sequence[CheckedObject],
    lookup: KnownObjects,
    kubevirt: KubeVirt,
) -> Iterator[LocatedFinding]:
    limits = _Limits(sources, lookup)
    yield from limits.findings
    yield from limits.violations(objects, lookup, kubevirt)


class _Limits:
    """The limits of a check. findings: the errors of limits in files."""

    def __init__(self, sources: Sequence[LocatedDocument], lookup: KnownObjects) -> None:
        catalog = [item for matcher_field in MATCHER_FIELDS for item in lookup.listed(matcher_field.cluster_kind, "")]
        self._limits: list[Limit] = []
        self._labels: dict[str, dict[str, str]] = {}
        self.findings: list[LocatedFinding] = []
        written = [item for source in sources for item in mapping_items(source.location, source.content, _writes)]
        for location, _key, limits, _mapping in written:
            try:
                self._limits += parse(limits, catalog) if isinstance(limits, list) else []
            except CatalogError as error:
                self.findings.append(
                    LocatedFinding(str(error), ERROR, rule="invalid", location=location, label="limits")
                )
        for item in manifests(sources):
            kind, metadata = item.manifest["kind"], item.manifest.get("metadata")
            if kind == POLICY and (limit := limit_of(item.manifest)) is not None:
                self._limits.append(limit)
            elif kind == KINDS["Namespace"].kind and isinstance(metadata, dict):
                self._labels[str(metadata.get("name"))] = metadata.get("labels") or {}

    def violations(
        self, objects: Iterable[CheckedObject], lookup: KnownObjects, kubevirt: KubeVirt
    ) -> Iterator[LocatedFinding]:
        """Findings about the VMs, and the instancetypes of namespaces, that break a limit."""
        for declared in objects if self._limits else ():
            if declared.manifest["kind"] in (VM, INSTANCETYPE.kind):
                yield from self._evaluated(declared, Cluster(lookup, kubevirt))

    def _evaluated(self, declared: CheckedObject, cluster: Cluster) -> Iterator[LocatedFinding]:
        namespace = (declared.manifest.get("metadata") or {}).get("namespace")
        if not namespace:
            return  # No limit can be chosen; the check reports the namespace.
        labels = self._labels.get(namespace)
        limits = list(self._limits)
        if labels is None:
            for limit in [limit for limit in limits if limit.namespace_labels]:
                limits.remove(limit)
                if limit._replace(namespace_labels={}).applies(namespace, {}):
                    text = f"the limit {limit.name} depends on the labels of the namespace {namespace}, which"
                    reason = f"{text} is not among the checked files; pass its manifest with --objects"
                    yield declared.finding("unchecked", NOTE, "", reason)
        manifest: Manifest | None = declared.manifest
        if declared.manifest["kind"] == VM:
            try:
                manifest = admit(declared.manifest, None, cluster).admitted
            except FieldError:
                manifest = None
        for violation in violations(limits, manifest, None, namespace, labels or {}) if manifest is not None else ():
            yield declared.finding("limit", violation.severity, violation.field, violation.text)


GOVERNANCE: Final = CheckExtension(findings=_findings)
