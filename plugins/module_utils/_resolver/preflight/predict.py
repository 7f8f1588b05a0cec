"""Predicts how the cluster will respond to a VM, with the remedy.

What admission rejects, disks that do not exist, guests too small to boot, and what KubeVirt accepts and does not start.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ..api import semantic
from ..api.errors import Crash, QuantityError
from ..api.kinds import BY_NAME
from ..api.matcher import INSTANCETYPE, PREFERENCE, ROLES, Role
from ..api.quantity import parse
from ..api.release import is_newer
from ..api.tree import copy
from ..choose import suggestions
from ..choose.fitting import series_of
from ..choose.suggestions import SUGGESTED, Names, either
from ..kubevirt.admission import cluster as configured
from ..kubevirt.admission import launcher_pod, order
from ..kubevirt.admission.rule import INVALID, Cause
from ..kubevirt.find import find, naming
from ..kubevirt.find.lookup import Lookup
from ..kubevirt.vmi import vmi
from ..kubevirt.vmi.cluster import Cluster
from ..kubevirt.vmi.readiness import HALTED, has_guest, run_strategy
from ..kubevirt.vmi.vmi_defaults import set_vmi_defaults
from ..kubevirt.webhooks import validate
from ..kubevirt.webhooks.admission import invalid
from ..kubevirt.webhooks.configured import barred
from . import references
from .outlook import Outlook
from .references import created

Manifest = dict[str, Any]

# The least memory with which any system of a family boots, by the beginning of a preference's name. Lower than vendors'
# requirements, to avoid needless warnings.
_FAMILIES: Final = {
    "alpine": "64Mi",
    "centos": "512Mi",
    "cirros": "64Mi",
    "debian": "128Mi",
    "fedora": "512Mi",
    "opensuse": "512Mi",
    "oraclelinux": "512Mi",
    "rhel": "512Mi",
    "sles": "512Mi",
    "ubuntu": "256Mi",
    "windows": "512Mi",
}
# For the firmware and any kernel.
_ANY: Final = "32Mi"


def too_small(applied: Manifest, preference: Manifest | None) -> str | None:
    """A warning about a guest with too little memory to boot, or None.

    applied: a VM with the values of instancetype, preference and defaults. preference: its spec, or None; KubeVirt
    checks its requirements.
    """
    if ((preference or {}).get("requirements") or {}).get("memory"):
        return None
    guest = (applied["spec"]["template"]["spec"]["domain"].get("memory") or {}).get("guest")
    named = str((applied["spec"].get("preference") or {}).get("name") or "")
    family = named.partition(".")[0].lower()
    least = _FAMILIES.get(family, _ANY)
    try:
        if guest is None or parse(str(guest)).nanos >= parse(least).nanos:
            return None
    except QuantityError:
        return None
    what = f"a guest of the family {family}" if family in _FAMILIES else "a guest"
    return f"spec.template.spec.domain.memory.guest: {guest} is too little for {what} to boot; give it {least} or more"


class _Source(NamedTuple):
    """path: of the source's name, in the VM. kind, namespace, name: the object to copy."""

    path: str
    kind: str
    namespace: str
    name: str


# Fields of a DataVolume's source → the kind of the object.
_KINDS = {"pvc": "PersistentVolumeClaim", "snapshot": "VolumeSnapshot"}


def missing(vm: Manifest, live: Manifest | None, objects: Lookup, listed: Names) -> Iterator[str]:
    """One line for each source that does not exist: its import would never end.

    live: the live VM; the sources of its existing DataVolumes may be gone. Sources that the user may not read count as
    existing, because KubeVirt itself checks the permission to clone.
    """
    for source in _sources(vm, created(live or {})):
        if objects.get(source.kind, source.namespace, source.name) is None:
            names = [manifest["metadata"]["name"] for manifest in listed(source.kind, source.namespace)]
            close = difflib.get_close_matches(source.name, names, n=SUGGESTED, cutoff=0.5)
            hint = f"did you mean {either(close)}?" if close else "create the object first, or name an existing object"
            place = f"in the namespace {source.namespace}"
            yield f"{source.path}: no {source.kind} {source.name} {place}; {hint}"


