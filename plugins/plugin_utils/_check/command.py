"""The command `check`: checks the objects of a repository without a cluster, as a given KubeVirt would."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ...module_utils._cluster.client.files import write_file
from ...module_utils._resolver.api.bug_report import bug_report
from ...module_utils._resolver.api.finding import ERROR, SEVERITIES, WARNING
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import ObjectKey
from ...module_utils._resolver.api.release import UPCOMING, UPCOMING_SOURCES, Release
from ...module_utils._resolver.kubevirt.cluster import KubeVirt
from .._catalog_files import builtin_objects
from . import base as bases
from . import (
    catalogs,
    changes,
    checked_objects,
    collisions,
    configuration,
    default_labels,
    evaluate,
    hosts,
    matching,
    prerequisites,
    reports,
    revisions,
    sources,
    tasks,
)
from .boot_sources import BOOT_SOURCES
from .check_extension import CheckExtension
from .checked_objects import CheckedObject, KnownObjects
from .conversion import CONVERSION
from .diagnosis import DIAGNOSIS
from .findings import RULES, LocatedFinding, Location, with_lines, without_secrets
from .governance import GOVERNANCE
from .kustomizations import Kustomized
from .placeholders import MANY, Placeholders
from .replacements import REPLACEMENTS
from .sources import UsageError
from .templates import TEMPLATES

# The capabilities that extend the check.
EXTENSIONS: Final[tuple[CheckExtension, ...]] = (
    TEMPLATES,
    BOOT_SOURCES,
    GOVERNANCE,
    CONVERSION,
    DIAGNOSIS,
    REPLACEMENTS,
)

CLEAN, FINDINGS, UNUSABLE = 0, 1, 2
"""The exit codes: no findings at the threshold; some; the check failed."""

# Allocations before a collection of the youngest generation, and how many of them before the next older ones'.
_COLLECTIONS: Final = (100_000, 50, 1000)


class _Cluster(NamedTuple):
    """The known part of the cluster: objects, and the documents of their files."""

    objects: Sequence[Manifest] = ()
    sources: Sequence[sources.LocatedDocument] = ()


class _Objects(NamedTuple):
    """The objects of some paths, and what is known about them.

    repository: the files. objects: the objects in them. labels: the labels of all objects, malformed ones too → files.

    unchecked: the kinds of objects that cannot be judged. lookup: the objects of the paths and of the cluster. keys: of
    all objects in the paths, whatever their kind. findings: about the form of files and objects.
    """

    repository: sources.Repository
    objects: list[CheckedObject]
    labels: list[tuple[str, str]]
    unchecked: list[str]
    lookup: KnownObjects
    keys: dict[ObjectKey, str]
    findings: list[LocatedFinding]


class _Judged(NamedTuple):
    """The result of a run. findings: without lines. guests: the guests of changed VMs."""

    kubevirt: KubeVirt
    head: _Objects
    base: _Objects | None
    changes: changes.Changes
    findings: list[LocatedFinding]
    guests: list[bases.ChangedGuest]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the check and returns an exit code."""
    options = _parser().parse_args(arguments)
    # Reference counting frees these trees; the collector would walk the trees of thousands of VMs again and again.
    gc.set_threshold(*_COLLECTIONS)
    try:
        report = check(options, sys.stdin.buffer.read() if sources.STDIN in options.path else b"")
        text = reports.FORMATS[options.format](report)
        if options.output:
            write_file(Path(options.output), text)
            print("\n".join(report.last_lines))
        else:
            sys.stdout.write(text)
    except (UsageError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return UNUSABLE
    except Exception as error:
        print(f"error: {bug_report(error)}", file=sys.stderr)
        return UNUSABLE
    threshold = SEVERITIES.index(options.fail_on)
    return FINDINGS if any(SEVERITIES.index(finding.severity) <= threshold for finding in report.findings) else CLEAN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=reports.TOOL, description="Checks VMs, instancetypes and preferences as KubeVirt would, without a cluster."
    )
    add = parser.add_argument
    add("path", nargs="+", help="files, folders, or - for standard input")
    add("--format", choices=list(reports.FORMATS), default="text", help="default: text")
    add("--output", metavar="FILE", help="file for the report (default: standard output)")
    add("--kubevirt-version", metavar="VERSION", help="default: the newest known release")
    add("--kubevirt", metavar="FILE", help="manifest of the KubeVirt object of the cluster")
    add("--catalog", choices=["builtin", "none"], default="builtin", help="catalog that VMs may use (default: builtin)")
    add("--objects", metavar="FILE", action="append", default=[], help="objects of the cluster; repeatable")
    add("--base", metavar="FOLDER", action="append", default=[], help="earlier revision of the paths; repeatable")
    add("--namespace", default="default", help="namespace of objects without a namespace (default: default)")
    rule_help = "rule to leave out; repeatable"
    add("--ignore", metavar="RULE", action="append", default=[], choices=list(RULES), help=rule_help)
    validate_help = (
        "what to do about fields that KubeVirt does not know and drops: error, warning, nothing (default: warn)"
    )
    add("--validate", choices=list(evaluate.VALIDATION), default=evaluate.WARN, help=validate_help)
    add("--fail-on", choices=SEVERITIES, default=ERROR, help="least level with exit code 1 (default: error)")
    return parser


