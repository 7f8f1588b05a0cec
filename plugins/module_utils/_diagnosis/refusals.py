"""The links that break when the disk, the VMI or the pod is created: admission, policies, limits, quotas."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from .._resolver.api.manifest import Manifest, condition_of, namespace_of
from .._resolver.api.quantity import from_nanos, parse
from .case import Case
from .link import (
    KEEPS_TRYING,
    OURS,
    Broken,
    Evidence,
    Link,
    kubectl,
    merged,
    of_condition,
    resized,
    retried,
    task,
)
from .storage import over_quota


def _refusals(case: Case) -> Iterator[Evidence]:
    """The conditions by which KubeVirt and CDI say that they could not create a disk, its claim, the VMI or the pod."""
    # KubeVirt copies the VMI's conditions to the VM, which may have been read at another moment.
    found = ((case.vm, "Failure", "True"), (case.vmi, "Synchronized", "False"), (case.vm, "Synchronized", "False"))
    for item, condition_type, status in found:
        condition = condition_of(item or {}, condition_type)
        if item is not None and condition.get("status") == status and condition.get("reason") in _NOT_CREATED:
            yield of_condition(item, condition)
    yield from filter(None, (over_quota(case, volume) for volume in case.volumes))


_POD_WAITS: Final = "virt-controller keeps trying to create the pod, and the VM stays without a guest"
_NOT_CREATED: Final = ("FailedCreate", "FailedBackendStorageCreate")
_WEBHOOKS: Final = ("validatingwebhookconfiguration,mutatingwebhookconfiguration",)
_MINIMUM: Final = re.compile(r"minimum \S+ usage per Container")
_QUOTA: Final = re.compile(
    r"exceeded quota: (?P<name>[^,]+), requested: (?P<requested>\S+), used: (?P<used>\S+), limited: (?P<limited>\S+)"
)
_DISK: Final = "persistentvolumeclaims "


def _data_source(case: Case, evidence: Evidence, found: re.Match[str]) -> Broken:
    name, namespace = found["name"], namespace_of(case.vm)
    for template in case.vm["spec"].get("dataVolumeTemplates") or ():
        reference = (template.get("spec") or {}).get("sourceRef") or {}
        if reference.get("name") == name:
            namespace = reference.get("namespace") or namespace
    place = {"name": name, "namespace": namespace}
    source = task(f"Create the boot source {name}", f"{OURS}boot_source", **place, image="IMAGE", size="SIZE")
    return Broken(
        f"the DataSource {namespace}/{name} does not exist",
        (evidence,),
        "create the boot source, or declare the VM with another",
        retried(case, source, evidence),
        KEEPS_TRYING,
    )


def _policy(_case: Case, evidence: Evidence, found: re.Match[str]) -> Broken:
    words = re.split(r"denied (?:the )?request: ", evidence.message)[-1]
    policy = ("validatingadmissionpolicy", found["name"]) if found["name"] else _WEBHOOKS
    return Broken(
        f"{found['name'] or found['hook']} denies the guest: {words}",
        (evidence,),
        "declare the VM as the policy permits, or have the policy changed",
        kubectl("Read the policy", "get", *policy, "--output", "yaml"),
        KEEPS_TRYING,
    )


def _constraint(case: Case, evidence: Evidence, _found: re.Match[str]) -> Broken:
    """On OpenShift, a SecurityContextConstraint has to permit the pod; virt-operator creates virt-controller's."""
    place = case.kubevirt_namespace
    operator = ("delete", "pod", "--selector", "kubevirt.io=virt-operator")
    return Broken(
        "no SecurityContextConstraint permits the pod of the guest",
        (evidence,),
        f"let virt-operator create its SecurityContextConstraint kubevirt-controller again, whose users have"
        f" system:serviceaccount:{place}:kubevirt-controller; another tool has changed it, or taken its right away",
        kubectl("Start virt-operator again", *operator, namespace=place),
        _POD_WAITS,
    )


def _clone_right(case: Case, evidence: Evidence, found: re.Match[str]) -> Broken:
    user, source, namespace = found["user"], found["namespace"], namespace_of(case.vm)
    account = user.rpartition(":")[2]
    role = f"clone-to-{namespace}"
    right = ("--verb", "create", "--resource", "datavolumes.cdi.kubevirt.io/source")
    binding = ("--role", role, "--serviceaccount", f"{namespace}:{account}")
    permitted = [
        kubectl("Create the role", "create", "role", role, *right, namespace=source),
        kubectl("Bind the role", "create", "rolebinding", role, *binding, namespace=source),
    ]
    return Broken(
        f"{user} may not clone from the namespace {source}",
        (evidence,),
        f"let it create datavolumes/source of cdi.kubevirt.io in {source}, by a role that is bound there; or copy the"
        " source to the namespace of the VM",
        retried(case, {"name": "Permit the clone", "block": permitted}, evidence),
        KEEPS_TRYING,
    )


