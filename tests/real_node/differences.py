"""The known differences between simulated and real nodes, which docs/local_cluster.md has in words."""

import json
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

Manifest = dict[str, Any]

EXPECTED = {
    "life / inventory / web answers there": "a simulated guest has no SSH server",
    "* / * / * AgentConnected": "the agent of a real guest comes after the boot, and leaves with the guest",
    "migration / migrated / * Synchronized": "virt-handler loses the guest for a moment while it moves",
    "migration / stopped / VMI 1 phase": "a simulated guest shuts down in time even if it is given none",
    "disks / plug / * LiveMigratable": "virt-handler takes a moment to see that the plugged disk can move",
    "disks / * / * volume *": "a real disk is detached, which takes a moment",
    "disks / unplug / VM web Failure": "virt-controller fails once while the pod of the disk ends",
    "size / CPU / * Synchronized": "virt-handler loses the guest for a moment while it moves",
    "memory / memory / * Synchronized": "virt-handler loses the guest for a moment while it moves",
    "fleet / refresh live / * Synchronized": "virt-handler loses the guest for a moment while it moves",
    "* / * / * AgentVersionNotSupported": "the version of a real agent is known a moment after the agent",
    "fleet / refresh with restart / VM * printableStatus": "a real guest takes its time, in which its VM is Stopping",
    "nic* / *plug / *": "simulated nodes plug without a migration, as Multus does with its dynamic networks controller",
    "nic* / * / VMI 1 interface lan": "the agent of a real guest names the interface a moment later",
    "crash / crash / *": "a simulated guest crashes only when it starts",
    "no-image / create / * printableStatus": "the simulated kubelet does not wait between two tries to pull an image",
    "no-image / create / * Synchronized": "the simulated kubelet does not wait between two tries to pull an image",
    "no-disk / *": "the simulated kubelet does not look into images",
    "no-quota / create / *": "a step is watched longer on real nodes, in which virt-controller tries again",
    "* / * / VM* Ready": "how long a pod outlives its guest decides which reasons virt-controller gives in between",
}
"""Scenario / step / track, as a pattern → why the values differ."""


def differences(found: Manifest) -> dict[str, tuple[str, str]]:
    """What differs: "scenario / step / track" → how it is on a simulated, and on a real node."""
    different = {}
    for name, kinds in found.items():
        for step in kinds["simulated"]:
            pair = [_shown(side.get(step) or {}) for side in (kinds["simulated"], kinds["real"])]
            for track in sorted(pair[0].keys() | pair[1].keys()):
                values = pair[0].get(track, ""), pair[1].get(track, "")
                if values[0] != values[1]:
                    different[f"{name} / {step} / {track}"] = values
    return different


def _shown(seen: Manifest) -> dict[str, str]:
    """The tracks of a step, and what the module said, each as one text."""
    shown = {track: " > ".join(values) for track, values in (seen.get("tracks") or {}).items() if values}
    said = seen.get("said") or {}
    if "msg" in said and said.get("failed"):
        shown["reason"] = _reason(str(said["msg"]))
    elif "results" not in said:
        shown |= {name: str(value) for name, value in said.items() if isinstance(value, bool)}
    return shown


def _reason(message: str) -> str:
    """The reason in a message such as "shop/web: ImagePullBackOff: Back-off pulling image ..."."""
    reason = message.partition(": ")[2].partition(": ")[0] or message
    # kubelet has one while it tries, and the other between two tries; Multus tells kubelet, and has an event itself.
    return reason.replace("ErrImagePull", "ImagePullBackOff").replace("NoNetworkFound", "FailedCreatePodSandBox")


def unexpected(found: dict[str, tuple[str, str]]) -> list[str]:
    """The differences that no pattern expects, one a line."""
    return [
        f"{place}\n    simulated: {simulated}\n    real:      {real}"
        for place, (simulated, real) in found.items()
        if not any(fnmatchcase(place, pattern) for pattern in EXPECTED)
    ]


if __name__ == "__main__":
    for place, (on_simulated, on_real) in differences(json.loads(Path(sys.argv[1]).read_text())).items():
        print(f"{place}\n    simulated: {on_simulated}\n    real:      {on_real}")
