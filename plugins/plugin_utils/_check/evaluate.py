"""Judges the objects of a repository as KubeVirt of a given release and configuration does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ...module_utils._resolver.api import release_schema, schema
from ...module_utils._resolver.api.all_errors import all_errors, collect_errors, without_fields
from ...module_utils._resolver.api.errors import FieldError, Panic
from ...module_utils._resolver.api.finding import CANNOT_BOOT, ERROR, NEVER_STARTS, NOTE, REFUSED, WARNING, Finding
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import (
    INSTANCETYPE,
    MATCHER_FIELD_OF_KIND,
    MATCHER_FIELDS,
    PREFERENCE,
    ObjectKey,
)
from ...module_utils._resolver.api.name_rules import did_you_mean, quoted, subdomain
from ...module_utils._resolver.api.release import NEWEST, Release
from ...module_utils._resolver.api.state import DEPRECATED, OBSOLETE
from ...module_utils._resolver.api.tree import copy
from ...module_utils._resolver.catalog.labels import wrong_labels
from ...module_utils._resolver.choose.fitting import rejection_of_pair
from ...module_utils._resolver.kubevirt.admission import admitter, schemas, validate
from ...module_utils._resolver.kubevirt.admission.mutate import AdmissionResult, admit
from ...module_utils._resolver.kubevirt.admission.response import REQUIRED
from ...module_utils._resolver.kubevirt.admission.rule import Cause
from ...module_utils._resolver.kubevirt.admission.schemas import FORBIDDEN
from ...module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from ...module_utils._resolver.kubevirt.vm.readiness import HALTED, run_strategy
from ...module_utils._resolver.preflight import findings as preflight
from ...module_utils._vm_options import VM_OPTIONS
from .._manifest_checks import gated
from .check_extension import CheckExtension
from .checked_objects import LOOKED_UP, NOT_AMONG_FILES, VM, CheckedObject, KnownObjects
from .findings import LocatedFinding, invalid
from .prerequisites import inferred_from

# The fields that a VM gets from its instancetype and preference.
_GUEST: Final = tuple(
    f"spec.template.spec.domain.{part}" for part in ("cpu", "memory", "resources", "firmware", "features", "machine")
)
_OWNERS: Final = "metadata.ownerReferences"
_OWNER: Final = ("apiVersion", "kind", "name", "uid")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d:\d\d)", re.ASCII)
# The rules of findings that a feature gate may end, and their remedy where the gates are unknown.
_GATED: Final = (REFUSED, NEVER_STARTS)
_UNLESS: Final = "the cluster's KubeVirt may open the gate, which --kubevirt FILE tells"
WARN: Final = "warn"
VALIDATION: Final = {"strict": ERROR, WARN: WARNING, "ignore": ""}
"""The reaction to fields that the API drops, like its own for `fieldValidation`: Strict, Warn, Ignore → severity."""


def evaluate(
    objects: Sequence[CheckedObject],
    lookup: KnownObjects,
    kubevirt: KubeVirt,
    validation: str = WARN,
    base: Mapping[ObjectKey, Manifest] | None = None,
    extensions: Sequence[CheckExtension] = (),
    assumed: bool = False,
) -> Iterator[LocatedFinding]:
    """Findings about each object, in order. validation: a key of VALIDATION. extensions: add findings.

    base: the objects of an earlier revision, to tell new VMs from others; None if there is no such revision.
    assumed: nothing says how the cluster's KubeVirt is configured, so what a feature gate would allow is no error.
    """
    evaluation = _Evaluation(lookup, kubevirt, validation, base, extensions, assumed)
    for declared in objects:
        if declared.manifest["kind"] in LOOKED_UP:
            continue
        try:
            yield from evaluation.findings(declared)
        except (FieldError, Panic) as error:
            yield declared.finding("refused", ERROR, "", f"KubeVirt rejects the object: {error}")


def refusals(declared: CheckedObject, lookup: KnownObjects, release: Release) -> list[LocatedFinding]:
    """Why no cluster accepts an object, whatever its feature gates."""
    kubevirt = KubeVirt(release, opens_all_gates=True)
    findings = evaluate([declared], lookup, kubevirt)
    return [finding for finding in findings if finding.severity == ERROR and finding.rule in ("invalid", REFUSED)]


class _Evaluation:
    """See `evaluate`."""

    def __init__(
        self,
        lookup: KnownObjects,
        kubevirt: KubeVirt,
        validation: str,
        base: Mapping[ObjectKey, Manifest] | None,
        extensions: Sequence[CheckExtension],
        assumed: bool,
    ) -> None:
        self.lookup, self.cluster, self.base, self.extensions = lookup, Cluster(lookup, kubevirt), base, extensions
        self.checks = [check for extension in extensions for check in extension.checks]
        self.permissive = Cluster(lookup, replace(kubevirt, opens_all_gates=True)) if assumed else None
        self.release, self.severity = kubevirt.release, VALIDATION[validation]

    def findings(self, declared: CheckedObject) -> Iterator[LocatedFinding]:
        """All findings about an object at once: the rest of it is judged without the fields that are wrong."""
        manifest, kind = declared.manifest, declared.manifest["kind"]
        spec_type = "VirtualMachineSpec" if kind == VM else MATCHER_FIELD_OF_KIND[kind].spec_type
        yield from self._lost_field_findings(declared)
        errors = all_errors(_check_metadata, manifest)
        if not isinstance(manifest.get("spec"), dict):
            errors.append(FieldError("spec", "missing; write the object's spec"))
        if not isinstance(manifest.get("spec"), dict) or not isinstance(manifest.get("metadata"), dict):
            yield from invalid(declared.finding, errors)
            return
        problems = _implausible_values(manifest, spec_type)
        typed, wrong_types = manifest, set[str]()
        if problems:
            type_errors, typed, _is_right = collect_errors(partial(_check_types, spec_type), manifest)
            wrong_types = {error.path for error in type_errors}
        errors += [problem for problem in problems if problem.path in wrong_types]
        problems = [problem for problem in problems if problem.path not in wrong_types]
        wrong = [*declared.wrong, *(_OWNERS if error.path.startswith(_OWNERS) else error.path for error in errors)]
        yield from invalid(declared.finding, [error for error in errors if not _is_within(error.path, declared.wrong)])
        # Without its namespace, an object would miss what is in the namespace.
        rest = without_fields(typed, [path for path in wrong if path != "metadata.namespace"])
        findings: list[LocatedFinding] = []
        try:
            findings += self._webhook_findings(declared._replace(manifest=rest))
            refused = any(finding.rule == "refused" for finding in findings)
        except (FieldError, Panic):
            if not wrong and not problems:
                raise
            refused = True
        rule, severity = ("invalid", ERROR) if refused else ("never-starts", start_severity(rest))
        yield from (declared.finding(rule, severity, problem.path, problem.reason) for problem in problems)
        # Some messages of the server have no indexes.
        fields = {field for problem in problems for field in (problem.path, _without_indexes(problem.path))}
        for finding in findings:
            follows = finding.rule == "never-starts" and (wrong or problems)
            if not (follows or finding.field in fields or _is_within(finding.field, wrong)):
                yield replace(finding, label=declared.label)

    def _webhook_findings(self, declared: CheckedObject) -> Iterator[LocatedFinding]:
        """Findings of the API server's and KubeVirt's webhooks."""
        manifest, kind, spec = declared.manifest, declared.manifest["kind"], declared.manifest["spec"]
        spec_type = "VirtualMachineSpec" if kind == VM else MATCHER_FIELD_OF_KIND[kind].spec_type
        causes = (
            schemas.causes(spec, self.release) if kind == VM else schemas.object_causes(spec_type, spec, self.release)
        )
        for cause in causes:
            yield declared.finding("refused", ERROR, cause.field, cause.message)
        forms = [cause.field for cause in causes if cause.type in (FORBIDDEN, REQUIRED)]
        if "spec.template" in forms:
            return
        if forms:
            declared = declared._replace(manifest={**manifest, "spec": schema.canonical(spec_type, spec)})
        try:
            others = list(self._kubevirt_findings(declared))
        except (FieldError, Panic):
            if not forms:
                raise
            return
        # The rules apply to fields of the right form.
        for finding in others:
            if not forms or not (finding.rule == "never-starts" or _is_within(finding.field, forms)):
                yield finding

    def _kubevirt_findings(self, declared: CheckedObject) -> Iterator[LocatedFinding]:
        """Findings of KubeVirt's webhooks."""
        manifest, kind = declared.manifest, declared.manifest["kind"]
        if kind == VM:
            yield from self._vm_findings(declared)
            return
        yield from self._catalog_findings(declared)
        for extension in self.extensions:
            yield from extension.object_findings(declared, self.lookup, self.release)
        response = validate.validate(kind, manifest, self.release).as_json()
        if not response["allowed"]:
            field = next((cause["field"] for cause in response.get("causes") or [] if cause.get("field")), "")
            yield declared.finding("refused", ERROR, field, str(response.get("message")))

    def _lost_field_findings(self, declared: CheckedObject) -> Iterator[LocatedFinding]:
        """The fields that the API drops, or rejects if asked to be strict."""
        kind, version = declared.manifest["kind"], self.release.minor_version
        type_name = VM if kind == VM else MATCHER_FIELD_OF_KIND[kind].kind
        for field in release_schema.unknown(type_name, declared.manifest, self.release) if self.severity else ():
            if field.path.startswith("status.") or (kind == VM and schemas.is_kept(field.path)):
                continue
            known, verb = schema.TYPES[field.type_name], "rejects" if self.severity == ERROR else "drops"
            remedy = "; remove it, or upgrade KubeVirt" if field.name in known else did_you_mean(field.name, known)
            message = f"KubeVirt {version} does not know the field and {verb} it{remedy}"
            yield declared.finding("lost-field", self.severity, field.path, message)

    def _catalog_findings(self, declared: CheckedObject) -> Iterator[LocatedFinding]:
        """Labels that differ from the spec, and a preference that no known instancetype satisfies."""
        manifest, kind = declared.manifest, declared.manifest["kind"]
        for wrong in wrong_labels(kind, manifest["metadata"].get("labels") or {}, manifest["spec"]):
            actual = wrong.actual or "not set"
            message = f"{wrong.label} is {wrong.value}, but {wrong.field} is {actual}; correct the label"
            yield declared.finding("wrong-label", WARNING, "metadata.labels", message)
        if MATCHER_FIELD_OF_KIND[kind] is not PREFERENCE or not manifest["spec"].get("requirements"):
            return
        namespace = manifest["metadata"].get("namespace") or ""
        sizes = [*self.lookup.listed(INSTANCETYPE.cluster_kind, ""), *self.lookup.listed(INSTANCETYPE.kind, namespace)]
        if sizes and all(rejection_of_pair(size, manifest, "", NEWEST) for size in sizes):
            message = f"none of {len(sizes)} instancetypes satisfies the preference; add one, or lower the requirements"
            yield declared.finding("unsatisfied", WARNING, "spec.requirements", message)

    def _vm_findings(self, declared: CheckedObject) -> Iterator[LocatedFinding]:
        """Findings about a VM. KubeVirt stops at a wrong matcher; the check judges the independent fields, too."""
        findings = self._admission_findings(declared)
        yield from findings
        errors = [finding for finding in findings if finding.severity == ERROR and finding.field]
        matchers = [f"spec.{matcher_field.name}" for matcher_field in MATCHER_FIELDS]
        wrong = [matcher for matcher in matchers if any(_is_within(finding.field, [matcher]) for finding in errors)]
        if wrong:
            rest = self._vm_findings(declared._replace(manifest=without_fields(declared.manifest, wrong)))
            certain = (finding for finding in rest if finding.severity == ERROR and finding.rule != "never-starts")
            for finding in certain:
                if finding.field and finding not in findings and not _is_within(finding.field, _GUEST):
                    yield finding

    def _admission_findings(self, declared: CheckedObject) -> list[LocatedFinding]:
        """Findings about a VM. A refusal that a feature gate ends is certain only where the gates are known."""
        findings = list(self._findings_of(declared, self.cluster))
        if self.permissive is None or all(finding.rule not in _GATED for finding in findings):
            return findings
        certain = {(finding.field, finding.message) for finding in self._findings_of(declared, self.permissive)}
        return [
            finding
            if finding.rule not in _GATED or (finding.field, finding.message) in certain
            else replace(finding, severity=WARNING, remedy=_UNLESS)
            for finding in findings
        ]

    def _findings_of(self, declared: CheckedObject, cluster: Cluster) -> Iterator[LocatedFinding]:
        future = admit(declared.manifest, None, cluster)
        expected = preflight.findings(future, None, cluster, self.lookup.listed, self.checks, VM_OPTIONS.inferring)
        for found in expected:
            field, message = found.field.split(", ")[0], found.message
            if found.rule == OBSOLETE:
                yield declared.finding(OBSOLETE, ERROR if self._is_new(found, future) else WARNING, field, message)
            elif NOT_AMONG_FILES in message and found.rule != DEPRECATED:
                noun = message.partition(NOT_AMONG_FILES)[0].rpartition(": ")[2].strip()
                yield inferred_from(declared, field, noun)
            elif found.rule == CANNOT_BOOT:
                # The guest's system behaves the same under any KubeVirt.
                yield declared.finding(NEVER_STARTS, start_severity(declared.manifest), field, message)
            elif found.rule != REFUSED:
                yield declared.finding(found.rule, found.severity, field, message)
            elif found.severity != ERROR:
                yield declared.finding("unchecked", NOTE, field, message)
            else:
                yield declared.finding("not-found" if found.missing else REFUSED, ERROR, field, message)
        if future.admitted is None or any(found.missing for found in expected):
            # Without its instancetype and preference the spec is incomplete.
            return
        for cause in _remaining_causes(future.admitted, cluster):
            message = " ".join(cause.message.split())
            if not any(message in found.line and cause.field in found.field for found in expected):
                yield declared.finding("refused", ERROR, cause.field, message)

    def _is_new(self, finding: Finding, future: AdmissionResult) -> bool:
        """Whether a finding is about an object that the VM does not have in the base."""
        if self.base is None:
            return False
        before = self.base.get(ObjectKey.of(future.vm))
        live = None if before is None else admit(before, None, self.cluster).admitted
        return finding in preflight.state_findings(future.admitted or {}, live, self.cluster)


