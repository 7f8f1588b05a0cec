"""The server's expansion compared with the resolver's: every difference is reported."""

from typing import Any

import pytest

from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.modules.virtual_machine_info import expansions
from scripted_server import KUBEVIRTS, listed, session_with, status

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
        return expansions(session, [VM], 2)[0]


def fields(result: Any) -> dict[str, Any]:
    return {item["field"]: (item["server"], item["resolver"]) for item in result["differences"]}


def test_changed_and_unknown_fields_are_differences() -> None:
    base = fields(differing((200, expanded(2)), SMALL))
    result = differing((200, expanded(4, newThing={"a": 1})), SMALL)
    own = {key: value for key, value in fields(result).items() if key not in base}
    assert own == {
        "template.spec.domain.cpu.sockets": (4, 2),
        "template.spec.domain.newThing": ({"a": 1}, None),
    }
    assert not result["equal"]
    assert "hunter2" not in str(result)


def test_errors_are_equal_for_the_same_reason_only() -> None:
    text = 'virtualmachineclusterinstancetypes.instancetype.kubevirt.io "small" not found'
    same = differing(status(500, f"Internal error occurred: {text}", "InternalError"))
    assert (same["equal"], same["resolver_error"]) == (True, text)
    assert not differing(status(500, "Internal error occurred: out of order", "InternalError"))["equal"]
    assert not differing(status(500, f"Internal error occurred: {text}", "InternalError"), SMALL)["equal"]
    assert not differing((200, expanded(2)))["equal"]


def test_a_missing_right_is_no_difference() -> None:
    with pytest.raises(ApiError, match="not allowed"):
        differing(status(403, "not allowed", "Forbidden"))
