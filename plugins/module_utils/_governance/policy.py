"""Limits as ValidatingAdmissionPolicies of Kubernetes, and back."""

from __future__ import annotations

import json
from typing import Final

from .._resolver.api.kinds import KINDS
from .._resolver.api.manifest import Manifest, annotations_of
from .._resolver.api.matcher import INSTANCETYPE
from .._resolver.catalog.labels import CATALOG_LABEL, MANAGED_BY_LABEL, MANAGER
from .checks import VARIABLES, VMI, checks
from .language import AUDIT, DENY, WARN, Limit, as_data, limit_from_data

POLICY: Final = "ValidatingAdmissionPolicy"
BINDING: Final = "ValidatingAdmissionPolicyBinding"
LIMIT_ANNOTATION: Final = "instancetypes.virtshape.io/limit"
"""Has the limit of a policy as JSON, so that the modules judge VMs as the policy does."""

SUFFIX: Final = ".limits.virtshape.io"
"""The ending of the names of all policies."""

_VALIDATION_ACTIONS: Final = {DENY: "Deny", WARN: "Warn", AUDIT: "Audit"}
_EVERYTHING: Final[Manifest] = {}


def policies(limit: Limit, catalog: str, controller: str) -> list[Manifest]:
    """The policy of a limit and its binding.

    catalog: the name for the label. controller: the user name of virt-controller, which creates the VMIs of VMs.
    """
    name = f"{limit.name}{SUFFIX}"
    labels = {MANAGED_BY_LABEL: MANAGER, CATALOG_LABEL: catalog}
    # With the reference policy expand, virt-controller replaces the matchers of a VM.
    variables = {**VARIABLES, "expands": f"request.userInfo.username == '{controller}'"}
    annotation = json.dumps(as_data(limit), sort_keys=True)
    policy = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "matchPolicy": "Equivalent",
            "namespaceSelector": limit.selector,
            "objectSelector": _EVERYTHING,
            "resourceRules": [
                _rule("VirtualMachine", "CREATE", "UPDATE"),
                # Later, only components of KubeVirt may change the spec of a VMI.
                _rule(VMI, "CREATE"),
                _rule(INSTANCETYPE.kind, "CREATE", "UPDATE"),
            ],
        },
        "matchConditions": [
            {
                "name": "not-made-of-a-vm",
                # The VM has been judged, and may be older than the limit.
                "expression": f"object.kind != '{VMI}' || request.userInfo.username != '{controller}'"
                " || !object.metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == 'VirtualMachine')",
            }
        ],
        "variables": [{"name": name, "expression": expression} for name, expression in variables.items()],
        "validations": [{"expression": check.cel, "messageExpression": check.message} for check in checks(limit)],
    }
    binding = {"policyName": name, "validationActions": [_VALIDATION_ACTIONS[limit.action]]}
    return [
        _manifest(POLICY, name, labels, policy, {LIMIT_ANNOTATION: annotation}),
        _manifest(BINDING, name, labels, binding),
    ]


def limit_of(policy: Manifest) -> Limit | None:
    """The limit of a policy that `policies` made; None for any other."""
    try:
        return limit_from_data(json.loads(annotations_of(policy).get(LIMIT_ANNOTATION, "")))
    except ValueError:
        return None


def _rule(kind: str, *operations: str) -> Manifest:
    resource = KINDS[kind]
    return {
        "apiGroups": [resource.group],
        "apiVersions": [resource.version],
        "operations": list(operations),
        "resources": [resource.plural],
        "scope": "*",
    }


def _manifest(
    kind: str, name: str, labels: dict[str, str], spec: Manifest, annotations: dict[str, str] | None = None
) -> Manifest:
    metadata: Manifest = {"name": name, "labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": metadata, "spec": spec}