def _remaining_causes(admitted: Manifest, cluster: Cluster) -> list[Cause]:
    """The causes for which virt-api rejects a VM, besides conflicts and requirements."""
    applied, stored = copy(admitted), admitted["spec"]
    response = validate.virtual_machine(applied, cluster)
    if not response.allowed:
        return []
    return admitter.virtual_machine_causes(
        applied["spec"], stored, None, admitted["metadata"].get("namespace", ""), cluster.kubevirt
    )


def start_severity(manifest: Manifest) -> str:
    """The severity of what keeps a guest from starting: an error if the VM starts it now."""
    starts = manifest["kind"] == VM and run_strategy(manifest) not in (HALTED, "Manual")
    return ERROR if starts else WARNING


def shown_change(change: dict[str, Any]) -> str:
    """``domain.cpu.sockets 4 -> 2``; the field alone if it is no single value."""
    values = [change["before"], change["after"]]
    if any(isinstance(value, (dict, list)) for value in values):
        return str(change["field"])
    before, after = ("nothing" if value is None else value for value in values)
    return f"{change['field']} {before} -> {after}"


def _is_within(field: str, wrong: Iterable[str]) -> bool:
    """Whether a field is a wrong one, or is inside or around a wrong one."""
    # KubeVirt repeats a part of the path for the name of a disk, and calls the run strategy by its older name.
    field = re.sub(r"disks\.(?=domain\.devices\.disks)", "", field).replace("spec.running", "spec.runStrategy")
    return bool(field) and any(_overlap(field, path) or _overlap(field, _without_indexes(path)) for path in wrong)


