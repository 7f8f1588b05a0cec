"""The links of the disks: class, import and claim."""

from __future__ import annotations

from typing import Any, Final

from .._resolver.api.manifest import condition_of, name_of, namespace_of
from .._resolver.preflight.references import storage_class_of, templates_of
from .case import CLAIM, DATA_VOLUME, EVENT, STORAGE_CLASS, Case, Volume
from .link import Broken, Evidence, Link, object_task, of_condition, of_event, of_field, one_line

Manifest = dict[str, Any]

_DEFAULTS: Final = (
    "storageclass.kubevirt.io/is-default-virt-class",
    "storageclass.kubernetes.io/is-default-class",
)
_UNPROVISIONED: Final = ("ProvisioningFailed", "ErrClaimNotValid", "FailedBinding")
_IMPORT_FAILED: Final = ("Error", "ErrImportFailed", "ErrCloneFailed", "CloneSourceNotFound", "ErrUploadFailed")
_WAITS: Final = "CDI and Kubernetes keep trying, and KubeVirt does not start the guest without its disk"


def _storage_class(case: Case) -> Broken | None:
    for volume in case.volumes:
        claim = volume.claim or {}
        if (claim.get("status") or {}).get("phase") == "Bound":
            continue
        named = (claim.get("spec") or {}).get("storageClassName") or _declared_class(case, volume.name)
        event = _unprovisioned(case, volume)
        words = one_line((event or {}).get("message"))
        unknown = named and STORAGE_CLASS in case.known and named not in case.classes
        said = f'storageclass.storage.k8s.io "{named}" not found' in words
        if named and (said or (unknown and volume != (volume.name, None, None))):
            evidence = of_event(event) if event and said else _named(case, volume, named)
            return _missing_class(case, volume.name, named, evidence)
        if event and ("no storage class" in words or "no storageClass" in words):
            return _no_default(volume.name, of_event(event), case)
    return None


def _declared_class(case: Case, name: str) -> str:
    return next((storage_class_of(item)[1] for item in templates_of(case.vm) if name_of(item) == name), "")


def _unprovisioned(case: Case, volume: Volume) -> Manifest | None:
    found = (case.event(item, *_UNPROVISIONED) for item in (volume.claim, volume.data_volume) if item is not None)
    return next(filter(None, found), None)


def _named(case: Case, volume: Volume, named: str) -> Evidence:
    return of_field(volume.claim or volume.data_volume or case.vm, "spec.storageClassName", named)


def _missing_class(case: Case, volume: str, named: str, evidence: Evidence) -> Broken:
    model = _default(case) or next(iter(case.classes.values()), {})
    copied = {key: model[key] for key in ("parameters", "reclaimPolicy", "volumeBindingMode") if model.get(key)}
    provisioner = model.get("provisioner") or "PROVISIONER"
    head = {"apiVersion": "storage.k8s.io/v1", "kind": STORAGE_CLASS, "metadata": {"name": named}}
    return Broken(
        f"the StorageClass {named} of the disk {volume} does not exist",
        (evidence,),
        f"create the StorageClass {named}, or delete the disk and declare it with another",
        object_task(f"Create the StorageClass {named}", "present", {**head, "provisioner": provisioner, **copied}),
        _WAITS,
    )


def _default(case: Case) -> Manifest | None:
    """The default StorageClass, None without one. That of VMs comes first."""
    marked = (
        item
        for key in _DEFAULTS
        for item in case.classes.values()
        if (item["metadata"].get("annotations") or {}).get(key) == "true"
    )
    return next(marked, None)


def _no_default(volume: str, evidence: Evidence, case: Case) -> Broken:
    name = next(iter(case.classes), "NAME")
    metadata = {"name": name, "annotations": {_DEFAULTS[0]: "true"}}
    return Broken(
        f"the disk {volume} names no StorageClass, and none is the default",
        (evidence,),
        "make a StorageClass the default, or declare the disk with one",
        object_task(
            f"Make {name} the default",
            "patched",
            {"apiVersion": "storage.k8s.io/v1", "kind": STORAGE_CLASS, "metadata": metadata},
        ),
        _WAITS,
    )


