"""Requests of the launcher to the servers that it started. Proxies of the environment are not used."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from local_cluster.errors import LauncherError
from local_cluster.ports import HOST

Manifest = dict[str, Any]

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
_MERGE = "application/merge-patch+json"
_APPLY = "application/apply-patch+yaml"  # JSON is YAML
_AT_THE_SAME_TIME = 8
_LEASE = "/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}"
_NOT_YET = {403, 404, 409, 429, 500, 503}
"""What the API server answers while a kind, a role or a webhook's server is new."""
_RETRY_EVERY = 0.1  # seconds
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_TOUCHED = "instancetypes.virtshape.io/touched"


def call(
    port: int,
    path: str,
    *,
    ca: Path,
    client: Path | None = None,
    token: str = "",
    method: str = "GET",
    body: Any = None,
    content_type: str = "",
    accept: str = "application/json",
) -> tuple[int, bytes]:
    """Status and body of a request on loopback; `body` is sent as JSON.

    client: the client certificate, whose key is beside it.
    Raises OSError or http.client.HTTPException if there is no response.
    """
    context = ssl.create_default_context(cafile=str(ca))
    if client is not None:
        context.load_cert_chain(client, client.with_suffix(".key"))
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


def responds(port: int, ca: Path, client: Path | None = None) -> bool:
    """Whether a server with a certificate signed by `ca` responds, with any status. client: see `call`."""
    try:
        call(port, "/", ca=ca, client=client)
    except (OSError, http.client.HTTPException):
        return False
    return True


def _is_established(definition: Manifest) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or []
    return any(entry["type"] == "Established" and entry["status"] == "True" for entry in conditions)


def path_of(manifest: Manifest) -> str:
    """The path of an object, for kinds with a regular plural."""
    version, kind, metadata = manifest["apiVersion"], manifest["kind"].lower(), manifest["metadata"]
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}es" if kind.endswith("s") else f"{kind}s"
    namespace = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    root = "apis" if "/" in version else "api"
    return f"/{root}/{version}{namespace}/{plural}/{metadata['name']}"


