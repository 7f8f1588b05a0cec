"""A VM that does not run is told with its first broken link, and again when it is mended."""

import threading
import time
from typing import Any

from plugins.module_utils._diagnosis.cluster.diagnosis import diagnoser
from plugins.module_utils._events.cluster.source import watch_cluster
from plugins.module_utils._events.cluster.unsettled import Unsettled
from plugins.module_utils._events.source_options import ClusterOptions, source_options
from scripted_server import Store, forbidden, session_with

Manifest = dict[str, Any]

# A look reads all VMs, or those of a namespace by their names.
VMS = ("/apis/kubevirt.io/v1/virtualmachines", "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines")
LISTED = ("kubevirt.io/v1/virtualmachineinstances", "apps/v1/controllerrevisions")


def vm(*conditions: Manifest) -> Manifest:
    spec = {"domain": {"devices": {}}, "volumes": [{"name": "root", "persistentVolumeClaim": {"claimName": "lost"}}]}
    metadata = {"name": "db", "namespace": "shop", "uid": "vm", "resourceVersion": "5", "generation": 1}
    status = {"conditions": list(conditions)}
    return {"metadata": metadata, "spec": {"runStrategy": "Always", "template": {"spec": spec}}, "status": status}


WAITS = {
    "type": "Synchronized",
    "status": "False",
    "reason": "FailedPvcNotFound",
    "message": "PVC shop/lost does not exist, waiting for it to appear",
}
READY = {"type": "Ready", "status": "True"}


def told(vms: list[list[Manifest]], until: int, *, denied: str = "-", **arguments: Any) -> list[Manifest]:
    """The events of a source. vms: what the lists of VMs have, one after another; the last one goes on."""
    store = Store({f"/apis/{path}": [] for path in LISTED})
    events: list[Manifest] = []
    stop = threading.Event()

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        if path.endswith(f"/{denied}"):
            return forbidden(denied)
        store.lists.update(dict.fromkeys(VMS, vms[min(len(events), len(vms) - 1)]))
        return store(method, path, query)

    def put(event: Manifest) -> None:
        events.append(event)
        if len(events) == until:
            stop.set()

    with session_with(answer) as session:
        given = {"delay": 0.01, "resync": 0.01, "patience": 0.05, "transitions": ["broken", "mended"], **arguments}
        cluster = ClusterOptions("east", {"host": session.host, "api_key": "x"})
        watch_cluster(source_options(given, {}), cluster, put, stop, diagnoser())
    return events


def test_a_broken_vm_is_told_and_mended() -> None:
    broken, mended = told([[vm(WAITS)], [vm(READY)]], 2)
    assert (broken["transition"], broken["message"]) == ("broken", "claim: the claim lost does not exist")
    assert (mended["transition"], mended["mends"]) == ("mended", broken["id"])


def test_the_deletion_of_a_broken_vm_ends_it() -> None:
    events = told([[vm(WAITS)], []], 3, transitions=["broken", "mended", "deleted"])
    assert [event["transition"] for event in events] == ["broken", "mended", "deleted"]


def test_what_may_not_be_listed_is_logged_once(caplog: Any) -> None:
    told([[vm(WAITS)], [vm(READY)]], 2, denied="pods")
    assert len([record for record in caplog.records if "pods are not taken into account" in record.getMessage()]) == 1


def test_a_vm_is_diagnosed_after_its_patience() -> None:
    unsettled = Unsettled(0.02)
    assert unsettled.next() == float("inf")
    unsettled.note("shop/db", settled=False)
    assert unsettled.due() == [] and unsettled.next() > time.monotonic()
    time.sleep(0.03)
    unsettled.note("shop/db", settled=False)
    assert unsettled.due() == ["shop/db"]
    unsettled.put_off(["shop/db", "shop/other"])
    assert unsettled.due() == [] and unsettled.next() > time.monotonic() + 50
    unsettled.note("shop/db", settled=True)
    assert unsettled.next() == float("inf")
