"""Judges the objects of a repository as KubeVirt of a given release and configuration does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ...module_utils._resolver.api import release_schema, schema
from ...module_utils._resolver.api.errors import FieldError, Panic
from ...module_utils._resolver.api.every_error import every_error, mended, without
from ...module_utils._resolver.api.finding import CANNOT_BOOT, ERROR, NEVER_STARTS, NOTE, REFUSED, WARNING, Finding
from ...module_utils._resolver.api.matcher import (
    INSTANCETYPE,
    MATCHER_FIELD_OF_KIND,
    MATCHER_FIELDS,
    PREFERENCE,
    ObjectKey,
)
from ...module_utils._resolver.api.name_rules import did_you_mean, quoted, subdomain
from ...module_utils._resolver.api.release import NEWEST
from ...module_utils._resolver.api.state import DEPRECATED, OBSOLETE, state_of
from ...module_utils._resolver.api.tree import copy
from ...module_utils._resolver.catalog.labels import wrong_labels
from ...module_utils._resolver.catalog.replacement import replacement
from ...module_utils._resolver.choose.fitting import rejection_of_pair
from ...module_utils._resolver.kubevirt.admission import admitter, schemas
from ...module_utils._resolver.kubevirt.admission.rule import FORBIDDEN, REQUIRED, Cause
from ...module_utils._resolver.kubevirt.config.cluster import Cluster, KubeVirt
from ...module_utils._resolver.kubevirt.vm.readiness import HALTED, run_strategy
from ...module_utils._resolver.kubevirt.webhooks import validate
from ...module_utils._resolver.kubevirt.webhooks.mutate import AdmissionResult, admit
from ...module_utils._resolver.preflight import findings as preflight
from .._manifest_checks import gated
from .findings import LocatedFinding, invalid
from .objects import ELSEWHERE, STORAGE, VM, Declared, KnownObjects
from .prerequisites import inferred_from

Manifest = dict[str, Any]

# What a VM gets from its instancetype and preference.
_GUEST: Final = tuple(
    f"spec.template.spec.domain.{part}" for part in ("cpu", "memory", "resources", "firmware", "features", "machine")
)
_OWNERS: Final = "metadata.ownerReferences"
_OWNER: Final = ("apiVersion", "kind", "name", "uid")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
WARN: Final = "warn"
VALIDATION: Final = {"strict": ERROR, WARN: WARNING, "ignore": ""}
"""The reaction to fields that the API drops, like its own for `fieldValidation`: Strict, Warn, Ignore → level."""


def evaluate(
    objects: Sequence[Declared],
    lookup: KnownObjects,
    kubevirt: KubeVirt,
    validation: str = WARN,
    base: Mapping[ObjectKey, Manifest] | None = None,
    checks: Sequence[preflight.Check] = (),
) -> Iterator[LocatedFinding]:
    """Findings about each object, in order. validation: a key of VALIDATION. checks: add to the findings about a VM.

    base: the objects of an earlier revision, to tell new VMs from others; None if there is no such revision.
    """
    evaluation = _Evaluation(lookup, kubevirt, validation, base, checks)
    for entry in objects:
        if entry.manifest["kind"] in STORAGE:
            continue
        try:
            yield from evaluation.findings(entry)
        except (FieldError, Panic) as error:
            yield entry.finding("refused", ERROR, "", f"KubeVirt rejects the object: {error}")


class _Evaluation:
    """See `evaluate`."""

    def __init__(
        self,
        lookup: KnownObjects,
        kubevirt: KubeVirt,
        validation: str,
        base: Mapping[ObjectKey, Manifest] | None,
        checks: Sequence[preflight.Check],
    ) -> None:
        self.lookup, self.cluster, self.base, self.checks = lookup, Cluster(lookup, kubevirt), base, checks
        self.release, self.level = kubevirt.release, VALIDATION[validation]

    def findings(self, entry: Declared) -> Iterator[LocatedFinding]:
        """All errors of an object at once: what has none of its own is judged without the fields that have one."""
        manifest, kind = entry.manifest, entry.manifest["kind"]
        spec_type = "VirtualMachineSpec" if kind == VM else MATCHER_FIELD_OF_KIND[kind].spec_type
        yield from self._lost_fields(entry)
        errors = every_error(_check_form, manifest)
        if not isinstance(manifest.get("spec"), dict):
            errors.append(FieldError("spec", "missing; write the object's spec"))
        if not isinstance(manifest.get("spec"), dict) or not isinstance(manifest.get("metadata"), dict):
            yield from invalid(entry.finding, errors)
            return
        problems = _implausible(manifest, spec_type)
        typed, wrong_types = manifest, set[str]()
        if problems:
            type_errors, typed, _is_right = mended(partial(_check_types, spec_type), manifest)
            wrong_types = {error.path for error in type_errors}
        errors += [problem for problem in problems if problem.path in wrong_types]
        problems = [problem for problem in problems if problem.path not in wrong_types]
        wrong = [*entry.wrong, *(_OWNERS if error.path.startswith(_OWNERS) else error.path for error in errors)]
        yield from invalid(entry.finding, [error for error in errors if not _concerns(error.path, entry.wrong)])
        # Without its namespace, an object would miss what is in the namespace.
        rest = without(typed, [path for path in wrong if path != "metadata.namespace"])
        findings: list[LocatedFinding] = []
        try:
            findings += self._of_webhooks(entry._replace(manifest=rest))
            refused = any(finding.rule == "refused" for finding in findings)
        except (FieldError, Panic):
            if not wrong and not problems:
                raise
            refused = True
        rule, level = ("invalid", ERROR) if refused else ("never-starts", start_level(rest))
        yield from (entry.finding(rule, level, problem.path, problem.reason) for problem in problems)
        # Some messages of the server have no indexes.
        fields = {field for problem in problems for field in (problem.path, _plain(problem.path))}
        for finding in findings:
            follows = finding.rule == "never-starts" and (wrong or problems)
            if not (follows or finding.field in fields or _concerns(finding.field, wrong)):
                yield finding._replace(label=entry.label)

    def _of_webhooks(self, entry: Declared) -> Iterator[LocatedFinding]:
        """Findings of the API server's and KubeVirt's webhooks."""
        manifest, kind, spec = entry.manifest, entry.manifest["kind"], entry.manifest["spec"]
        spec_type = "VirtualMachineSpec" if kind == VM else MATCHER_FIELD_OF_KIND[kind].spec_type
        causes = (
            schemas.causes(spec, self.release) if kind == VM else schemas.object_causes(spec_type, spec, self.release)
        )
        for cause in causes:
            yield entry.finding("refused", ERROR, cause.field, cause.message)
        forms = [cause.field for cause in causes if cause.type in (FORBIDDEN, REQUIRED)]
        if "spec.template" in forms:
            return
        if forms:
            entry = entry._replace(manifest={**manifest, "spec": schema.canonical(spec_type, spec)})
        try:
            others = list(self._of_rules(entry))
        except (FieldError, Panic):
            if not forms:
                raise
            return
        # The rules apply to what has the right form.
        for finding in others:
            if not forms or not (finding.rule == "never-starts" or _concerns(finding.field, forms)):
                yield finding

    def _of_rules(self, entry: Declared) -> Iterator[LocatedFinding]:
        """Findings of KubeVirt's webhooks."""
        manifest, kind = entry.manifest, entry.manifest["kind"]
        if kind == VM:
            yield from self._of_vm(entry)
            return
        yield from self._described(entry)
        yield from self._replacement(entry)
        response = validate.validate(kind, manifest, self.release).as_json()
        if not response["allowed"]:
            field = next((cause["field"] for cause in response.get("causes") or [] if cause.get("field")), "")
            yield entry.finding("refused", ERROR, field, str(response.get("message")))

    def _lost_fields(self, entry: Declared) -> Iterator[LocatedFinding]:
        """The fields that the API drops, or rejects if asked to be strict."""
        kind, version = entry.manifest["kind"], self.release.minor_version
        type_name = VM if kind == VM else MATCHER_FIELD_OF_KIND[kind].kind
        for field in release_schema.unknown(type_name, entry.manifest, self.release) if self.level else ():
            if field.path.startswith("status.") or (kind == VM and schemas.is_kept(field.path)):
                continue
            known, verb = schema.TYPES[field.type_name], "rejects" if self.level == ERROR else "drops"
            remedy = "; remove it, or upgrade KubeVirt" if field.name in known else did_you_mean(field.name, known)
            message = f"KubeVirt {version} does not know the field and {verb} it{remedy}"
            yield entry.finding("lost-field", self.level, field.path, message)

    def _described(self, entry: Declared) -> Iterator[LocatedFinding]:
        """Labels that differ from the spec, and a preference that no known instancetype satisfies."""
        manifest, kind = entry.manifest, entry.manifest["kind"]
        for wrong in wrong_labels(kind, manifest["metadata"].get("labels") or {}, manifest["spec"]):
            actual = wrong.actual or "not set"
            message = f"{wrong.label} is {wrong.value}, but {wrong.field} is {actual}; correct the label"
            yield entry.finding("wrong-label", WARNING, "metadata.labels", message)
        if MATCHER_FIELD_OF_KIND[kind] is not PREFERENCE or not manifest["spec"].get("requirements"):
            return
        namespace = manifest["metadata"].get("namespace") or ""
        sizes = [*self.lookup.listed(INSTANCETYPE.cluster_kind, ""), *self.lookup.listed(INSTANCETYPE.kind, namespace)]
        if sizes and all(rejection_of_pair(size, manifest, "", NEWEST) for size in sizes):
            message = f"none of {len(sizes)} instancetypes satisfies the preference; add one, or lower the requirements"
            yield entry.finding("unsatisfied", WARNING, "spec.requirements", message)

    def _replacement(self, entry: Declared) -> Iterator[LocatedFinding]:
        """What is wrong with the replacement of an object, and what it changes in a guest."""
        manifest, kind = entry.manifest, entry.manifest["kind"]
        state, namespace = state_of(manifest), manifest["metadata"].get("namespace") or ""
        if not state.replacement:
            return
        other = PREFERENCE if MATCHER_FIELD_OF_KIND[kind] is INSTANCETYPE else INSTANCETYPE
        counterparts = self.lookup.listed(other.cluster_kind, "")
        counterparts += self.lookup.listed(other.kind, namespace) if namespace else []
        successor = self.lookup.get(kind, namespace, state.replacement)
        result = replacement(manifest, successor if isinstance(successor, dict) else None, counterparts, self.release)
        for problem in result.problems:
            yield entry.finding("replacement", WARNING, "metadata.annotations", problem)
        if result.changes:
            fields = ", ".join(map(shown_change, result.changes[:3]))
            more = f" and {len(result.changes) - 3} more" if len(result.changes) > 3 else ""
            message = f"a guest that moves to {state.replacement} changes: {fields}{more}"
            yield entry.finding("replacement", NOTE, "metadata.annotations", message)

    def _of_vm(self, entry: Declared) -> Iterator[LocatedFinding]:
        """Findings about a VM. KubeVirt stops at a wrong matcher; what does not depend on it is judged all the same."""
        findings = list(self._of_admission(entry))
        yield from findings
        errors = [finding for finding in findings if finding.level == ERROR and finding.field]
        matchers = [f"spec.{matcher_field.matcher}" for matcher_field in MATCHER_FIELDS]
        wrong = [matcher for matcher in matchers if any(_concerns(finding.field, [matcher]) for finding in errors)]
        if wrong:
            rest = self._of_vm(entry._replace(manifest=without(entry.manifest, wrong)))
            certain = (finding for finding in rest if finding.level == ERROR and finding.rule != "never-starts")
            for finding in certain:
                known = any(finding[:-1] == other[:-1] for other in findings)
                if finding.field and not known and not _concerns(finding.field, _GUEST):
                    yield finding

    def _of_admission(self, entry: Declared) -> Iterator[LocatedFinding]:
        future = admit(entry.manifest, None, self.cluster)
        expected = preflight.findings(future, None, self.cluster, self.lookup.listed, self.checks)
        for found in expected:
            field, message = found.field.split(", ")[0], found.message
            if found.rule == OBSOLETE:
                yield entry.finding(OBSOLETE, ERROR if self._is_new(found, future) else WARNING, field, message)
            elif ELSEWHERE in message and found.rule != DEPRECATED:
                yield inferred_from(entry, field, message.partition(ELSEWHERE)[0].strip())
            elif found.rule == CANNOT_BOOT:
                # What the guest's system does is the same for any KubeVirt.
                yield entry.finding(NEVER_STARTS, start_level(entry.manifest), field, message)
            elif found.rule != REFUSED:
                yield entry.finding(found.rule, found.severity, field, message)
            elif found.severity != ERROR:
                yield entry.finding("unchecked", NOTE, field, message)
            else:
                yield entry.finding("not-found" if found.missing else REFUSED, ERROR, field, message)
        if future.admitted is None or any(found.missing for found in expected):
            # What the VM gets from its instancetype and preference is unknown.
            return
        for cause in self._other_causes(future.admitted):
            message = " ".join(cause.message.split())
            if not any(message in found.line for found in expected):
                yield entry.finding("refused", ERROR, cause.field, message)

    def _is_new(self, found: Finding, future: AdmissionResult) -> bool:
        """Whether a finding is about an object that the VM does not have in the base."""
        if self.base is None:
            return False
        before = self.base.get(ObjectKey.of(future.vm))
        live = None if before is None else admit(before, None, self.cluster).admitted
        return found in preflight.state_findings(future.admitted or {}, live, self.cluster)

    def _other_causes(self, admitted: Manifest) -> list[Cause]:
        """What virt-api rejects of a VM besides conflicts and requirements."""
        applied, stored = copy(admitted), admitted["spec"]
        response = validate.virtual_machine(applied, self.cluster)
        if not response.allowed:
            return []
        return admitter.virtual_machine_causes(
            applied["spec"], stored, None, admitted["metadata"].get("namespace", ""), self.cluster.kubevirt
        )


