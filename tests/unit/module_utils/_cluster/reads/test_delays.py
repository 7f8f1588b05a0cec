"""The objects that a late VM waits for, by name."""

from collections.abc import Callable
from typing import Any

import pytest

from growth import growth
from plugins.module_utils._cluster.reads.delays import (
    absent_objects,
    blockers,
    failure_text,
    listed_events,
    newest_events,
    timeout_text,
)
from plugins.module_utils._resolver.api.manifest import Progress
from scripted_server import VMIS, Store, forbidden, session_with

CORE = "/api/v1/namespaces/shop"
VOLUMES = "/apis/cdi.kubevirt.io/v1beta1/namespaces/shop/datavolumes"


def named(name: str, status: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "shop", "labels": labels}, "status": status}


def vm(*volumes: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "web"}, "spec": {"template": {"spec": {"volumes": list(volumes)}}}}


def false(kind: str, message: str) -> dict[str, Any]:
    return {"type": kind, "status": "False", "message": message}


LATE = vm(
    {"name": "boot", "dataVolume": {"name": "web-boot"}},
    {"name": "done", "dataVolume": {"name": "web-done"}},
    {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
    {"name": "gone", "persistentVolumeClaim": {"claimName": "gone"}},
)


def test_each_blocker_of_a_vm_is_named() -> None:
    scheduling = {"phase": "Pending", "conditions": [false("PodScheduled", "0/3 nodes are\navailable")]}
    pulling = {
        "phase": "Pending",
        "containerStatuses": [
            {"state": {"running": {}}},
            {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}},
        ],
    }
    store = Store(
        {
            VOLUMES: [
                named("web-boot", {"phase": "ImportInProgress", "progress": "35.2%"}),
                named("web-done", {"phase": "Succeeded"}),
                named("another", {"phase": "Pending"}),
            ],
            f"{CORE}/persistentvolumeclaims": [
                named("data", {"phase": "Pending"}),
                named("web-boot", {"phase": "Pending"}),
            ],
            VMIS: [named("web", {"phase": "Scheduling", "conditions": [false("Ready", "guest is not there")]})],
            f"{CORE}/pods": [
                named("virt-launcher-web-1", scheduling, **{"vm.kubevirt.io/name": "web"}),
                named("virt-launcher-web-2", pulling, **{"vm.kubevirt.io/name": "web"}),
                named("virt-launcher-db-1", scheduling, **{"vm.kubevirt.io/name": "db"}),
            ],
        }
    )
    with session_with(store) as session:
        result = blockers(session, "VirtualMachine", "shop", {"web": LATE, "none": None})
    assert result == {
        "web": [
            "DataVolume web-boot: ImportInProgress 35.2%",
            "PersistentVolumeClaim data: Pending",
            "VirtualMachineInstance web: Scheduling: guest is not there",
            "pod virt-launcher-web-1: Pending: 0/3 nodes are available",
            "pod virt-launcher-web-2: Pending: ImagePullBackOff: no such image",
        ]
    }
    assert len(store.asked) == 4


def test_stalled_import_is_explained() -> None:
    failing = {"phase": "ImportInProgress", "progress": "N/A", "conditions": [false("Running", "no such host")]}
    store = Store({VOLUMES: [named("web-boot", failing), named("web-done", {})]})
    with session_with(store) as session:
        result = blockers(session, "VirtualMachine", "shop", {"web": LATE})
    assert result["web"] == [
        "DataVolume web-boot: ImportInProgress: no such host",
        "DataVolume web-done: without a phase",
    ]


def test_unreadable_objects_are_left_out() -> None:
    answers = {("GET", end): forbidden(end) for end in ("datavolumes", "persistentvolumeclaims", "pods")}
    store = Store({VMIS: [named("web", {"phase": "Running"})]}, answers)
    with session_with(store) as session:
        assert blockers(session, "VirtualMachine", "shop", {"web": LATE}) == {"web": []}


def warning(kind: str, name: str, message: str, reason: str = "Failed") -> dict[str, Any]:
    about = {"kind": kind, "name": name}
    return {"type": "Warning", "involvedObject": about, "reason": reason, "message": message, "metadata": {}}


