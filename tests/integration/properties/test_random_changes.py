"""What a change of a running VM is said to need is what KubeVirt does: nothing, a change of the guest, or a restart."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.errors import ApiError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.read.kubevirt import kubevirt
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.effects import (
    LIVE,
    RESTART,
    UNKNOWN,
    Impact,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.kinds import BY_NAME
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare import plan
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.impact import impact
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import Cluster
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.preflight.admit import admit
from answers import ask

Manifest = dict[str, Any]

VM, VMI, REVISION = (BY_NAME[kind] for kind in ("VirtualMachine", "VirtualMachineInstance", "ControllerRevision"))
INSTANCETYPE = BY_NAME["VirtualMachineInstancetype"]
TYPES = {"small": (1, "1Gi"), "two": (2, "1Gi"), "large": (1, "3Gi"), "both": (2, "2Gi")}
# VMs that are changed at once.
TOGETHER = 8
SETTINGS = settings(
    max_examples=max(1, int(os.environ.get("VIRTSHAPE_TEST_VMS", "150")) // TOGETHER // 4),
    derandomize=os.environ.get("HYPOTHESIS_PROFILE", "ci") == "ci",
    phases=(Phase.generate,),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
PLUGGED = {"name": "data", "persistentVolumeClaim": {"claimName": "data", "hotpluggable": True}}
LAN = {"name": "lan", "multus": {"networkName": "lan"}}
POD = {"name": "default", "pod": {}}
numbers = itertools.count()


class Size(NamedTuple):
    """Of a VM: an instancetype, or sockets and memory of its own."""

    instancetype: str
    sockets: int
    memory: str


SIZES = st.builds(Size, st.sampled_from(["", *TYPES]), st.integers(1, 3), st.sampled_from(["1Gi", "2Gi", "1536Mi"]))
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "nodeSelector": st.just({}),
        "tolerations": st.just([{"key": "a", "operator": "Exists"}]),
        "terminationGracePeriodSeconds": st.sampled_from([0, 5]),
        "plugged": st.just(True),
        "connected": st.just(True),
        "labelled": st.just(True),
    },
)
STATES = st.tuples(SIZES, FIELDS)


def vm(name: str, namespace: str, size: Size, fields: Manifest) -> Manifest:
    fields = dict(fields)
    plugged, connected, labelled = (fields.pop(one, False) for one in ("plugged", "connected", "labelled"))
    interfaces = [{"name": "default", "masquerade": {}}, *([{"name": "lan", "bridge": {}}] if connected else ())]
    domain: Manifest = {"devices": {"interfaces": interfaces}}
    spec: Manifest = {"runStrategy": "Always"}
    if size.instancetype:
        spec["instancetype"] = {"name": size.instancetype, "kind": INSTANCETYPE.kind}
    else:
        domain |= {"cpu": {"sockets": size.sockets, "cores": 1, "threads": 1}, "memory": {"guest": size.memory}}
    if plugged:
        domain["devices"]["disks"] = [{"name": "data", "disk": {"bus": "scsi"}}]
    template = {
        "domain": domain,
        "networks": [POD, *([LAN] if connected else ())],
        "volumes": [PLUGGED] if plugged else [],
        **fields,
    }
    labels = {"labels": {"tier": "web"}} if labelled else {}
    metadata = {"name": name, "namespace": namespace}
    spec["template"] = {"metadata": labels, "spec": template}
    return {"apiVersion": VM.api_version, "kind": VM.kind, "metadata": metadata, "spec": spec}


def objects() -> list[Manifest]:
    """What the VMs name."""
    sizes = {name: {"cpu": {"guest": cpu}, "memory": {"guest": memory}} for name, (cpu, memory) in TYPES.items()}
    claim = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Mi"}}}
    network = {"config": '{"cniVersion": "0.3.1", "type": "bridge"}'}
    return [
        *({"kind": INSTANCETYPE.kind, "metadata": {"name": name}, "spec": size} for name, size in sizes.items()),
        {"kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": claim},
        {"kind": "NetworkAttachmentDefinition", "metadata": {"name": "lan"}, "spec": network},
    ]


def awaited(read: Callable[[], Any], holds: Callable[[Any], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while True:
        found = read()
        if holds(found) or time.monotonic() > end:
            return found
        time.sleep(0.1)


@SETTINGS
@given(st.lists(st.tuples(STATES, STATES), min_size=TOGETHER, max_size=TOGETHER))
def test_needs_of_random_changes(session: Session, namespace: str, states: list[tuple[Any, Any]]) -> None:
    for manifest in objects():
        kind, metadata = BY_NAME[manifest["kind"]], {**manifest["metadata"], "namespace": namespace}
        if session.get(kind, namespace, metadata["name"]) is None:
            session.request(
                "POST",
                kind.path(namespace),
                retry=True,
                body={"apiVersion": kind.api_version, **manifest, "metadata": metadata},
            )
    pairs = {f"vm-{next(numbers)}": pair for pair in states}
    for name, (before, _after) in pairs.items():
        session.request("POST", VM.path(namespace), retry=True, body=vm(name, namespace, *before))
    for name in pairs:
        running = awaited(lambda name=name: session.get(VMI, namespace, name), lambda one: one and _runs(one))
        assert running and _runs(running), (running, session.get(VM, namespace, name))
    for name, (before, after) in pairs.items():
        _changed(session, vm(name, namespace, *after), (before, after))
    for name in pairs:
        session.request("DELETE", VM.path(namespace, name))


def _runs(instance: Manifest) -> bool:
    status = instance.get("status") or {}
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in status.get("conditions") or ())
    return status.get("phase") == "Running" and ready


def _changed(session: Session, declared: Manifest, told: Any) -> None:
    name, namespace = declared["metadata"]["name"], declared["metadata"]["namespace"]

    def read() -> Manifest:
        found = session.get(VM, namespace, name)
        assert found is not None
        return found

    live = awaited(read, lambda one: _is_observed(one) and (one.get("status") or {}).get("ready"))
    planned = plan.present(declared, live, None)
    if planned.action == plan.NONE:
        return
    instance = session.get(VMI, namespace, name)
    assert instance is not None
    revisions, _version = session.list(REVISION, namespace)
    types, _version = session.list(INSTANCETYPE, namespace)
    cluster = Cluster(Objects([*revisions, *types]), kubevirt(session))
    merged = plan.merged(planned, live)
    foreseen = impact(live, admit(merged, live, cluster), instance, cluster)
    if ask(session, merged, changes=True).stored is None:
        event("refused")
        return
    assert foreseen.needs != UNKNOWN, told
    _replace(session, merged)
    after = awaited(
        read,
        lambda one: (
            _is_observed(one) and (foreseen.needs != RESTART or foreseen.without_condition or _asks_for_restart(one))
        ),
        20,
    )
    assert _is_observed(after)
    # As it is with the guest that takes a change.
    now = awaited(
        lambda: session.get(VMI, namespace, name),
        lambda one: foreseen.needs != LIVE or one["spec"] != instance["spec"],
        20,
    )
    _agrees(foreseen, read(), instance, now, told)


def _agrees(foreseen: Impact, after: Manifest, before: Manifest, now: Manifest, told: Any) -> None:
    event(foreseen.needs)
    assert _asks_for_restart(after) == (foreseen.needs == RESTART and not foreseen.without_condition), (
        foreseen,
        after["status"].get("conditions"),
        told,
    )
    if foreseen.needs != RESTART:
        assert (now["spec"] != before["spec"]) == (foreseen.needs == LIVE), (foreseen, told)


def _replace(session: Session, merged: Manifest) -> None:
    path = VM.path(merged["metadata"]["namespace"], merged["metadata"]["name"])
    while True:
        version = session.request("GET", path)["metadata"]["resourceVersion"]
        metadata = {**merged["metadata"], "resourceVersion": version}
        try:
            session.request("PUT", path, body={**merged, "metadata": metadata})
            return
        except ApiError as error:
            if error.code != 409:
                raise


def _is_observed(one: Manifest) -> bool:
    status = one.get("status") or {}
    # observedGeneration is that of the guest's start.
    return bool(status.get("desiredGeneration") == one["metadata"]["generation"])


def _asks_for_restart(one: Manifest) -> bool:
    conditions = (one.get("status") or {}).get("conditions") or ()
    return any(entry["type"] == "RestartRequired" and entry["status"] == "True" for entry in conditions)
