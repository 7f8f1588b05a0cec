"""The pod of a VMI that has the guest."""

from typing import Any

import pytest
from node_support import Api, launcher, vmi

from node.api.informer import key_of
from node.api.resources import POD, VMI
from node.launcher_pods import LauncherPods, guest_of, has_left, holds_guest

Manifest = dict[str, Any]


def moved(**state: Any) -> Manifest:
    guest = vmi("Running")
    guest["status"]["migrationState"] = {"sourcePod": "a", "targetPod": "b", **state}
    return guest


@pytest.mark.parametrize(
    ("guest", "inside", "left"),
    [
        (vmi("Running"), ["a", "b"], []),
        (vmi("Succeeded"), [], ["a", "b"]),
        (vmi("Scheduling"), [], []),
        (moved(), ["a"], []),
        (moved(completed=True), ["b"], ["a"]),
        (moved(completed=True, failed=True), ["a", "b"], []),
    ],
)
def test_pod_holding_the_guest_is_found(guest: Manifest, inside: list[str], left: list[str]) -> None:
    pods = [launcher(name, guest) for name in ("a", "b")]
    assert [pod["metadata"]["name"] for pod in pods if holds_guest(pod, guest)] == inside
    assert [pod["metadata"]["name"] for pod in pods if has_left(pod, guest)] == left


def test_next_migration_target_stays_without_source_name() -> None:
    guest = moved(completed=True, sourcePod="", startTimestamp="2026-01-01T00:00:05Z")
    old, new = launcher("a", guest), launcher("c", guest)
    old["metadata"]["creationTimestamp"] = "2026-01-01T00:00:01Z"
    new["metadata"]["creationTimestamp"] = "2026-01-01T00:00:09Z"
    assert has_left(old, guest) and not has_left(new, guest)


def test_pods_and_vmis_know_each_other() -> None:
    api = Api()
    pods, vmis = api.cache(POD), api.cache(VMI)
    launcher_pods = LauncherPods(pods, vmis)
    notified: list[Any] = []
    launcher_pods.on_pod_change(notified.append)
    launcher_pods.on_vmi_change(notified.append)
    guest = vmi("Running")
    api.add(VMI, guest)
    pod = launcher("a", guest)
    api.add(POD, pod)
    assert notified == [key_of(guest)]
    api.add(VMI, guest)
    assert notified == [key_of(guest), key_of(pod)]
    assert guest_of(pod) == guest["metadata"]["uid"]
    assert [entry["metadata"]["name"] for entry in launcher_pods.pods_of(guest)] == ["a"]
    result = launcher_pods.vmi(pod)
    assert result is not None and key_of(result) == key_of(guest)
    other = {**guest, "metadata": {**guest["metadata"], "uid": "another"}}
    api.add(VMI, other)
    assert launcher_pods.vmi(pod) is None
