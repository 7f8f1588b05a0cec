"""Names that several manifests share."""

from __future__ import annotations

from typing import Any

NAMESPACE = "kubevirt"
SERVICE = "virt-api"
# The service accounts of KubeVirt's webhooks and controllers.
API_ACCOUNT = "kubevirt-apiserver"
CONTROLLER_ACCOUNT = "kubevirt-controller"
CONTROLLER_USER = f"system:serviceaccount:{NAMESPACE}:{CONTROLLER_ACCOUNT}"
API_USER = f"system:serviceaccount:{NAMESPACE}:{API_ACCOUNT}"
# Marks the objects of the emulation.
LABELS = {"app.kubernetes.io/managed-by": "kubevirt-emulation", "kubevirt.io": ""}

SUBRESOURCE_GROUP = "subresources.kubevirt.io"
SUBRESOURCE_VERSIONS = ("v1", "v1alpha3")


def metadata(name: str, namespace: str = "", **labels: str) -> dict[str, Any]:
    """The metadata of an installed object."""
    result: dict[str, Any] = {"name": name, "labels": {**LABELS, **labels}}
    if namespace:
        result["namespace"] = namespace
    return result
