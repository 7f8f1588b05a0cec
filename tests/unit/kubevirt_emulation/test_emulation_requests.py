"""Requests as virt-api reads and answers them."""

from __future__ import annotations

import base64
import json

import pytest

from kubevirt_emulation.subresources import answers
from kubevirt_emulation.subresources.answers import Refused
from kubevirt_emulation.subresources.body import json_body, options
from kubevirt_emulation.webhooks import admission


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"", {}), (b"null", {}), (b'{"paused": true}', {"paused": True}), (b"paused: true", {"paused": True})],
)
def test_options(content: bytes, expected: dict[str, object]) -> None:
    assert options(content, "StartOptions") == expected


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "unexpected EOF"),
        (b"[", "did not find expected node content"),
        (b'"x"', "cannot unmarshal string into Go value of type v1.StopOptions"),
        (b'{"gracePeriod": "x"}', "cannot unmarshal string into Go struct field StopOptions.gracePeriod of type int64"),
    ],
)
def test_options_that_are_none(content: bytes, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        options(content, "StopOptions")
    assert refused.value.code == 400
    assert reason in refused.value.status["message"]


def test_a_body_that_ends_too_early() -> None:
    with pytest.raises(Refused, match="unexpected end of JSON input"):
        json_body(b'{"x":')


def test_statuses_name_the_object() -> None:
    status = answers.conflict("virtualmachine", "a", "VM is not running").status
    assert status["details"] == {"name": "a", "group": "kubevirt.io", "kind": "virtualmachine"}
    assert (status["code"], status["reason"]) == (409, "Conflict")


def test_review_and_answer() -> None:
    review = admission.read(
        {
            "request": {
                "uid": "u",
                "operation": "UPDATE",
                "kind": {"kind": "VirtualMachine"},
                "namespace": "ns",
                "object": {"metadata": {"deletionTimestamp": "now"}},
                "oldObject": {"metadata": {}},
            }
        }
    )
    assert review.being_deleted and review.old == {"metadata": {}}
    patch = {"op": "replace", "path": "/spec", "value": {}}
    response = admission.Answer(patch=(patch,), warnings=("w",)).to_review("u")["response"]
    assert response["allowed"] and response["warnings"] == ["w"]
    assert json.loads(base64.b64decode(response["patch"])) == [patch]


def test_refusal() -> None:
    response = admission.Answer(status=admission.not_of_schema(["a", "b"])).to_review("u")["response"]
    assert not response["allowed"]
    assert response["status"]["message"] == "a, b"
    assert response["status"]["details"]["causes"] == [{"message": "a"}, {"message": "b"}]
