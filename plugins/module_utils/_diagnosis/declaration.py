"""The links from the declaration to the pod: controller, revisions, instancetype and preference, admission, limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from .._resolver.api.manifest import condition_of, name_of, namespace_of
from .._resolver.api.matcher import INSTANCETYPE, PREFERENCE, MatcherField
from .._resolver.api.quantity import from_nanos, parse
from .._resolver.choose.suggestions import of_kind, similar
from .case import LEASE, Case
from .link import OURS, Broken, Evidence, Link, age, object_task, of_condition, of_field, of_status, one_line, task

Manifest = dict[str, Any]

# virt-controller renews its Lease every few seconds.
_SILENCE: Final = 60.0
# An object that is being deleted takes its grace period, and this long.
_DELETION: Final = 60.0
_GRACE: Final = 180
_REVISIONS: Final = "controllerrevisions.apps"
_KEEPS_TRYING: Final = "KubeVirt tries again at growing intervals, up to 16 minutes, and the VM stays stopped"


def _controller(case: Case) -> Broken | None:
    lease = case.lease
    renewed = str(((lease or {}).get("spec") or {}).get("renewTime") or "")
    silent = age(case.at, renewed)
    if lease is None or silent <= _SILENCE:
        return None
    namespace = namespace_of(lease)
    pods = {"namespace": namespace, "label_selectors": ["kubevirt.io=virt-controller"]}
    return Broken(
        f"virt-controller has been silent for {int(silent)} s",
        (of_status({**lease, "kind": LEASE}, "renewTime", f"last renewed by {_holder(lease)}", renewed),),
        "start virt-controller again, and see its log for the reason",
        task(
            "Start virt-controller again",
            "kubernetes.core.k8s",
            api_version="v1",
            kind="Pod",
            state="absent",
            delete_all=True,
            **pods,
        ),
        "no VM starts, stops or migrates, and the status of VMs stays as it was; running guests run on",
    )


def _holder(lease: Manifest) -> str:
    return str((lease.get("spec") or {}).get("holderIdentity") or "nobody")


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
            return _held(item, (foreign or finalizers)[0], finalizers, str(since))
    return None


def _held(item: Manifest, finalizer: str, finalizers: list[str], since: str) -> Broken:
    kind, name = item["kind"], name_of(item)
    index = finalizers.index(finalizer)
    path = f"/metadata/finalizers/{index}"
    patch = [{"op": "test", "path": path, "value": finalizer}, {"op": "remove", "path": path}]
    return Broken(
        f"the {kind} is being deleted, and its finalizer {finalizer} keeps it",
        (of_field(item, "metadata.finalizers", ", ".join(finalizers))._replace(time=since),),
        "let the controller of the finalizer do its work; if the controller is gone, remove the finalizer",
        task(
            f"Remove the finalizer of {name}",
            "kubernetes.core.k8s_json_patch",
            api_version=item["apiVersion"],
            kind=kind,
            namespace=namespace_of(item),
            name=name,
            patch=patch,
        ),
        f"the {kind} stays, does not start again, and no other of its name can be created",
    )


def _not_found(case: Case, matcher_field: MatcherField) -> Manifest | None:
    """The condition by which KubeVirt says that it finds no instancetype or preference, or no revision of it."""
    condition = condition_of(case.vm, "Failure")
    expected = f"FailedFind{matcher_field.matcher.capitalize()}"
    return condition if condition.get("status") == "True" and condition.get("reason") == expected else None


def _revision(case: Case) -> Broken | None:
    for matcher_field in (INSTANCETYPE, PREFERENCE):
        condition = _not_found(case, matcher_field)
        if condition is None or _REVISIONS not in str(condition.get("message")):
            continue
        return Broken(
            f"the captured revision of the {matcher_field.matcher} was deleted",
            (of_condition(case.vm, condition),),
            "refresh the VM, which captures a new revision of the object as it is now",
            task(
                f"Capture the {matcher_field.matcher} again",
                f"{OURS}controller_revision",
                namespace=namespace_of(case.vm),
                names=[name_of(case.vm)],
                state="refreshed",
                revisions_of=matcher_field.matcher,
            ),
            f"KubeVirt neither starts, stops nor restarts the VM; {_KEEPS_TRYING}",
        )
    return None


def _missing_object(case: Case, matcher_field: MatcherField) -> Broken | None:
    condition = _not_found(case, matcher_field)
    if condition is None or _REVISIONS in str(condition.get("message")):
        return None
    matcher = matcher_field.matcher_or_empty(case.vm)
    name, kind = str(matcher.get("name") or ""), matcher_field.kind_of(matcher)
    existing = [name_of(item) for item in of_kind(kind, case.vm, case.lister)] if kind else []
    close = similar(name, existing)
    noun = matcher_field.matcher
    problem = one_line(condition.get("message"))
    if name in existing:
        problem += "; it exists now, and KubeVirt has not tried again"
    return Broken(
        problem,
        (of_condition(case.vm, condition),),
        f"use {close[0]}" if close else f"create the {kind or noun} {name}, or name another {noun}",
        task(
            f"Give the VM another {noun}",
            f"{OURS}virtual_machine",
            **case.place,
            **{noun: {"name": close[0] if close else "NAME", **({"kind": kind} if kind else {})}},
        ),
        _KEEPS_TRYING,
    )


def _instancetype(case: Case) -> Broken | None:
    return _missing_object(case, INSTANCETYPE)


def _preference(case: Case) -> Broken | None:
    return _missing_object(case, PREFERENCE)


def _refusals(case: Case) -> Iterator[Evidence]:
    """The conditions by which KubeVirt says that it could not create a disk, the VMI or the pod."""
    for item, condition_type, status in ((case.vm, "Failure", "True"), (case.vmi, "Synchronized", "False")):
        condition = condition_of(item or {}, condition_type)
        if item is not None and condition.get("status") == status and condition.get("reason") == "FailedCreate":
            yield of_condition(item, condition)


_DISKS: Final = "creating DataVolumes"
_CALL: Final = "failed calling webhook"
_POLICY: Final = re.compile(
    r"ValidatingAdmissionPolicy '(?P<name>[^']+)'|admission webhook \"(?P<hook>[^\"]+)\" denied"
)
_HOOK: Final = re.compile(r"failed calling webhook \"(?P<name>[^\"]+)\"")
_LIMITS: Final = re.compile(r"(minimum|maximum) \S+ usage per (Container|Pod)|limit to request ratio per")
_QUOTA: Final = re.compile(
    r"exceeded quota: (?P<name>[^,]+), requested: (?P<requested>\S+), used: (?P<used>\S+), limited: (?P<limited>\S+)"
)
_QUOTAS: Final = ("exceeded quota", "failed quota")
_SOURCE: Final = re.compile(r"datasources\.cdi\.kubevirt\.io \"(?P<name>[^\"]+)\" not found")


def _kind_of(message: str) -> str:
    """The link that a refusal breaks."""
    if _DISKS in message:
        return "data_source"
    if _CALL in message:
        return "webhook"
    if found := _POLICY.search(message):
        return "admission" if (found["hook"] or "").endswith(".kubevirt.io") else "policy"
    if any(words in message for words in _QUOTAS):
        return "quota"
    return "limits" if _LIMITS.search(message) else "admission"


def _refusal(case: Case, link: str) -> Evidence | None:
    return next((evidence for evidence in _refusals(case) if _kind_of(evidence.message) == link), None)


def _data_source(case: Case) -> Broken | None:
    evidence = _refusal(case, "data_source")
    if evidence is None:
        return None
    found = _SOURCE.search(evidence.message)
    name, namespace = (found["name"] if found else "NAME"), namespace_of(case.vm)
    for template in case.vm["spec"].get("dataVolumeTemplates") or ():
        reference = (template.get("spec") or {}).get("sourceRef") or {}
        if reference.get("name") == name:
            namespace = reference.get("namespace") or namespace
    return Broken(
        f"the DataSource {namespace}/{name} does not exist" if found else evidence.message,
        (evidence,),
        "create the boot source, or declare the VM with another",
        task(f"Create the boot source {name}", f"{OURS}boot_source", name=name, namespace=namespace, image="IMAGE"),
        _KEEPS_TRYING,
    )


def _policy(case: Case) -> Broken | None:
    evidence = _refusal(case, "policy")
    if evidence is None:
        return None
    found = _POLICY.search(evidence.message)
    name = (found["name"] or found["hook"]) if found else ""
    words = evidence.message.partition("denied request: ")[2] or evidence.message
    kind = "ValidatingAdmissionPolicy" if found and found["name"] else "ValidatingWebhookConfiguration"
    return Broken(
        f"{name} denies the guest: {words}",
        (evidence,),
        "declare the VM as the policy permits, or have the policy changed",
        task(
            "Read the policy",
            "kubernetes.core.k8s_info",
            api_version="admissionregistration.k8s.io/v1",
            kind=kind,
            **({"name": name} if kind == "ValidatingAdmissionPolicy" else {}),
        ),
        _KEEPS_TRYING,
    )


def _webhook(case: Case) -> Broken | None:
    evidence = _refusal(case, "webhook")
    if evidence is None:
        return None
    found = _HOOK.search(evidence.message)
    name = found["name"] if found else ""
    words = evidence.message.partition("failed to call webhook: ")[2] or evidence.message
    return Broken(
        f"the webhook {name} does not answer: {words}",
        (evidence,),
        "start the service of the webhook again; if it is no longer in use, delete its configuration",
        task(
            "Find the configuration of the webhook",
            "kubernetes.core.k8s_info",
            api_version="admissionregistration.k8s.io/v1",
            kind="ValidatingWebhookConfiguration",
        ),
        f"no other guest starts where the webhook is asked; {_KEEPS_TRYING}",
    )


def _admission(case: Case) -> Broken | None:
    evidence = _refusal(case, "admission")
    if evidence is None:
        return None
    return Broken(
        evidence.message,
        (evidence,),
        "declare the VM as KubeVirt accepts it; a dry run shows what else it rejects",
        task(
            "See what KubeVirt rejects",
            f"{OURS}virtual_machine_info",
            namespace=namespace_of(case.vm),
            names=[name_of(case.vm)],
            include=["refresh"],
        ),
        _KEEPS_TRYING,
    )


def _limit_range(case: Case) -> Broken | None:
    evidence = _refusal(case, "limits")
    if evidence is None:
        return None
    return Broken(
        f"a LimitRange of the namespace forbids the pod: {evidence.message.rpartition('is forbidden: ')[2]}",
        (evidence,),
        "give the VM another size, or have the LimitRange changed",
        task("Which sizes fit?", f"{OURS}capacity_info", **_checked(case), checks=["quota"]),
        "virt-controller keeps trying to create the pod, and the VM stays without a guest",
    )


def _checked(case: Case) -> dict[str, Any]:
    return {"namespace": namespace_of(case.vm), "names": [name_of(case.vm)]}


def _quota(case: Case) -> Broken | None:
    evidence = _refusal(case, "quota")
    if evidence is None:
        return None
    found = _QUOTA.search(evidence.message)
    if found is None:
        remedy = task("What do the quotas leave?", f"{OURS}capacity_info", **_checked(case), checks=["quota"])
    else:
        hard = dict(_needed(found["requested"].split(","), found["used"].split(",")))
        metadata = {"name": found["name"], "namespace": namespace_of(case.vm)}
        remedy = object_task(
            f"Raise the quota {found['name']}",
            "patched",
            {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}},
        )
    return Broken(
        evidence.message.rpartition("is forbidden: ")[2],
        (evidence,),
        "free or raise the quota, or give the VM a smaller instancetype",
        remedy,
        "virt-controller keeps trying to create the pod, and the VM stays without a guest",
    )


def _needed(requested: Iterable[str], used: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The hard limits that just permit the pod. requested, used: `NAME=QUANTITY`, in the same order."""
    for one, other in zip(requested, used):
        name, _equals, amount = one.partition("=")
        total = parse(amount)
        yield name, from_nanos(total.nanos + parse(other.partition("=")[2]).nanos, total.format).text


LINKS: Final = (
    Link("controller", _controller, (LEASE,), always=True),
    Link("deletion", _deletion, always=True),
    Link("revision", _revision, always=True),
    Link("instancetype", _instancetype, always=True),
    Link("preference", _preference, always=True),
    Link("data_source", _data_source),
)
REFUSALS: Final = (
    Link("policy", _policy),
    Link("webhook", _webhook),
    Link("admission", _admission),
    Link("limits", _limit_range),
    Link("quota", _quota),
)
