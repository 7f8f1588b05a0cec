"""The links of the disks: class, import and claim."""

from __future__ import annotations

import re
from typing import Final

from .._resolver.api.manifest import Manifest, condition_of, name_of, namespace_of
from .._resolver.api.name_rules import one_line
from .._resolver.preflight.references import storage_class_of, templates_of
from .ages import age
from .case import CLAIM, DATA_VOLUME, EVENT, POD, STORAGE_CLASS, Case, Volume
from .link import (
    OVER_QUOTA,
    Broken,
    Evidence,
    Link,
    created,
    kubectl,
    merged,
    of_condition,
    of_event,
    of_field,
)
from .pods import missing_file
from .scheduling import UNBOUND, unschedulable

_STORAGE_CLASS: Final = f"storage.k8s.io/v1/{STORAGE_CLASS}"
_DEFAULTS: Final = (
    "storageclass.kubevirt.io/is-default-virt-class",
    "storageclass.kubernetes.io/is-default-class",
)
_UNPROVISIONED: Final = ("ProvisioningFailed", "ErrClaimNotValid", "FailedBinding")
_PROFILE: Final = re.compile(r"access ?mode (specified in|from) StorageProfile (?P<name>\S+)", re.IGNORECASE)
# CDI goes on to say that the clone is in progress.
_NO_CLONE: Final = "ErrIncompatiblePVC"
_IMPORT_FAILED: Final = (
    *("Error", "ErrImportFailed", "ErrCloneFailed", "CloneSourceNotFound", "ErrUploadFailed"),
    _NO_CLONE,
)
_LARGER: Final = "give the disk the size of its source in the VM"
_REACHED: Final = (
    "see that the source can be reached, with its credentials and certificate; a wrong source needs a new disk: correct"
    " it in the VM"
)
_TOO_SMALL: Final = re.compile(r"larger than|no space left|smaller than")
# Longer than CDI takes to create a claim, a provisioner to create a volume, and kubelet to start an importer.
_PATIENCE: Final = 120.0
_NOT_STARTED: Final = ("ContainerCreating", "CreateContainerConfigError", "ErrImagePull", "ImagePullBackOff")
_NO_CLAIM: Final = "FailedPvcNotFound"
_NO_SECOND_CLAIM: Final = "ErrCreatingPVCPrime"
_PROVISIONING: Final = "ExternalProvisioning"
_NO_SOURCE: Final = "CloneWithoutSource"
# CDI compares sizes and modes before it creates the claim.
_INVALID_CLONE: Final = "CloneValidationFailed"
_WAITS: Final = "CDI and Kubernetes keep trying, and KubeVirt does not start the guest without its disk"


def _storage_class(case: Case) -> Broken | None:
    return next(filter(None, (_class_of_disk(case, volume) for volume in case.volumes)), None)


def _class_of_disk(case: Case, volume: Volume) -> Broken | None:
    """The fault of a disk's StorageClass, if that keeps the disk from being provisioned."""
    claim = volume.claim or {}
    if (claim.get("status") or {}).get("phase") == "Bound":
        return None
    declared = (storage_class_of(item)[1] for item in templates_of(case.vm) if name_of(item) == volume.name)
    named = (claim.get("spec") or {}).get("storageClassName") or next(declared, "")
    event = _unprovisioned(case, volume)
    words = one_line((event or {}).get("message"))
    unknown = named and STORAGE_CLASS in case.known and named not in case.classes
    said = f'storageclass.storage.k8s.io "{named}" not found' in words
    if named and (said or (unknown and volume != (volume.name, None, None))):
        holder = volume.claim or volume.data_volume or case.vm
        evidence = of_event(event) if event and said else of_field(holder, "spec.storageClassName", named)
        return _missing_class(case, volume.name, named, evidence)
    # The condition ends with the fault, and the event does not.
    bound = condition_of(volume.data_volume or {}, "Bound")
    if profile := _PROFILE.search(str(bound.get("message") or words)):
        modes = of_condition(volume.data_volume or {}, bound) if bound.get("message") else of_event(event or {})
        return _no_access_mode(volume.name, profile["name"], modes)
    undecided = (claim.get("spec") or {}).get("storageClassName") is None
    if event and undecided and ("no storage class" in words or "no storageClass" in words):
        return _no_default(volume.name, of_event(event), case)
    return None


def _unprovisioned(case: Case, volume: Volume) -> Manifest | None:
    found = (case.event(item, *_UNPROVISIONED) for item in (volume.claim, volume.data_volume) if item is not None)
    return next(filter(None, found), None)


def _missing_class(case: Case, volume: str, named: str, evidence: Evidence) -> Broken:
    model = _default(case) or next(iter(case.classes.values()), {})
    copied = {key: model[key] for key in ("parameters", "reclaimPolicy", "volumeBindingMode") if model.get(key)}
    parts = {"provisioner": model.get("provisioner") or "PROVISIONER", **copied}
    return Broken(
        f"the StorageClass {named} of the disk {volume} does not exist",
        (evidence,),
        f"create the StorageClass {named}, or delete the disk and declare it with another",
        created(f"Create the StorageClass {named}", _STORAGE_CLASS, named, **parts),
        _WAITS,
    )


