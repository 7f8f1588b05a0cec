"""Contents of ControllerRevisions, and why they cannot be read."""

import base64
from typing import Any

import pytest
from kubevirt_failures import failure

from plugins.module_utils._resolver.api import matcher
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE
from plugins.module_utils._resolver.api.release import parse_release
from plugins.module_utils._resolver.kubevirt.instancetype import decode

FAILED = "failed to decode object in ControllerRevision: "


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "data: expected an object, found []"),
        (True, "data: expected an object, found True"),
        ({}, "it holds a None of None, which KubeVirt does not read"),
        ({"kind": ["X"], "apiVersion": "a/b"}, "it holds a ['X'] of a/b, which KubeVirt does not read"),
        ({"kind": "Pod", "apiVersion": "v1"}, "it holds a Pod of v1, which KubeVirt does not read"),
    ],
)
def test_unreadable_data(data: Any, message: str) -> None:
    assert failure(decode.decode, {"data": data}).message == FAILED + message


def test_empty_revision_fails_only_for_its_spec() -> None:
    assert decode.decode({}) is None
    assert failure(decode.spec, {}, INSTANCETYPE).message == "the ControllerRevision is empty"


def test_spec_without_object_gets_name_from_kubevirt() -> None:
    text = base64.b64encode(b'{"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}').decode()
    revision = {"data": {"apiVersion": "instancetype.kubevirt.io/v1alpha1", "spec": text}}
    decoded = decode.decode(revision, parse_release("1.5"))
    assert decoded is not None
    assert decoded["apiVersion"] == matcher.API_VERSION
    assert decoded["metadata"]["name"] == "old-version-of-instancetype-object"
