"""Figures of guests and their pods."""

from typing import Any

import pytest

from plugins.module_utils._capacity.pod.environment import Environment
from plugins.module_utils._capacity.pod.render import joint_verdict
from plugins.module_utils._capacity.pod.resources import resources
from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt, kubevirt_of

GIB = 1 << 30


def result_of(kubevirt: KubeVirt | None = None, spec: Any = None, **domain: Any) -> dict[str, Any]:
    template = {"metadata": {}, "spec": {"domain": {"devices": {}, **domain}, **(spec or {})}}
    canonical = schema.canonical("VirtualMachineInstanceTemplateSpec", template)
    cluster = kubevirt or KubeVirt(NEWEST)
    metadata = {"name": "web", "namespace": "shop"}
    return resources(metadata, canonical["spec"], Environment(cluster))


def pod(**options: Any) -> dict[str, Any]:
    figures: dict[str, Any] = result_of(**options)["pod"]
    return figures


def test_plain() -> None:
    result = result_of(cpu={"sockets": 2, "cores": 2, "threads": 1, "maxSockets": 4}, memory={"guest": "4Gi"})
    sizes = {"vcpus": 4, "sockets": 2, "cores": 2, "threads": 1, "max_sockets": 4}
    assert result["guest"] == {**sizes, "memory": "4Gi", "memory_bytes": 4 * GIB}
    figures = result["pod"]
    assert figures["overhead"] == "292Mi" and figures["overhead_bytes"] == 292 << 20
    # The console's log beside the guest.
    assert (figures["cpu"], figures["memory_bytes"]) == ("405m", 4 * GIB + (292 << 20) + 35_000_000)
    assert figures["requests"]["memory"] == figures["memory"]
    assert figures["qos_class"] == "Burstable"
    assert figures["devices"] == {f"devices.kubevirt.io/{name}": 1 for name in ("kvm", "tun", "vhost-net")}
    names = [container["name"] for container in figures["containers"] + figures["init_containers"]]
    assert names == ["compute", "guest-console-log"]
    assert figures["node_selector"]["kubernetes.io/arch"] == "amd64"
    absent = {"claims", "hugepages", "tolerations", "scheduler", "dedicated_cpus", "overcommit_percent"}
    assert not figures.keys() & absent


def test_spec_of_vm_stays_unchanged() -> None:
    spec = schema.canonical("VirtualMachineInstanceSpec", {"domain": {"devices": {}}})
    before = repr(spec)
    resources({}, spec, Environment(KubeVirt(NEWEST)))
    assert repr(spec) == before


def test_dedicated_cpus_and_io_threads() -> None:
    cpu = {"sockets": 4, "cores": 1, "threads": 1, "dedicatedCpuPlacement": True}
    pool = {"ioThreads": {"supplementalPoolThreadCount": 2}, "ioThreadsPolicy": "supplementalPool"}
    result = result_of(cpu=cpu, **pool)
    assert (result["pod"]["dedicated_cpus"], result["guest"]["io_threads"]) == (6, 2)


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
    figures = pod(devices=devices, memory=memory, spec={"tolerations": [{"operator": "Exists"}]})
    assert figures["devices"]["example.com/gpu"] == 2
    assert figures["claims"] == [{"claim": "claim", "request": "one"}]
    assert figures["hugepages"] == {"2Mi": "4Gi"}
    assert figures["tolerations"] == [{"operator": "Exists"}]
    assert "overcommit_percent" not in figures


def test_pods_of_the_next_release_request_more() -> None:
    before, after = (pod(kubevirt=kubevirt_of({}, version))["overhead_bytes"] for version in ("v1.9.3", "v1.10.0"))
    assert after - before == 20 << 20


FITS = {"evaluated": True, "fits": True}
FULL = {"evaluated": True, "fits": False, "problem": "full"}
SMALL = {"evaluated": True, "fits": False, "problem": "small"}
UNKNOWN = {"evaluated": False, "fits": False, "problem": "gone"}


@pytest.mark.parametrize(
    ("results", "evaluated", "fits", "problem"),
    [
        ([FITS], True, True, ""),
        ([FITS, FITS], True, True, ""),
        ([FITS, FULL], True, False, "full"),
        ([SMALL, FULL], True, False, "small; full"),
        ([FULL, FULL], True, False, "full"),
        ([FITS, UNKNOWN], False, False, "gone"),
        # A certain result counts.
        ([UNKNOWN, FULL], True, False, "gone; full"),
    ],
)
def test_verdict(results: list[dict[str, Any]], evaluated: bool, fits: bool, problem: str) -> None:
    assert joint_verdict(results) == {"evaluated": evaluated, "fits": fits, "problem": problem}
