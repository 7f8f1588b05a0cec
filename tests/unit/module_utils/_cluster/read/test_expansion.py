"""The server's expansion beside the resolver's: every difference is told."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.errors import ApiError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.read.expansion import expand_vms
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.read.kubevirt import KubeVirt, kubevirt
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from scripted_server import listed, session_with, status

KUBEVIRTS = "/apis/kubevirt.io/v1/kubevirts"
TYPES = "/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes"
SMALL = {"metadata": {"name": "small"}, "spec": {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}}}
SECRET = {"name": "init", "cloudInitNoCloud": {"userData": "password: hunter2"}}
VM: dict[str, Any] = {
    "metadata": {"name": "a", "namespace": "shop"},
    "spec": {
        "runStrategy": "Always",
        "instancetype": {"name": "small"},
        "template": {"spec": {"domain": {"devices": {}}, "volumes": [SECRET]}},
    },
}


KUBEVIRT = {"metadata": {"name": "kubevirt", "namespace": "kubevirt"}}


def expanded(sockets: int, **more: Any) -> dict[str, Any]:
    """The VM as a server has it that gives it so many sockets."""
    cpu = {"cores": 1, "sockets": sockets, "threads": 1}
    devices = {
        "disks": [{"name": "init", "disk": {"bus": "virtio"}}],
        "interfaces": [{"name": "default", "bridge": {}, "model": "virtio"}],
    }
    spec = {
        "architecture": "amd64",
        "domain": {"cpu": cpu, "memory": {"guest": "2048Mi"}, "devices": devices, **more},
        "networks": [{"name": "default", "pod": {}}],
        "volumes": [SECRET],
    }
    return {"metadata": VM["metadata"], "spec": {"runStrategy": "Always", "template": {"spec": spec}}}


def differing(answer: tuple[int, Any], *instancetypes: Any) -> Any:
    def respond(_method: str, path: str, _query: dict[str, str]) -> tuple[int, Any]:
        if path == KUBEVIRTS:
            return status(403, "forbidden", "Forbidden")
        return (200, listed(*instancetypes)) if path == TYPES else answer

    with session_with(respond) as session:
        return expand_vms(session, [VM], 2)[0]


def fields(found: Any) -> dict[str, Any]:
    return {one["field"]: (one["server"], one["resolver"]) for one in found.differences}


def test_a_field_with_another_value_and_one_that_the_resolver_does_not_know() -> None:
    base = fields(differing((200, expanded(2)), SMALL))
    found = differing((200, expanded(4, newThing={"a": 1})), SMALL)
    own = {key: value for key, value in fields(found).items() if key not in base}
    assert own == {
        "template.spec.domain.cpu.sockets": (4, 2),
        "template.spec.domain.newThing": ({"a": 1}, None),
    }
    assert not found.equal
    assert "hunter2" not in str(found)


def test_errors_are_equal_for_the_same_reason_only() -> None:
    text = 'virtualmachineclusterinstancetypes.instancetype.kubevirt.io "small" not found'
    same = differing(status(500, f"Internal error occurred: {text}", "InternalError"))
    assert (same.equal, same.resolver_error) == (True, text)
    assert not differing(status(500, "Internal error occurred: out of order", "InternalError")).equal
    assert not differing(status(500, f"Internal error occurred: {text}", "InternalError"), SMALL).equal
    assert not differing((200, expanded(2))).equal


def test_a_missing_right_is_no_difference() -> None:
    with pytest.raises(ApiError, match="not allowed"):
        differing(status(403, "not allowed", "Forbidden"))


@pytest.mark.parametrize(
    ("answer", "release", "ratio", "architecture", "known"),
    [
        (status(403, "forbidden", "Forbidden"), NEWEST.version, 10, "amd64", False),
        ((200, listed()), NEWEST.version, 10, "amd64", False),
        (
            (
                200,
                listed(
                    {
                        "spec": {"configuration": {"developerConfiguration": {"cpuAllocationRatio": 4}}},
                        **KUBEVIRT,
                        "status": {"observedKubeVirtVersion": "v1.4.1", "defaultArchitecture": "arm64"},
                    }
                ),
            ),
            (1, 4, 1),
            4,
            "arm64",
            True,
        ),
        (
            (200, listed({**KUBEVIRT, "status": {"observedKubeVirtVersion": "devel"}})),
            NEWEST.version,
            10,
            "amd64",
            True,
        ),
    ],
)
def test_what_the_cluster_is(
    answer: tuple[int, Any], release: tuple[int, int, int], ratio: int, architecture: str, known: bool
) -> None:
    with session_with(lambda _method, _path, _query: answer) as session:
        found = kubevirt(session)
    assert found == KubeVirt(found.configuration, found.release, ratio, known)
    assert (found.release.version, found.configuration.architecture) == (release, architecture)


def test_a_cluster_whose_changes_wait_for_a_restart() -> None:
    def found(**configuration: str) -> KubeVirt:
        answer = 200, listed({"metadata": {"name": "kubevirt"}, "spec": {"configuration": configuration}})
        with session_with(lambda _method, _path, _query: answer) as session:
            return kubevirt(session)

    assert not found(vmRolloutStrategy="Stage").live_updates
    assert found(vmRolloutStrategy="LiveUpdate").live_updates
    assert found().live_updates