def start_level(manifest: Manifest) -> str:
    """The level of what keeps a guest from starting: an error if the VM starts it now."""
    starts = manifest["kind"] == VM and run_strategy(manifest) not in (HALTED, "Manual")
    return ERROR if starts else WARNING


def shown_change(change: dict[str, Any]) -> str:
    """``domain.cpu.sockets 4 -> 2``; the field alone if it is no single value."""
    values = [change["before"], change["after"]]
    if any(isinstance(value, (dict, list)) for value in values):
        return str(change["field"])
    before, after = ("nothing" if value is None else value for value in values)
    return f"{change['field']} {before} -> {after}"


def _concerns(field: str, wrong: Iterable[str]) -> bool:
    """Whether a field is among those that are wrong, in one or around one."""
    # KubeVirt repeats a part of the path for the name of a disk, and calls the run strategy by its older name.
    field = re.sub(r"disks\.(?=domain\.devices\.disks)", "", field).replace("spec.running", "spec.runStrategy")
    return bool(field) and any(_meet(field, path) or _meet(field, _plain(path)) for path in wrong)


def _meet(one: str, other: str) -> bool:
    """Whether one of two paths is the other, or leads to it."""
    shorter, longer = sorted((one, other), key=len)
    return longer.startswith(shorter) and longer[len(shorter) :][:1] in ("", ".", "[")


def _plain(path: str) -> str:
    """A path without indexes."""
    return re.sub(r"\[\d+]", "", path)


def _check_form(manifest: Manifest) -> None:
    """Raises FieldError for what every API server rejects of an object's metadata."""
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict) or not metadata.get("name"):
        raise FieldError("metadata.name", "missing; write a name such as web-1")
    gated({"metadata": metadata}, True)
    prefix = metadata.get("generateName")
    if prefix and (not isinstance(prefix, str) or subdomain(f"{prefix}x")):
        raise FieldError("metadata.generateName", f"{quoted(prefix)} is not the beginning of a name; write web-")
    owners, created = metadata.get("ownerReferences"), metadata.get("creationTimestamp")
    if isinstance(created, str) and not _TIME.match(created):
        raise FieldError("metadata.creationTimestamp", f"{quoted(created)} is not a time; remove it")
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


def _implausible(manifest: Manifest, spec_type: str) -> list[FieldError]:
    """The errors in a spec, which the API server may accept."""
    return every_error(lambda value: gated({"spec": value["spec"]}, True, spec_type), {"spec": manifest["spec"]})