def test_objects_say_why_they_are_not_ready() -> None:
    """The words of an event are added to those of the status, and not repeated."""
    ended = {"state": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "message": "no memory"}}}
    done = {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
    pod = {"phase": "Failed", "initContainerStatuses": [done], "containerStatuses": [ended]}
    store = Store(
        {
            VOLUMES: [named("web-boot", {"phase": "CloneScheduled", "conditions": [false("Running", "too small")]})],
            f"{CORE}/persistentvolumeclaims": [named("data", {"phase": "Pending"})],
            f"{CORE}/pods": [named("virt-launcher-web-1", pod, **{"vm.kubevirt.io/name": "web"})],
        }
    )
    events = [
        warning("DataVolume", "web-boot", "too small"),
        warning("PersistentVolumeClaim", "data", "an old one"),
        warning("PersistentVolumeClaim", "data", "no room", "ProvisioningFailed"),
        warning("Pod", "virt-launcher-web-1", "evicted", "Evicted"),
        warning("Pod", "virt-launcher-db-x7k2p", "cannot start the container"),
        {**warning("Pod", "virt-launcher-db-x7k2p", "is scheduled"), "type": "Normal"},
    ]
    with session_with(store) as session:
        result = blockers(session, "VirtualMachine", "shop", {"web": LATE, "db": vm()}, events)
    assert result == {
        "web": [
            "DataVolume web-boot: CloneScheduled: too small",
            "PersistentVolumeClaim data: Pending: ProvisioningFailed: no room",
            "pod virt-launcher-web-1: Failed: OOMKilled: no memory, Evicted: evicted",
        ],
        # Its pod is gone.
        "db": ["pod virt-launcher-db-x7k2p: Failed: cannot start the container"],
    }
    assert failure_text("DataVolumeError", result["web"][:1]) == f"DataVolumeError; {result['web'][0]}"
    assert failure_text("Error: too small", result["web"][:1]) == "Error: too small (DataVolume web-boot)"


def deleted(name: str, *finalizers: str, **more: Any) -> dict[str, Any]:
    item = named(name, {"phase": "Running"})
    item["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=list(finalizers), **more)
    return item


def test_what_holds_a_deleted_vm() -> None:
    owner = {"kind": "VirtualMachine", "name": "web", "uid": "1"}
    store = Store(
        {
            VOLUMES: [deleted("web-old", "a.example.com/b", ownerReferences=[owner])],
            VMIS: [deleted("web", "kubevirt.io/foregroundDeleteVirtualMachine")],
        }
    )
    gone = deleted("web", "foregroundDeletion", uid="1")
    with session_with(store) as session:
        blocked = blockers(session, "VirtualMachine", "shop", {"web": gone})["web"]
    assert blocked == [
        "DataVolume web-old: is being deleted, and the finalizer a.example.com/b holds it until the tool of"
        " a.example.com removes it; if there is no such tool, remove it yourself",
        "VirtualMachineInstance web: is being deleted, and the finalizer kubevirt.io/foregroundDeleteVirtualMachine"
        " holds it until virt-handler has cleaned up on the node of the guest",
    ]
    gone["status"]["conditions"] = [false("Ready", "VMI does not exist")]
    text = timeout_text(5, Progress(pending="the object to disappear"), gone, [], ["SuccessfulCreate: made"])
    assert text == (
        "not ready after 5 s, waiting for the object to disappear; the finalizer foregroundDeletion holds it until its"
        " dependents are gone"
    )


CRONS = (("cron", "data"), ("other", "another"))


def test_what_else_waits_for_other_objects() -> None:
    used = {"spec": {"volumes": [{"persistentVolumeClaim": {"claimName": "data"}}, {"emptyDir": {}}]}}
    pods = [{**named(name, {"phase": phase}), **used} for name, phase in (("user", "Running"), ("old", "Succeeded"))]
    claims = [named("data", {"phase": "Pending"})]
    volumes = [named("web-boot", {"phase": "ImportInProgress", "progress": "35.2%"})]
    imports = {"currentImports": [{"DataVolumeName": "web-boot"}], "conditions": [false("UpToDate", "no digest")]}
    crons = [{**named(name, imports), "spec": {"managedDataSource": target}} for name, target in CRONS]
    store = Store(
        {
            f"{CORE}/pods": pods,
            f"{CORE}/persistentvolumeclaims": claims,
            VOLUMES: volumes,
            VOLUMES.replace("datavolumes", "dataimportcrons"): crons,
        }
    )
    claim = deleted("data", "kubernetes.io/pvc-protection")
    with session_with(store) as session:

        def ask(kind: str, item: dict[str, Any]) -> Any:
            return blockers(session, kind, "shop", {"data": item}, [warning("PersistentVolumeClaim", "data", "full")])

        assert ask("PersistentVolumeClaim", claim) == {"data": ["pod user: uses the claim"]}
        assert ask("PersistentVolumeClaim", claims[0]) == {}
        assert ask("DataVolume", {}) == {"data": ["PersistentVolumeClaim data: Pending: Failed: full"]}
        assert ask("VirtualMachineInstance", {}) == {}
        source = {"spec": {"source": {"pvc": {"name": "web-boot"}}}}
        crons = ["DataImportCron cron: no digest"]
        assert ask("DataSource", source) == {"data": [*crons, "DataVolume web-boot: ImportInProgress 35.2%"]}
        assert ask("DataSource", {}) == {"data": [*crons, "DataVolume web-boot: ImportInProgress 35.2%"]}


class Late:
    """A session with an event and a pod of each VM."""

    def __init__(self, count: int) -> None:
        names = [f"vm-{number}" for number in range(count)]
        self.vms: dict[str, Any] = {name: vm() for name in names}
        event = {"involvedObject": {"kind": "Pod"}, "reason": "R", "message": "M"}
        about = [{"kind": "Pod", "name": f"virt-launcher-{name}-x1"} for name in names]
        self.lists = {
            "Event": [{**event, "metadata": {}, "involvedObject": item} for item in about],
            "Pod": [named(f"pod-{name}", {"phase": "Pending"}, **{"vm.kubevirt.io/name": name}) for name in names],
        }

    def list(self, kind: Any, *_arguments: Any, **_query: str) -> list[Any]:
        return list(self.lists.get(kind.kind, []))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda session: blockers(session, "VirtualMachine", "shop", session.vms), "pod pod-vm-1: Pending"),
        (lambda session: newest_events(listed_events(session, "shop"), session.vms), "R: M"),
    ],
)
def test_work_is_linear_in_late_vms(ask: Callable[..., Any], message: str) -> None:
    def work(count: int) -> Callable[[], Any]:
        session = Late(count)

        def find() -> None:
            assert ask(session)["vm-1"] == [message]

        return find

    assert growth(work) < 5