def _overlap(first: str, second: str) -> bool:
    """Whether one of two paths is the other, or leads to it."""
    shorter, longer = sorted((first, second), key=len)
    return longer.startswith(shorter) and longer[len(shorter) :][:1] in ("", ".", "[")


def _without_indexes(path: str) -> str:
    """A path without indexes."""
    return re.sub(r"\[\d+]", "", path)


def _check_metadata(manifest: Manifest) -> None:
    """Raises FieldError for what every API server rejects of an object's metadata."""
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict) or not metadata.get("name"):
        raise FieldError("metadata.name", "missing; write a name such as web-1")
    gated({"metadata": metadata}, True)
    prefix = metadata.get("generateName")
    if prefix and (not isinstance(prefix, str) or subdomain(f"{prefix}x")):
        raise FieldError("metadata.generateName", f"{quoted(prefix)} is not the beginning of a name; write web-")
    owners, created = metadata.get("ownerReferences"), metadata.get("creationTimestamp")
    if isinstance(created, str) and not _TIME.fullmatch(created):
        raise FieldError(
            "metadata.creationTimestamp", f"{quoted(created)} is not a time such as 2025-03-01T10:00:00Z; remove it"
        )
    if owners is not None and not isinstance(owners, list):
        raise FieldError(_OWNERS, "expected a list; remove it")
    for index, owner in enumerate(owners or []):
        for field in _OWNER:
            if not isinstance(owner, dict) or not owner.get(field):
                raise FieldError(f"{_OWNERS}[{index}].{field}", "missing; remove the owner")


def _check_types(spec_type: str, manifest: Manifest) -> None:
    """Raises FieldError, unless a spec has the API's types."""
    try:
        schema.canonical(spec_type, manifest["spec"])
    except FieldError as error:
        raise error.with_parent("spec") from error


def _implausible_values(manifest: Manifest, spec_type: str) -> list[FieldError]:
    """The errors in a spec, which the API server may accept."""
    return all_errors(lambda value: gated({"spec": value["spec"]}, True, spec_type), {"spec": manifest["spec"]})
