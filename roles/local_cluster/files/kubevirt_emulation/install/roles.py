"""KubeVirt's cluster roles for instance types, VMs and subresources."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.install.names import (
    API_ACCOUNT,
    API_USER,
    CONTROLLER_ACCOUNT,
    CONTROLLER_USER,
    NAMESPACE,
    SUBRESOURCE_GROUP,
    metadata,
)

Manifest = dict[str, Any]

READ = ["get", "list", "watch"]
WRITE = ["get", "delete", "create", "update", "patch", "list", "watch"]
ALL = [*WRITE, "deletecollection"]

_KUBEVIRT = ["virtualmachines", "virtualmachineinstances"]
_INSTANCETYPES = [
    "virtualmachineinstancetypes",
    "virtualmachineclusterinstancetypes",
    "virtualmachinepreferences",
    "virtualmachineclusterpreferences",
]
_CLUSTER_WIDE = ["virtualmachineclusterinstancetypes", "virtualmachineclusterpreferences"]
_POWER = [f"virtualmachines/{verb}" for verb in ("start", "stop", "restart")]
_PAUSE = [f"virtualmachineinstances/{verb}" for verb in ("pause", "unpause")]
_EXPAND = [
    {"apiGroups": [SUBRESOURCE_GROUP], "resources": ["virtualmachines/expand-spec"], "verbs": ["get"]},
    {"apiGroups": [SUBRESOURCE_GROUP], "resources": ["expand-vm-spec"], "verbs": ["update"]},
]


def _rule(group: str, resources: list[str], verbs: list[str]) -> Manifest:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _writer(verbs: list[str]) -> list[Manifest]:
    return [
        _rule(SUBRESOURCE_GROUP, [*_POWER, *_PAUSE], ["update"]),
        *_EXPAND,
        _rule("kubevirt.io", _KUBEVIRT, verbs),
        _rule("instancetype.kubevirt.io", _INSTANCETYPES, verbs),
    ]


_RULES = {
    "kubevirt.io:admin": _writer(ALL),
    "kubevirt.io:edit": _writer(WRITE),
    "kubevirt.io:view": [
        *_EXPAND,
        _rule("kubevirt.io", _KUBEVIRT, READ),
        _rule("instancetype.kubevirt.io", _INSTANCETYPES, READ),
    ],
    "instancetype.kubevirt.io:view": [_rule("instancetype.kubevirt.io", _CLUSTER_WIDE, READ)],
    # Everyone may read the version of the cluster's KubeVirt.
    "kubevirt.io:default": [
        _rule(SUBRESOURCE_GROUP, ["version"], ["get", "list"]),
        _rule("kubevirt.io", ["kubevirts"], ["get", "list"]),
    ],
    # virt-api's own permissions, without VolumeSnapshots.
    API_ACCOUNT: [_rule("", ["persistentvolumeclaims"], READ), _rule("cdi.kubevirt.io", ["*"], READ)],
}
# These roles are aggregated into the cluster's admin, edit and view.
_AGGREGATED = ("admin", "edit", "view")


def manifests() -> list[Manifest]:
    """Cluster roles, bindings and the service accounts of KubeVirt's components."""
    roles = [_role(name, rules) for name, rules in _RULES.items()]
    bindings = [
        _binding("instancetype.kubevirt.io:view", {"kind": "Group", "name": "system:authenticated"}),
        _binding("kubevirt.io:default", {"kind": "Group", "name": "system:authenticated"}),
        _binding(API_ACCOUNT, {"kind": "User", "name": API_USER}),
        _binding("cluster-admin", {"kind": "User", "name": CONTROLLER_USER}, CONTROLLER_ACCOUNT),
    ]
    accounts = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(name, NAMESPACE)}
        for name in (API_ACCOUNT, CONTROLLER_ACCOUNT)
    ]
    return [*roles, *bindings, *accounts]


def _role(name: str, rules: list[Manifest]) -> Manifest:
    aggregated = [role for role in _AGGREGATED if name == f"kubevirt.io:{role}"]
    labels = {f"rbac.authorization.k8s.io/aggregate-to-{role}": "true" for role in aggregated}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": metadata(name, **labels),
        "rules": rules,
    }


def _binding(role: str, subject: Manifest, name: str = "") -> Manifest:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata(name or role),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", **subject}],
    }
