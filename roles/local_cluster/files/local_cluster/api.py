"""Requests of the launcher to the servers that it started. Proxies of the environment are not used."""

from __future__ import annotations

import http.client
import json
import ssl
from pathlib import Path
from typing import Any

from local_cluster.errors import LauncherError
from local_cluster.ports import HOST

_TIMEOUT = 15.0  # seconds; a server that is slower, even on a busy machine, counts as frozen
_NAMESPACES = "/api/v1/namespaces"
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_CDI = "/apis/cdi.kubevirt.io/v1beta1/namespaces/{}"
# A DataSource as in clusters with KubeVirt. Its volume is blank, because no guest boots.
_BOOT_SOURCE = "fedora"
_BOOT_SIZE = "5Gi"
_BOOT_LABELS = {
    "instancetype.kubevirt.io/default-instancetype": "u1.medium",
    "instancetype.kubevirt.io/default-preference": "fedora",
}
_KUBEVIRT = "/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt"


def call(
    port: int,
    path: str,
    *,
    ca: Path,
    token: str = "",
    method: str = "GET",
    body: Any = None,
    content_type: str = "",
    accept: str = "application/json",
) -> tuple[int, bytes]:
    """Status and body of a request on loopback; `body` is sent as JSON.

    Raises OSError or http.client.HTTPException if there is no response.
    """
    context = ssl.create_default_context(cafile=str(ca))
    headers = {"Accept": accept}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if body is not None:
        headers["Content-Type"] = content_type or "application/json"
    connection = http.client.HTTPSConnection(HOST, port, context=context, timeout=_TIMEOUT)
    try:
        connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def answers(port: int, ca: Path) -> bool:
    """Whether a server with a certificate signed by `ca` responds, with any status."""
    try:
        call(port, "/", ca=ca)
    except (OSError, http.client.HTTPException):
        return False
    return True


class ApiServer:
    """A client for an API server."""

    def __init__(self, port: int, ca: Path, token: str) -> None:
        self._port = port
        self._ca = ca
        self._token = token

    def is_ready(self) -> bool:
        """Whether /readyz returns 200."""
        try:
            return call(self._port, "/readyz", ca=self._ca, token=self._token)[0] == http.client.OK
        except (OSError, http.client.HTTPException):
            return False

    def discovers(self, group: str, resource: str) -> bool:
        """Whether discovery lists `resource`, which is usable a moment later."""
        try:
            status, body = call(self._port, "/apis", ca=self._ca, token=self._token, accept=_DISCOVERY)
        except (OSError, http.client.HTTPException):
            return False
        if status != http.client.OK:
            return False
        groups = {item["metadata"]["name"]: item for item in json.loads(body)["items"]}
        served = [found for version in groups.get(group, {}).get("versions", []) for found in version["resources"]]
        return any(found["resource"] == resource for found in served)

    def version(self) -> str:
        """The version that the server reports, such as v1.34.4."""
        return str(json.loads(call(self._port, "/version", ca=self._ca, token=self._token)[1])["gitVersion"])

    def reference_policy(self) -> str:
        """KubeVirt's instancetype.referencePolicy: reference, expand or expandAll."""
        configuration = (self._kubevirt("GET").get("spec") or {}).get("configuration") or {}
        return str((configuration.get("instancetype") or {}).get("referencePolicy") or "reference")

    def set_reference_policy(self, policy: str) -> int:
        """Set the policy. Return the generation of the configuration that contains it."""
        patch = {"spec": {"configuration": {"instancetype": {"referencePolicy": policy}}}}
        return int(self._kubevirt("PATCH", patch, "application/merge-patch+json")["metadata"]["generation"])

    def follows_configuration(self, generation: int) -> bool:
        """Whether new VMs are treated according to the given generation of KubeVirt's configuration."""
        status = self._kubevirt("GET").get("status") or {}
        return int(status.get("observedGeneration", 0)) >= generation

    def has_namespace(self, name: str) -> bool:
        """Whether the namespace exists."""
        return self._ask("GET", f"{_NAMESPACES}/{name}")[0] == http.client.OK

    def create_namespace(self, name: str) -> None:
        """Create a namespace that does not exist."""
        self._done("POST", _NAMESPACES, {"metadata": {"name": name}})

    def create_boot_source(self, namespace: str) -> None:
        """Create the DataSource `fedora` with its volume, so that a VM can be declared with nothing else."""
        storage = {"resources": {"requests": {"storage": _BOOT_SIZE}}}
        specs = {
            "DataVolume": {"source": {"blank": {}}, "storage": storage},
            "DataSource": {"source": {"pvc": {"name": _BOOT_SOURCE, "namespace": namespace}}},
        }
        for kind, spec in specs.items():
            body = {
                "apiVersion": "cdi.kubevirt.io/v1beta1",
                "kind": kind,
                "metadata": {"name": _BOOT_SOURCE, "labels": _BOOT_LABELS},
                "spec": spec,
            }
            self._done("POST", f"{_CDI.format(namespace)}/{kind.lower()}s", body)

    def _kubevirt(self, method: str, body: Any = None, content_type: str = "") -> dict[str, Any]:
        return self._done(method, _KUBEVIRT, body, content_type)

    def _done(self, method: str, path: str, body: Any = None, content_type: str = "") -> dict[str, Any]:
        status, found = self._ask(method, path, body, content_type)
        if status >= http.client.MULTIPLE_CHOICES:
            raise LauncherError(f"the API server rejected {method} {path}: {found.get('message', status)}")
        return found

    def _ask(self, method: str, path: str, body: Any = None, content_type: str = "") -> tuple[int, dict[str, Any]]:
        try:
            status, answer = call(
                self._port,
                path,
                ca=self._ca,
                token=self._token,
                method=method,
                body=body,
                content_type=content_type,
            )
            return status, json.loads(answer)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise LauncherError(f"the API server does not answer {method} {path}: {error}") from error
