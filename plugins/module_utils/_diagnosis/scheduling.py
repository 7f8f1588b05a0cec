"""The links of scheduling: devices, and nodes that are suitable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from .._resolver.api.manifest import Manifest, condition_of
from .._resolver.api.tree import value_at
from .ages import age
from .case import NODE, POD, Case
from .handlers import restarted_handler, silent_handler
from .link import (
    OURS,
    Broken,
    Evidence,
    Link,
    emulated,
    kubectl,
    of_condition,
    of_field,
    steps,
    task,
    vm_task,
)

_UNSCHEDULED: Final = (
    "kube-scheduler places the pod as soon as a node is suitable; until then the VM is ErrorUnschedulable"
)
_TAINT: Final = re.compile(r"has the taint (?P<key>[^=:]+)(?:=(?P<value>[^:]*))?:(?P<effect>.*)")
_LABEL: Final = re.compile(r"lacks the label (?P<key>[^= ]+)=(?P<value>\S*)")
_CORDON: Final = "node.kubernetes.io/unschedulable"
# Taints that say how a node is, or that it runs the control plane: no guest should tolerate them.
_NODES_OWN: Final = ("node.kubernetes.io/", "node-role.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
# The words of kube-scheduler about a pod whose claim has no volume.
UNBOUND: Final = re.compile(r"unbound immediate PersistentVolumeClaim|available persistent volumes to bind")
# Longer than a scheduler takes to look at a pod.
_SCHEDULED: Final = 60.0


def unschedulable(case: Case) -> Evidence | None:
    """The condition of the pod that no node is suitable for."""
    pod = case.starting_pod
    if pod is not None and pod["spec"].get("nodeName"):
        return None
    items = (item for item in (pod, case.vmi, case.vm) if item is not None and waits_for_node(item))
    return next((of_condition(item, condition_of(item, "PodScheduled")) for item in items), None)


def waits_for_node(item: Manifest) -> bool:
    """Whether no node is suitable. item: a pod, or a VMI, which has the condition of its pod."""
    condition = condition_of(item, "PodScheduled")
    return condition.get("status") == "False" and condition.get("reason") == "Unschedulable"


_OF_KUBEVIRT: Final = "devices.kubevirt.io/"
_KVM: Final = "devices.kubevirt.io/kvm"


def _device(case: Case) -> Broken | None:
    evidence, pod = unschedulable(case), case.starting_pod
    if evidence is None or pod is None or NODE not in case.known:
        return None
    for name in _devices(pod):
        amounts = [
            (_amount(node, "capacity", name), _amount(node, "allocatable", name)) for node in case.nodes.values()
        ]
        if any(allocatable != "0" for _capacity, allocatable in amounts):
            continue
        silent = sum(capacity != "0" for capacity, _allocatable in amounts)
        count = f"none of {len(amounts)} nodes"
        if name.startswith(_OF_KUBEVIRT):
            return _no_virtualization(case, name, count, silent, evidence)
        lost = f"; the device plugin of {silent} of them does not answer" if silent else ""
        return Broken(
            f"{count} has the device {name}{lost}",
            (evidence,),
            "install the device plugin on a node with the device, or remove the device from the VM",
            kubectl("Which nodes have the device?", "get", "nodes", "--output", _column(name)),
            _UNSCHEDULED,
        )
    return None


def _no_virtualization(case: Case, name: str, count: str, silent: int, evidence: Evidence) -> Broken:
    """A device that virt-handler offers itself, such as KVM."""
    quiet = [found for node in case.nodes if (found := silent_handler(case, node)) is not None]
    if silent or quiet or name != _KVM:
        return Broken(
            f"{count} has {name}, which virt-handler offers: it does not run, or cannot reach kubelet",
            (evidence, *quiet),
            "see the log of virt-handler, and start it again",
            restarted_handler(case),
            _UNSCHEDULED,
        )
    return Broken(
        f"{count} has KVM ({name}), though virt-handler runs",
        (evidence,),
        "turn on virtualization in the nodes' firmware, or nested virtualization in their hypervisor, and load the"
        " module kvm; without it KubeVirt can emulate, which is slow",
        emulated(case),
        _UNSCHEDULED,
    )


def _column(resource: str) -> str:
    """The columns of kubectl with the name of each node, and how many of a device it has."""
    return "custom-columns=node:.metadata.name,devices:.status.allocatable." + resource.replace(".", "\\.")


def _amount(node: Manifest, field: str, name: str) -> str:
    return str(((node.get("status") or {}).get(field) or {}).get(name, "0"))


def _devices(pod: Manifest) -> Iterator[str]:
    """The extended resources that a pod asks for."""
    for container in pod["spec"].get("containers") or ():
        for name in (container.get("resources") or {}).get("limits") or {}:
            if "/" in name and not name.startswith("hugepages-"):
                yield name


def _scheduling(case: Case) -> Broken | None:
    evidence, pod = unschedulable(case), case.starting_pod
    if evidence is None:
        return _unseen_by_scheduler(case, pod) if pod is not None else None
    found = case.node_reasons(pod) if pod is not None else []
    by_node = tuple(
        Evidence(NODE, "", ", ".join(item["nodes"]), "status", "unsuitable", ", ".join(item["reasons"]))
        for item in found
        if item["reasons"]
    )
    # Where something else keeps the pod off a node, only kube-scheduler knows what would help.
    groups = [] if len(by_node) != len(found) else [(item["nodes"][0], list(item["reasons"])) for item in found]
    texts = [f"{item.message} ({item.name})" for item in by_node if groups]
    return Broken(
        f"no node is suitable: {'; '.join(texts) or evidence.message}",
        (evidence, *by_node),
        *(_opened(case, groups) or _explained(case, groups, evidence)),
        _UNSCHEDULED,
    )


_USUAL: Final = "default-scheduler"


def _unseen_by_scheduler(case: Case, pod: Manifest) -> Broken | None:
    """A pod at which no scheduler has looked."""
    spec, since = pod["spec"], pod["metadata"].get("creationTimestamp")
    if spec.get("nodeName") or condition_of(pod, "PodScheduled") or age(case.at, since) < _SCHEDULED:
        return None
    name = spec.get("schedulerName") or _USUAL
    return Broken(
        f"the scheduler {name} has not looked at the pod",
        (of_field(pod, "spec.schedulerName", str(name)),),
        "start the scheduler, or name another one in the VM",
        vm_task("Take the usual scheduler", case, {"/template/spec/schedulerName": _USUAL})
        if case.declared_spec.get("schedulerName")
        else kubectl("Which schedulers run?", "get", "pods", namespace="kube-system"),
        "no node is chosen for the pod, and the VM stays Starting",
    )


def _opened(case: Case, groups: Sequence[tuple[str, list[str]]]) -> tuple[str, Manifest | None] | None:
    """The remedy that lets the pod onto the node that lacks the least; None if that does not suffice on any.

    groups: the first node of each group, and all that keeps the pod off it.
    """
    # A toleration of the VM changes less than a label, which lets others onto the node, too.
    open_to = [
        (len(reasons), sum(map(bool, map(_LABEL.fullmatch, reasons))), node, reasons)
        for node, reasons in groups
        if all(map(_is_open, reasons))
    ]
    if not open_to:
        return None
    *_counts, node, reasons = min(open_to)
    labels = [f"{found['key']}={found['value']}" for found in map(_LABEL.fullmatch, reasons) if found]
    taints = [found for found in map(_TAINT.fullmatch, reasons) if found and found["key"] != _CORDON]
    words, cures = [], []
    if len(labels) + len(taints) < len(reasons):
        words.append("let pods onto the node again, if its maintenance is over")
        cures.append(kubectl(f"Let pods onto {node}", "uncordon", node))
    if labels:
        words.append(f"label a node, such as {node}, or correct the node selector")
        cures.append(kubectl(f"Label {node}", "label", "node", node, *labels))
    if taints:
        words.append("let the VM tolerate the taint, if the nodes are for it")
        cures.append(_tolerant(case, taints))
    return "; ".join(words), steps(f"Let the guest onto {node}", cures)


def _is_open(reason: str) -> bool:
    """Whether a node can be opened: by a label, a toleration, or the end of its maintenance."""
    label, taint = _LABEL.fullmatch(reason), _TAINT.fullmatch(reason)
    if label is not None:
        return "kubernetes.io/" not in label["key"] and "kubevirt.io/" not in label["key"]
    return taint is not None and (taint["key"] == _CORDON or not taint["key"].startswith(_NODES_OWN))


def _tolerant(case: Case, taints: Sequence[re.Match[str]]) -> Manifest:
    """A task that lets the VM tolerate taints."""
    tolerations = [
        {name: value for name, value in found.groupdict().items() if value}
        | ({} if found["value"] else {"operator": "Exists"})
        for found in taints
    ]
    pointer, own = "/template/spec/tolerations", case.declared_spec.get("tolerations")
    return vm_task("Tolerate the taint", case, {pointer: [*(own or ()), *tolerations]})


class _Obstacle(NamedTuple):
    """A reason that keeps a pod off nodes, and that no label or toleration mends.

    words: how our computation and kube-scheduler say it. remedy: what to do. task: of the case; None for the task that
    shows what is missing.
    """

    words: re.Pattern[str]
    remedy: str
    task: Callable[[Case], Manifest | None] = lambda _case: None


def _without(text: str, *path: str) -> Callable[[Case], Manifest | None]:
    """Takes a rule from the VM, if the VM declares it."""

    def task_of(case: Case) -> Manifest | None:
        declared = value_at(case.declared_spec, path)
        return vm_task(text, case, {f"/template/spec/{'/'.join(path)}": None}) if declared else None

    return task_of


_VOLUMES: Final = "custom-columns=claim:.spec.claimRef.name,nodes:.spec.nodeAffinity.required.nodeSelectorTerms"
_OBSTACLES: Final = (
    _Obstacle(
        re.compile(r"kubevirt\.io/schedulable"),
        "see why virt-handler does not run on the nodes, and start it again",
        restarted_handler,
    ),
    _Obstacle(
        re.compile(r"cpu-model\S*\.node\.kubevirt\.io/"),
        "give the VM a CPU model that a node has; without one it gets the cluster's default",
        _without("Take the default CPU model", "domain", "cpu", "model"),
    ),
    _Obstacle(
        re.compile(r"machine-type\.node\.kubevirt\.io/"),
        "give the VM a machine type that a node has; without one it gets the cluster's default",
        _without("Take the default machine type", "domain", "machine"),
    ),
    _Obstacle(
        re.compile(r"lacks the label \S*kubevirt\.io/"),
        "give the VM a CPU model, a machine type and features that a node has",
    ),
    _Obstacle(
        re.compile(r"lacks the label \S*kubernetes\.io/"),
        "correct the node selector or the architecture, or add such a node",
    ),
    _Obstacle(
        re.compile(
            r"volume node affinity|PersistentVolume's node affinity|no available volume zone|volume of its claim"
        ),
        "let the VM go where its volumes are: free a node there, or correct its node selector; or copy the disk to"
        " storage that all nodes reach",
        lambda _case: kubectl("Which nodes reach the volumes?", "get", "pv", "--output", _VOLUMES),
    ),
    _Obstacle(
        re.compile(r"max(imum)? volume count|attachable volumes"),
        "free a node of volumes, or add one: it can attach no more",
    ),
    _Obstacle(
        re.compile(r"existing pods anti-affinity|pods that do not avoid it"),
        "stop a pod that does not want the VM beside it, or add a node",
    ),
    _Obstacle(
        re.compile(r"pod anti-affinity|distance from other pods"),
        "add a node, or let the VM run beside the others: its podAntiAffinity forbids it",
        _without("Let the VM run beside others", "affinity", "podAntiAffinity"),
    ),
    _Obstacle(
        re.compile(r"pod affinity|must run beside"),
        "start the pods beside which the VM wants to run, or take its podAffinity away",
        _without("Let the VM run without others", "affinity", "podAffinity"),
    ),
    _Obstacle(
        re.compile(r"topology spread|to spread by"),
        "add a node to the smallest zone, label it with the topology's key, or take the topologySpreadConstraints away",
        _without("Do not spread the VM", "topologySpreadConstraints"),
    ),
    _Obstacle(
        re.compile(r"node affinity"),
        "label a node as the VM's nodeAffinity asks, or correct that",
        _without("Let the VM run on any node", "affinity", "nodeAffinity"),
    ),
    _Obstacle(
        re.compile(r"devices\.kubevirt\.io/kvm"), "see that the nodes have KVM, or let KubeVirt emulate", emulated
    ),
)


def _explained(case: Case, groups: Sequence[tuple[str, list[str]]], evidence: Evidence) -> tuple[str, Manifest | None]:
    """The remedy for what keeps the pod off the best node, or, if that is not known, for kube-scheduler's words."""
    closed = [([reason for reason in reasons if not _is_open(reason)], len(reasons)) for _node, reasons in groups]
    # The node that lacks the least is the one to mend; nodes that take no guests at all come last.
    closed.sort(key=lambda found: (any(map(_TAINT.fullmatch, found[0])), len(found[0]), found[1]))
    texts = closed[0][0] if closed else [evidence.message]
    missing = task("What is missing?", f"{OURS}capacity_info", **case.selection, checks=["placement"])
    for text in texts:
        for obstacle in _OBSTACLES:
            if obstacle.words.search(text):
                return obstacle.remedy, obstacle.task(case) or missing
    return "free a node, add one, or make the VM smaller", missing


LINKS: Final = (
    Link("device", _device, (POD, NODE)),
    Link("scheduling", _scheduling, (POD,)),
)