def pod_event(vm_name: str, reason: str, message: str, at: str, kind: str = "Pod") -> dict[str, Any]:
    about = {"kind": kind, "name": f"virt-launcher-{vm_name}-x7k2p"}
    metadata = {"name": f"{vm_name}.{at}", "namespace": "shop"}
    return {"metadata": metadata, "involvedObject": about, "reason": reason, "message": message, "lastTimestamp": at}


NO_NETWORK = "cannot find a network-attachment-definition (lan) in namespace (shop)"


def test_absent_objects_by_the_newest_event() -> None:
    missing = 'MountVolume.SetUp failed for volume "x": secret "gone" not found'
    events = [
        pod_event("web", "FailedMount", missing, "2026-01-01T00:00:02Z"),
        pod_event("web", "Scheduled", "assigned", "2026-01-01T00:00:01Z"),
        # It has appeared since.
        pod_event("db", "FailedMount", missing, "2026-01-01T00:00:01Z"),
        pod_event("db", "Started", "started", "2026-01-01T00:00:02Z"),
        pod_event("slow", "FailedMount", "timed out", "2026-01-01T00:00:02Z"),
        pod_event("lan", "FailedCreatePodSandBox", NO_NETWORK, "2026-01-01T00:00:01Z"),
        pod_event("lan", "NoNetworkFound", NO_NETWORK, "2026-01-01T00:00:02Z"),
        pod_event("other", "FailedMount", missing, "2026-01-01T00:00:02Z"),
        pod_event("vmi", "FailedMount", missing, "2026-01-01T00:00:02Z", "VirtualMachineInstance"),
    ]
    with session_with(Store({f"{CORE}/events": events})) as session:
        found = absent_objects(session, "shop", dict.fromkeys(["web", "db", "slow", "lan", "vmi"]))
    assert found == {"web": f"FailedMount: {missing}; create it", "lan": f"NoNetworkFound: {NO_NETWORK}; create it"}


