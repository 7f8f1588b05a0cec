"""The containers beside the guest's, and what the pod asks for as a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pod_samples import METADATA, around, spec_of

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.quantity import parse
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.pod.amounts import (
    Container,
    limits,
    qos_class,
    requests,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.pod.pod import (
    Pod,
    Unrenderable,
    pod,
)

DISK = {"name": "root", "containerDisk": {"image": "x/y:1"}}
BOOT = {"firmware": {"kernelBoot": {"container": {"image": "x/kernel"}}}}
BOTH = {"cpu": "1", "memory": "1Gi"}
GUARANTEED = {"resources": {"requests": BOTH, "limits": BOTH}}
OFF = {"developerConfiguration": {"disabledFeatureGates": ["ImageVolume"]}}


def made(domain: Any = None, version: str = "1.9", configuration: Any = None, hooks: Any = None, **spec: Any) -> Pod:
    annotations = {} if hooks is None else {"hooks.kubevirt.io/hookSidecars": hooks}
    metadata = {**METADATA, "annotations": annotations}
    return pod(metadata, spec_of(domain, version, **spec), around(version, configuration=configuration))


def names(found: Pod) -> tuple[list[str], list[str]]:
    return [one.name for one in found.containers], [one.name for one in found.init_containers]


def amounts(container: Container) -> tuple[str, str, str, str]:
    found = [part[name].text for part in (container.requests, container.limits) for name in ("cpu", "memory")]
    return found[0], found[1], found[2], found[3]


def test_images_are_volumes_or_containers() -> None:
    assert names(made(BOOT, volumes=[DISK])) == (
        ["compute"],
        ["guest-console-log", "volumeroot", "volumekernel-boot-volume"],
    )
    assert names(made(BOOT, configuration=OFF, volumes=[DISK])) == (
        ["compute", "volumeroot", "volumekernel-boot-volume"],
        ["guest-console-log", "container-disk-binary", "volumeroot-init", "volumekernel-boot-volume-init"],
    )
    assert names(made(version="1.5", volumes=[DISK])) == (
        ["compute", "volumeroot", "guest-console-log"],
        ["container-disk-binary", "volumeroot-init"],
    )
    assert names(made(configuration=OFF)) == (["compute"], ["guest-console-log"])


def test_what_the_containers_of_disks_ask_for() -> None:
    found = made(configuration=OFF, volumes=[DISK])
    assert amounts(found.containers[1]) == ("1m", "1M", "10m", "40M")
    assert found.containers[1].requests["ephemeral-storage"].text == "50M"
    assert amounts(found.init_containers[1]) == ("10m", "1M", "100m", "40M")
    same = made(GUARANTEED, configuration=OFF, volumes=[DISK])
    assert amounts(same.containers[1]) == amounts(same.init_containers[1]) == ("10m", "40M", "10m", "40M")


@pytest.mark.parametrize(
    ("devices", "options", "logs"),
    [
        ({}, None, True),
        ({"autoattachSerialConsole": False}, None, False),
        ({"logSerialConsole": False}, None, False),
        ({}, {"disableSerialConsoleLog": {}}, False),
        ({"logSerialConsole": True}, {"disableSerialConsoleLog": {}}, True),
    ],
)
def test_the_log_of_the_console(devices: Any, options: Any, logs: bool) -> None:
    found = made({"devices": devices}, configuration={"virtualMachineOptions": options} if options else None)
    assert bool(found.init_containers) is logs
    assert all(amounts(one) == ("5m", "35M", "15m", "60M") and one.restarts for one in found.init_containers)


def test_the_cluster_says_what_a_support_container_gets() -> None:
    entry = {"type": "guest-console-log", "resources": {"requests": {"cpu": "7m"}, "limits": {"memory": "90M"}}}
    found = made(configuration={"supportContainerResources": [entry]})
    assert amounts(found.init_containers[0]) == ("7m", "35M", "15m", "90M")


def test_shared_filesystems() -> None:
    shared = [{"name": name, "virtiofs": {}} for name in ("data", "path")]
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "path", "containerPath": {"path": "/x"}},
        {"name": "other", "emptyDisk": {"capacity": "1Gi"}},
    ]
    found = made({"devices": {"filesystems": shared}}, volumes=volumes)
    assert names(found)[0] == ["compute", "virtiofs-data"]
    assert amounts(found.containers[1]) == ("10m", "1M", "100m", "80M")


def test_hooks() -> None:
    found = made(hooks=json.dumps([{"image": "x"}, {}]))
    assert names(found)[0] == ["compute", "hook-sidecar-0", "hook-sidecar-1"]
    assert found.containers[1].requests == found.containers[1].limits == {}
    assert amounts(made(GUARANTEED, hooks="[{}]").containers[1]) == ("200m", "64M", "200m", "64M")
    assert names(made(hooks="null"))[0] == ["compute"]


def test_sidecars_of_binding_plugins() -> None:
    domain = {"devices": {"interfaces": [{"name": "a", "binding": {"name": "passt"}}, {"name": "b", "bridge": {}}]}}
    known = {"network": {"binding": {"passt": {"sidecarImage": "x"}}}}
    assert names(made(domain, configuration=known))[0] == ["compute", "hook-sidecar-0"]
    with pytest.raises(Unrenderable, match="couldn't find configuration for network binding: passt"):
        made(domain)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"hooks": "["}, "is no JSON"),
        ({"hooks": "{}"}, "is no list"),
        ({"volumes": [{"name": "s", "sysprep": {}}]}, "the volume s: Sysprep must have"),
    ],
)
def test_no_pod_is_made(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unrenderable, match=reason) as failed:
        made(**given)
    assert failed.value.overhead.text == "268Mi"


def container(name: str, cpu: str, limit: str = "", restarts: bool = False) -> Container:
    return Container(name, {"cpu": parse(cpu)}, {"cpu": parse(limit)} if limit else {}, restarts=restarts)


def test_the_whole_is_what_runs_at_once() -> None:
    beside = container("log", "1", restarts=True)
    small, large = container("a", "2"), container("b", "9")
    assert requests([container("main", "3")], [beside, small])["cpu"].text == "4"
    assert requests([container("main", "3")], [beside, large])["cpu"].text == "10"
    assert requests([container("main", "3")], [large, beside])["cpu"].text == "9"
    assert limits([container("main", "3", "5")], [small]) == {"cpu": parse("5")}


def test_a_limit_without_a_request_is_one() -> None:
    assert requests([Container("main", {}, {"x/gpu": parse("2")})], [])["x/gpu"].text == "2"


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
    read = [[{name: parse(text) for name, text in part.items()} for part in one] for one in containers]
    assert qos_class([Container("a", *one) for one in read], []) == expected
