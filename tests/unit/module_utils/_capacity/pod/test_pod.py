"""Pods beyond the vectors of tests/pod_resources: messages, labels, totals, VMIs that no server stores."""

from typing import Any

import pytest
from pod_samples import METADATA, make_env, spec_of

from plugins.module_utils._capacity.pod.amounts import Container, qos_class
from plugins.module_utils._capacity.pod.compute import compute
from plugins.module_utils._capacity.pod.pod import MigrationSource, Pod, Unrenderable, pod
from plugins.module_utils._capacity.pod.resources import apply_vmi_webhook
from plugins.module_utils._capacity.pod.scheduling import labels
from plugins.module_utils._resolver.api.quantity import parse

PLUGGED = {"devices": {"interfaces": [{"name": "a", "binding": {"name": "passt"}}]}}


def guest_container(domain: dict[str, Any]) -> dict[str, Any]:
    manifest = compute(METADATA, spec_of(domain), make_env(), parse("100Mi")).manifest()
    return {"requests": {}, "limits": {}, **manifest}


def test_guest_without_vcpus_requests_no_cpu() -> None:
    assert "cpu" not in guest_container({"cpu": {}})["requests"]


def test_dedicated_cpus_without_a_topology() -> None:
    own = {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}
    domain = {
        "cpu": {"dedicatedCpuPlacement": True, "isolateEmulatorThread": True},
        "ioThreads": {"supplementalPoolThreadCount": 1},
        "ioThreadsPolicy": "supplementalPool",
    }
    result = guest_container({**domain, "resources": own})
    assert result["requests"]["cpu"] == result["limits"]["cpu"] == "4"
    assert guest_container(domain)["limits"]["cpu"] == "1"


def make_pod(domain: Any = None, hooks: Any = None, **spec: Any) -> Pod:
    annotations = {} if hooks is None else {"hooks.kubevirt.io/hookSidecars": hooks}
    return pod({**METADATA, "annotations": annotations}, spec_of(domain, **spec), make_env(), {})


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"hooks": "["}, "is no JSON"),
        ({"hooks": "{}"}, "is no list"),
        ({"volumes": [{"name": "s", "sysprep": {}}]}, "the volume s: Sysprep must have"),
        ({"domain": PLUGGED}, "couldn't find configuration for network binding: passt"),
    ],
)
def test_unrenderable_vmi(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unrenderable, match=reason):
        make_pod(**options)


def test_migration_needs_cpu_model_of_its_source() -> None:
    host = spec_of({"cpu": {"sockets": 1, "model": "host-model"}}, "1.5")
    with pytest.raises(Unrenderable, match="host-model-cpu"):
        pod(METADATA, host, make_env("1.5"), {}, MigrationSource({}))


def test_labels_of_the_pod() -> None:
    assert labels({**METADATA, "labels": {"app": "db"}}, spec_of(), make_env()) == {
        "app": "db",
        "kubevirt.io": "virt-launcher",
        "kubevirt.io/created-by": "u",
        "vm.kubevirt.io/name": "web",
        "vmi.kubevirt.io/id": "web",
    }
    long = labels({"name": "a" * 70}, spec_of(hostname="host"), make_env())
    assert long["vm.kubevirt.io/name"] == "host" and "vmi.kubevirt.io/id" not in long


def test_older_releases_set_a_node_selector() -> None:
    spec = spec_of({"cpu": {"sockets": 1, "realtime": {}}}, "1.4")
    apply_vmi_webhook({}, spec, make_env("1.4"))
    assert spec["nodeSelector"] == {"kubevirt.io/realtime": ""}


def test_migration_target_has_images_with_known_digests() -> None:
    disks = [
        {"name": name, "containerDisk": {"image": image}} for name, image in (("a", "r/d@sha256:1"), ("b", "r/d:1"))
    ]
    spec = spec_of(volumes=disks)
    first, moved = (pod(METADATA, spec, make_env(), {}, source) for source in (None, MigrationSource({})))
    pulled = [[container.name for container in made.containers if container.init] for made in (first, moved)]
    assert set(pulled[0]) - set(pulled[1]) == {"volumea"}


BOTH = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        ([({}, {})], "BestEffort"),
        ([(BOTH, {})], "Burstable"),
        ([(BOTH, BOTH)], "Guaranteed"),
        ([({}, BOTH)], "Guaranteed"),
        ([(BOTH, {"cpu": "1", "memory": "2Gi"})], "Burstable"),
        ([(BOTH, BOTH), ({}, {})], "Burstable"),
        ([(BOTH, BOTH), ({}, {"x/gpu": "1"})], "Burstable"),
        ([({"x/gpu": "1"}, {"x/gpu": "1"})], "BestEffort"),
    ],
)
def test_qos(containers: list[tuple[dict[str, str], dict[str, str]]], expected: str) -> None:
    parsed = [[{name: parse(text) for name, text in part.items()} for part in pair] for pair in containers]
    assert qos_class([Container("a", *pair) for pair in parsed]) == expected