def with_disk(name: str, **storage: Any) -> dict[str, Any]:
    templates = [{"metadata": {"name": f"{name}-data"}, "spec": {"storage": storage}}]
    volumes = [{"name": "data", "dataVolume": {"name": f"{name}-data"}}]
    spec = {"dataVolumeTemplates": templates, "template": {"spec": {"volumes": volumes}}}
    return {"kind": "VirtualMachine", "metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def disk_event(name: str, kind: str, reason: str, message: str) -> dict[str, Any]:
    return {**pod_event(name, reason, message, ""), "involvedObject": {"kind": kind, "name": f"{name}-data"}}


def test_absent_storage_classes_by_events_of_disks() -> None:
    items = {name: with_disk(name, storageClassName="gone") for name in ("web", "db", "slow")}
    items |= {"none": with_disk("none"), "bs-data": {**with_disk("bs"), "kind": "DataVolume"}}
    items["bs-data"] |= {"metadata": {"name": "bs-data"}, "spec": {"pvc": {"storageClassName": "gone"}}}
    invalid, absent = "no storageClass to choose profile", 'storageclass.storage.k8s.io "gone" not found'
    events = [
        disk_event("web", "DataVolume", "ErrClaimNotValid", invalid),
        disk_event("db", "PersistentVolumeClaim", "ProvisioningFailed", absent),
        disk_event("slow", "PersistentVolumeClaim", "ProvisioningFailed", "the disk array is full"),
        disk_event("none", "PersistentVolumeClaim", "FailedBinding", "no storage class is set"),
        disk_event("bs", "DataVolume", "ErrClaimNotValid", invalid),
        disk_event("other", "DataVolume", "ErrClaimNotValid", invalid),
    ]
    with session_with(Store({f"{CORE}/events": events})) as session:
        found = absent_objects(session, "shop", items)
    create = "create the StorageClass gone, or delete the"
    assert found == {
        "web": f"DataVolume web-data: ErrClaimNotValid: {invalid}; {create} VM and name another one",
        "db": f"PersistentVolumeClaim db-data: ProvisioningFailed: {absent}; {create} VM and name another one",
        "none": "PersistentVolumeClaim none-data: FailedBinding: no storage class is set; mark a StorageClass as the"
        " default, or delete the VM and name one",
        "bs-data": f"ErrClaimNotValid: {invalid}; {create} DataVolume and name another one",
    }


def test_pod_events_say_nothing_of_data_volumes() -> None:
    missing = 'MountVolume.SetUp failed for volume "x": secret "gone" not found'
    events = [pod_event("fedora", "FailedMount", missing, "2026-01-01T00:00:02Z")]
    volume = {"kind": "DataVolume", "metadata": {"name": "fedora", "namespace": "shop"}, "spec": {}}
    with session_with(Store({f"{CORE}/events": events})) as session:
        assert absent_objects(session, "shop", {"fedora": volume}) == {}


def test_events_of_an_earlier_vm_are_left_out() -> None:
    """Its name, those of its disks and the beginning of that of its pod are those of the new one."""

    def event(made: str, kind: str, name: str) -> dict[str, Any]:
        about = {"involvedObject": {"kind": kind, "name": name}, "type": "Warning", "reason": "FailedMount"}
        metadata = {"name": f"{name}.{made}", "creationTimestamp": made}
        return {"metadata": metadata, **about, "message": f"of {made}: not found", "lastTimestamp": made}

    old, created, new = (f"2026-11-29T08:0{minute}:00Z" for minute in range(3))
    volume = {"metadata": {"name": "web-boot", "creationTimestamp": created}, "status": {"phase": "Pending"}}
    late = {**LATE, "metadata": {**LATE["metadata"], "creationTimestamp": created}}
    for made, told in ((old, False), (created, True), (new, True)):
        events = [event(made, "DataVolume", "web-boot"), event(made, "Pod", "virt-launcher-web-x7k2p")]
        with session_with(Store({VOLUMES: [volume], f"{CORE}/events": events}), retry_timeout=0) as session:
            listed = listed_events(session, "shop")
            lines = blockers(session, "VirtualMachine", "shop", {"web": late}, listed)["web"]
            assert [f"of {made}" in line for line in lines] == ([True, True] if told else [False])
            assert bool(newest_events(listed, {"web": late})) == told
            assert bool(absent_objects(session, "shop", {"web": late})) == told
