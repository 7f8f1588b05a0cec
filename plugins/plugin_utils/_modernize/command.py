"""The command `modernize`: converts VMs and their catalogs in files, and compares each guest with the new one."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from ...module_utils._cluster.client.files import write_file
from ...module_utils._conversion import template_merge
from ...module_utils._conversion.modernize import OLD_KINDS, FieldChange, Modernization
from ...module_utils._conversion.presets import KIND as PRESET
from ...module_utils._conversion.template_bundles import TEMPLATE, ConversionSources, convert
from ...module_utils._conversion.template_parameters import PARAMETERS
from ...module_utils._conversion.template_split import vms_of
from ...module_utils._resolver.api import release as releases
from ...module_utils._resolver.api.bug_report import bug_report
from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.manifest import Manifest, name_of
from ...module_utils._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, MATCHER_FIELDS
from ...module_utils._resolver.api.name_rules import one_line, quoted
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.declare.option_checks import oversized
from ...module_utils._resolver.secrets.redaction import own_annotations
from ...module_utils._task_objects import KUBEVIRT_VM, module_of
from ...module_utils._templates.conversion import KIND as VM_TEMPLATE
from ...module_utils._yaml import unquoted
from .._catalog_files import builtin_objects
from .._check import sources
from .._check.checked_objects import VM, CheckedObject, KnownObjects
from .._check.evaluate import refusals
from .._check.findings import LineFinder, Location
from .._check.placeholders import FORMS
from .._check.sources import UsageError
from .._check.tasks import Links, add_linked_files, manifests_of, task_manifests
from .._manifest_checks import check_types
from .report import ConversionReport, label_of
from .table import TableRow, row_of, table

_PLACEHOLDER: Final = "has a placeholder, whose value the command does not know"
_GUESTS: Final = ("VirtualMachine", TEMPLATE, VM_TEMPLATE)
_CATALOG: Final = frozenset({*MATCHER_FIELD_OF_KIND, *OLD_KINDS})
_USER_METADATA: Final = ("name", "generateName", "namespace", "labels", "annotations")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table and writes the files. Returns an exit code: 1 if an object cannot be converted, 2 if nothing was
    done.
    """
    options = _parser().parse_args(arguments)
    try:
        if options.merge and not options.output:
            raise UsageError("--merge: needs --output; a file itself is only changed line by line")
        report = _report(options, sys.stdin.buffer.read() if sources.STDIN in options.path else b"")
        for line in (*table(report.rows), *report.notes):
            print(line)
        if options.diff:
            print("".join(report.differing()), end="")
        if options.in_place:
            for file, text in report.edits.items():
                write_file(Path(file), text)
        if options.output:
            report.write(Path(options.output))
        print(report.summary(options.output, in_place=options.in_place))
    except (UsageError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except Exception as error:
        print(f"error: {bug_report(error)}", file=sys.stderr)
        return 2
    return int(any(row.failed for row in report.rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="virtshape-modernize",
        description="Converts VMs of presets and OpenShift Templates to VMs and templates with an instancetype.",
    )
    add = parser.add_argument
    add("path", nargs="+", help="files, folders, or - for standard input")
    add("--output", metavar="FOLDER", help="folder for the new manifests (default: only the table)")
    add("--in-place", action="store_true", help="change the files themselves; comments and all other lines stay")
    add("--diff", action="store_true", help="show what --in-place changes")
    add("--merge", action="store_true", help="with --output: templates that differ only in size and system become one")
    add("--objects", metavar="FILE", action="append", default=[], help="presets and catalogs besides; repeatable")
    add("--catalog", choices=["builtin", "none"], default="builtin", help="catalog besides (default: builtin)")
    waste_help = "the most additional vCPUs and memory of a guest, in sum (default: 50)"
    add("--waste", metavar="PERCENT", type=_percent, default=ConversionSources().waste, help=waste_help)
    add("--kubevirt-version", metavar="VERSION", help="default: the newest known release")
    return parser


def _percent(text: str) -> Fraction:
    if not re.fullmatch("[0-9]{1,6}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"expected a whole number of percent, found {quoted(text)}")
    return Fraction(int(text), 100)


def _report(options: argparse.Namespace, stdin: bytes) -> ConversionReport:
    release = _release(options.kubevirt_version)
    texts: dict[str, bytes] = {}
    starts: dict[tuple[str, int], int] = {}
    report = ConversionReport([], [], [], {}, {}, texts, starts, LineFinder(texts, starts))
    links: Links = {}
    read = _read(report, options.path, stdin, options.output, links)
    others = _read(report, options.objects, b"", None, {})
    objects = [item for _file, source in (*read, *others) for item in sources.manifests([source])]
    builtin = builtin_objects(release) if options.catalog == "builtin" else []
    catalog = [*_current(report, objects, release), *builtin]
    presets = [item.manifest for item in objects if item.manifest["kind"] == PRESET]
    # A catalog of another series is no reason to change VMs that have their own CPU and memory.
    has_sizes = any(MATCHER_FIELD_OF_KIND.get(item["kind"]) is INSTANCETYPE for item in catalog)
    origin = ConversionSources(presets, catalog if has_sizes else None, options.waste)
    changed: set[Path] = set()
    for file, source in read:
        tasks = [item for item in task_manifests(*source) if _is_ours(item.manifest)]
        for task in tasks:
            text = _converted_task(report, source, task, origin, release)
            if text is not None:
                report.files[file] = text
                changed.add(file)
        if not tasks:
            documents, has_changed = _converted_document(report, source, links, origin, release)
            if has_changed:
                changed.add(file)
            if isinstance(earlier := report.files.setdefault(file, []), list):
                earlier += documents
    if not report.rows and not report.guestless:
        raise UsageError(f"{options.path[0]}: found no VM and no template; check the paths")
    report = report._replace(files={file: documents for file, documents in report.files.items() if file in changed})
    if options.merge:
        _merge_templates(report)
    return report


def _converted_document(
    report: ConversionReport,
    source: sources.LocatedDocument,
    links: Links,
    origin: ConversionSources,
    release: Release,
) -> tuple[list[Manifest], bool]:
    """The manifests of a document, converted, and whether one has changed; see `_converted`."""
    items = [(item.location, item.manifest) for item in sources.manifests([source])]
    left = {item.location for item in manifests_of(source, links) if items and _is_left(report, item)}
    documents: list[Manifest] = []
    has_changed = False
    for location, manifest in items or [source]:
        new = [manifest]
        if _is_ours(manifest) and location not in left:
            new = _converted(report, location, manifest, origin, release)
            if new != [manifest]:
                has_changed = True
                report.edit(location, *new)
        documents += new
    return documents, has_changed


def _merge_templates(report: ConversionReport) -> None:
    """Merges the templates of the new files. A note tells what each one stands for."""
    places = [
        (documents, document)
        for documents in report.files.values()
        if isinstance(documents, list)
        for document in documents
        if isinstance(document, dict)
    ]
    for merged in template_merge.merge([document for _documents, document in places]):
        for index in merged.members:
            documents, document = places[index]
            place = next(number for number, entry in enumerate(documents) if entry is document)
            documents[place : place + 1] = [merged.template] if index == min(merged.members) else []
        chosen = [f"{name} chooses {', '.join(values)}" for name, values in merged.values.items()]
        reason = "; ".join([f"stands for {', '.join(merged.members.values())}", *chosen])
        report.notes.append(f"note: {VM_TEMPLATE} {name_of(merged.template)}: {reason}")


def _release(version: str | None) -> Release:
    try:
        return releases.NEWEST if version is None else releases.parse_known_release(version)
    except releases.UnknownRelease as error:
        raise UsageError(f"--kubevirt-version: {error}") from None


def _read(
    report: ConversionReport, paths: Sequence[str], stdin: bytes, output: str | None, links: Links
) -> list[tuple[Path, sources.LocatedDocument]]:
    """(path below the output, document) of each document but the output of an earlier run. Raises UsageError.

    Files in a folder that cannot be read, such as templates, are noted. links: gets the files that tasks take.
    """
    read: list[tuple[Path, sources.LocatedDocument]] = []
    origins: dict[Path, str] = {}
    earlier = Path(output).resolve() if output else None
    for path in paths:
        repository = sources.read_repository([path], stdin)
        links.update(add_linked_files(repository))
        report.texts.update(repository.texts)
        report.starts.update(repository.starts)
        for finding in repository.findings:
            if finding.severity == "error":
                raise UsageError(f"{finding.location.file}:{finding.location.line}: {finding.message}")
            report.notes.append(f"note: {finding.location.file}:{finding.location.line}: not read: {finding.message}")
        for source in repository.sources:
            location, file = source.location, Path(source.location.file)
            if earlier is not None and earlier in file.resolve().parents:
                continue
            below = file.relative_to(path) if Path(path) in file.parents else Path(file.name)
            target = (
                Path("stdin.yml")
                if path == sources.STDIN
                else below.with_suffix(".yml" if below.suffix == ".json" else below.suffix)
            )
            if origins.setdefault(target, location.file) != location.file:
                raise UsageError(f"{location.file} and {origins[target]} would be the same file; name their folder")
            read.append((target, source))
    return read


def _converted_task(
    report: ConversionReport,
    source: sources.LocatedDocument,
    task: sources.SourceManifest,
    origin: ConversionSources,
    release: Release,
) -> str | None:
    """The text of the file with a task that names an instancetype; None if it stays as it is."""
    location, manifest = task.location, task.manifest
    if _is_left(report, task):
        return None
    new, *others = _converted(report, location, manifest, origin, release)
    if new == manifest:
        return None
    written = source.content
    for step in location.path:
        written = written[step]
    if others or not isinstance(written, dict):
        what = "becomes several objects" if others else "is a text"
        report.note(location, label_of(manifest), "", f"not changed in its place: {what}")
        return None
    if module_of(location.path[-1], written) == KUBEVIRT_VM:
        spec = new["spec"]
        matchers = {field.name: spec[field.name] for field in MATCHER_FIELDS if field.name in spec}
        return report.edit(location, {**written, **matchers, "spec": spec["template"]["spec"]})
    return report.edit(location, {**written, **{part: new[part] for part in ("apiVersion", "spec") if part in written}})


def _is_left(report: ConversionReport, item: sources.SourceManifest) -> bool:
    """Whether an object of a task stays as it is; reports why."""
    label = label_of(item.manifest)
    if item.patch:
        report.guestless.append(label)
        report.note(item.location, label, "", "stays, because the task declares no guest")
    elif (problem := item.problem or item.unknown) and _is_ours(item.manifest):
        report.rows.append(TableRow((label, "-", "-", "-", "-", f"not converted: {problem}")))
    return item.patch or bool(item.problem or item.unknown)


def _is_ours(manifest: Any) -> bool:
    return isinstance(manifest, dict) and (manifest.get("kind") in _GUESTS or manifest.get("kind") in _CATALOG)


def _current(
    report: ConversionReport, objects: Iterable[sources.SourceManifest], release: Release
) -> Iterator[Manifest]:
    """The instancetypes and preferences in the current API."""
    for item in objects:
        if item.manifest["kind"] in _CATALOG:
            try:
                yield _checked(item.manifest, ConversionSources(), release).manifest
            except FieldError as error:
                report.note(item.location, label_of(item.manifest), error.path, f"not converted: {error.reason}")


def _checked(manifest: Manifest, origin: ConversionSources, release: Release) -> Modernization:
    judged = manifest
    if manifest["kind"] == TEMPLATE:
        # Other objects in it stay as they are.
        vms = vms_of(manifest)
        judged = {**manifest, "objects": [item if item in vms else None for item in manifest["objects"]]}
    wrong = unquoted.problem(judged)
    if wrong is not None:
        raise FieldError(*wrong)
    too_much = oversized(manifest)
    if too_much:
        raise FieldError("", f"the manifest {too_much}; simplify it")
    check_types(manifest)
    return convert(manifest, origin, release)


def _check_accepted(
    location: Location, before: Manifest, after: Manifest, origin: ConversionSources, release: Release
) -> None:
    """Raises FieldError for a VM that no cluster accepts before the conversion, or after it."""
    if before["kind"] != VM or after == before:
        return
    lookup = KnownObjects(origin.catalog or ())
    old, new = (refusals(CheckedObject(location, manifest), lookup, release) for manifest in (before, after))
    # A VM with placeholders is judged only by what the conversion changes.
    found = [] if FORMS.search(json.dumps(before, default=str)) else [(finding, "") for finding in old]
    known = {finding.message for finding in old}
    found += [(finding, "with the instancetype, ") for finding in new if finding.message not in known]
    for finding, text in found:
        raise FieldError(finding.field, f"{text}{finding.message}")


def _converted(
    report: ConversionReport, location: Location, manifest: Manifest, origin: ConversionSources, release: Release
) -> list[Manifest]:
    """The new manifest, and others that stand beside it. Adds a row for a VM or a template."""
    guest = manifest["kind"] in _GUESTS
    label = label_of(manifest)
    if manifest["kind"] == TEMPLATE and not vms_of(manifest):
        report.guestless.append(label)
        return [manifest]
    try:
        conversion = _checked(manifest, origin, release)
        _check_accepted(location, manifest, conversion.manifest, origin, release)
    except FieldError as error:
        if guest:
            is_open = manifest["kind"] == VM and bool(FORMS.search(error.reason))
            text = f"{error.path}: {_PLACEHOLDER}" if is_open else one_line(error)
            reason = f"not converted: {report.place(location, error.path)}: {text}"
            report.rows.append(TableRow((label, "-", "-", "-", "-", reason), not is_open))
        return [manifest]
    if guest:
        report.rows.append(row_of(label, conversion))
    for change in conversion.changes:
        if change.path.startswith(PARAMETERS):
            report.note(location, label, change.path, f"{_successor(change)}{change.note}")
    for remaining in conversion.remaining:
        report.note(location, label, remaining.path, remaining.note)
    new = _declared(conversion.manifest) if conversion.manifest != manifest else manifest
    return [new, *conversion.others]


def _successor(change: FieldChange) -> str:
    """A sentence about the replacement of a parameter."""
    default = f", whose default is {change.after}" if change.after else ""
    return f"Replaced by {change.new_path}{default}. " if change.new_path else "Removed. "


def _declared(manifest: Manifest) -> Manifest:
    """The manifest without what a cluster adds, such as the old one in kubectl's annotation."""
    metadata = {key: value for key, value in (manifest.get("metadata") or {}).items() if key in _USER_METADATA}
    annotations = own_annotations(metadata)
    if annotations:
        metadata["annotations"] = annotations
    else:
        metadata.pop("annotations", None)
    new = {key: value for key, value in manifest.items() if key != "status"}
    return {**new, "metadata": metadata} if "metadata" in new else new
