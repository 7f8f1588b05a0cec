"""A VMI as the cluster stores it."""

from typing import Any

import pytest
from pod_samples import make_env, spec_of

from plugins.module_utils._capacity.pod.resources import apply_vmi_webhook, expected_status

EVEN = {"alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity": ""}
ISOLATED = {"cpu": {"sockets": 1, "isolateEmulatorThread": True}}


def stored(domain: Any = None, version: str = "1.9", env: Any = None, **spec: Any) -> tuple[Any, Any]:
    metadata: dict[str, Any] = {"name": "web"}
    vmi_spec = spec_of(domain, version, **spec)
    apply_vmi_webhook(metadata, vmi_spec, env or make_env(version))
    return metadata.get("annotations", {}), vmi_spec


def test_defaults_and_maximums() -> None:
    annotations, spec = stored({"memory": {"guest": "1Gi"}})
    assert annotations == {"kubevirt.io/pci-topology-version": "v3"}
    assert (spec["domain"]["cpu"]["maxSockets"], spec["domain"]["memory"]["maxGuest"]) == (4, "4Gi")
    assert spec["domain"]["machine"] == {"type": "q35"}
    _annotations, fixed = stored(
        {"memory": {"guest": "1Gi"}}, env=make_env(configuration={"vmRolloutStrategy": "Stage"})
    )
    assert "maxSockets" not in fixed["domain"]["cpu"] and "maxGuest" not in fixed["domain"]["memory"]


def test_settings_of_cluster() -> None:
    env = make_env(configuration={"cpuModel": "Haswell", "liveUpdateConfiguration": {"maxCpuSockets": 8}})
    cpu = stored(env=env)[1]["domain"]["cpu"]
    assert (cpu["model"], cpu["maxSockets"]) == ("Haswell", 8)


def test_older_releases_set_node_selector_and_memory_request() -> None:
    domain = {"memory": {"guest": "1Gi"}, "cpu": {"sockets": 1, "realtime": {}}}
    annotations, spec = stored(domain, "1.4")
    assert (annotations, spec["nodeSelector"]) == ({}, {"kubevirt.io/realtime": ""})
    assert spec["domain"]["resources"]["requests"]["memory"] == "1Gi"
    assert "nodeSelector" not in stored(domain)[1]


def test_parity() -> None:
    gated = make_env(gates=["AlignCPUs"])
    even = make_env(gates=["AlignCPUs"], annotations=EVEN)
    assert EVEN.items() <= stored(ISOLATED, env=even)[0].items()
    for other in (
        stored(ISOLATED, env=make_env(annotations=EVEN)),
        stored(ISOLATED, env=gated),
        stored(env=even),
    ):
        assert not EVEN.keys() & other[0].keys()


def test_no_pci_topology_without_pcie() -> None:
    assert stored(architecture="s390x")[0] == {}


@pytest.mark.parametrize(("architecture", "frequency"), [("amd64", 7), ("arm64", None)])
def test_tsc_frequency(architecture: str, frequency: int | None) -> None:
    env = make_env(configuration={"developerConfiguration": {"minimumClusterTSCFrequency": 7}})
    spec = spec_of({"features": {"hyperv": {"reenlightenment": {}}}}, architecture=architecture)
    hints = expected_status(spec, env).get("topologyHints") or {}
    assert hints.get("tscFrequency") == frequency
    assert expected_status(spec_of(architecture="amd64"), env) == {}
