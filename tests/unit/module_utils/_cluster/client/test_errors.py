"""Answers of the API server in one line with a remedy."""

from typing import Any

import pytest

from plugins.module_utils._cluster.client.errors import ApiError, ConnectionFailed
from plugins.module_utils._resolver.api import kinds

VM = kinds.KINDS["VirtualMachine"]


@pytest.mark.parametrize(
    ("code", "body", "verb", "message"),
    [
        (
            401,
            {"reason": "Unauthorized", "message": "Unauthorized"},
            "GET",
            "the API server rejected the credentials (Unauthorized); log in again, or set another token or kubeconfig",
        ),
        (
            403,
            {"reason": "Forbidden", "message": 'virtualmachines.kubevirt.io is forbidden: User "u" cannot list'},
            "GET",
            'virtualmachines.kubevirt.io is forbidden: User "u" cannot list. To permit the request, grant '
            '{apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], verbs: ["list"]}'
            " in a Role of the namespace shop",
        ),
        (
            403,
            {"reason": "Forbidden", "message": "no"},
            "PATCH",
            'no. To permit the request, grant {apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], '
            'verbs: ["create", "patch"]} in a Role of the namespace shop',
        ),
        (
            404,
            "404 page not found\n",
            "GET",
            "the cluster has no virtualmachines.kubevirt.io (kubevirt.io/v1); check that KubeVirt is installed",
        ),
        (
            404,
            {"reason": "NotFound", "message": "the server could not find the requested resource"},
            "GET",
            "the cluster has no virtualmachines.kubevirt.io (kubevirt.io/v1); check that KubeVirt is installed",
        ),
        (422, {"reason": "Invalid", "message": "a\n  b"}, "PATCH", "a b"),
        (500, b"", "GET", "HTTP 500"),
    ],
)
def test_errors_are_explained(code: int, body: Any, verb: str, message: str) -> None:
    assert str(ApiError(code, body, verb=verb, path=VM.path("shop"))) == message


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
    assert str(error) == (
        'another field manager owns declared fields: "helm" owns spec.c; "kubectl" owns spec.a, spec.b;'
        " remove the fields from the task, or set force_conflicts: true (takes what differs) or"
        " take_over: [helm, kubectl] (takes all that the task declares). Helm declares the object too: its next upgrade"
        " reverts the change, unless the chart has it"
    )


def test_argo_cd_conflict_explains_the_revert() -> None:
    causes = [
        {"field": ".spec.a", "message": f'conflict with "{name}"'}
        for name in ("argocd-controller", "OpenAPI-Generator")
    ]
    error = ApiError(409, {"reason": "Conflict", "message": "Apply failed", "details": {"causes": causes}})
    assert str(error) == (
        'another field manager owns declared fields: "OpenAPI-Generator" owns spec.a; "argocd-controller" owns spec.a;'
        " remove the fields from the task, or set force_conflicts: true (takes what differs) or"
        " take_over: [OpenAPI-Generator, argocd-controller] (takes all that the task declares). Argo CD declares the"
        " object too: its next sync reverts the change, unless Git has it"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x=1,a in (b",
            "label_selectors: 'a in (b' in 'x=1,a in (b' is not a label selector; write k=v, k!=v, k in (a,b), "
            "k notin (a,b), k or !k (unable to parse requirement: why)",
        ),
        # Only the server knows this.
        ("a=1,", "label_selectors: 'a=1,' is not a label selector (unable to parse requirement: why)"),
    ],
)
def test_a_malformed_label_selector(text: str, message: str) -> None:
    error = ApiError(400, {"reason": "BadRequest", "message": "unable to parse requirement: why"})
    error.selector = text
    assert str(error) == message


def test_missing_rule_comes_from_the_server_message() -> None:
    named = 'User "u" cannot list resource "nodes" in API group ""'
    error = ApiError(403, {"reason": "Forbidden", "message": named})
    assert str(error) == (
        f'{named}. To permit the request, grant {{apiGroups: [""], resources: ["nodes"], verbs: ["list"]}}'
    )
    assert str(ApiError(403, {"reason": "Forbidden", "message": "a webhook says no"})) == "a webhook says no"


@pytest.mark.parametrize(
    ("scope", "namespace", "holder"),
    [
        (' in the namespace "shop"', "shop", "Role of the namespace shop"),
        # A webhook that reads another namespace.
        (' in the namespace "images"', "shop", "Role of the namespace images"),
        (" at the cluster scope", "", "ClusterRole"),
        (" at the cluster scope: why", "shop", "ClusterRole"),
        ("", "shop", "Role of the namespace shop"),
        ("", "", "ClusterRole"),
    ],
)
def test_the_narrowest_sufficient_role_is_named(scope: str, namespace: str, holder: str) -> None:
    message = f'User "u" cannot list resource "virtualmachines" in API group "kubevirt.io"{scope}'
    error = ApiError(403, {"reason": "Forbidden", "message": message}, verb="GET", path=VM.path(namespace or None))
    assert str(error).endswith(f'resources: ["virtualmachines"], verbs: ["list"]}} in a {holder}')


def test_lost_connection_keeps_its_message() -> None:
    assert str(ConnectionFailed("gone")) == "gone"