def _no_access_mode(volume: str, profile: str, evidence: Evidence) -> Broken:
    sets = [{"accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem"}]
    return Broken(
        f"the disk {volume} declares no access mode, and the StorageProfile {profile} knows none",
        (evidence,),
        "tell the StorageProfile what its storage can do, ReadWriteMany for live migration; or declare access modes and"
        " volume mode of the disk",
        merged("Complete the StorageProfile", "storageprofile", profile, spec={"claimPropertySets": sets}),
        _WAITS,
    )


def _default(case: Case) -> Manifest | None:
    """The default StorageClass, None without one. The class that is the default for VMs comes first."""
    marked = (
        item
        for key in _DEFAULTS
        for item in case.classes.values()
        if (item["metadata"].get("annotations") or {}).get(key) == "true"
    )
    return next(marked, None)


def _no_default(volume: str, evidence: Evidence, case: Case) -> Broken:
    name = next(iter(case.classes), "NAME")
    marked = ("annotate", "storageclass", name, f"{_DEFAULTS[0]}=true")
    return Broken(
        f"the disk {volume} names no StorageClass, and none is the default",
        (evidence,),
        "make a StorageClass the default, or declare the disk with one",
        kubectl(f"Make {name} the default", *marked),
        _WAITS,
    )


def _import(case: Case) -> Broken | None:
    return next(filter(None, (_import_of_disk(case, volume) for volume in case.volumes)), None)


def _import_of_disk(case: Case, volume: Volume) -> Broken | None:
    """The failure of CDI to fill a disk."""
    item = volume.data_volume
    status = (item or {}).get("status") or {}
    sourceless = case.event(item, _NO_SOURCE) if item is not None else None
    if item is not None and sourceless is not None and volume.claim is None:
        return _failed_import(volume.name, item, one_line(sourceless.get("message")), (of_event(sourceless),))
    bound = condition_of(item or {}, "Bound")
    if item is not None and bound.get("reason") == _INVALID_CLONE:
        refusal = of_condition(item, bound)
        return _failed_import(volume.name, item, refusal.message, (refusal,))
    if item is None or status.get("phase") in (None, "Succeeded", "WaitForFirstConsumer", "PendingPopulation"):
        return None
    running = condition_of(item, "Running")
    if (waits := _waiting_import(case, volume, running)) is not None:
        return missing_file(case, waits) or _failed_import(volume.name, item, waits.message, (waits,))
    events = filter(None, (case.event(about, *_IMPORT_FAILED) for about in (item, volume.claim) if about))
    event = next(events, None)
    failed = running.get("status") == "False" and running.get("reason") == "Error"
    # Between two tries CDI says only that the pod runs, or ran.
    tried = status.get("restartCount") and (event or running.get("status") == "False")
    if failed or tried or status["phase"] == "Failed" or (event or {}).get("reason") == _NO_CLONE:
        evidence = [of_condition(item, running)] if running else []
        evidence += [of_event(event)] if event else []
        words = one_line(running.get("message") if failed else (event or {}).get("message"))
        words = words or f"{status['phase']}, {status.get('restartCount') or 0} restarts"
        return _failed_import(volume.name, item, words, tuple(evidence))
    return None


def _waiting_import(case: Case, volume: Volume, running: Manifest) -> Evidence | None:
    """The obstacle that the pod of an import has met for long; None for a pod that does not wait."""
    waits = running.get("status") == "False" and running.get("reason") in _NOT_STARTED
    if volume.data_volume is None or not waits or age(case.at, running.get("lastTransitionTime")) < _PATIENCE:
        return None
    said = of_condition(volume.data_volume, running)
    uid = ((volume.claim or {}).get("metadata") or {}).get("uid")
    pod = {"kind": POD, "metadata": {"name": f"importer-prime-{uid}", "namespace": namespace_of(case.vm)}}
    event = case.event(pod, "FailedMount", "FailedScheduling", "Failed")
    if not said.message:
        return of_event(event) if event is not None else None
    return said


def _failed_import(name: str, item: Manifest, words: str, evidence: tuple[Evidence, ...]) -> Broken:
    return Broken(
        f"the import of the disk {name} fails: {words}",
        evidence,
        f"{_LARGER if _TOO_SMALL.search(words) else _REACHED}, then delete the DataVolume",
        kubectl(f"Delete the DataVolume {name}", "delete", "datavolume", name, namespace=namespace_of(item)),
        "CDI tries again at growing intervals, up to 5 minutes, and the VM stays stopped",
    )


def _claim(case: Case) -> Broken | None:
    absence, waits = _absence(case), unschedulable(case)
    return next(filter(None, (_claim_of_disk(case, volume, absence, waits) for volume in case.volumes)), None)