def kept_sizes(vm: Manifest, live: Manifest) -> Iterator[str]:
    """One line for each existing disk with another size in the VM: KubeVirt creates its DataVolume once and never
    resizes it.
    """
    before = {_name(template): _size(template) for template in _templates(live)}
    for index, template in enumerate(_templates(vm)):
        name, size = _name(template), _size(template)
        was = before.get(name, "")
        if was and size and not semantic.equal("Quantity", was, size):
            yield (
                f"spec.dataVolumeTemplates[{index}]: the disk {name} keeps its size of {was}, because KubeVirt creates"
                " it only once; resize its PersistentVolumeClaim"
            )


def _templates(vm: Manifest) -> list[Manifest]:
    found: list[Manifest] = vm["spec"].get("dataVolumeTemplates") or []
    return found


def _name(template: Manifest) -> str:
    return str((template.get("metadata") or {}).get("name"))


def _size(template: Manifest) -> str:
    spec = template.get("spec") or {}
    resources = (spec.get("storage") or spec.get("pvc") or {}).get("resources") or {}
    return str((resources.get("requests") or {}).get("storage") or "")


def _sources(vm: Manifest, known: set[str]) -> Iterator[_Source]:
    own = str(vm["metadata"].get("namespace") or "")
    for index, template in enumerate(_templates(vm)):
        if _name(template) in known:
            continue
        spec, path = template.get("spec") or {}, f"spec.dataVolumeTemplates[{index}].spec"
        reference = spec.get("sourceRef") or {}
        if reference.get("kind") == "DataSource" and reference.get("name"):
            namespace = reference.get("namespace") or own
            yield _Source(f"{path}.sourceRef.name", "DataSource", namespace, reference["name"])
        for field, kind in _KINDS.items():
            source = (spec.get("source") or {}).get(field) or {}
            if source.get("name"):
                yield _Source(f"{path}.source.{field}.name", kind, source.get("namespace") or own, source["name"])


def failures(vm: Manifest, applied: Manifest, live: Manifest | None, cluster: Cluster) -> list[Cause]:
    """Why KubeVirt will not create the VMI of a VM (startVMI) or its pod, with the fields of the VM; empty if it will,
    or if it already rejects the VM.

    vm: the admitted VM, canonical. applied: the same with instancetype, preference and defaults in its template.
    live: the live VM.
    """
    built = vmi.build_in_place(copy(vm), cluster.objects, cluster.configuration, cluster.release)
    if built.error is not None:
        return [Cause(INVALID, built.error.message, "")]
    metadata, spec = built.metadata or {}, built.spec or {}
    set_vmi_defaults(spec, cluster.configuration, allowed=None, release=cluster.release)
    known = configured.read(dict(cluster.kubevirt.settings), cluster.configuration.architecture, cluster.release)
    before = None if live is None else live["spec"]
    namespace = vm["metadata"].get("namespace", "")
    try:
        causes = list(dict.fromkeys(order.vmi(metadata, spec, known)))
        if causes and order.virtual_machine_causes(applied["spec"], vm["spec"], before, namespace, known):
            return []
    except Crash:
        # virt-api crashes on the VM, too.
        return []
    return causes or list(launcher_pod.causes(spec, "spec.template.spec"))


_TEMPLATE: Final = "spec.template.spec"
_NOT_STARTED: Final = (HALTED, "Manual")
_NEVER: Final = "KubeVirt accepts the VM, but cannot start it"
_LOST: Final = (
    "the captured revision {name} was deleted, so KubeVirt cannot start the VM again; refresh the VM"
    " (controller_revision, state: refreshed)"
)
_OPEN_GATE: Final = "enable the feature gate in the KubeVirt object, or remove the field"


class Issue(NamedTuple):
    """One line about a VM.

    certain: the cluster will reject the VM, or the VM cannot start; false for a doubt. missing: an object does not
    exist. starts: false if KubeVirt accepts the VM but cannot start it, which is certain only if it would start it now.
    """

    text: str
    certain: bool = True
    missing: bool = False
    starts: bool = True


def issues(future: Outlook, live: Manifest | None, cluster: Cluster, listed: Names) -> list[Issue]:
    """The issues of a planned VM: inference, unknown objects, conflicts, requirements, in KubeVirt's order.

    live: the live VM. listed: returns all manifests of a kind in a namespace, for suggestions.
    Like KubeVirt, reports only the first failing step; the remedy names what would work instead.
    """
    vm, admitted = future.vm, future.admitted
    if admitted is None:
        answer = future.refusal.as_json() if future.refusal is not None else {}
        # KubeVirt does not say which matcher it could not infer.
        roles = suggestions.not_inferred(vm, cluster)
        remedy = "; ".join(dict.fromkeys(suggestions.to_add(role, vm, cluster, listed) for role in roles))
        missing = any(suggestions.missing(role, vm, cluster) for role in roles[:1])
        text = _line(answer, remedy, [f"spec.{role.matcher}.inferFromVolume" for role in roles])
        return [Issue(text, missing=missing)]
    return [*_admitted(future, admitted, live, cluster, listed), *_without(future, admitted, cluster)]


