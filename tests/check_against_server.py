"""The check's and a real cluster's findings about manifests that people wrote."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.errors import ApiError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.finding import ERROR
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.kinds import KINDS
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.matcher import MATCHER_FIELD_OF_KIND
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.cluster import KubeVirt
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._check import (
    checked_objects,
    evaluate,
    sources,
    tasks,
)
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._check.findings import LocatedFinding
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._check.templates import TEMPLATES

Manifest = dict[str, Any]

VALIDATION = {"strict": "Strict", "warn": "Warn", "ignore": "Ignore"}
"""The check's --validate → the server's fieldValidation."""
REASONS = {
    r"is not among the checked files": "the server infers from an object that the check cannot see; a note says so",
    r"\.kubevirt\.io .* not found": "the check names the missing object, the server what lacks without it",
    r"put it in quotes|in YAML; write": "YAML reads another value than is written; users are to write what they mean",
    r'unknown field "status\.': "the check does not look at the status, which the cluster sets",
}
"""Pattern of a finding or a refusal → why the check does not say what the server says."""

# The server accepts VMs that refer to unknown objects, except where it infers from them.
_REFUSALS = ("invalid", "refused", "lost-field")
_FIELDS = (
    re.compile(r"\b((?:spec|metadata|status|kind|apiVersion)[^\s:]*) in body"),
    re.compile(r'unknown field "([^"]+)"'),
    re.compile(r"Go struct field \w+\.([\w.]+) of type"),
    re.compile(r"^([a-z]\w+(?:\.\w+(?:\[\d+\])?)+): (?:Invalid|Required|Unsupported|Duplicate|Too|Forbidden)"),
)
_METADATA = ("labels", "annotations", "name", "namespace", "generateName", "ownerReferences", "finalizers")
_INDEX = re.compile(r"\[\d*\]|\.\d+(?=\.|$)")


class Verdict(NamedTuple):
    """refused: whether it is. fields: the named fields, without indexes. message: the message of the first refusal."""

    refused: bool
    fields: frozenset[str]
    message: str = ""


class Difference(NamedTuple):
    """label: the label of the object, with its file.

    level: the value of --validate. reason: why it is known, "" if it is not.
    """

    label: str
    level: str
    ours: Verdict
    server: Verdict
    reason: str

    def __str__(self) -> str:
        said = [
            f"    {who}: {'refused' if verdict.refused else 'accepted'} {', '.join(sorted(verdict.fields))}"
            f" {verdict.message[:300]}".rstrip()
            for who, verdict in (("check ", self.ours), ("server", self.server))
        ]
        return "\n".join([f"{self.label} ({self.level}): {self.reason or 'not explained'}", *said])


class File(NamedTuple):
    """path: the path of the file.

    found: its VMs, instancetypes and preferences. unreadable: how many it has besides.
    """

    path: Path
    found: list[sources.SourceManifest]
    unreadable: int


def files(folder: Path) -> Iterator[File]:
    """The files of a folder that have VMs, instancetypes or preferences."""
    kinds = (evaluate.VM, *MATCHER_FIELD_OF_KIND)
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".yaml", ".yml", ".json")):
        repository = sources.read_repository([str(path)])
        every = [
            here
            for source in repository.sources
            for manifest in (*sources.manifests([source]), *tasks.task_manifests(source.location, source.content))
            for here in _of_template(manifest)
            if here.manifest.get("kind") in kinds
        ]
        result = [here for here in every if not here.problem]
        unreadable = len(every) - len(result) + len(list(checked_objects.unreadable_kinds(repository)))
        if result or unreadable:
            yield File(path, result, unreadable)


def _of_template(here: sources.SourceManifest) -> Iterator[sources.SourceManifest]:
    """The objects of an OpenShift Template with default parameters; else the manifest itself."""
    inside = TEMPLATES.objects_in(here)
    yield from [here] if inside is None else inside


def compared(
    file: File, session: Session, kubevirt: KubeVirt, catalog: Iterable[Manifest]
) -> Iterator[Difference | str]:
    """The kind of each object, by level, or the difference between the check and the server.

    The file's instancetypes and preferences are in the cluster while its VMs are judged.
    """
    created = [path for here in file.found if (path := _create(session, here.manifest))]
    try:
        entries = [
            entry
            for here in file.found
            for entry in checked_objects.objects_of_manifest(here, kubevirt.release, "default")
            if isinstance(entry, checked_objects.CheckedObject)
        ]
        known = checked_objects.KnownObjects([*catalog, *(entry.manifest for entry in entries)])
        for here in file.found:
            label = f"{file.path}: {checked_objects.label(here.manifest)}"
            for level, validation in VALIDATION.items():
                ours, server = _ours(here, known, kubevirt, level), _server(session, here.manifest, validation)
                if _agree(ours, server):
                    yield here.manifest["kind"]
                else:
                    said = f"{ours.message}\n{server.message}"
                    reason = next((why for text, why in REASONS.items() if re.search(text, said)), "")
                    yield Difference(label, level, ours, server, reason)
    finally:
        for path in reversed(created):
            session.request("DELETE", path)


def deploy(session: Session, catalog: Iterable[Manifest]) -> None:
    """Creates the objects of a catalog."""
    for manifest in catalog:
        _create(session, manifest)


def _ours(here: sources.SourceManifest, known: checked_objects.KnownObjects, kubevirt: KubeVirt, level: str) -> Verdict:
    errors: list[LocatedFinding] = []
    for entry in checked_objects.objects_of_manifest(here, kubevirt.release, "default"):
        if isinstance(entry, LocatedFinding):
            errors.append(entry)
        elif isinstance(entry, checked_objects.CheckedObject):
            errors += evaluate.evaluate([entry], known, kubevirt, level)
    notes = "".join(item.message for item in errors if item.rule in ("unchecked", "not-found"))
    errors = [
        item for item in errors if item.severity == ERROR and (item.rule in _REFUSALS or "inferFrom" in item.field)
    ]
    message = "; ".join(item.message for item in errors) or notes
    return Verdict(bool(errors), frozenset(_plain(item.field) for item in errors if item.field), message)


def _server(session: Session, manifest: Manifest, validation: str) -> Verdict:
    try:
        session.request(
            "POST",
            _path(session, manifest),
            {"dryRun": "All", "fieldValidation": validation},
            _json(manifest),
            final=(500,),
        )
    except ApiError as error:
        if error.reason == "AlreadyExists":
            # The server looks at the name last.
            return Verdict(False, frozenset())
        texts = [error.message, *(cause.message for cause in error.causes)]
        fields = {cause.field for cause in error.causes if cause.field}
        fields |= {field for text in texts for pattern in _FIELDS for field in pattern.findall(text)}
        if error.code == 404:
            fields.add("metadata.namespace" if error.message.startswith("namespaces ") else "apiVersion")
        return Verdict(True, frozenset(map(_plain, fields)), error.message)
    return Verdict(False, frozenset())


def _agree(ours: Verdict, server: Verdict) -> bool:
    if not ours.refused or not server.refused:
        return ours.refused == server.refused
    # Some messages name no field, and some only the object around it.
    around = any(f"{item}.".startswith(f"{field}.") for item in ours.fields for field in server.fields)
    return around or not server.fields or not ours.fields


def _create(session: Session, manifest: Manifest) -> str:
    """The path of an instancetype or preference that the server accepted and did not have; "" if there is none."""
    if manifest["kind"] not in MATCHER_FIELD_OF_KIND:
        return ""
    try:
        path = _path(session, manifest)
        made = session.request("POST", path, None, _json(manifest))
    except ApiError:
        return ""
    return f"{path}/{made['metadata']['name']}"


def _path(session: Session, manifest: Manifest) -> str:
    """The path of the kind in the manifest's API version and namespace, after creating the namespace."""
    kind, metadata = KINDS[manifest["kind"]], manifest.get("metadata")
    group, _slash, version = str(manifest["apiVersion"]).rpartition("/")
    namespace = (metadata.get("namespace") if isinstance(metadata, dict) else None) or "default"
    if kind.namespaced and isinstance(namespace, str):
        try:
            session.request("POST", KINDS["Namespace"].path(), None, {"metadata": {"name": namespace}})
        except ApiError as error:
            if error.code not in (409, 422):
                raise
    return kind._replace(group=group, version=version).path(str(namespace))


def _json(manifest: Manifest) -> Manifest:
    """Values of JSON: YAML has dates."""
    result: Manifest = json.loads(json.dumps(manifest, default=str))
    return result


def _plain(field: str) -> str:
    """The fields without indexes; Go names the fields of ObjectMeta without their object."""
    plain = _INDEX.sub("", field).strip(".")
    return f"metadata.{plain}" if plain in _METADATA else plain
