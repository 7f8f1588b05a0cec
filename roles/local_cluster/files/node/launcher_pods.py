"""Which virt-launcher pod belongs to which VMI. Kubelet and virt-handler both have to know."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Callable, Final

from node.api.informer import Informer, Key, key_of
from node.guests.report import SSH

Manifest = dict[str, Any]

FINAL: Final = ("Succeeded", "Failed")
_WITH_GUEST: Final = ("Scheduled", "Running")
_BEHAVIOUR: Final = "instancetypes.virtshape.io/simulated-guest"
CRASHES: Final = "crashes"
SILENT: Final = "silent"


def behaviour(item: Manifest) -> str:
    """How the guest of a VMI, or of its pod, misbehaves: CRASHES at its start, or is SILENT: neither agent nor probe
    answer. "" if it does not."""
    return str((item["metadata"].get("annotations") or {}).get(_BEHAVIOUR, ""))


def guest_answers(vmi: Manifest) -> bool:
    """Whether a guest answers its readiness probe: a real one does as soon as its agent is there."""
    if SSH not in (vmi["metadata"].get("annotations") or {}):
        return True
    return any(entry["type"] == "AgentConnected" for entry in (vmi.get("status") or {}).get("conditions") or [])


def guest_of(pod: Manifest) -> str:
    """The uid of the VMI of a virt-launcher pod; "" for other pods."""
    labels = pod["metadata"].get("labels") or {}
    return str(labels.get("kubevirt.io/created-by", "")) if labels.get("kubevirt.io") == "virt-launcher" else ""


def phase(vmi: Manifest) -> str:
    return str((vmi.get("status") or {}).get("phase") or "")


def holds_guest(pod: Manifest, vmi: Manifest) -> bool:
    """Whether the guest of a VMI is in this pod of it, rather than in the other one of a migration."""
    if phase(vmi) not in _WITH_GUEST:
        return False
    move = (vmi.get("status") or {}).get("migrationState") or {}
    if not move.get("targetPod") or move.get("failed"):
        return True
    is_target = bool(move["targetPod"] == pod["metadata"]["name"])
    return is_target == bool(move.get("completed"))


def has_left(pod: Manifest, vmi: Manifest) -> bool:
    """Whether the guest was in this pod and is not any more, so that the pod ends."""
    if phase(vmi) in FINAL:
        return True
    move = (vmi.get("status") or {}).get("migrationState") or {}
    if not move.get("completed") or move.get("failed"):
        return False
    name = pod["metadata"]["name"]
    if move.get("sourcePod"):
        return bool(move["sourcePod"] == name)
    # Older releases name only the target. What was made after the start is the target of the next migration.
    before = str(pod["metadata"].get("creationTimestamp", "")) <= str(move.get("startTimestamp", ""))
    return before and move.get("targetPod") not in (None, "", name)


class LauncherPods:
    """The virt-launcher pods by the uid of their VMI."""

    def __init__(self, pods: Informer, vmis: Informer) -> None:
        self._pods = pods
        self._vmis = vmis
        self._by_guest: dict[str, set[Key]] = defaultdict(set)
        self._guests: dict[Key, str] = {}
        pods.on_change(self._pod_changed)

    def pods_of(self, vmi: Manifest) -> list[Manifest]:
        """The pods of a VMI."""
        pods = (self._pods.get(key) for key in self._by_guest.get(vmi["metadata"]["uid"], ()))
        return [pod for pod in pods if pod is not None]

    def vmi(self, pod: Manifest) -> Manifest | None:
        """The VMI of a pod; None if it has gone, or another one has its name."""
        name = (pod["metadata"].get("annotations") or {}).get("kubevirt.io/domain", "")
        vmi = self._vmis.get((pod["metadata"]["namespace"], name))
        return vmi if vmi is not None and vmi["metadata"]["uid"] == guest_of(pod) else None

    def on_pod_change(self, handler: Callable[[Key], None]) -> None:
        """Calls the handler with the key of a VMI whenever one of its pods has changed."""

        def changed(key: Key) -> None:
            pod = self._pods.get(key)
            vmi = self.vmi(pod) if pod is not None and guest_of(pod) else None
            if vmi is not None:
                handler(key_of(vmi))

        self._pods.on_change(changed)

    def on_vmi_change(self, handler: Callable[[Key], None]) -> None:
        """Calls the handler with the key of each pod of a VMI that has changed or gone."""
        uids: dict[Key, str] = {}

        def changed(key: Key) -> None:
            vmi = self._vmis.get(key)
            uid = vmi["metadata"]["uid"] if vmi is not None else uids.pop(key, "")
            if vmi is not None:
                uids[key] = uid
            for pod in self._by_guest.get(uid, ()):
                handler(pod)

        self._vmis.on_change(changed)

    def _pod_changed(self, key: Key) -> None:
        pod = self._pods.get(key)
        uid = guest_of(pod) if pod is not None else ""
        before = self._guests.get(key, "")
        if uid == before:
            return
        if before:
            self._by_guest[before].discard(key)
            if not self._by_guest[before]:
                del self._by_guest[before]
            del self._guests[key]
        if uid:
            self._by_guest[uid].add(key)
            self._guests[key] = uid
