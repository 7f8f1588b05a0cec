"""An admission webhook on loopback, such as a MAC pool or a policy engine."""

import base64
import contextlib
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kubernetes import client
from tls_server import with_tls
from waiting import wait_until

Review = dict[str, Any]
Manifest = dict[str, Any]
Mutate = Callable[[Manifest, Manifest], None]
"""(object, the object before or {}): changes the object in place."""
Refuse = Callable[[Manifest], str]
"""Why an object is refused; "" if it is not."""

NAME = "policies.example.com"
VALIDATE = "/validate"


class Webhook:
    """A webhook that changes objects by `mutate` and warns of `warnings`; `seen` are the requests that reached it.

    refuse: refuses objects after all mutation, if the webhook validates.
    """

    def __init__(self) -> None:
        self.refuse: Refuse = lambda _new: ""
        self.mutate: Mutate = lambda _new, _old: None
        self.warnings: list[str] = []
        self.seen: list[Review] = []

    def response(self, request: Review) -> Review:
        self.seen.append(request)
        changed = json.loads(json.dumps(request["object"]))
        self.mutate(changed, request.get("oldObject") or {})
        patch = [
            {"op": "add", "path": f"/{part}", "value": value}
            for part, value in changed.items()
            if value != request["object"].get(part)
        ]
        encoded = base64.b64encode(json.dumps(patch).encode()).decode()
        patched = {"patchType": "JSONPatch", "patch": encoded} if patch else {}
        return {"uid": request["uid"], "allowed": True, "warnings": self.warnings, **patched}

    def verdict(self, request: Review) -> Review:
        reason = self.refuse(request["object"])
        return {"uid": request["uid"], "allowed": not reason, **({"status": {"message": reason}} if reason else {})}


@contextlib.contextmanager
def webhook(
    connection: client.ApiClient, namespace: str, folder: Path, *, validates: bool = False
) -> Iterator[Webhook]:
    """A webhook for a namespace's VMs, instancetypes, preferences and DataImportCrons, once the API server asks it.

    folder: for its certificate. validates: the webhook is asked again, whether it refuses the object.
    """
    hook = Webhook()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            respond = hook.verdict if self.path == VALIDATE else hook.response
            answer = {
                "apiVersion": "admission.k8s.io/v1",
                "kind": "AdmissionReview",
                "response": respond(review["request"]),
            }
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: Any) -> None:
            pass

    registrations = client.AdmissionregistrationV1Api(connection)
    name = f"pool-{namespace}"
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        authority = with_tls(server, folder)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            registered = _registered(namespace, f"https://127.0.0.1:{server.server_port}", authority)
            body = {"metadata": {"name": name}, "webhooks": [registered]}
            registrations.create_mutating_webhook_configuration(body)
            if validates:
                config = registered["clientConfig"]
                registered["clientConfig"] = {**config, "url": config["url"].rstrip("/") + VALIDATE}
                registrations.create_validating_webhook_configuration(body)
            wait_until(lambda: _reached(connection, namespace, hook))
            hook.seen.clear()
            yield hook
        finally:
            registrations.delete_mutating_webhook_configuration(name)
            if validates:
                registrations.delete_validating_webhook_configuration(name)
            server.shutdown()
            thread.join()


def _registered(namespace: str, address: str, authority: Path) -> Manifest:
    """The webhook as a configuration names it."""
    return {
        "name": NAME,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "NoneOnDryRun",
        "clientConfig": {"url": f"{address}/", "caBundle": base64.b64encode(authority.read_bytes()).decode()},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "rules": [
            {
                "apiGroups": ["kubevirt.io", "instancetype.kubevirt.io", "cdi.kubevirt.io"],
                "apiVersions": ["*"],
                "resources": [
                    "virtualmachines",
                    "virtualmachineinstancetypes",
                    "virtualmachinepreferences",
                    "dataimportcrons",
                ],
                "operations": ["CREATE", "UPDATE"],
            }
        ],
    }


def _reached(connection: client.ApiClient, namespace: str, hook: Webhook) -> bool:
    probe = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "probe", "namespace": namespace},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
    }
    client.CustomObjectsApi(connection).create_namespaced_custom_object(
        "instancetype.kubevirt.io", "v1beta1", namespace, "virtualmachineinstancetypes", probe, dry_run="All"
    )
    return bool(hook.seen)
