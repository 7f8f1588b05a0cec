"""The webhooks and policies that may change what is written."""

from typing import Any

import pytest

from plugins.module_utils._cluster.reads.admission import Mutators
from plugins.module_utils._resolver.api.kinds import KINDS
from scripted_server import Store, forbidden, session_with

PLACE = "/apis/admissionregistration.k8s.io/{}/{}"
HOOKS = PLACE.format("v1", "mutatingwebhookconfigurations")
VM = {"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"]}
UNKNOWN = "an admission webhook or policy of the cluster"


def hook(name: str, *rules: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}, "webhooks": [{"rules": list(rules)}, {}]}


def policy(name: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"matchConstraints": {"resourceRules": list(rules)}}}


def told(store: Store, kind: str = "VirtualMachine") -> str:
    with session_with(store) as session:
        mutators = Mutators(session)
        first = mutators.of(KINDS[kind])
        asked = len(store.asked)
        assert (mutators.of(KINDS[kind]), len(store.asked)) == (first, asked)
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
