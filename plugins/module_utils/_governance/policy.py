"""Limits as ValidatingAdmissionPolicies of Kubernetes, and back."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from .._resolver.api.keys import CATALOG_LABEL, FIELD_MANAGER, LIMIT_ANNOTATION, LIMIT_SUFFIX, MANAGED_BY_LABEL
from .._resolver.api.kinds import KINDS
from .._resolver.api.manifest import Manifest, annotations_of
from .._resolver.api.matcher import INSTANCETYPE
from .checks import VARIABLES, VMI, checks
from .language import AUDIT, DENY, WARN, Limit, as_data, limit_from_data

POLICY: Final = "ValidatingAdmissionPolicy"
BINDING: Final = "ValidatingAdmissionPolicyBinding"
PROBED: Final = "this object tests the limit {}"
"""The beginning of the words of a policy about its probe."""

_VALIDATION_ACTIONS: Final = {DENY: "Deny", WARN: "Warn", AUDIT: "Audit"}
_EVERYTHING: Final[Manifest] = {}


def policies(limit: Limit, catalog: str, controller: str) -> list[Manifest]:
    """The policy of a limit and its binding.

    catalog: the name for the label. controller: the user name of virt-controller, which creates the VMIs of VMs.
    """
    name = f"{limit.name}{LIMIT_SUFFIX}"
    labels = {MANAGED_BY_LABEL: FIELD_MANAGER, CATALOG_LABEL: catalog}
    # With the reference policy expand, virt-controller replaces the matchers of a VM.
    variables = {**VARIABLES, "expands": f"request.userInfo.username == '{controller}'"}
    annotation = json.dumps(as_data(limit), sort_keys=True)
    policy: Manifest = {
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
    policy["validations"].append(_of_probe(name, policy))
    binding = {"policyName": name, "validationActions": [_VALIDATION_ACTIONS[limit.action]]}
    return [
        _manifest(POLICY, name, labels, policy, {LIMIT_ANNOTATION: annotation}),
        _manifest(BINDING, name, labels, binding),
    ]


def probe(name: str) -> Manifest:
    """The object by which the API server shows whether it judges by a policy of this name.

    It is an instancetype of a namespace, the smallest, so that it keeps every other limit. Nobody stores it.
    """
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "1"}}
    return {
        "apiVersion": KINDS[INSTANCETYPE.kind].api_version,
        "kind": INSTANCETYPE.kind,
        "metadata": {"name": _probe_name(name)},
        "spec": spec,
    }


def probe_message(policy: Manifest) -> str:
    """The words of a policy about its probe, which tell the policies of changed limits apart."""
    return str(policy["spec"]["validations"][-1]["message"])


def _probe_name(name: str) -> str:
    return f"probe.{name}"


def _of_probe(name: str, policy: Manifest) -> Manifest:
    """The validation of the probe, which every probe fails."""
    digest = hashlib.sha256(json.dumps(policy, sort_keys=True).encode()).hexdigest()[:12]
    return {
        "expression": f"object.kind != '{INSTANCETYPE.kind}'"
        f" || object.metadata.?name.orValue('') != '{_probe_name(name)}'",
        "message": f"{PROBED.format(name)} ({digest})",
    }


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
