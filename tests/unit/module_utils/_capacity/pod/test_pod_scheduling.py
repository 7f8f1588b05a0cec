"""Scheduling of pods and of migration targets: node selector, affinity, labels."""

from typing import Any

import pytest
from pod_samples import METADATA, make_env, spec_of

from plugins.module_utils._capacity.pod.pod import Source, Unrenderable, target
from plugins.module_utils._capacity.pod.scheduling import affinity, labels, node_selector

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
CROSS = ["CrossArchitectureVirtualization"]


def selector(domain: Any = None, version: str = "1.9", status: Any = None, env: Any = None, **spec: Any) -> set[str]:
    labels_of_node = node_selector(spec_of(domain, version, **spec), status or {}, env or make_env(version))
    assert labels_of_node.pop("kubevirt.io/schedulable") == "true"
    return {label if value == "true" else f"{label}={value}" for label, value in labels_of_node.items()}


def test_node_selectors_of_cluster_and_vm() -> None:
    env = make_env(configuration={"developerConfiguration": {"nodeSelectors": {"disk": "ssd", "zone": "a"}}})
    assert selector(env=env, nodeSelector={"zone": "b"}) == {"disk=ssd", "zone=b"}


def test_machine_type_of_status_wins() -> None:
    status = {"machine": {"type": "pc-q35-9.0"}}
    assert selector({"machine": {"type": "q35"}}, status=status) == {"machine-type.node.kubevirt.io/pc-q35-9.0"}


def test_hyperv_features_need_strict_check() -> None:
    hyperv = {"features": {"hyperv": {"ipi": {"enabled": True}, "reset": {"enabled": False}, "evmcs": {}}}}
    assert selector(hyperv) == set()
    strict = make_env(gates=["HypervStrictCheck"])
    assert selector({"features": {"hyperv": {"evmcs": {"enabled": False}}}}, env=strict) == set()
    assert selector(hyperv, env=strict) == {"hyperv.node.kubevirt.io/ipi", "cpu-vendor.node.kubevirt.io/Intel"}


def test_own_architecture_is_preferred() -> None:
    result = affinity(spec_of({"cpu": {"model": "max"}}, architecture="arm64"), make_env(gates=CROSS))
    (term,) = result["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert (term["weight"], term["preference"]["matchExpressions"][0]["values"]) == (100, ["arm64"])


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


NODE = {
    "cpu-vendor.node.kubevirt.io/Intel": "true",
    "host-model-cpu.node.kubevirt.io/Haswell": "true",
    "host-model-required-features.node.kubevirt.io/aes": "true",
}
HOST = {"cpu": {"sockets": 1, "model": "host-model"}}


def migrated(domain: Any = None, version: str = "1.9", labels: Any = None, selector: Any = None) -> dict[str, str]:
    source = Source(NODE if labels is None else labels, selector)
    target_pod = target(METADATA, spec_of(domain, version), make_env(version), source)
    assert target_pod.affinity["podAntiAffinity"][REQUIRED][-1] == {
        "labelSelector": {"matchLabels": {"kubevirt.io/created-by": "u"}},
        "topologyKey": "kubernetes.io/hostname",
    }
    return {label: value for label, value in target_pod.node_selector.items() if label != "kubevirt.io/schedulable"}


def test_migration_target_needs_cpu_of_source() -> None:
    vendor = {"cpu-vendor.node.kubevirt.io/Intel": "true"}
    model = {"cpu-model-migration.node.kubevirt.io/Haswell": "true", "cpu-feature.node.kubevirt.io/aes": "true"}
    assert migrated(HOST) == {**vendor, **model}
    assert migrated(HOST, "1.5") == model
    assert migrated() == vendor
    assert migrated(labels={}) == {}


def test_migrated_guest_keeps_first_cpu_model() -> None:
    first = {"cpu-model-migration.node.kubevirt.io/Skylake": "true", "zone": "a"}
    assert migrated(HOST, selector=first) == {
        "cpu-vendor.node.kubevirt.io/Intel": "true",
        "cpu-model-migration.node.kubevirt.io/Skylake": "true",
    }


def test_source_node_without_cpu_model() -> None:
    assert migrated(HOST, labels={}) == {}
    with pytest.raises(Unrenderable, match="host-model-cpu"):
        migrated(HOST, "1.5", labels={})


def test_migration_target_skips_images_with_digest() -> None:
    volumes = [{"name": name, "containerDisk": {"image": image}} for name, image in (("a", "x@sha256:1"), ("b", "x:1"))]
    target_pod = target(METADATA, spec_of(volumes=volumes), make_env(), Source({}))
    assert [container.name for container in target_pod.init_containers] == ["guest-console-log", "volumeb"]
