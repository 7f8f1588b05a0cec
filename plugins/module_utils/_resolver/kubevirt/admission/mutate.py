"""The instance type part of KubeVirt's mutating webhook for VMs (``pkg/instancetype/webhooks/vm``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from ...api import behaviour, release_schema
from ...api.errors import Cause, FieldError, KubeVirtError, Panic, go_reason, value_or_none
from ...api.manifest import Manifest, labels_of
from ...api.matcher import MATCHER_FIELDS, PREFERENCE, MatcherField, set_kinds
from ...api.release import NEWEST, Release
from ...api.tree import copy
from ..cluster import Cluster
from ..instancetype import find, revision_names
from ..instancetype import infer as inference
from ..instancetype.lookup import Lookup, get_readable
from .response import INVALID, NOT_FOUND, Refused, Response, bad_request, crashed, invalid


def mutate(
    vm: Manifest, objects: Lookup, stored: Manifest | None = None, operation: str = "CREATE", release: Release = NEWEST
) -> Manifest:
    """The canonical VM for validation: matchers checked and inferred; architecture, machine type, storage class set.

    vm: a plain manifest. objects: instancetypes, preferences, revisions, and volumes to infer from.
    stored: the VM before the UPDATE. operation: CREATE or UPDATE. Values that virt-api sets for every VM are not
    included. Raises Refused.
    """
    try:
        canonical = release_schema.canonical("VirtualMachine", vm, release)
        before = None
        if stored is not None and operation == "UPDATE":
            # Only its matchers are compared.
            before = release_schema.canonical("VirtualMachine", {"spec": stored.get("spec")}, release)
    except FieldError as error:
        raise Refused(bad_request(go_reason(error))) from error
    if canonical["metadata"].get("deletionTimestamp"):
        return canonical
    _check_matchers(canonical, before, release)
    try:
        inferred = inference.infer(canonical, objects, release)
    except Panic as panic:
        raise Refused(crashed(panic.message)) from panic
    except KubeVirtError as error:
        raise Refused(bad_request(error.message)) from error
    if release.has(behaviour.SETS_MATCHER_KIND):
        set_kinds(inferred)
    # A missing preference counts as none here; validation reports it.
    preference = value_or_none(find.effective_spec, inferred, PREFERENCE, objects, release)
    if preference is not None:
        store_preferred(preference, inferred)
    return inferred


def _check_matchers(vm: Manifest, before: Manifest | None, release: Release) -> None:
    """Each check stops at the first matcher that it rejects. Raises Refused."""
    if before is not None:
        for matcher_field in MATCHER_FIELDS:
            causes = list(_update_causes(vm, before, matcher_field))
            if causes:
                raise Refused(invalid(causes))
    for matcher_field in MATCHER_FIELDS:
        causes = list(matcher_causes(vm, matcher_field, release))
        if causes:
            raise Refused(invalid(causes))


def _update_causes(vm: Manifest, stored: Manifest, matcher_field: MatcherField) -> Iterator[Cause]:
    """A pinned revision belongs to one object: another name needs another revision, or none."""
    before, after = matcher_field.matcher_of(stored), matcher_field.matcher_of(vm)
    if before is None or after is None or not before.get("revisionName"):
        return
    if after.get("name") != before.get("name") and after.get("revisionName") == before["revisionName"]:
        message = "the Matcher Name has been updated without updating the RevisionName"
        yield Cause(INVALID, message, f"spec.{matcher_field.name}.revisionName")


def matcher_causes(vm: Manifest, matcher_field: MatcherField, release: Release) -> Iterator[Cause]:
    """Causes for a canonical VM's matcher, regardless of other objects."""
    matcher = matcher_field.matcher_of(vm)
    if matcher is None:
        return
    field = f"spec.{matcher_field.name}"
    inferred = "inferFromVolume" in matcher
    if "name" not in matcher and not inferred:
        yield Cause(
            NOT_FOUND,
            f"Either Name or InferFromVolume should be provided within the {matcher_field.matcher_type}",
            field,
        )
    if inferred:
        for key, label in (("name", "Name"), ("kind", "Kind")):
            if key in matcher:
                cause_type, message = release.pick(behaviour.NAMED_AND_INFERRED)
                message = message.format(field=label, matcher=matcher_field.matcher_type)
                yield Cause(cause_type, message, f"{field}.{key}")
    policy = matcher.get("inferFromVolumeFailurePolicy")
    if policy not in (None, inference.IGNORE, inference.REJECT):
        message = f"Invalid value '{policy}' for InferFromVolumeFailurePolicy"
        yield Cause(INVALID, message, f"{field}.inferFromVolumeFailurePolicy")


