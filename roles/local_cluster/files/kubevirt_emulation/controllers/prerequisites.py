"""What a VMI's pod needs before it can be created: until then, the VMI waits and says so.

KubeVirt: areDataVolumesReady and sync of the VMI controller. Quotas, networks and what only a kubelet looks for are not
emulated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from kubevirt_emulation.controllers import vmi_state
from kubevirt_emulation.controllers.vmi_state import stated

Manifest = dict[str, Any]

CLAIM, PRIORITY_CLASS, SERVICE_ACCOUNT = "PersistentVolumeClaim", "PriorityClass", "ServiceAccount"
_NO_CLAIM = "FailedPvcNotFound"
_REFUSED = "failed to create virtual machine pod: pods "


class Missing(NamedTuple):
    """Why a VMI waits. reason, message: of its condition Synchronized. unscheduled: PodScheduled has them too."""

    reason: str
    message: str
    unscheduled: bool = False


class Needed(NamedTuple):
    """An object that must exist. missing: what is said without it."""

    kind: str
    name: str
    missing: Missing


def claims(vmi: Manifest) -> Iterator[Needed]:
    """The claims that the VMI's volumes name; hot-plugged ones may come later."""
    namespace, volumes = vmi["metadata"]["namespace"], vmi["spec"].get("volumes") or []
    for volume in volumes:
        for source, field in (("dataVolume", "name"), ("persistentVolumeClaim", "claimName")):
            found = volume.get(source) or {}
            if found and not found.get("hotpluggable"):
                name = found.get(field) or ""
                message = f"PVC {namespace}/{name} does not exist, waiting for it to appear"
                yield Needed(CLAIM, name, Missing(_NO_CLAIM, message, unscheduled=True))


def of_the_pod(vmi: Manifest) -> Iterator[Needed]:
    """What the API server looks for when the pod is created, and the claims that the pod only reads."""
    namespace, name = vmi["metadata"]["namespace"], vmi["metadata"]["name"]
    volumes = vmi["spec"].get("volumes") or []
    for volume in volumes:
        claim = ((volume.get("ephemeral") or {}).get("persistentVolumeClaim") or {}).get("claimName")
        if claim:
            message = f"failed to render launch manifest: didn't find PVC {claim}"
            yield Needed(CLAIM, claim, Missing(_NO_CLAIM, message, unscheduled=True))
    forbidden = f'{_REFUSED}"virt-launcher-{name}-" is forbidden: '
    for volume in volumes:
        account = (volume.get("serviceAccount") or {}).get("serviceAccountName")
        if account:
            message = f'error looking up service account {namespace}/{account}: serviceaccount "{account}" not found'
            yield Needed(SERVICE_ACCOUNT, account, Missing("FailedCreate", forbidden + message))
    priority = vmi["spec"].get("priorityClassName")
    if priority:
        message = f"no PriorityClass with name {priority} was found"
        yield Needed(PRIORITY_CLASS, priority, Missing("FailedCreate", forbidden + message))


def waiting(vmi: Manifest, missing: Missing) -> Manifest | None:
    """Pure except for the time: the merge patch of a VMI whose pod cannot be created; None if its status says so
    already.
    """
    if _told(vmi).get("message") == missing.message:
        return None
    unscheduled = stated("PodScheduled", "False", reason="Unschedulable", message=missing.message)
    conditions = [
        stated("Ready", "False", reason="PodNotExists", message="virt-launcher pod has not yet been scheduled"),
        stated("Synchronized", "False", reason=missing.reason, message=missing.message),
        *([unscheduled] if missing.unscheduled else ()),
    ]
    return {"status": {"phase": "Pending", "conditions": conditions}}


def lacks_claim(vmi: Manifest) -> bool:
    """Whether the VMI waits for a claim."""
    return _told(vmi).get("reason") == _NO_CLAIM


def _told(vmi: Manifest) -> Manifest:
    return next((one for one in vmi_state.conditions(vmi) if one["type"] == "Synchronized"), {})