def _without(future: Outlook, admitted: Manifest, cluster: Cluster) -> Iterator[Issue]:
    """A note for each matcher that the failure policy Ignore drops, which KubeVirt does silently."""
    for role in ROLES:
        if role.matcher_of(future.vm) is not None and role.matcher_of(admitted) is None:
            told = suggestions.unheard(role, future.vm, cluster)
            if told:
                yield Issue(f"spec.{role.matcher}: the VM gets none, since KubeVirt is {told}", certain=False)


def _admitted(
    future: Outlook, admitted: Manifest, live: Manifest | None, cluster: Cluster, listed: Names
) -> list[Issue]:
    vm = future.vm
    lost = [issue for role in ROLES for issue in _lost(admitted, role, live, cluster)]
    if lost:
        return _judged_lost(lost, admitted, cluster)
    unknown = [issue for role in ROLES for issue in _unknown(admitted, role, cluster, listed)]
    unknown += [Issue(text, missing=True) for text in missing(vm, live, cluster.objects, listed)]
    if unknown:
        return unknown
    kept = [Issue(text, certain=False) for text in kept_sizes(vm, live)] if live is not None else []
    return [*_judged(admitted, live, cluster, listed), *_absent(vm, cluster), *kept]


def _absent(vm: Manifest, cluster: Cluster) -> list[Issue]:
    """What must exist before the VM starts: somebody else may still create it."""
    return [Issue(text, certain=False, missing=True) for text in references.absent(vm, cluster.objects)]


def _judged(admitted: Manifest, live: Manifest | None, cluster: Cluster, listed: Names) -> list[Issue]:
    # The validating webhook applies instancetype, preference and defaults to its input.
    applied = copy(admitted)
    answer = validate.virtual_machine(applied, cluster.objects, cluster.configuration, cluster.release).as_json()
    if answer["allowed"]:
        preference = find.spec(admitted, PREFERENCE, cluster.objects, cluster.release).spec
        small = too_small(applied, preference)
        return [
            *(_barred(applied["spec"]["template"]["spec"], cluster) or _unstartable(admitted, applied, live, cluster)),
            *([Issue(small, certain=False)] if small else ()),
        ]
    return [Issue(_line(answer, _remedy(answer, admitted, cluster, listed)))]


def _barred(spec: Manifest, cluster: Cluster) -> list[Issue]:
    """If the configuration is unreadable, a gate may be open, and changes may wait for a restart."""
    found = barred(spec, _TEMPLATE, cluster.kubevirt)
    certain = not cluster.kubevirt.doubt
    return [
        Issue(_line(invalid(causes).as_json(), remedy), certain=certain)
        for causes, remedy in zip(found, (_OPEN_GATE, ""))
        if causes
    ]


def _unstartable(vm: Manifest, applied: Manifest, live: Manifest | None, cluster: Cluster) -> list[Issue]:
    """What KubeVirt tells when it starts the VM (FailedCreate).

    A VM that does not start now may change until then, and a newer KubeVirt may permit more.
    """
    due = run_strategy(vm) not in _NOT_STARTED and not (live is not None and has_guest(live))
    certain = due and not cluster.kubevirt.doubt and not is_newer(cluster.kubevirt.version)
    return [
        Issue(_line(invalid([cause]).as_json(), _NEVER), certain=certain, starts=False)
        for cause in failures(vm, applied, live, cluster)
    ]


def _matcher(role: Role, vm: Manifest) -> Manifest:
    return role.matcher_of(vm) or {}


def _line(answer: dict[str, Any], remedy: str, suspects: Iterable[str] = ()) -> str:
    causes = answer.get("causes") or []
    told = [cause["field"] for cause in causes if cause.get("field")]
    fields = ", ".join(dict.fromkeys(told or suspects))
    message = " ".join(str(answer.get("message", "is refused")).split())
    return "; ".join(part for part in (f"{fields}: {message}" if fields else message, remedy) if part)


