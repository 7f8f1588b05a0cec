"""The links from the declaration to the pod: controller, revisions, instancetype and preference, admission, limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from .._resolver.api.manifest import Manifest, condition_of, name_of, namespace_of
from .._resolver.api.matcher import INSTANCETYPE, PREFERENCE, MatcherField
from .._resolver.api.name_rules import one_line
from .._resolver.api.quantity import from_nanos, parse
from .._resolver.choose.suggestions import of_kind, similar
from .._resolver.refresh.drift import REVISION_LOST
from .case import LEASE, REVISION, Case
from .link import (
    OURS,
    Broken,
    Evidence,
    Link,
    age,
    json_patch,
    kubectl,
    merged,
    of_condition,
    of_field,
    of_status,
    resized,
    task,
    vm_task,
)
from .storage import over_quota

# virt-controller renews its Lease every few seconds.
_SILENCE: Final = 60.0
# An object that is being deleted takes its grace period, and this long.
_DELETION: Final = 60.0
_GRACE: Final = 180
_WEBHOOKS: Final = ("validatingwebhookconfiguration,mutatingwebhookconfiguration",)
_REVISIONS: Final = "controllerrevisions.apps"
_POD_WAITS: Final = "virt-controller keeps trying to create the pod, and the VM stays without a guest"
_KEEPS_TRYING: Final = "KubeVirt tries again at growing intervals, up to 16 minutes, and the VM stays stopped"


def _controller(case: Case) -> Broken | None:
    lease = case.lease
    renewed = str(((lease or {}).get("spec") or {}).get("renewTime") or "")
    silent = age(case.at, renewed)
    if lease is None or silent <= _SILENCE:
        return None
    holder = lease["spec"].get("holderIdentity") or "nobody"
    controllers = ("delete", "pod", "--selector", "kubevirt.io=virt-controller")
    return Broken(
        f"virt-controller has been silent for {int(silent)} s",
        (of_status({**lease, "kind": LEASE}, "renewTime", f"last renewed by {holder}", renewed),),
        "start virt-controller again, and see its log for the reason",
        kubectl("Start virt-controller again", *controllers, namespace=namespace_of(lease)),
        "no VM starts, stops or migrates, and the status of VMs stays as it was; running guests run on",
    )


def _deletion(case: Case) -> Broken | None:
    for item in (case.vm, *filter(None, [case.vmi]), *case.pods):
        metadata = item["metadata"]
        since = metadata.get("deletionTimestamp")
        if not since:
            continue
        spec = item.get("spec") or {}
        grace = (spec.get("template") or {}).get("spec", spec).get("terminationGracePeriodSeconds", _GRACE)
        finalizers = list(metadata.get("finalizers") or ())
        foreign = [name for name in finalizers if "kubevirt.io/" not in name and "/" in name]
        if finalizers and (foreign or age(case.at, since) > grace + _DELETION):
            return _held_by_finalizer(item, (foreign or finalizers)[0], finalizers, str(since))
    return None


def _held_by_finalizer(item: Manifest, finalizer: str, finalizers: list[str], since: str) -> Broken:
    kind, name = item["kind"], name_of(item)
    path = f"/metadata/finalizers/{finalizers.index(finalizer)}"
    patch = [{"op": "test", "path": path, "value": finalizer}, {"op": "remove", "path": path}]
    return Broken(
        f"the {kind} is being deleted, and its finalizer {finalizer} keeps it",
        (of_field(item, "metadata.finalizers", ", ".join(finalizers))._replace(time=since),),
        "let the controller of the finalizer do its work; if the controller is gone, remove the finalizer",
        json_patch(f"Remove the finalizer of {name}", item, patch),
        f"the {kind} stays, does not start again, and no other of its name can be created",
    )


def _not_found(case: Case, matcher_field: MatcherField) -> Manifest | None:
    """The condition by which KubeVirt says that it finds no instancetype or preference, or no revision of it."""
    condition = condition_of(case.vm, "Failure")
    expected = f"FailedFind{matcher_field.matcher.capitalize()}"
    return condition if condition.get("status") == "True" and condition.get("reason") == expected else None


def _revision(case: Case) -> Broken | None:
    for matcher_field in (INSTANCETYPE, PREFERENCE):
        evidence, noun = _lost(case, matcher_field), matcher_field.matcher
        if evidence is None:
            continue
        refresh = {**case.selection, "state": "refreshed", "revisions_of": noun}
        return Broken(
            f"the captured revision of the {noun} was deleted",
            (evidence,),
            "refresh the VM, which captures a new revision of the object as it is now",
            task(f"Capture the {noun} again", f"{OURS}controller_revision", **refresh),
            f"KubeVirt neither starts, stops nor restarts the VM; {_KEEPS_TRYING}",
        )
    return None


def _lost(case: Case, matcher_field: MatcherField) -> Evidence | None:
    """The evidence that a revision is lost. KubeVirt gives it only once it has looked at the VM again."""
    condition = _not_found(case, matcher_field)
    if condition is not None and _REVISIONS in str(condition.get("message")):
        return of_condition(case.vm, condition)
    part = case.drift.parts.get(matcher_field)
    if part is None or part.state != REVISION_LOST or REVISION not in case.known:
        return None
    place = f"spec.{matcher_field.matcher}" if part.pinned else f"status.{matcher_field.reference}"
    return of_status(case.vm, place, f"there is no ControllerRevision {part.revision}")


def _missing_object(case: Case, matcher_field: MatcherField) -> Broken | None:
    condition = _not_found(case, matcher_field)
    if condition is None or _REVISIONS in str(condition.get("message")):
        return None
    matcher = matcher_field.matcher_or_empty(case.vm)
    name, kind = str(matcher.get("name") or ""), matcher_field.kind_of(matcher)
    existing = _names(case, kind)
    close = similar(name, existing)
    for other in (matcher_field.kind, matcher_field.cluster_kind):
        if name not in existing and name in _names(case, other):
            kind, close = other, [name]
    noun = matcher_field.matcher
    problem = one_line(condition.get("message"))
    if name in existing:
        problem += "; it exists now, and KubeVirt has not tried again"
    other_matcher = {"name": close[0] if close else "NAME", **({"kind": kind} if kind else {})}
    return Broken(
        problem,
        (of_condition(case.vm, condition),),
        f"use the {kind} {close[0]}" if close else f"create the {kind or noun} {name}, or name another {noun}",
        vm_task(f"Give the VM another {noun}", case, {f"/{noun}": other_matcher}),
        _KEEPS_TRYING,
    )


def _names(case: Case, kind: str | None) -> list[str]:
    return [name_of(item) for item in of_kind(kind, case.vm, case.lister)] if kind else []


def _refusals(case: Case) -> Iterator[Evidence]:
    """The conditions by which KubeVirt and CDI say that they could not create a disk, its claim, the VMI or the pod."""
    # KubeVirt copies the VMI's conditions to the VM, which may have been read at another moment.
    found = ((case.vm, "Failure", "True"), (case.vmi, "Synchronized", "False"), (case.vm, "Synchronized", "False"))
    for item, condition_type, status in found:
        condition = condition_of(item or {}, condition_type)
        if item is not None and condition.get("status") == status and condition.get("reason") in _NOT_CREATED:
            yield of_condition(item, condition)
    yield from filter(None, (over_quota(case, volume) for volume in case.volumes))


_NOT_CREATED: Final = ("FailedCreate", "FailedBackendStorageCreate")
_CALL: Final = "failed calling webhook"
_POLICY: Final = re.compile(
    r"ValidatingAdmissionPolicy '(?P<name>[^']+)'|admission webhook \"(?P<hook>[^\"]+)\" denied"
)
_HOOK: Final = re.compile(r"failed calling webhook \"(?P<name>[^\"]+)\"")
# A LimitRange gives containers its maximum as their limit.
_LIMITS: Final = re.compile(
    r"(minimum|maximum) \S+ usage per (Container|Pod)|limit to request ratio per"
    r"|must be less than or equal to \S+ limit of"
)
_MINIMUM: Final = re.compile(r"minimum \S+ usage per Container")
_QUOTA: Final = re.compile(
    r"exceeded quota: (?P<name>[^,]+), requested: (?P<requested>\S+), used: (?P<used>\S+), limited: (?P<limited>\S+)"
)
_PREREQUISITE: Final = re.compile(
    r"serviceaccount \"(?P<account>[^\"]+)\" not found|no PriorityClass with name (?P<priority>\S+) was found"
)
_STANDARD: Final = re.compile(r"violates PodSecurity \"(?P<level>[^:\"]+)")
_QUOTAS: Final = ("exceeded quota", "failed quota")
_SOURCE: Final = re.compile(r"datasources\.cdi\.kubevirt\.io \"(?P<name>[^\"]+)\" not found")


def _link_of(message: str) -> str:
    """The link that a refusal breaks."""
    if _SOURCE.search(message):
        return "data_source"
    if _CALL in message:
        return "webhook"
    if _STANDARD.search(message):
        return "policy"
    if found := _POLICY.search(message):
        return "admission" if (found["hook"] or "").endswith(".kubevirt.io") else "policy"
    if _PREREQUISITE.search(message):
        return "prerequisite"
    if any(words in message for words in _QUOTAS):
        return "quota"
    return "limits" if _LIMITS.search(message) else "admission"


def _refused(name: str, described: Callable[[Case, Evidence], Broken]) -> Link:
    """A link that a refusal breaks. described: the refusal in words."""

    def judge(case: Case) -> Broken | None:
        found = (evidence for evidence in _refusals(case) if _link_of(evidence.message) == name)
        return next((described(case, evidence) for evidence in found), None)

    return Link(name, judge)


def _data_source(case: Case, evidence: Evidence) -> Broken:
    # `_link_of` has found the words, here and in `_prerequisite`.
    name, namespace = next(_SOURCE.finditer(evidence.message))["name"], namespace_of(case.vm)
    for template in case.vm["spec"].get("dataVolumeTemplates") or ():
        reference = (template.get("spec") or {}).get("sourceRef") or {}
        if reference.get("name") == name:
            namespace = reference.get("namespace") or namespace
    place = {"name": name, "namespace": namespace}
    return Broken(
        f"the DataSource {namespace}/{name} does not exist",
        (evidence,),
        "create the boot source, or declare the VM with another",
        task(f"Create the boot source {name}", f"{OURS}boot_source", **place, image="IMAGE", size="SIZE"),
        _KEEPS_TRYING,
    )


def _policy(case: Case, evidence: Evidence) -> Broken:
    if standard := _STANDARD.search(evidence.message):
        return _pod_standard(case, evidence, standard["level"])
    found = _POLICY.search(evidence.message)
    name = (found["name"] or found["hook"]) if found else ""
    words = re.split(r"denied (?:the )?request: ", evidence.message)[-1]
    policy = (found["name"] and ("validatingadmissionpolicy", name)) if found else ""
    return Broken(
        f"{name} denies the guest: {words}",
        (evidence,),
        "declare the VM as the policy permits, or have the policy changed",
        kubectl("Read the policy", "get", *(policy or _WEBHOOKS), "--output", "yaml"),
        _KEEPS_TRYING,
    )


def _pod_standard(case: Case, evidence: Evidence, level: str) -> Broken:
    namespace = namespace_of(case.vm)
    permitted = ("label", "--overwrite", "namespace", namespace, "pod-security.kubernetes.io/enforce=privileged")
    return Broken(
        f"the Pod Security Standard {level} of the namespace denies the pod",
        (evidence,),
        "let the namespace have privileged pods, as the guests' are, or move the VM to one that does",
        kubectl("Permit the pods of guests", *permitted),
        _POD_WAITS,
    )


def _webhook(_case: Case, evidence: Evidence) -> Broken:
    found = _HOOK.search(evidence.message)
    name = found["name"] if found else ""
    words = evidence.message.partition("failed to call webhook: ")[2] or evidence.message
    return Broken(
        f"the webhook {name} does not answer: {words}",
        (evidence,),
        "start the service of the webhook again; if nobody uses it, delete its validating or mutating configuration",
        kubectl("Find the configuration of the webhook", "get", *_WEBHOOKS, "--output", "yaml"),
        f"no other guest starts where the webhook is asked; {_KEEPS_TRYING}",
    )


def _admission(case: Case, evidence: Evidence) -> Broken:
    return Broken(
        evidence.message,
        (evidence,),
        "declare the VM as KubeVirt accepts it; a dry run shows what else it rejects",
        task("See what KubeVirt rejects", f"{OURS}virtual_machine_info", **case.selection, include=["refresh"]),
        _KEEPS_TRYING,
    )


def _limit_range(case: Case, evidence: Evidence) -> Broken:
    words = evidence.message.rpartition("is forbidden: ")[2]
    remedy = "give the VM another size (capacity_info with checks=quota says which fit), or have the LimitRange changed"
    cure = resized("Give the VM another size", case)
    if _MINIMUM.search(words):
        remedy = "have the LimitRange changed; KubeVirt's own containers in the pod are smaller than that, too"
        cure = kubectl("Read the LimitRanges", "describe", "limitrange", namespace=namespace_of(case.vm))
    return Broken(f"a LimitRange of the namespace forbids the pod: {words}", (evidence,), remedy, cure, _POD_WAITS)


def _prerequisite(case: Case, evidence: Evidence) -> Broken:
    found = next(_PREREQUISITE.finditer(evidence.message))
    if found["account"]:
        kind, name = "ServiceAccount", found["account"]
        cure = kubectl(f"Create the {kind} {name}", "create", kind.lower(), name, namespace=namespace_of(case.vm))
    else:
        kind, name = "PriorityClass", found["priority"]
        cure = kubectl(f"Create the {kind} {name}", "create", kind.lower(), name, "--value", "0")
    return Broken(
        f"the {kind} {name} of the guest does not exist",
        (evidence,),
        f"create the {kind}, or name another one in the VM",
        cure,
        _POD_WAITS,
    )


def _quota(case: Case, evidence: Evidence) -> Broken:
    found = _QUOTA.search(evidence.message)
    of_disk = any(
        f'persistentvolumeclaims "{volume.name}"' in evidence.message for volume in case.volumes if volume.data_volume
    )
    if found is None:
        remedy = task("What do the quotas leave?", f"{OURS}capacity_info", **case.selection, checks=["quota"])
    else:
        # CDI fills a disk in a second claim of its size.
        hard = dict(_sufficient_quota(found["requested"].split(","), found["used"].split(","), 2 if of_disk else 1))
        title, place = f"Raise the quota {found['name']}", (found["name"], namespace_of(case.vm))
        remedy = merged(title, "resourcequota", *place, spec={"hard": hard})
    return Broken(
        evidence.message.rpartition("is forbidden: ")[2],
        (evidence,),
        "free or raise the quota, also for the second claim in which CDI fills the disk"
        if of_disk
        else "free or raise the quota, or give the VM a smaller instancetype",
        remedy,
        _POD_WAITS,
    )


def _sufficient_quota(requested: Iterable[str], used: Iterable[str], count: int) -> Iterator[tuple[str, str]]:
    """The hard limits that just permit so many equal objects. requested, used: `NAME=QUANTITY`, in the same order."""
    for one, other in zip(requested, used):
        name, _equals, amount = one.partition("=")
        total = parse(amount)
        yield name, from_nanos(count * total.nanos + parse(other.partition("=")[2]).nanos, total.format).text


LINKS: Final = (
    Link("controller", _controller, (LEASE,), always=True),
    Link("deletion", _deletion, always=True),
    Link("revision", _revision, always=True),
    Link("instancetype", partial(_missing_object, matcher_field=INSTANCETYPE), always=True),
    Link("preference", partial(_missing_object, matcher_field=PREFERENCE), always=True),
    _refused("data_source", _data_source),
)
REFUSALS: Final = (
    _refused("policy", _policy),
    _refused("webhook", _webhook),
    _refused("admission", _admission),
    _refused("prerequisite", _prerequisite),
    _refused("limits", _limit_range),
    _refused("quota", _quota),
)
