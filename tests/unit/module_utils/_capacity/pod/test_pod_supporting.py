"""The containers beside the guest's, and what the pod asks for as a whole."""

import json
from typing import Any

import pytest
from pod_samples import METADATA, make_env, spec_of

from plugins.module_utils._capacity.pod.amounts import Container, limits, qos_class, requests
from plugins.module_utils._capacity.pod.pod import Pod, Unrenderable, pod
from plugins.module_utils._resolver.api.quantity import parse

DISK = {"name": "root", "containerDisk": {"image": "x/y:1"}}
BOOT = {"firmware": {"kernelBoot": {"container": {"image": "x/kernel"}}}}
BOTH = {"cpu": "1", "memory": "1Gi"}
GUARANTEED = {"resources": {"requests": BOTH, "limits": BOTH}}
OFF = {"developerConfiguration": {"disabledFeatureGates": ["ImageVolume"]}}


def make_pod(
    domain: Any = None, version: str = "1.9", configuration: Any = None, hooks: Any = None, **spec: Any
) -> Pod:
    annotations = {} if hooks is None else {"hooks.kubevirt.io/hookSidecars": hooks}
    metadata = {**METADATA, "annotations": annotations}
    return pod(metadata, spec_of(domain, version, **spec), make_env(version, configuration=configuration))


def names(launcher_pod: Pod) -> tuple[list[str], list[str]]:
    return [container.name for container in launcher_pod.containers], [
        container.name for container in launcher_pod.init_containers
    ]


def amounts(container: Container) -> tuple[str, str, str, str]:
    texts = [part[name].text for part in (container.requests, container.limits) for name in ("cpu", "memory")]
    return texts[0], texts[1], texts[2], texts[3]


def test_images_are_volumes_or_containers() -> None:
    assert names(make_pod(BOOT, volumes=[DISK])) == (
        ["compute"],
        ["guest-console-log", "volumeroot", "volumekernel-boot-volume"],
    )
    assert names(make_pod(BOOT, configuration=OFF, volumes=[DISK])) == (
        ["compute", "volumeroot", "volumekernel-boot-volume"],
        ["guest-console-log", "container-disk-binary", "volumeroot-init", "volumekernel-boot-volume-init"],
    )
    assert names(make_pod(version="1.5", volumes=[DISK])) == (
        ["compute", "volumeroot", "guest-console-log"],
        ["container-disk-binary", "volumeroot-init"],
    )
    assert names(make_pod(configuration=OFF)) == (["compute"], ["guest-console-log"])


def test_resources_of_container_disks() -> None:
    launcher_pod = make_pod(configuration=OFF, volumes=[DISK])
    assert amounts(launcher_pod.containers[1]) == ("1m", "1M", "10m", "40M")
    assert launcher_pod.containers[1].requests["ephemeral-storage"].text == "50M"
    assert amounts(launcher_pod.init_containers[1]) == ("10m", "1M", "100m", "40M")
    guaranteed = make_pod(GUARANTEED, configuration=OFF, volumes=[DISK])
    assert amounts(guaranteed.containers[1]) == amounts(guaranteed.init_containers[1]) == ("10m", "40M", "10m", "40M")


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
def test_console_log(devices: Any, options: Any, logs: bool) -> None:
    launcher_pod = make_pod({"devices": devices}, configuration={"virtualMachineOptions": options} if options else None)
    assert bool(launcher_pod.init_containers) is logs
    assert all(
        amounts(container) == ("5m", "35M", "15m", "60M") and container.restarts
        for container in launcher_pod.init_containers
    )


def test_resources_of_support_containers() -> None:
    entry = {"type": "guest-console-log", "resources": {"requests": {"cpu": "7m"}, "limits": {"memory": "90M"}}}
    launcher_pod = make_pod(configuration={"supportContainerResources": [entry]})
    assert amounts(launcher_pod.init_containers[0]) == ("7m", "35M", "15m", "90M")


def test_shared_filesystems() -> None:
    shared = [{"name": name, "virtiofs": {}} for name in ("data", "path")]
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "path", "containerPath": {"path": "/x"}},
        {"name": "other", "emptyDisk": {"capacity": "1Gi"}},
    ]
    launcher_pod = make_pod({"devices": {"filesystems": shared}}, volumes=volumes)
    assert names(launcher_pod)[0] == ["compute", "virtiofs-data"]
    assert amounts(launcher_pod.containers[1]) == ("10m", "1M", "100m", "80M")


def test_hooks() -> None:
    launcher_pod = make_pod(hooks=json.dumps([{"image": "x"}, {}]))
    assert names(launcher_pod)[0] == ["compute", "hook-sidecar-0", "hook-sidecar-1"]
    assert launcher_pod.containers[1].requests == launcher_pod.containers[1].limits == {}
    assert amounts(make_pod(GUARANTEED, hooks="[{}]").containers[1]) == ("200m", "64M", "200m", "64M")
    assert names(make_pod(hooks="null"))[0] == ["compute"]


def test_sidecars_of_binding_plugins() -> None:
    domain = {"devices": {"interfaces": [{"name": "a", "binding": {"name": "passt"}}, {"name": "b", "bridge": {}}]}}
    registered = {"network": {"binding": {"passt": {"sidecarImage": "x"}}}}
    assert names(make_pod(domain, configuration=registered))[0] == ["compute", "hook-sidecar-0"]
    with pytest.raises(Unrenderable, match="couldn't find configuration for network binding: passt"):
        make_pod(domain)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"hooks": "["}, "is no JSON"),
        ({"hooks": "{}"}, "is no list"),
        ({"volumes": [{"name": "s", "sysprep": {}}]}, "the volume s: Sysprep must have"),
    ],
)
def test_unrenderable_vmi(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unrenderable, match=reason):
        make_pod(**options)


def container(name: str, cpu: str, limit: str = "", restarts: bool = False) -> Container:
    return Container(name, {"cpu": parse(cpu)}, {"cpu": parse(limit)} if limit else {}, restarts=restarts)


def test_pod_resources_are_those_that_run_at_once() -> None:
    sidecar = container("log", "1", restarts=True)
    small, large = container("a", "2"), container("b", "9")
    assert requests([container("main", "3")], [sidecar, small])["cpu"].text == "4"
    assert requests([container("main", "3")], [sidecar, large])["cpu"].text == "10"
    assert requests([container("main", "3")], [large, sidecar])["cpu"].text == "9"
    assert limits([container("main", "3", "5")], [small]) == {"cpu": parse("5")}


def test_limit_without_request_is_a_request() -> None:
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
    parsed = [[{name: parse(text) for name, text in part.items()} for part in pair] for pair in containers]
    assert qos_class([Container("a", *pair) for pair in parsed], []) == expected
