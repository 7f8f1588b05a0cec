"""Answers of the API server in one line with a remedy."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster import kinds
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.errors import (
    ApiError,
    ConnectionFailed,
    explain,
)

VM = kinds.BY_NAME["VirtualMachine"]


@pytest.mark.parametrize(
    ("code", "body", "verb", "told"),
    [
        (
            401,
            {"reason": "Unauthorized", "message": "Unauthorized"},
            "LIST",
            "the API server refused the credentials (Unauthorized): log in again or give another token or kubeconfig",
        ),
        (
            403,
            {"reason": "Forbidden", "message": 'virtualmachines.kubevirt.io is forbidden: User "u" cannot list'},
            "LIST",
            'virtualmachines.kubevirt.io is forbidden: User "u" cannot list. To permit it, grant '
            '{apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], verbs: ["list"]}',
        ),
        (
            403,
            {"reason": "Forbidden", "message": "no"},
            "PATCH",
            'no. To permit it, grant {apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], '
            'verbs: ["create", "patch"]}',
        ),
        (
            404,
            "404 page not found\n",
            "LIST",
            "the cluster has no virtualmachines.kubevirt.io (kubevirt.io/v1): is KubeVirt installed?",
        ),
        (
            404,
            {"reason": "NotFound", "message": "the server could not find the requested resource"},
            "LIST",
            "the cluster has no virtualmachines.kubevirt.io (kubevirt.io/v1): is KubeVirt installed?",
        ),
        (422, {"reason": "Invalid", "message": "a\n  b"}, "PATCH", "a b"),
        (500, b"", "GET", "HTTP 500"),
    ],
)
def test_explained(code: int, body: Any, verb: str, told: str) -> None:
    assert explain(ApiError(code, body), verb, VM) == told


def test_a_conflict_names_managers_and_fields() -> None:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "field": ".spec.a",
            "message": 'conflict with "kubectl" using kubevirt.io/v1',
        },
        {"reason": "FieldManagerConflict", "field": ".spec.c", "message": 'conflict with "helm" using kubevirt.io/v1'},
        {
            "reason": "FieldManagerConflict",
            "field": ".spec.b",
            "message": 'conflict with "kubectl" using kubevirt.io/v1',
        },
    ]
    error = ApiError(409, {"reason": "Conflict", "message": "Apply failed", "details": {"causes": causes}})
    assert explain(error, "PATCH", VM) == (
        'fields are owned by another field manager: "helm" owns spec.c; "kubectl" owns spec.a, spec.b;'
        " remove them here, or set force_conflicts to take them"
    )


def test_a_lost_connection_speaks_for_itself() -> None:
    assert explain(ConnectionFailed("gone"), "GET") == "gone"