def _claim_of_disk(case: Case, volume: Volume, absence: Evidence | None, waits: Evidence | None) -> Broken | None:
    """The fault of a disk's claim. absence: KubeVirt's words for a missing claim. waits: why the pod waits."""
    created = {name_of(item) for item in templates_of(case.vm)}
    if over_quota(case, volume) is not None:
        return None
    status = (volume.claim or {}).get("status") or {}
    if volume.claim is None and volume.data_volume is None and volume.name not in created:
        if absence is not None and f"/{volume.name} does not exist" in absence.message:
            return _missing_claim(case, volume.name, absence)
        if CLAIM in case.known:
            return _missing_claim(case, volume.name, of_field(case.vm, "spec.template.spec.volumes", volume.name))
    if volume.data_volume is not None and _is_late(case, volume.data_volume, volume.claim):
        return _late_claim(case, volume.data_volume, volume)
    event = _unprovisioned(case, volume)
    if status.get("phase") == "Lost" or (status.get("phase") == "Pending" and event and not volume.data_volume):
        return _unbound_claim(case, volume.claim or {}, str(status["phase"]), of_event(event) if event else None)
    if status.get("phase") == "Pending" and waits is not None and UNBOUND.search(waits.message):
        event = case.event(volume.claim or {}, _PROVISIONING)
        return _unbound_claim(case, volume.claim or {}, "Pending", of_event(event) if event else waits)
    return None


def over_quota(case: Case, volume: Volume) -> Evidence | None:
    """The evidence that a quota does not permit the claim of a disk, or the second claim in which CDI fills it."""
    bound = condition_of(volume.data_volume or {}, "Bound")
    if volume.data_volume is not None and bound.get("reason") == OVER_QUOTA:
        return of_condition(volume.data_volume, bound)
    if volume.claim is None or (volume.claim.get("status") or {}).get("phase") != "Pending":
        return None
    event = case.event(volume.claim, _NO_SECOND_CLAIM)
    return of_event(event) if event is not None and "exceeded quota" in str(event.get("message")) else None


def _is_late(case: Case, data_volume: Manifest, claim: Manifest | None) -> bool:
    """Whether a disk waits for its claim, or for the volume of that, longer than it should."""
    phase = (data_volume.get("status") or {}).get("phase")
    since = (claim or data_volume)["metadata"].get("creationTimestamp")
    return phase in (None, "", "Pending") and age(case.at, since) > _PATIENCE


def _late_claim(case: Case, data_volume: Manifest, volume: Volume) -> Broken:
    bound = of_condition(data_volume, condition_of(data_volume, "Bound"))
    if volume.claim is not None:
        event = case.event(volume.claim, _PROVISIONING)
        return _unbound_claim(case, volume.claim, "Pending", of_event(event) if event else bound)
    return Broken(
        f"CDI has not created the claim {volume.name}",
        (bound,),
        "read in the log of CDI what forbids the claim, such as a LimitRange, a policy or a webhook",
        kubectl("Read the log of CDI", "logs", "deployment/cdi-deployment", "--tail", "50", namespace="cdi"),
        _WAITS,
    )


def awaited_upload(case: Case) -> str:
    """The disk that waits for its upload, for people; "" if there is none."""
    for volume in case.volumes:
        if ((volume.data_volume or {}).get("status") or {}).get("phase") == "UploadReady":
            return f"the upload of the disk {volume.name}"
    return ""


def _absence(case: Case) -> Evidence | None:
    """The condition by which KubeVirt says that a claim does not exist."""
    found = ((item, condition_of(item, "Synchronized")) for item in (case.vmi, case.vm) if item is not None)
    reasons = (of_condition(item, condition) for item, condition in found if condition.get("reason") == _NO_CLAIM)
    return next(reasons, None)


def _missing_claim(case: Case, name: str, evidence: Evidence) -> Broken:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}
    return Broken(
        f"the claim {name} does not exist",
        (evidence,),
        "restore the claim, or create it; a new one is empty",
        created(f"Create the claim {name}", f"v1/{CLAIM}", name, namespace_of(case.vm), spec=spec),
        "KubeVirt waits for the claim, and gives the guest its disk as soon as it exists",
    )


def _unbound_claim(case: Case, claim: Manifest, phase: str, evidence: Evidence | None) -> Broken:
    name, words = name_of(claim), evidence.message if evidence else "its volume is gone"
    cure = kubectl("See the claim", "describe", "pvc", name, namespace=namespace_of(claim))
    if any(volume.name == name and volume.data_volume for volume in case.volumes):
        title = f"Delete the claim {name}, which its DataVolume creates again"
        cure = kubectl(title, "delete", "pvc", name, namespace=namespace_of(claim))
    return Broken(
        f"the claim {name} is {phase}: {words}",
        (evidence or of_field(claim, "spec.volumeName", phase),),
        "give the claim a volume; see the storage's provisioner",
        cure,
        "the pod waits for the claim, and the guest does not start",
    )


LINKS: Final = (
    Link("storage_class", _storage_class, (CLAIM, DATA_VOLUME, EVENT)),
    Link("import", _import, (DATA_VOLUME, EVENT)),
    Link("claim", _claim, (CLAIM,)),
)