def _lost(vm: Manifest, role: Role, live: Manifest | None, cluster: Cluster) -> list[Issue]:
    """A captured revision that was deleted: KubeVirt accepts changes of the VM, but cannot start it, even if the VM
    names another object.
    """
    if _matcher(role, vm).get("revisionName") or cluster.release.refuses_unknown_objects:
        return []
    found = find.captured(vm, role, cluster.objects, cluster.release)
    if found.error is None or found.error.code != 404:
        return []
    name = naming.referenced(vm, role, cluster.release).name
    text = f"spec.{role.matcher}: {_LOST.format(name=name)}"
    due = run_strategy(vm) not in _NOT_STARTED and not (live is not None and has_guest(live))
    return [Issue(text, certain=due, missing=due, starts=False)]


def _judged_lost(lost: list[Issue], vm: Manifest, cluster: Cluster) -> list[Issue]:
    """What KubeVirt says to a VM without a lost object, such as that a preference requires more memory than none."""
    answer = validate.virtual_machine(copy(vm), cluster.objects, cluster.configuration, cluster.release).as_json()
    return lost if answer["allowed"] else [Issue(_line(answer, lost[0].text))]


def _unknown(vm: Manifest, role: Role, cluster: Cluster, listed: Names) -> list[Issue]:
    """The missing objects of the VM's matchers: KubeVirt accepts such a VM and then does not start it."""
    found = find.spec(vm, role, cluster.objects, cluster.release)
    if found.error is None:
        return []
    if found.error.code not in (404, 500):
        return [Issue(f"spec.{role.matcher}: could not be checked: {found.error.message}", certain=False)]
    matcher = _matcher(role, vm)
    kind = role.kind_of(matcher)
    field = f"spec.{role.matcher}.{'revisionName' if matcher.get('revisionName') else 'name'}"
    if kind is None or matcher.get("revisionName"):
        return [Issue(f"{field}: {found.error.message}")]
    namespace = vm["metadata"].get("namespace", "") if BY_NAME[kind].namespaced else ""
    names = [manifest["metadata"]["name"] for manifest in listed(kind, namespace)]
    close = difflib.get_close_matches(str(matcher.get("name")), names, n=SUGGESTED, cutoff=0.5)
    elsewhere = _in_other_scope(role, kind, vm, matcher.get("name"), listed)
    if elsewhere:
        return [Issue(f"{field}: {found.error.message}; {elsewhere}", missing=True)]
    hint = f"did you mean {either(close)}?" if close else f"the cluster has {len(names)} {kind}s"
    return [Issue(f"{field}: {found.error.message}; {hint}", missing=True)]


def _in_other_scope(role: Role, kind: str, vm: Manifest, name: Any, listed: Names) -> str:
    """The remedy if an object of that name exists with the other kind."""
    other = role.kind if kind == role.cluster_kind else role.cluster_kind
    namespace = vm["metadata"].get("namespace", "") if BY_NAME[other].namespaced else ""
    if not any(manifest["metadata"]["name"] == name for manifest in listed(other, namespace)):
        return ""
    return f"a {other} has this name; set {role.matcher}.kind to {other}"


def _remedy(answer: dict[str, Any], vm: Manifest, cluster: Cluster, listed: Names) -> str:
    stage = answer.get("stage")
    if stage == "apply" and "conflicts with selected" in str(answer.get("message")):
        return "remove these fields from the VM, or remove its instancetype"
    if vm["spec"].get("instancetype") and stage in ("apply", "requirements"):
        would_do = _fitting(vm, cluster, listed)
        if would_do:
            return f"use for example {either(would_do)}"
    elif stage == "requirements":
        return suggestions.to_add(INSTANCETYPE, vm, cluster, listed)
    return ""


def _fitting(vm: Manifest, cluster: Cluster, listed: Names) -> list[str]:
    """The best instancetypes of the VM's kind that meet the requirements of its preference."""
    # A missing kind has been reported already.
    kind = INSTANCETYPE.kind_of(vm["spec"]["instancetype"]) or INSTANCETYPE.cluster_kind
    preference = find.spec(vm, PREFERENCE, cluster.objects, cluster.release).spec
    namespace = vm["metadata"].get("namespace", "") if BY_NAME[kind].namespaced else ""
    series = series_of(str(vm["spec"]["instancetype"].get("name", "")))
    found = suggestions.best(listed(kind, namespace), vm, preference, cluster, series)
    return [manifest["metadata"]["name"] for manifest in found]
