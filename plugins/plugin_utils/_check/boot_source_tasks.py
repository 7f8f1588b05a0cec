"""The boot sources that tasks and variables of this collection declare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import LABEL_PREFIX, MATCHER_FIELDS
from ...module_utils._resolver.api.release import Release
from .checked_objects import KnownObjects
from .default_labels import is_known, label_findings
from .findings import LocatedFinding, Location
from .option_errors import COLLECTION
from .sources import LocatedDocument, mapping_items

Options = dict[str, Any]

_SOURCE: Final = "DataSource"
_CLAIM: Final = "PersistentVolumeClaim"
_MODULE: Final = f"{COLLECTION}boot_source"
_LIST: Final = "boot_sources"
# The variables of the role boot_sources.
_ROLE_LIST: Final = "boot_sources_list"
_ROLE_DEFAULTS: Final = "boot_sources_defaults"


class DeclaredSource(NamedTuple):
    """The options of a boot source, with its namespace, and its location."""

    location: Location
    options: Options

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the object, without values that are templates."""
        result = {}
        for matcher_field in MATCHER_FIELDS:
            matcher = self.options.get(matcher_field.name)
            matcher = matcher if isinstance(matcher, dict) else {"name": matcher}
            name, kind = matcher.get("name"), matcher.get("kind") or matcher_field.cluster_kind
            if isinstance(name, str) and name and is_known(f"{name}{kind}"):
                result[matcher_field.volume_label] = name
                result[matcher_field.volume_kind_label] = str(kind)
        return result


def declared(source: LocatedDocument, namespace: str) -> Iterator[DeclaredSource]:
    """The boot sources of a document. namespace: the default."""
    for location, key, value, variables in mapping_items(source.location, source.content, _declares):
        task: Options = value
        inside: tuple[str, ...] = (_LIST,)
        if key == _ROLE_LIST:
            task, inside = {_LIST: value, "defaults": variables.get(_ROLE_DEFAULTS)}, ()
        listed, defaults = task.get(_LIST), task.get("defaults")
        for index, options in enumerate(listed if isinstance(listed, list) else [{}]):
            merged = {
                **(defaults if isinstance(defaults, dict) else {}),
                **task,
                **(options if isinstance(options, dict) else {}),
            }
            if merged.get("name") and merged.get("state") != "absent":
                place = location.below(*inside, index) if isinstance(listed, list) else location
                yield DeclaredSource(place, {**merged, "namespace": str(merged.get("namespace") or namespace)})


def _declares(_location: Location, key: str, value: Any) -> bool:
    """Whether a key and its value are a task of the module, or the variable of the role."""
    return (key == _MODULE and isinstance(value, dict)) or (key == _ROLE_LIST and isinstance(value, list))


def objects(source: DeclaredSource) -> Iterator[Manifest]:
    """The objects that the module makes. An image may add labels to its claim, which is thus not known."""
    options, labels = source.options, source.labels
    if options.get("state") == "labeled":
        return
    name, namespace, upload = str(options["name"]), options["namespace"], options.get("upload")
    metadata = {"namespace": namespace, "labels": labels}
    claim = {"name": f"{name}-<digest>", "namespace": namespace}
    yield {"kind": _SOURCE, "metadata": {**metadata, "name": name}, "spec": {"source": {"pvc": claim}}}
    if isinstance(upload, dict) and upload.get("volume"):
        for kind in (_CLAIM,) if upload.get("claim") is True else ("DataVolume", _CLAIM):
            yield {"kind": kind, "metadata": {**metadata, "name": str(upload["volume"])}}


def findings(source: DeclaredSource, lookup: KnownObjects, release: Release) -> Iterator[LocatedFinding]:
    """Findings about the defaults of a boot source."""
    label = f"boot source {source.options['name']}"
    for found in label_findings(source.labels, lookup, release):
        option = found.field.removeprefix(LABEL_PREFIX).removesuffix("-kind")
        finding = LocatedFinding(found.text, found.severity, option, rule=found.rule, location=source.location)
        yield replace(finding, label=label)