def _pod_standard(case: Case, evidence: Evidence, found: re.Match[str]) -> Broken:
    namespace = namespace_of(case.vm)
    permitted = ("label", "--overwrite", "namespace", namespace, "pod-security.kubernetes.io/enforce=privileged")
    return Broken(
        f"the Pod Security Standard {found['level']} of the namespace denies the pod",
        (evidence,),
        "let the namespace have privileged pods, as the guests' are, or move the VM to one that does",
        retried(case, kubectl("Permit the pods of guests", *permitted), evidence),
        _POD_WAITS,
    )


def _webhook(_case: Case, evidence: Evidence, found: re.Match[str]) -> Broken:
    words = evidence.message.partition("failed to call webhook: ")[2] or evidence.message
    return Broken(
        f"the webhook {found['name'] or ''} does not answer: {words}",
        (evidence,),
        "start the service of the webhook again; if nobody uses it, delete its validating or mutating configuration",
        kubectl("Find the configuration of the webhook", "get", *_WEBHOOKS, "--output", "yaml"),
        f"no other guest starts where the webhook is asked; {KEEPS_TRYING}",
    )


def _ending_namespace(case: Case, evidence: Evidence, _found: re.Match[str]) -> Broken:
    place = namespace_of(case.vm)
    return Broken(
        f"the namespace {place} is being deleted",
        (evidence,),
        "create the VM in another namespace, or see what keeps this one",
        kubectl("See the namespace", "get", "namespace", place, "--output", "yaml"),
        "nothing new can be created in the namespace, and the VM goes with it",
    )


def _admission(case: Case, evidence: Evidence, _found: re.Match[str]) -> Broken:
    return Broken(
        evidence.message,
        (evidence,),
        "declare the VM as KubeVirt accepts it; a dry run shows what else it rejects",
        task("See what KubeVirt rejects", f"{OURS}virtual_machine_info", **case.selection, include=["refresh"]),
        KEEPS_TRYING,
    )


def _limit_range(case: Case, evidence: Evidence, _found: re.Match[str]) -> Broken:
    words = evidence.message.rpartition("is forbidden: ")[2]
    remedy = "give the VM another size (capacity_info with checks=quota says which fit), or have the LimitRange changed"
    cure = resized("Give the VM another size", case)
    if _MINIMUM.search(words):
        remedy = "have the LimitRange changed; KubeVirt's own containers in the pod are smaller than that, too"
        cure = kubectl("Read the LimitRanges", "describe", "limitrange", namespace=namespace_of(case.vm))
    return Broken(f"a LimitRange of the namespace forbids the pod: {words}", (evidence,), remedy, cure, _POD_WAITS)


def _prerequisite(case: Case, evidence: Evidence, found: re.Match[str]) -> Broken:
    name = found["account"] or found["priority"]
    kind, options, place = (
        ("ServiceAccount", (), namespace_of(case.vm)) if found["account"] else ("PriorityClass", ("--value", "0"), "")
    )
    cure = kubectl(f"Create the {kind} {name}", "create", kind.lower(), name, *options, namespace=place)
    return Broken(
        f"the {kind} {name} of the guest does not exist",
        (evidence,),
        f"create the {kind}, or name another one in the VM",
        retried(case, cure, evidence),
        _POD_WAITS,
    )


def _quota(case: Case, evidence: Evidence, found: re.Match[str]) -> Broken:
    of_disk = any(f'{_DISK}"{volume.name}"' in evidence.message for volume in case.volumes if volume.data_volume)
    more = ""
    if found["name"] is None:
        remedy = task("What do the quotas leave?", f"{OURS}capacity_info", **case.selection, checks=["quota"])
    else:
        name = found["name"]
        claims = [*case.held_up(name), evidence.message]
        more = f" and {len(claims) - 1} more that it holds up" if len(claims) > 1 else ""
        hard = _sufficient(case.quotas.get(name), claims)
        place = (name, namespace_of(case.vm))
        raised = merged(f"Raise the quota {name}", "resourcequota", *place, spec={"hard": hard})
        remedy = retried(case, raised, evidence)
    return Broken(
        evidence.message.rpartition("is forbidden: ")[2],
        (evidence,),
        "free or raise the quota, also for the second claim in which CDI fills the disk"
        if of_disk
        else f"free or raise the quota, for this VM{more}, or give the VM a smaller instancetype",
        remedy,
        _POD_WAITS,
    )