def check(options: argparse.Namespace, stdin: bytes = b"") -> reports.Report:
    """The report for the options of the command. Raises UsageError."""
    placeholders = Placeholders()
    judged = _judged(options, stdin, placeholders)
    findings = judged.findings
    if placeholders:
        placeholders.run = MANY
        judged = _judged(options, stdin, placeholders)
        findings = placeholders.certain(findings, judged.findings)
    head, base, found = judged.head, judged.base, judged.changes
    read = head.repository
    judged_objects = (declared for declared in head.objects if declared.manifest["kind"] not in checked_objects.STORAGE)
    findings += placeholders.notes({declared.location: declared.label for declared in judged_objects})
    repositories = [read, *([base.repository] if base is not None else [])]
    # Overlays of a base have the same problems.
    findings = prerequisites.merge_notes(dict.fromkeys(findings))
    for extension in EXTENSIONS:
        findings = extension.merged(findings)
    findings = _located(findings, repositories)
    is_image = any(sources.is_containerfile(source.location.file) for source in read.sources)
    if not (head.labels or found.deleted or is_image) and not any(finding.severity == ERROR for finding in findings):
        nothing = "nothing checked: found no VM, instancetype or preference that the check can judge; check the paths"
        findings.append(LocatedFinding(nothing, WARNING, rule="unchecked", location=Location(options.path[0])))
    reported = [finding for finding in findings if finding.rule not in options.ignore]
    counts = None
    if base is not None:
        restarts = sum(finding.rule == bases.NEEDS_RESTART for finding in findings)
        counts = changes.Counts(len(found.added), len(found.changed), len(found.deleted), restarts)
    labels = [(placeholders.shown(label), file) for label, file in head.labels]
    release = judged.kubevirt.release
    known = f"{release.minor_version}{f' as of {UPCOMING_SOURCES}' if release is UPCOMING else ''}"
    return reports.Report(reported, labels, known, head.unchecked, judged.guests, counts)


