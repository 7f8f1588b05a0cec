"""An API server that answers as a test says."""

import contextlib
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.tree import overlaid
from plugins.module_utils._resolver.api.write import APPLY

KUBEVIRTS = "/apis/kubevirt.io/v1/kubevirts"
NAMESPACES = "/api/v1/namespaces"
VMS = "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines"
VMIS = "/apis/kubevirt.io/v1/namespaces/shop/virtualmachineinstances"
REVISIONS = "/apis/apps/v1/namespaces/shop/controllerrevisions"
KUBEVIRT = {"metadata": {"name": "kubevirt"}, "status": {"observedKubeVirtVersion": "v1.9.0"}}
NO_SUCH_API = "the server could not find the requested resource"

Manifest = dict[str, Any]
# The fixture `run` of tests/unit/modules.
Run = Callable[..., dict[str, Any]]
# (method, path, query) → (code, JSON value or a list of watch events, perhaps headers), or None to cut the connection.
Answer = Callable[[str, str, "dict[str, str]"], "tuple[Any, ...] | None"]


class Exact(Manifest):
    """An answer to an apply that is given as it is. Any other gets what is applied."""


class _Server(http.server.ThreadingHTTPServer):
    # Connections that wait to be taken, where a busy machine is slow to; the system resets what is beyond.
    request_queue_size = 256

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server

    def respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = urlsplit(self.path)
        answer = self.server.answer(self.command, parts.path, dict(parse_qsl(parts.query)))
        if answer is None:
            self.connection.close()
            return
        code, value, headers = answer if len(answer) == 3 else (*answer, {})
        if code == 200 and self.headers.get("Content-Type") == APPLY and not isinstance(value, Exact):
            value = applied(value, json.loads(body), dict(parse_qsl(parts.query))["fieldManager"])
        lines = value if isinstance(value, list) else [value]
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = respond

    def log_message(self, *_arguments: Any) -> None:
        pass


class Store:
    """The objects of a cluster in which nobody does anything.

    lists: objects by the path of their collection; for any other path there is no such API. answers: what to answer
    instead, by a method and the end of a path; None cuts the connection. asked: all requests in order but dry runs,
    which are in `dry_runs`. writes: those that read nothing; they have no effect and are answered with the object as
    it is, or with one that has only a name; an apply also with what it sets. Its KubeVirt is KUBEVIRT, and all
    namespaces exist, where `lists` has no other.
    """

    def __init__(self, lists: dict[str, list[Any]], answers: dict[tuple[str, str], Any] | None = None) -> None:
        self.lists = {KUBEVIRTS: [KUBEVIRT], **lists}
        self.answers = answers or {}
        self.asked: list[tuple[str, str]] = []
        self.dry_runs: list[tuple[str, str]] = []

    @property
    def writes(self) -> list[tuple[str, str]]:
        return [item for item in self.asked if item[0] != "GET"]

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        (self.dry_runs if query.get("dryRun") == "All" else self.asked).append((method, path))
        for (scripted, end), answer in self.answers.items():
            if method == scripted and path.endswith(end):
                result: tuple[int, Any] | None = answer
                return result
        if path in self.lists:
            watched = [{"type": "MODIFIED", "object": item} for item in self.lists[path]]
            return 200, watched if query.get("watch") else listed(*self.lists[path])
        place, _slash, name = path.rpartition("/")
        if place == NAMESPACES and place not in self.lists:
            return 200, {"metadata": {"name": name}}
        matches = next((item for item in self.lists.get(place, []) if item["metadata"]["name"] == name), None)
        if matches is not None:
            return 200, matches
        if method == "PATCH":
            return 200, {"metadata": {"name": name}}
        return status(404, f"{name} not found" if place in self.lists else NO_SUCH_API, "NotFound")


@contextlib.contextmanager
def session_with(answer: Answer, retry_timeout: float = 0) -> Iterator[Session]:
    """A session with a server that lives as long."""
    with _Server(answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            host = f"http://127.0.0.1:{server.server_address[1]}"
            yield Session({"host": host, "api_key": "x", "retry_timeout": retry_timeout})
        finally:
            server.shutdown()
            thread.join()


def applied(live: Manifest, body: Manifest, manager: str) -> Manifest:
    """An object after an apply."""

    def fields(value: Any) -> Manifest:
        return {f"f:{key}": fields(part) for key, part in value.items()} if isinstance(value, dict) else {}

    metadata = {part: body["metadata"][part] for part in ("labels", "annotations") if part in body["metadata"]}
    declared = {**body, **({"metadata": metadata} if metadata else {})}
    for part in ("apiVersion", "kind", *(() if metadata else ("metadata",))):
        declared.pop(part, None)
    own = {"manager": manager, "operation": "Apply", "fieldsV1": fields(declared)}
    result: Manifest = overlaid(live, body)
    return {**result, "metadata": {"managedFields": [own], **result["metadata"]}}


def listed(*items: Any) -> dict[str, Any]:
    """The answer to a LIST."""
    return {"metadata": {"resourceVersion": "1"}, "items": list(items)}


def status(code: int, message: str, reason: str = "") -> tuple[int, dict[str, Any]]:
    """A refusal."""
    return code, {"kind": "Status", "code": code, "reason": reason, "message": message}


def forbidden(plural: str) -> tuple[int, dict[str, Any]]:
    """The refusal of what a user may not do."""
    return status(403, f"{plural} is forbidden", "Forbidden")


class Lister:
    """The lists of a session that has no server. Subclasses say what is listed to watch it."""

    def list_to_watch(self, *_arguments: Any, **_query: str) -> tuple[list[Any], str]:
        raise NotImplementedError

    def list(self, *arguments: Any, **query: str) -> list[Any]:
        return self.list_to_watch(*arguments, **query)[0]
