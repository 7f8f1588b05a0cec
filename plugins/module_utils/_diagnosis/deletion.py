"""The link of the deletion: what keeps an object that is to be gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from .._resolver.api.manifest import Manifest, name_of, namespace_of
from .._resolver.kubevirt.vm.readiness import RUNNING
from .ages import age
from .case import CLAIM, VIRTUAL_MACHINE, VMI, Case, User
from .handlers import freed, restarted_handler, silent_handler, silent_node
from .link import Broken, Evidence, Link, ended, ending, json_patch, kubectl, of_field, steps

# An object that is being deleted takes its grace period, and this long.
_PATIENCE: Final = 60.0
_GRACE: Final = 180
_KUBEVIRTS: Final = "kubevirt.io/"
_PVC_PROTECTION: Final = "kubernetes.io/pvc-protection"


class _Holder(NamedTuple):
    """The owner of a finalizer. why: what it waits for. remedy: what to do. words: the command for kubectl."""

    why: str
    remedy: str
    words: tuple[str, ...]


_HOLDERS: Final = {
    "snapshot.kubevirt.io/snapshot-source-protection": _Holder(
        "a snapshot of the VM is being taken",
        "wait for the snapshot, or delete it",
        ("get", "virtualmachinesnapshots"),
    ),
    "snapshot.storage.kubernetes.io/pvc-as-source-protection": _Holder(
        "a VolumeSnapshot of it is being taken", "wait for the snapshot, or delete it", ("get", "volumesnapshots")
    ),
    "foregroundDeletion": _Holder(
        "what it owns is not gone yet", "see to what it owns, such as its disks", ("get", "datavolumes,pvc")
    ),
}
"""The finalizers that wait for something else, and go by themselves."""


def _deletion(case: Case) -> Broken | None:
    # A VM waits for its VMI, and that for its pods: what others wait for comes first.
    for item in (*case.pods, *filter(None, [case.vmi]), *_disks(case), case.vm):
        broken = _kept(case, item)
        if broken is not None:
            return broken
    return None


def _disks(case: Case) -> Iterator[Manifest]:
    """The claims and DataVolumes of a VM that is to be gone, or that cannot start without them."""
    if case.vm["metadata"].get("deletionTimestamp") or case.status not in RUNNING:
        for volume in case.volumes:
            yield from filter(None, (volume.claim, volume.data_volume))


def _kept(case: Case, item: Manifest) -> Broken | None:
    metadata = item["metadata"]
    since, finalizers = metadata.get("deletionTimestamp"), list(metadata.get("finalizers") or ())
    if not since or not finalizers:
        return None
    evidence = of_field(item, "metadata.finalizers", ", ".join(finalizers))._replace(time=str(since))
    spec = item.get("spec") or {}
    guest = (spec.get("template") or {}).get("spec") or spec
    grace = guest.get("terminationGracePeriodSeconds", _GRACE)
    late = age(case.at, since) > grace + _PATIENCE
    foreign = [name for name in finalizers if "/" in name and _KUBEVIRTS not in name and name not in _HOLDERS]
    if _PVC_PROTECTION in foreign:
        return _used_claim(case, item, evidence) if late else None
    if foreign:
        return _held(item, foreign, evidence)
    if not late:
        return None
    holder = next((name for name in finalizers if name in _HOLDERS), None)
    if holder is not None:
        return _waiting(item, holder, evidence)
    return (
        _held_by_handler(case, item, finalizers, evidence) if item["kind"] == VMI else _held(item, finalizers, evidence)
    )


def _problem(item: Manifest, finalizers: Sequence[str], why: str = "") -> str:
    named = f"finalizer {finalizers[0]} keeps" if len(finalizers) == 1 else f"finalizers {', '.join(finalizers)} keep"
    return f"the {item['kind']} {name_of(item)} is being deleted, and its {named} it{f': {why}' if why else ''}"


def _stays(item: Manifest) -> str:
    return f"the {item['kind']} stays, does not start again, and no other of its name can be created"


def _held(item: Manifest, finalizers: Sequence[str], evidence: Evidence) -> Broken:
    return Broken(
        _problem(item, finalizers),
        (evidence,),
        "let the controller of the finalizer do its work; if the controller is gone, remove the finalizer",
        _released(item, finalizers),
        _stays(item),
    )


def _released(item: Manifest, finalizers: Sequence[str]) -> Manifest:
    """A task that removes finalizers, unless they have changed."""
    operations: list[dict[str, Any]] = []
    for index, name in reversed(list(enumerate(item["metadata"]["finalizers"]))):
        if name in finalizers:
            path = f"/metadata/finalizers/{index}"
            operations += [{"op": "test", "path": path, "value": name}, {"op": "remove", "path": path}]
    return json_patch(f"Remove the finalizer of {name_of(item)}", item, operations)


def _waiting(item: Manifest, finalizer: str, evidence: Evidence) -> Broken:
    holder = _HOLDERS[finalizer]
    snapshot = (item.get("status") or {}).get("snapshotInProgress")
    words = ("delete", "virtualmachinesnapshot", str(snapshot)) if snapshot else holder.words
    return Broken(
        _problem(item, [finalizer], holder.why),
        (evidence,),
        holder.remedy,
        kubectl(f"Let go of {name_of(item)}", *words, namespace=namespace_of(item)),
        _stays(item),
    )


def _used_claim(case: Case, item: Manifest, evidence: Evidence) -> Broken:
    """A claim that goes when nobody uses it any more."""
    users = case.users_of(name_of(item)) or [User(VIRTUAL_MACHINE, name_of(case.vm))]
    return Broken(
        _problem(item, [_PVC_PROTECTION], f"{' and '.join(user.name for user in users)} uses it"),
        (evidence,),
        f"save what is on the disk, then {ended(users)}; the claim goes then, and its data with it",
        ending(case, users),
        f"no new pod can use the {CLAIM}, and it goes as soon as nobody uses it",
    )


def _held_by_handler(case: Case, vmi: Manifest, finalizers: Sequence[str], evidence: Evidence) -> Broken:
    """A VMI whose guest virt-handler has to end."""
    node = str((vmi.get("status") or {}).get("nodeName") or "")
    gone = silent_node(case, node)
    silent = gone or silent_handler(case, node)
    words = "virt-controller has to let it go"
    remedy = "see the log of virt-controller; if the guest has ended, remove the finalizers"
    cures = [freed(case), _released(vmi, finalizers)]
    if gone is not None:
        words = f"virt-handler of the node {node} has to end the guest, and the node does not answer"
        remedy = "start the node again; if it is off for good, delete the pods and remove the finalizers"
    elif node:
        words = f"virt-handler of the node {node} has to end the guest"
        remedy = (
            "restart virt-handler on the node; if that does not help, and the guest has ended, remove the finalizers"
        )
        cures = [restarted_handler(case, node)]
    return Broken(
        _problem(vmi, finalizers, words),
        (evidence, *filter(None, [silent])),
        remedy,
        steps(f"Let go of {name_of(vmi)}", cures),
        _stays(vmi),
    )


def orphan(case: Case) -> Broken:
    """A VMI whose VM does not exist any more."""
    vmi: Manifest = case.vmi or {}
    kept = _kept(case, vmi)
    if kept is not None:
        return kept
    owner = f"its {VIRTUAL_MACHINE} {name_of(vmi)} does not exist any more"
    return Broken(
        f"nobody manages the {VMI} {name_of(vmi)}: {owner}",
        (of_field(vmi, "metadata.ownerReferences", owner),),
        "delete the VMI, which ends the guest, or create the VM again; its disks stay",
        kubectl(f"Delete {name_of(vmi)}", "delete", "vmi", name_of(vmi), namespace=namespace_of(vmi)),
        "the guest runs until it ends by itself, and nobody starts it again",
    )


LINK: Final = Link("deletion", _deletion, always=True)