def store_preferred(preference: Manifest, vm: Manifest) -> None:
    """Sets the fields that the cluster and CDI read from the stored VM. Does nothing without a template."""
    template = vm["spec"]["template"]
    if template is None:
        return
    spec = template["spec"]
    architecture = preference.get("preferredArchitecture")
    if architecture and not spec.get("architecture"):
        spec["architecture"] = architecture
    machine_type = preference.get("machine", {}).get("preferredMachineType")
    if machine_type and not spec["domain"].get("machine", {}).get("type"):
        spec["domain"]["machine"] = {"type": machine_type}
    storage_class = preference.get("volumes", {}).get("preferredStorageClassName")
    if storage_class:
        for volume in vm["spec"].get("dataVolumeTemplates", ()):
            for field in ("pvc", "storage"):
                if field in volume["spec"]:
                    volume["spec"][field].setdefault("storageClassName", storage_class)


_LABEL: Final = "template.kubevirt.io/architecture"
_ARCHITECTURES: Final = ("amd64", "arm64", "s390x")


def with_source_architecture(vm: Manifest, objects: Lookup, release: Release) -> Manifest:
    """A canonical VM with the architecture of its boot sources; unchanged if the VM sets it or they have none.

    The first DataSource of its dataVolumeTemplates with the label of a known architecture counts.
    """
    template = vm["spec"]["template"]
    if (
        template is None
        or template["spec"].get("architecture")
        or not release.has(behaviour.TAKES_ARCHITECTURE_OF_SOURCES)
    ):
        return vm
    architecture = _source_architecture(vm, objects)
    if not architecture:
        return vm
    vm = copy(vm)
    vm["spec"]["template"]["spec"]["architecture"] = architecture
    return vm


def _source_architecture(vm: Manifest, objects: Lookup) -> str:
    for template in vm["spec"].get("dataVolumeTemplates", ()):
        reference = template["spec"].get("sourceRef") or {}
        if reference.get("kind", "").lower() != "datasource":
            continue
        namespace = reference.get("namespace") or vm["metadata"].get("namespace", "")
        source = _source(objects, namespace, reference.get("name", ""))
        architecture = ((source or {}).get("metadata", {}).get("labels") or {}).get(_LABEL)
        if architecture in _ARCHITECTURES:
            return str(architecture)
    return ""


def _source(objects: Lookup, namespace: str, name: str) -> Manifest | None:
    """A DataSource, or the DataSource to which it refers; None if it does not exist or cannot be read."""
    source = get_readable(objects, "DataSource", namespace, name)
    other = (((source or {}).get("spec") or {}).get("source") or {}).get("dataSource")
    if other is None:
        return source
    return get_readable(objects, "DataSource", other.get("namespace") or "", other.get("name") or "")


class AdmissionResult(NamedTuple):
    """A VM and its admission.

    vm: the declared VM before admission.

    admitted: the canonical VM that the validating webhook gets; None if the mutating webhook rejects the VM. refusal:
    the reason of the rejection.
    """

    vm: Manifest
    admitted: Manifest | None = None
    refusal: Response | None = None


def admit(vm: Manifest, live: Manifest | None, cluster: Cluster) -> AdmissionResult:
    """The VM as the mutating webhook changes it."""
    operation = "CREATE" if live is None else "UPDATE"
    try:
        mutated = mutate(vm, cluster.objects, live, operation, cluster.release)
    except Refused as error:
        return AdmissionResult(vm, refusal=error.response)
    return AdmissionResult(vm, with_source_architecture(mutated, cluster.objects, cluster.release))


# Admission reads neither these nor the status, but for the captured revisions.
_UNREAD: Final = frozenset({"name", "uid", "resourceVersion", "generation", "creationTimestamp"})


def admission_cache_key(vm: Manifest, live: Manifest | None, cluster: Cluster) -> str | None:
    """A text that is equal for VMs with the same answer of admission; None for a VM that must be judged by itself.

    vm: the VM after the plan. live: the VM before, None for a new one. A captured revision counts by its contents,
    because each VM has its own.
    """
    metadata = {key: value for key, value in vm["metadata"].items() if key not in _UNREAD}
    captured = []
    for matcher_field in MATCHER_FIELDS:
        name = revision_names.referenced_revision(vm, matcher_field, cluster.release).name
        if name:
            namespace = metadata.get("namespace") or ""
            revision = get_readable(cluster.objects, "ControllerRevision", namespace, name)
            if revision is None:
                return None
            captured.append([labels_of(revision).get(revision_names.NAME_LABEL), revision.get("data")])
    return json.dumps([metadata, vm.get("spec"), None if live is None else live.get("spec"), captured])
