"""What makes the cluster look like one with CDI: its roles, the CDI object and the CDIConfig."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kubevirt_emulation.cdi.names import ACCOUNT, GROUP, UPLOAD_GROUP, USER, VERSION
from kubevirt_emulation.client import ApiError, Client
from kubevirt_emulation.config import Config
from kubevirt_emulation.install.names import metadata
from kubevirt_emulation.resources import KINDS

Manifest = dict[str, Any]

_READ = ["get", "list", "watch"]
_KINDS = ["datavolumes", "dataimportcrons", "datasources"]
_WRITER = [
    {"apiGroups": [GROUP], "resources": _KINDS, "verbs": ["*"]},
    {"apiGroups": [GROUP], "resources": ["datavolumes/source"], "verbs": ["create"]},
    {"apiGroups": [UPLOAD_GROUP], "resources": ["uploadtokenrequests"], "verbs": ["*"]},
]
_RULES = {
    "admin": _WRITER,
    "edit": _WRITER,
    "view": [{"apiGroups": [GROUP], "resources": ["cdiconfigs", *_KINDS], "verbs": _READ}],
    "clone-sourcer": [{"apiGroups": [GROUP], "resources": ["datavolumes/source"], "verbs": ["create"]}],
    "config-reader": [{"apiGroups": [GROUP], "resources": ["cdiconfigs"], "verbs": _READ}],
}
_AGGREGATED = ("admin", "edit", "view")
_RBAC = "rbac.authorization.k8s.io"


def manifests() -> list[Manifest]:
    """What is there beside the kinds, and stays as it is."""
    return [
        *(_role(name, rules) for name, rules in _RULES.items()),
        _binding(f"{GROUP}:config-reader", f"{GROUP}:config-reader", {"kind": "Group", "name": "system:authenticated"}),
        _binding(ACCOUNT, "cluster-admin", {"kind": "User", "name": USER}),
    ]


def objects() -> list[Manifest]:
    """The CDI object, without which nothing is done with DataVolumes, and its configuration."""
    names = {"CDI": "cdi", "CDIConfig": "config"}
    return [
        {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": metadata(name), "spec": {}}
        for kind, name in names.items()
    ]


async def publish(client: Client, config: Config) -> None:
    """Says in the status of CDI which release it is, and in the CDIConfig where uploads go; not where CDI is gone."""
    deployed = {"phase": "Deployed", **{f"{part}Version": f"v{VERSION}" for part in ("operator", "target", "observed")}}
    published = {
        "uploadProxyURL": f"https://{config.host}:{config.port}",
        "uploadProxyCA": Path(config.ca_file).read_text(),
    }
    for kind, name, status in (("CDIConfig", "config", published), ("CDI", "cdi", deployed)):
        try:
            await client.patch(KINDS[kind], "", name, {"status": status})
        except ApiError as error:
            if error.code != 404:
                raise


def _role(name: str, rules: list[Manifest]) -> Manifest:
    labels = {f"{_RBAC}/aggregate-to-{name}": "true"} if name in _AGGREGATED else {}
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": metadata(f"{GROUP}:{name}", **labels),
        "rules": rules,
    }


def _binding(name: str, role: str, subject: Manifest) -> Manifest:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata(name),
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": _RBAC, **subject}],
    }