def _judged(options: argparse.Namespace, stdin: bytes, placeholders: Placeholders) -> _Judged:
    """The result of one run; see `placeholders`."""
    repository = sources.read_repository(options.path, stdin, placeholders)
    known = sources.read_repository(options.objects, b"", placeholders)
    kubevirt, assumed = configuration.chosen(options, [*repository.sources, *known.sources])
    others = _read(known, kubevirt, options.namespace, _Cluster(), placeholders)
    catalog = builtin_objects(kubevirt.release) if options.catalog == "builtin" else []
    cluster = _Cluster([*catalog, *others.lookup.all], others.repository.sources)
    head = _read(repository, kubevirt, options.namespace, cluster, placeholders)
    base = None
    if options.base:
        earlier_files = sources.read_repository(options.base, b"", placeholders)
        base = _read(earlier_files, kubevirt, options.namespace, cluster, placeholders)
    earlier = None if base is None else bases.by_key(base.objects)
    findings = [
        *head.findings,
        *evaluate.evaluate(head.objects, head.lookup, kubevirt, options.validate, earlier, EXTENSIONS, assumed),
        *collisions.findings(head.objects, head.keys, head.lookup),
        *revisions.findings(head.objects, head.keys | others.keys, head.lookup, kubevirt),
    ]
    for extension in EXTENSIONS:
        findings += extension.findings([*cluster.sources, *repository.sources], head.objects, head.lookup, kubevirt)
    guests: list[bases.ChangedGuest] = []
    found = changes.Changes([], [], [])
    if base is not None:
        matched = matching.match(base.objects, head.objects, options.base, options.path, EXTENSIONS)
        absent = {key for source in repository.sources for key in tasks.absent_vms(source, options.namespace)}
        found = changes.changes(matched, _unjudged(base, head), _unjudged(head, base))
        findings += changes.findings(found, base.objects, absent)
        comparison = bases.Comparison(matched.pairs, base.lookup, head.objects, head.lookup, kubevirt)
        findings += comparison.findings()
        guests += comparison.guests() if options.format == "markdown" else ()
    findings += prerequisites.findings(head.objects, head.keys | others.keys, kubevirt.release)
    return _Judged(kubevirt, head, base, found, findings, guests)


def _unjudged(objects: _Objects, others: _Objects) -> changes.Unjudged:
    read = objects.repository
    return changes.Unjudged(objects.findings, read.texts, read.unreadable, objects.objects, others.objects)


def _located(findings: Sequence[LocatedFinding], repositories: Sequence[sources.Repository]) -> list[LocatedFinding]:
    """The findings with their lines, and without secrets. repositories: the repositories of the paths come first."""
    documents = [source for repository in repositories for source in repository.sources]
    texts = {file: text for repository in repositories for file, text in repository.texts.items()}
    starts = {place: line for repository in repositories for place, line in repository.starts.items()}
    return with_lines(without_secrets(findings, documents), texts, starts)


