"""The responses of virt-api's subresources: Status objects, and plain text from its router."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from kubevirt_emulation.client import ApiError

Manifest = dict[str, Any]


class Refused(Exception):
    """The response is a Status."""

    def __init__(self, code: int, reason: str, message: str, details: Manifest | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status: Manifest = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "code": code,
        }
        if details is not None:
            self.status["details"] = details


def not_found(kind: str, name: str) -> Refused:
    """kind: lower case and singular, as in KubeVirt."""
    return Refused(404, "NotFound", f'{kind}.kubevirt.io "{name}" not found', _details(kind, name))


def conflict(kind: str, name: str, message: str) -> Refused:
    text = f'Operation cannot be fulfilled on {kind}.kubevirt.io "{name}": {message}'
    return Refused(409, "Conflict", text, _details(kind, name))


def bad_request(message: str) -> Refused:
    return Refused(400, "BadRequest", message)


def internal(message: str) -> Refused:
    return Refused(500, "InternalError", f"Internal error occurred: {message}", {"causes": [{"message": message}]})


def from_api(error: ApiError) -> Refused:
    """Passes on an error of the API server."""
    refused = internal(str(error))
    if error.body.get("kind") == "Status" and error.code in (409, 422):
        refused.code, refused.status = error.code, error.body
    return refused


def _details(kind: str, name: str) -> Manifest:
    return {"name": name, "group": "kubevirt.io", "kind": kind}


def json_response(body: Any, code: int = 200) -> web.Response:
    return web.Response(body=json.dumps(body).encode(), status=code, content_type="application/json")


def text_response(text: str, code: int) -> web.Response:
    return web.Response(text=text, status=code)