def _import(case: Case) -> Broken | None:
    for volume in case.volumes:
        item = volume.data_volume
        status = (item or {}).get("status") or {}
        if item is None or status.get("phase") in (None, "Succeeded", "WaitForFirstConsumer", "PendingPopulation"):
            continue
        running = condition_of(item, "Running")
        events = filter(None, (case.event(about, *_IMPORT_FAILED) for about in (item, volume.claim) if about))
        event = next(events, None)
        failed = running.get("status") == "False" and running.get("reason") == "Error"
        if failed or status["phase"] == "Failed" or (event and status.get("restartCount")):
            evidence = [of_condition(item, running)] if running else []
            evidence += [of_event(event)] if event else []
            words = one_line(running.get("message") if failed else (event or {}).get("message"))
            return _failed_import(volume.name, item, words or str(status["phase"]), tuple(evidence))
    return None


def _failed_import(name: str, item: Manifest, words: str, evidence: tuple[Evidence, ...]) -> Broken:
    metadata = {"name": name, "namespace": namespace_of(item)}
    head = {"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": DATA_VOLUME, "metadata": metadata}
    return Broken(
        f"the import of the disk {name} fails: {words}",
        evidence,
        "see that the source can be reached, with its credentials and certificate; a wrong source needs a new disk:"
        " correct it in the VM, then delete the DataVolume",
        object_task(f"Delete the DataVolume {name}", "absent", head),
        "CDI tries again at growing intervals, up to 5 minutes, and the VM stays stopped",
    )


def _claim(case: Case) -> Broken | None:
    synchronized = condition_of(case.vmi or {}, "Synchronized")
    absent = synchronized if synchronized.get("reason") == "FailedPvcNotFound" else {}
    created = {name_of(item) for item in templates_of(case.vm)}
    for volume in case.volumes:
        status = (volume.claim or {}).get("status") or {}
        if volume.claim is None and volume.data_volume is None and volume.name not in created:
            said = f"/{volume.name} does not exist" in str(absent.get("message"))
            if said or CLAIM in case.known:
                evidence = of_condition(case.vmi or {}, absent) if said else _used(case, volume.name)
                return _missing_claim(case, volume.name, evidence)
        event = _unprovisioned(case, volume)
        if status.get("phase") == "Lost" or (status.get("phase") == "Pending" and event and not volume.data_volume):
            return _unbound_claim(volume.claim or {}, str(status["phase"]), event)
    return None


def _used(case: Case, name: str) -> Evidence:
    return of_field(case.vm, "spec.template.spec.volumes", name)


def _missing_claim(case: Case, name: str, evidence: Evidence) -> Broken:
    size = {"requests": {"storage": "10Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": size}
    metadata = {"name": name, "namespace": namespace_of(case.vm)}
    return Broken(
        f"the claim {name} does not exist",
        (evidence,),
        "restore the claim, or create it; a new one is empty",
        object_task(
            f"Create the claim {name}",
            "present",
            {"apiVersion": "v1", "kind": CLAIM, "metadata": metadata, "spec": spec},
        ),
        "KubeVirt waits for the claim, and starts the guest as soon as it exists",
    )


def _unbound_claim(claim: Manifest, phase: str, event: Manifest | None) -> Broken:
    name = name_of(claim)
    words = one_line((event or {}).get("message")) or "its volume is gone"
    metadata = {"name": name, "namespace": namespace_of(claim)}
    head = {"apiVersion": "v1", "kind": CLAIM, "metadata": metadata}
    return Broken(
        f"the claim {name} is {phase}: {words}",
        (of_event(event) if event else of_field(claim, "spec.volumeName", phase),),
        "give the claim a volume; see the storage's provisioner",
        object_task(f"Delete the claim {name}, to create it again", "absent", head),
        "the pod waits for the claim, and the guest does not start",
    )


LINKS: Final = (
    Link("storage_class", _storage_class, (CLAIM, DATA_VOLUME, EVENT)),
    Link("import", _import, (DATA_VOLUME, EVENT)),
    Link("claim", _claim, (CLAIM,)),
)
