"""How the API server reaches the emulation: Service, APIServices and webhook configurations.

The Service has the type ExternalName, because endpoints must not be loopback addresses.
"""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.cdi import names as cdi_names
from kubevirt_emulation.cdi.webhooks import CONFIGURATIONS
from kubevirt_emulation.install.names import (
    CONTROLLER_USER,
    NAMESPACE,
    SERVICE,
    SUBRESOURCE_GROUP,
    SUBRESOURCE_VERSIONS,
    metadata,
)
from kubevirt_emulation.resources import CUSTOM
from kubevirt_emulation.webhooks import names

Manifest = dict[str, Any]

AGGREGATED = (
    *((SUBRESOURCE_GROUP, version) for version in SUBRESOURCE_VERSIONS),
    (cdi_names.UPLOAD_GROUP, cdi_names.UPLOAD_VERSION),
)
"""The API groups, with versions, that the API server leaves to the emulation."""


def service(port: int) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(SERVICE, NAMESPACE),
        "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"name": "https", "port": port}]},
    }


def api_services(port: int, ca_bundle: str) -> list[Manifest]:
    """The APIServices of these groups. ca_bundle: PEM in base64."""
    return [
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": metadata(f"{version}.{group}"),
            "spec": {
                "group": group,
                "version": version,
                "groupPriorityMinimum": 1000,
                "versionPriority": 15,
                "caBundle": ca_bundle,
                "service": {"namespace": NAMESPACE, "name": SERVICE, "port": port},
            },
        }
        for group, version in AGGREGATED
    ]


def webhook_configurations(port: int, ca_bundle: str) -> list[Manifest]:
    """The webhooks of virt-api and CDI. While the emulation is down, none of their objects can be written."""
    configurations = {
        "virt-api-mutator": [hook for hook in names.WEBHOOKS if hook.mutating],
        "virt-api-validator": [hook for hook in names.WEBHOOKS if not hook.mutating],
        **CONFIGURATIONS,
    }
    return [
        _configuration(
            "MutatingWebhookConfiguration" if hooks[0].mutating else "ValidatingWebhookConfiguration",
            name,
            [_webhook(hook, port, ca_bundle) for hook in hooks],
        )
        for name, hooks in configurations.items()
    ]


def _configuration(kind: str, name: str, webhooks: list[Manifest]) -> Manifest:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": metadata(name),
        "webhooks": webhooks,
    }


def _webhook(hook: names.Webhook, port: int, ca_bundle: str) -> Manifest:
    resource = CUSTOM[hook.kind]
    return {
        "name": hook.name,
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": 10,
        "clientConfig": {
            "caBundle": ca_bundle,
            "service": {"namespace": NAMESPACE, "name": SERVICE, "path": hook.path, "port": port},
        },
        "rules": [
            {
                "apiGroups": [resource.group],
                "apiVersions": [resource.version],
                "resources": [resource.plural],
                "operations": list(hook.operations),
                "scope": "*",
            }
        ],
        # The emulation's own controllers need no check of their writes.
        "matchConditions": [
            {"name": "not-from-virt-controller", "expression": f"request.userInfo.username != '{CONTROLLER_USER}'"}
        ]
        if hook.kind == "VirtualMachine"
        else [],
    }