def _read(
    repository: sources.Repository,
    kubevirt: KubeVirt,
    namespace: str,
    cluster: _Cluster,
    placeholders: Placeholders,
) -> _Objects:
    links = tasks.add_linked_files(repository)
    kustomized = Kustomized(repository)
    templated = {file for file, text in repository.texts.items() if kustomized or placeholders.may_be_in(text)}
    keys: dict[ObjectKey, str] = {}
    created: list[Manifest] = []
    results: list[CheckedObject | LocatedFinding | tasks.DeclaredOptions] = []
    defined = [item for source in repository.sources for item in catalogs.definitions(source)]
    catalog = [source for source in (*repository.sources, *defined) if catalogs.is_catalog(source.content)]
    if catalog:
        results += catalogs.catalog(catalog, kubevirt.release)
    for source in repository.sources:
        inside_tasks = sources.manifests(catalogs.definitions(source))
        for manifest in (*kustomized.judged(tasks.manifests_of(source, links)), *inside_tasks):
            if manifest.location.file in templated:
                filled = placeholders.completed(manifest.location, manifest.manifest)
                manifest = manifest._replace(manifest=filled)
            for inside in _objects_in(manifest):
                declared_keys = prerequisites.declared_keys([inside.manifest], namespace)
                keys.update(dict.fromkeys(declared_keys, source.location.file))
                results += checked_objects.objects_of_manifest(inside, kubevirt.release, namespace)
                if not inside.problem:
                    created += _created(sources.LocatedDocument(inside.location, inside.manifest), namespace)
        results += tasks.objects_of_document(source, namespace, placeholders)
        by_tasks = _created(source, namespace)
        keys.update(dict.fromkeys(prerequisites.declared_keys(by_tasks, namespace), source.location.file))
        created += by_tasks
    for host in hosts.hosts(repository):
        results += [host] if isinstance(host, LocatedFinding) else tasks.host_vm(host, namespace, placeholders)
    created = default_labels.added_to(KnownObjects(cluster.objects), created)
    known = [*cluster.objects, *created, *(result.manifest for result in results if isinstance(result, CheckedObject))]
    decided = _all_decided(results, KnownObjects(known).all, [*cluster.sources, *repository.sources], kubevirt.release)
    found = [result for result in decided if isinstance(result, CheckedObject)]
    # A declared object overrides a known object of the same name.
    shown = [*cluster.objects, *created, *(declared.manifest for declared in found)]
    lookup = KnownObjects([*shown, *default_labels.followed(KnownObjects(shown))])
    found, notes = revisions.without_unknown(found, lookup, kubevirt.release)
    made = [result for result in decided if isinstance(result, LocatedFinding)]
    labels = _labels(found, made)
    made.sort(key=lambda finding: bool(finding.unjudged))
    kinds = [*(finding.unjudged for finding in made if finding.unjudged), *checked_objects.unreadable_kinds(repository)]
    return _Objects(repository, found, labels, kinds, lookup, keys, [*repository.findings, *made, *notes])


def _all_decided(
    results: Iterable[CheckedObject | LocatedFinding | tasks.DeclaredOptions],
    known: Sequence[Manifest],
    read: Sequence[sources.LocatedDocument],
    release: Release,
) -> list[CheckedObject | LocatedFinding]:
    """The objects after the choices of options and of capabilities. known: to choose from. read: all documents."""
    decided: list[CheckedObject | LocatedFinding] = []
    for result in results:
        if isinstance(result, tasks.DeclaredOptions):
            decided += _decided(result, known, release)
        else:
            decided.append(result)
    for extension in EXTENSIONS:
        declared = [result for result in decided if isinstance(result, CheckedObject)]
        others = [result for result in decided if not isinstance(result, CheckedObject)]
        decided = [*others, *extension.prepared(declared, read, release)]
    return decided


def _labels(found: Iterable[CheckedObject], made: Iterable[LocatedFinding]) -> list[tuple[str, str]]:
    """The labels of the objects with their files, also of objects that are too malformed to be judged."""
    judged = {result.location for result in found}
    labels = [
        (result.label, result.location.file) for result in found if result.manifest["kind"] != checked_objects.REVISION
    ]
    for finding in made:
        # An object may have several findings.
        if finding.rule == "invalid" and finding.label and finding.location not in judged:
            judged.add(finding.location)
            labels.append((finding.label, finding.location.file))
    return labels


def _objects_in(source: sources.SourceManifest) -> Iterator[sources.SourceManifest]:
    """The manifest, or the objects that it stands for."""
    for extension in EXTENSIONS:
        inside = extension.objects_in(source)
        if inside is not None:
            for item in inside:
                yield from _objects_in(item)
            return
    yield source


def _created(source: sources.LocatedDocument, namespace: str) -> list[Manifest]:
    """The objects that a document creates without showing them."""
    return [manifest for extension in EXTENSIONS for manifest in extension.creates(source, namespace)]


def _decided(
    declared: tasks.DeclaredOptions, known: Sequence[Manifest], release: Release
) -> Iterable[CheckedObject | LocatedFinding]:
    """The VM that a task declares, with what capabilities choose for it."""
    for extension in EXTENSIONS:
        if any(declared.options.get(option) not in (None, False) for option in extension.options):
            return extension.decide(declared, known, release)
    return [tasks.virtual_machine_of(declared)]
