"""What the guest gets and what its pod asks for, as a person reads it."""

from __future__ import annotations

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.pod.resources import (
    around,
    resources,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import (
    KubeVirt,
    kubevirt_of,
)

GIB = 1 << 30


def answer(kubevirt: KubeVirt | None = None, source: Any = None, spec: Any = None, **domain: Any) -> dict[str, Any]:
    template = {"metadata": {}, "spec": {"domain": {"devices": {}, **domain}, **(spec or {})}}
    canonical = schema.canonical("VirtualMachineInstanceTemplateSpec", template)
    cluster = kubevirt or KubeVirt(NEWEST)
    metadata = {"name": "web", "namespace": "shop"}
    return resources(metadata, canonical["spec"], cluster, around(cluster), source)


def pod(**given: Any) -> dict[str, Any]:
    found: dict[str, Any] = answer(**given)["pod"]
    return found


def test_plain() -> None:
    found = answer(cpu={"sockets": 2, "cores": 2, "threads": 1, "maxSockets": 4}, memory={"guest": "4Gi"})
    assert found["guest"] == {
        "vcpus": 4,
        "sockets": 2,
        "cores": 2,
        "threads": 1,
        "memory": "4Gi",
        "memory_bytes": 4 * GIB,
        "max_sockets": 4,
    }
    shown = found["pod"]
    assert shown["overhead"] == "292Mi" and shown["overhead_bytes"] == 292 << 20
    # The console's log beside the guest.
    assert (shown["cpu"], shown["memory_bytes"]) == ("405m", 4 * GIB + (292 << 20) + 35_000_000)
    assert shown["requests"]["memory"] == shown["memory"]
    assert shown["qos_class"] == "Burstable"
    assert shown["devices"] == {
        "devices.kubevirt.io/kvm": 1,
        "devices.kubevirt.io/tun": 1,
        "devices.kubevirt.io/vhost-net": 1,
    }
    assert [one["name"] for one in shown["containers"] + shown["init_containers"]] == ["compute", "guest-console-log"]
    assert shown["node_selector"]["kubernetes.io/arch"] == "amd64"
    assert not shown.keys() & {
        "claims",
        "hugepages",
        "tolerations",
        "scheduler",
        "dedicated_cpus",
        "overcommit_percent",
    }


def test_the_vms_spec_is_not_changed() -> None:
    spec = schema.canonical("VirtualMachineInstanceSpec", {"domain": {"devices": {}}})
    before = repr(spec)
    resources({}, spec, KubeVirt(NEWEST), around(KubeVirt(NEWEST)))
    assert repr(spec) == before


def test_dedicated_cpus_and_io_threads() -> None:
    cpu = {"sockets": 4, "cores": 1, "threads": 1, "dedicatedCpuPlacement": True}
    pool = {"ioThreads": {"supplementalPoolThreadCount": 2}, "ioThreadsPolicy": "supplementalPool"}
    found = answer(cpu=cpu, **pool)
    assert (found["pod"]["dedicated_cpus"], found["guest"]["io_threads"]) == (6, 2)


def test_overcommit() -> None:
    half = {"requests": {"memory": "4Gi"}}
    assert pod(memory={"guest": "8Gi"}, resources=half)["overcommit_percent"] == 50.0
    without = {**half, "overcommitGuestOverhead": True}
    assert pod(memory={"guest": "8Gi"}, resources=without)["overcommit_percent"] == 50.0
    assert "overcommit_percent" not in pod(memory={"guest": "4Gi"}, resources=half)


def test_huge_pages_devices_and_claims() -> None:
    devices = {
        "gpus": [{"name": "a", "deviceName": "example.com/gpu"}, {"name": "b", "deviceName": "example.com/gpu"}],
        "hostDevices": [{"name": "d", "claimName": "claim", "requestName": "one"}],
    }
    memory = {"guest": "4Gi", "hugepages": {"pageSize": "2Mi"}}
    found = pod(devices=devices, memory=memory, spec={"tolerations": [{"operator": "Exists"}]})
    assert found["devices"]["example.com/gpu"] == 2
    assert found["claims"] == [{"claim": "claim", "request": "one"}]
    assert found["hugepages"] == {"2Mi": "4Gi"}
    assert found["tolerations"] == [{"operator": "Exists"}]
    assert "overcommit_percent" not in found


def test_the_clusters_kubevirt_counts() -> None:
    developer = {"cpuAllocationRatio": 1, "useEmulation": True, "nodeSelectors": {"disk": "ssd"}}
    manifest = {"spec": {"configuration": {"developerConfiguration": developer}}}
    found = pod(kubevirt=kubevirt_of(manifest, "v1.6.2"), cpu={"sockets": 4, "cores": 1, "threads": 1})
    assert (found["cpu"], found["node_selector"]["disk"]) == ("4005m", "ssd")
    assert list(found["devices"]) == ["devices.kubevirt.io/tun"]


def test_the_target_of_a_migration() -> None:
    found = pod(source={"cpu-vendor.node.kubevirt.io/AMD": "true"})
    assert found["node_selector"]["cpu-vendor.node.kubevirt.io/AMD"] == "true"
    assert "podAntiAffinity" in found["affinity"]
