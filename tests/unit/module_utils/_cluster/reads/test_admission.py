"""The webhooks and policies that may change what is written."""

from typing import Any

import pytest

from plugins.module_utils._cluster.reads.admission import Mutators
from plugins.module_utils._resolver.api.kinds import KINDS
from scripted_server import Store, forbidden, session_with

PLACE = "/apis/admissionregistration.k8s.io/{}/{}"
HOOKS = PLACE.format("v1", "mutatingwebhookconfigurations")
VM = {"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"]}
NAME = "kubernetes.io/metadata.name"
UNKNOWN = "an admission webhook or policy of the cluster"


def hook(name: str, *rules: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}, "webhooks": [{"rules": list(rules)}, {}]}


def policy(name: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"matchConstraints": {"resourceRules": list(rules)}}}


def told(store: Store, kind: str = "VirtualMachine", namespace: str = "shop") -> str:
    with session_with(store) as session:
        mutators = Mutators(session)
        first = mutators.of(KINDS[kind], namespace)
        asked = len(store.asked)
        assert (mutators.of(KINDS[kind], namespace), len(store.asked)) == (first, asked)
        return first


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_those_that_fit_are_named(version: str) -> None:
    own = {"kubevirt.io": "virt-api-mutator"}
    hooks = [
        hook("virt-api-mutator", VM, **own),
        hook("pods", {"apiGroups": [""], "resources": ["pods"]}),
        hook("pool", VM),
    ]
    policies = [policy("all", {"apiGroups": ["*"], "resources": ["*"]}), policy("none")]
    store = Store({HOOKS: hooks, PLACE.format(version, "mutatingadmissionpolicies"): policies})
    assert told(store) == "MutatingWebhookConfiguration pool or MutatingAdmissionPolicy all"
    assert told(store, "VirtualMachineInstancetype") == "MutatingAdmissionPolicy all"


def test_who_may_not_read_them_learns_the_rest() -> None:
    assert told(Store({HOOKS: []})) == UNKNOWN
    assert told(Store({}, {("GET", "mutatingwebhookconfigurations"): forbidden("x")})) == UNKNOWN
    policies = {("GET", "mutatingadmissionpolicies"): forbidden("x")}
    assert told(Store({HOOKS: [hook("pool", VM)]}, policies)) == "MutatingWebhookConfiguration pool"


@pytest.mark.parametrize(
    ("selector", "reaches"),
    [
        ({}, True),
        ({"matchLabels": {NAME: "shop"}}, True),
        ({"matchLabels": {NAME: "lab"}}, False),
        ({"matchLabels": {"team": "lab"}}, True),
        ({"matchExpressions": [{"key": NAME, "operator": "In", "values": ["shop", "lab"]}]}, True),
        ({"matchExpressions": [{"key": NAME, "operator": "In", "values": ["lab"]}]}, False),
        ({"matchExpressions": [{"key": NAME, "operator": "NotIn", "values": ["shop"]}]}, False),
        ({"matchExpressions": [{"key": NAME, "operator": "NotIn", "values": ["kube-system"]}]}, True),
        ({"matchExpressions": [{"key": NAME, "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": NAME, "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}, True),
    ],
)
def test_those_of_other_namespaces_are_not_named(selector: dict[str, Any], reaches: bool) -> None:
    narrow = {"metadata": {"name": "pool"}, "webhooks": [{"rules": [VM], "namespaceSelector": selector}]}
    store = Store({HOOKS: [narrow]})
    assert told(store) == ("MutatingWebhookConfiguration pool" if reaches else UNKNOWN)
    assert told(store, namespace="") == "MutatingWebhookConfiguration pool"
