"""KubeVirt's reasons for the condition Failure of a VM: what heals them, and when the condition is stale.

virt-controller sets the condition when it cannot handle a VM, and removes it when it can. It retries after pauses that
double up to 16 minutes, or at once when the VM changes. It keeps the first message as long as the reason is the same,
so that an old condition says little of today.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ...api.keys import RETRIED_ANNOTATION
from ...api.manifest import Manifest, condition_of
from ...api.name_rules import one_line

# Remedies of a failure.
RESTART: Final = "a restart"
RETRY: Final = "another try"
RACE: Final = "the next try"


class Failure(NamedTuple):
    """A reason of the condition, for which it is known what heals it.

    cause: the failed action of virt-controller. healed_by: RESTART, because the guest runs on without a change; RETRY,
    which succeeds once what was missing is there; RACE: the VM changed at the same time.
    messages: parts of the condition's message, of which one must be in it; () for any. remedy: "" if there is none.
    """

    reason: str
    cause: str
    healed_by: str
    messages: tuple[str, ...] = ()
    remedy: str = ""


_RACES: Final = (
    "the server rejected our request due to an error in our request",
    "the object has been modified",
    # The VMI of a deleted VM of the same name.
    "already exists",
)
# The first that fits decides; "" is any reason. All others are final until somebody changes the VM.
FAILURES: Final = (
    Failure("", "two writers met", RACE, _RACES),
    Failure(
        "HotPlugVolumeError",
        "plug in a volume",
        RESTART,
        ("mismatch between volumes declared",),
        "; to plug it in without a restart, give each hotpluggable volume an entry of its name in disks",
    ),
    Failure("HotPlugVolumeError", "plug or unplug a volume", RESTART),
    Failure("HotPlugNetworkInterfaceError", "plug or unplug an interface", RESTART),
    Failure("HotPlugCPUError", "plug CPUs", RESTART),
    Failure("HotPlugMemoryError", "plug memory", RESTART),
    Failure("VolumesUpdateError", "migrate volumes", RESTART),
    Failure("AffinityChangeError", "change the affinity", RESTART),
    Failure("TolerationsChangeError", "change the tolerations", RESTART),
    Failure("AnnotationsLabelsChangeError", "change labels and annotations of the guest", RESTART),
    Failure("MemoryDumpError", "dump the memory", RESTART),
    Failure("FailedUpdateError", "update the spec after a request", RESTART),
    Failure("FirmwareUUIDError", "record the firmware's UUID", RESTART),
    # A DataVolume, a claim or the VMI: a source, a right or a quota is missing.
    Failure("FailedCreate", "create the guest or its disks", RETRY),
    Failure("FailedDelete", "delete the guest", RETRY),
    Failure("FailedFindInstancetype", "find the instancetype or its revision", RETRY),
    Failure("FailedFindPreference", "find the preference or its revision", RETRY),
)
_UNKNOWN: Final = Failure("", "", "")


def failure_of(vm: Manifest) -> tuple[Manifest, Failure]:
    """The condition Failure of a VM, {} without one, and what heals it: nothing, if its reason is not known."""
    condition = condition_of(vm, "Failure")
    if condition.get("status") != "True":
        return {}, _UNKNOWN
    message = str(condition.get("message") or "")
    known = (
        failure
        for failure in FAILURES
        if failure.reason in ("", condition.get("reason"))
        and (not failure.messages or any(part in message for part in failure.messages))
    )
    return condition, next(known, _UNKNOWN)


def retry_patch(vm: Manifest) -> Manifest | None:
    """A merge patch of a VM that failed for a missing object, which may exist by now; None for other VMs.

    KubeVirt tries again at once. The annotation has the version of the VM, so that the patch is a change each time.
    """
    if failure_of(vm)[1].healed_by != RETRY:
        return None
    resource_version = vm["metadata"].get("resourceVersion") or ""
    return {"metadata": {"annotations": {RETRIED_ANNOTATION: resource_version}}}


def unfinished_change(vm: Manifest) -> str | None:
    """The warning for a VM whose guest runs on, because KubeVirt could not change it; None if there is no failure."""
    condition, failure = failure_of(vm)
    if failure.healed_by != RESTART:
        return None
    message = one_line(condition.get("message"))
    return (
        f"KubeVirt could not {failure.cause} while the guest runs ({failure.reason}: {message}); the guest gets the"
        f" change at its next restart{failure.remedy}"
    )