class ApiServer:
    """A client for an API server."""

    def __init__(self, port: int, ca: Path, token: str) -> None:
        self.port = port
        self._ca = ca
        self._token = token

    def is_ready(self) -> bool:
        return self.serves("/readyz")

    def discovers(self, group: str, resource: str) -> bool:
        """Whether discovery lists `resource`, which is usable a moment later."""
        try:
            status, body = call(self.port, "/apis", ca=self._ca, token=self._token, accept=_DISCOVERY)
        except (OSError, http.client.HTTPException):
            return False
        if status != http.client.OK:
            return False
        groups = {item["metadata"]["name"]: item for item in json.loads(body)["items"]}
        served = [entry for version in groups.get(group, {}).get("versions", []) for entry in version["resources"]]
        return any(entry["resource"] == resource for entry in served)

    def establish_kinds(self) -> bool:
        """Touch the CustomResourceDefinitions that are not established. Return whether there were none.

        kube-apiserver establishes one when it changes: what it did not before it ended waits for the next change.
        """
        stuck = [item for item in self._done("GET", _DEFINITIONS)["items"] if not _is_established(item)]
        for item in stuck:
            body = {"metadata": {"annotations": {_TOUCHED: str(time.time_ns())}}}
            self._done("PATCH", f"{_DEFINITIONS}/{item['metadata']['name']}", body, _MERGE)
        return not stuck

    def version(self) -> str:
        """The version that the server reports, such as v1.34.4."""
        return str(json.loads(call(self.port, "/version", ca=self._ca, token=self._token)[1])["gitVersion"])

    def reference_policy(self) -> str:
        """KubeVirt's instancetype.referencePolicy: reference, expand or expandAll."""
        configuration = (self._done("GET", _KUBEVIRT).get("spec") or {}).get("configuration") or {}
        return str((configuration.get("instancetype") or {}).get("referencePolicy") or "reference")

    def set_reference_policy(self, policy: str) -> None:
        """Set the policy, which virt-api and virt-controller follow immediately."""
        patch = {"spec": {"configuration": {"instancetype": {"referencePolicy": policy}}}}
        self._done("PATCH", _KUBEVIRT, patch, _MERGE)

    def serves(self, path: str) -> bool:
        """Whether a GET of `path` returns 200."""
        try:
            return call(self.port, path, ca=self._ca, token=self._token)[0] == http.client.OK
        except (OSError, http.client.HTTPException):
            return False

    def apply(self, manifests: Sequence[Manifest], manager: str, timeout: float) -> None:
        """Declare objects, each as soon as the API server takes it. Raises LauncherError after `timeout` seconds."""
        query = f"fieldManager={manager}&force=true"
        self._each(lambda item: self._request("PATCH", f"{path_of(item)}?{query}", item, _APPLY), manifests, timeout)

    def replace(self, manifests: Sequence[Manifest], manager: str, timeout: float) -> None:
        """Create or replace objects, as operators do. Raises LauncherError after `timeout` seconds."""
        self._each(lambda item: self._replace(item, manager), manifests, timeout)

    def _replace(self, manifest: Manifest, manager: str) -> tuple[int, Manifest]:
        path = path_of(manifest)
        status, response = self._request("POST", f"{path.rpartition('/')[0]}?fieldManager={manager}", manifest)
        if status != http.client.CONFLICT:
            return status, response
        status, response = self._request("GET", path)
        metadata = {**manifest["metadata"], "resourceVersion": response.get("metadata", {}).get("resourceVersion")}
        return self._request("PUT", f"{path}?fieldManager={manager}", {**manifest, "metadata": metadata})

    def _each(
        self, send: Callable[[Manifest], tuple[int, Manifest]], manifests: Sequence[Manifest], timeout: float
    ) -> None:
        deadline = time.monotonic() + timeout

        def until_taken(manifest: Manifest) -> None:
            while True:
                status, response = send(manifest)
                if status < http.client.MULTIPLE_CHOICES:
                    return
                if status not in _NOT_YET or time.monotonic() > deadline:
                    label = f"{manifest['kind']} {manifest['metadata']['name']}"
                    raise LauncherError(f"the API server rejected {label}: {response.get('message', status)}")
                time.sleep(_RETRY_EVERY)

        with ThreadPoolExecutor(_AT_THE_SAME_TIME) as pool:
            list(pool.map(until_taken, manifests))

    def set_status(self, manifest: Manifest, status: Manifest) -> None:
        """Report the status of an object, as its operator would; where the status is no subresource, with the rest."""
        path = path_of(manifest)
        if self._request("PATCH", f"{path}/status", {"status": status}, _MERGE)[0] == http.client.NOT_FOUND:
            self._done("PATCH", path, {"status": status}, _MERGE)

    def generation(self, manifest: Manifest) -> int:
        """The generation of an object."""
        return int(self._done("GET", path_of(manifest))["metadata"]["generation"])

    def holder(self, namespace: str, lease: str) -> str:
        """Who holds a lease; "" if nobody does."""
        status, response = self._request("GET", _LEASE.format(namespace, lease))
        return str((response.get("spec") or {}).get("holderIdentity") or "") if status == http.client.OK else ""

    def release(self, namespace: str, lease: str) -> None:
        """Remove the lease of a process that is no more."""
        self._request("DELETE", _LEASE.format(namespace, lease))

    def has_namespace(self, name: str) -> bool:
        """Whether the namespace exists."""
        return self._request("GET", f"{_NAMESPACES}/{name}")[0] == http.client.OK

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

    def _done(self, method: str, path: str, body: Any = None, content_type: str = "") -> dict[str, Any]:
        status, response = self._request(method, path, body, content_type)
        if status >= http.client.MULTIPLE_CHOICES:
            raise LauncherError(f"the API server rejected {method} {path}: {response.get('message', status)}")
        return response

    def _request(self, method: str, path: str, body: Any = None, content_type: str = "") -> tuple[int, dict[str, Any]]:
        try:
            status, response = call(
                self.port,
                path,
                ca=self._ca,
                token=self._token,
                method=method,
                body=body,
                content_type=content_type,
            )
        except (OSError, http.client.HTTPException) as error:
            raise LauncherError(f"the API server does not answer {method} {path}: {error}") from error
        try:
            return status, json.loads(response)
        except ValueError:  # of a kind that is not served yet
            return status, {"message": response.decode(errors="replace").strip()}