def _sufficient(quota: Manifest | None, refusals: Sequence[str]) -> dict[str, str]:
    """The hard limits that just permit all that is requested, and no lower ones than there are.

    quota: as it is now, None if that is not known. refusals: what was said of each object, of this VM's last.
    """
    requested: dict[str, int] = defaultdict(int)
    used: dict[str, str] = {}
    hard: dict[str, str] = {}
    for text in refusals:
        # CDI fills a disk in a second claim of its size, whose name begins so.
        count = 2 if _DISK in text and '"prime-' not in text else 1
        for found in _QUOTA.finditer(text):
            for name, text_of in _amounts(found["requested"]):
                requested[name] += count * parse(text_of).nanos
            used.update(_amounts(found["used"]))
            hard.update(_amounts(found["limited"]))
    used |= ((quota or {}).get("status") or {}).get("used") or {}
    hard |= ((quota or {}).get("spec") or {}).get("hard") or {}
    result = {}
    for name, amount in requested.items():
        limit = parse(hard[name])
        result[name] = from_nanos(max(limit.nanos, parse(used[name]).nanos + amount), limit.format).text
    return result


def _amounts(text: str) -> Iterator[tuple[str, str]]:
    """The quantities of `NAME=QUANTITY,...`, by name."""
    for part in text.split(","):
        name, _equals, amount = part.partition("=")
        yield name, amount


# The link that a refusal breaks, its words and its description: the first that a message has counts.
_REFUSALS: Final[tuple[tuple[str, re.Pattern[str], Callable[[Case, Evidence, re.Match[str]], Broken]], ...]] = (
    ("data_source", re.compile(r"datasources\.cdi\.kubevirt\.io \"(?P<name>[^\"]+)\" not found"), _data_source),
    ("webhook", re.compile(r"failed calling webhook(?: \"(?P<name>[^\"]+)\")?"), _webhook),
    (
        "clone_right",
        re.compile(
            r"[Nn]ot authorized to create DataVolume.*User (?P<user>\S+) has insufficient permissions in clone source"
            r" namespace (?P<namespace>[^\s,;]+)"
        ),
        _clone_right,
    ),
    ("policy", re.compile(r"security context constraint"), _constraint),
    ("policy", re.compile(r"violates PodSecurity \"(?P<level>[^:\"]+)"), _pod_standard),
    ("admission", re.compile(r"admission webhook \"[^\"]+\.kubevirt\.io\" denied"), _admission),
    (
        "policy",
        re.compile(r"ValidatingAdmissionPolicy '(?P<name>[^']+)'|admission webhook \"(?P<hook>[^\"]+)\" denied"),
        _policy,
    ),
    (
        "prerequisite",
        re.compile(
            r"serviceaccount \"(?P<account>[^\"]+)\" not found|no PriorityClass with name (?P<priority>\S+) was found"
        ),
        _prerequisite,
    ),
    ("quota", re.compile(f"{_QUOTA.pattern}|exceeded quota|failed quota"), _quota),
    (
        # A LimitRange gives containers its maximum as their limit.
        "limit_range",
        re.compile(
            r"(minimum|maximum) \S+ usage per (Container|Pod)|limit to request ratio per"
            r"|must be less than or equal to \S+ limit of"
        ),
        _limit_range,
    ),
    ("admission", re.compile(r"because it is being terminated"), _ending_namespace),
    ("admission", re.compile(""), _admission),
)


def _link(name: str, *, always: bool = False) -> Link:
    """A link that a refusal breaks."""

    def judge(case: Case) -> Broken | None:
        for evidence in _refusals(case):
            rows = ((link, words.search(evidence.message), describe) for link, words, describe in _REFUSALS)
            link, found, describe = next((link, found, describe) for link, found, describe in rows if found)
            if link == name:
                return describe(case, evidence, found)
        return None

    return Link(name, judge, always=always)


# KubeVirt makes the disks of VMs that are stopped, too.
SOURCES: Final = tuple(_link(name, always=True) for name in ("data_source", "clone_right"))
LINKS: Final = tuple(map(_link, ("policy", "webhook", "admission", "prerequisite", "limit_range", "quota")))
