"""What the guest gets and what its pod asks for."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi.resources import (
    resources,
)

GIB = 1 << 30


def figures(annotations: dict[str, str] | None = None, ratio: int = 10, **domain: Any) -> dict[str, Any]:
    template = {"metadata": {"annotations": annotations or {}}, "spec": {"domain": {"devices": {}, **domain}}}
    canonical = schema.canonical("VirtualMachineInstanceTemplateSpec", template)
    return resources(canonical["metadata"], canonical["spec"], ratio)


def pod(**given: Any) -> dict[str, Any]:
    answer: dict[str, Any] = figures(**given)["pod"]
    return answer


def test_plain() -> None:
    assert figures(cpu={"sockets": 2, "cores": 2, "threads": 1, "maxSockets": 4}, memory={"guest": "4Gi"}) == {
        "guest": {
            "vcpus": 4,
            "sockets": 2,
            "cores": 2,
            "threads": 1,
            "memory": "4Gi",
            "memory_bytes": 4 * GIB,
            "max_sockets": 4,
        },
        "pod": {"cpu": "400m", "memory": "4Gi", "memory_bytes": 4 * GIB},
    }


@pytest.mark.parametrize(
    ("vcpus", "ratio", "cpu"), [(1, 10, "100m"), (10, 10, "1"), (16, 10, "1600m"), (3, 1, "3"), (1, 3, "333333334n")]
)
def test_shared_cpus(vcpus: int, ratio: int, cpu: str) -> None:
    assert pod(ratio=ratio, cpu={"sockets": vcpus})["cpu"] == cpu


def test_a_cpu_request_of_the_vm_counts() -> None:
    assert pod(cpu={"sockets": 4}, resources={"requests": {"cpu": "2"}})["cpu"] == "2"


def test_dedicated_cpus() -> None:
    cpu = {"sockets": 4, "dedicatedCpuPlacement": True}
    threads = {"ioThreads": {"supplementalPoolThreadCount": 2}, "ioThreadsPolicy": "supplementalPool"}
    even = {"alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity": ""}
    assert pod(cpu=cpu) == {"cpu": "4", "dedicated_cpus": 4}
    cpu["isolateEmulatorThread"] = True
    assert pod(cpu=cpu)["dedicated_cpus"] == 5
    assert pod(cpu=cpu, annotations=even)["dedicated_cpus"] == 6
    assert pod(cpu={**cpu, "sockets": 5}, annotations=even)["dedicated_cpus"] == 6
    assert pod(cpu=cpu, **threads)["dedicated_cpus"] == 7
    # For parity the threads of the pool count twice, so that an odd number of them changes nothing.
    odd = {**threads, "ioThreads": {"supplementalPoolThreadCount": 1}}
    assert pod(cpu=cpu, annotations=even, **odd)["dedicated_cpus"] == 7
    assert pod(cpu=cpu, annotations=even, **{**odd, "ioThreadsPolicy": "auto"})["dedicated_cpus"] == 6
    assert pod(cpu={**cpu, "sockets": 5}, annotations=even, **odd)["dedicated_cpus"] == 7
    assert pod(cpu={"sockets": 4}, **threads)["cpu"] == "600m"
    assert figures(cpu=cpu, **threads)["guest"]["io_threads"] == 2


def test_overcommit() -> None:
    answer = pod(memory={"guest": "8Gi"}, resources={"requests": {"memory": "4Gi"}})
    assert (answer["memory"], answer["overcommit_percent"]) == ("4Gi", 50.0)
    assert "overcommit_percent" not in pod(memory={"guest": "4Gi"}, resources={"requests": {"memory": "5Gi"}})


def test_a_limit_is_a_request() -> None:
    assert pod(memory={"guest": "4Gi"}, resources={"limits": {"memory": "6Gi"}})["memory"] == "6Gi"


def test_huge_pages() -> None:
    memory = {"guest": "4Gi", "hugepages": {"pageSize": "2Mi"}}
    assert pod(memory=memory) == {"cpu": "100m", "memory": "0", "memory_bytes": 0, "hugepages": {"2Mi": "4Gi"}}
    more = pod(memory=memory, resources={"requests": {"memory": "5Gi"}})
    assert (more["memory"], more["hugepages"]) == ("1Gi", {"2Mi": "4Gi"})


def test_devices() -> None:
    devices = {
        "gpus": [{"name": "a", "deviceName": "example.com/gpu"}, {"name": "b", "deviceName": "example.com/gpu"}],
        "hostDevices": [
            {"name": "c", "deviceName": "example.com/nic"},
            {"name": "d", "claimName": "claim", "requestName": "one"},
        ],
    }
    answer = pod(devices=devices)
    assert answer["devices"] == {"example.com/gpu": 2, "example.com/nic": 1}
    assert answer["claims"] == [{"claim": "claim", "request": "one"}]
    assert figures(devices=devices)["guest"]["gpus"] == ["example.com/gpu", "example.com/gpu"]


def test_no_memory_at_all() -> None:
    assert pod() == {"cpu": "100m"}


@pytest.mark.parametrize(("ratio", "cpu"), [(10, "400m"), (2, "2"), (0, "400m"), (-3, "400m")])
def test_a_ratio_of_nothing_is_kubevirts_default(ratio: int, cpu: str) -> None:
    spec = {"domain": {"cpu": {"sockets": 4}, "devices": {}, "resources": {}}}
    assert resources({}, spec, ratio)["pod"]["cpu"] == cpu
