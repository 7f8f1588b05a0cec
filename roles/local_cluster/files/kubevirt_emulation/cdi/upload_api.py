"""The aggregated API `upload.cdi.kubevirt.io`: UploadTokenRequests, which nothing stores."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from kubevirt_emulation.cdi.names import UPLOAD_GROUP, UPLOAD_VERSION
from kubevirt_emulation.cdi.tokens import Tokens
from kubevirt_emulation.subresources.answers import bad_request, json_response

Manifest = dict[str, Any]

_BASE = f"/apis/{UPLOAD_GROUP}/{UPLOAD_VERSION}"
_VERSION = {"groupVersion": f"{UPLOAD_GROUP}/{UPLOAD_VERSION}", "version": UPLOAD_VERSION}
_GROUP: Manifest = {
    "kind": "APIGroup",
    "apiVersion": "v1",
    "name": UPLOAD_GROUP,
    "versions": [_VERSION],
    "preferredVersion": _VERSION,
}
_RESOURCES: Manifest = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": _VERSION["groupVersion"],
    "resources": [
        {
            "name": "uploadtokenrequests",
            "singularName": "uploadtokenrequest",
            "namespaced": True,
            "group": UPLOAD_GROUP,
            "version": UPLOAD_VERSION,
            "kind": "UploadTokenRequest",
            "verbs": ["create"],
        }
    ],
}


class UploadApi:
    """Handlers of the group's paths. The API server has asked whether the user may create a request."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(f"/apis/{UPLOAD_GROUP}", self._answering(_GROUP)),
            web.get(_BASE, self._answering(_RESOURCES)),
            web.post(_BASE + "/namespaces/{namespace}/uploadtokenrequests", self._token),
        ]

    def _answering(self, document: Manifest) -> Any:
        async def handle(_request: web.Request) -> web.StreamResponse:
            return json_response(document)

        return handle

    async def _token(self, request: web.Request) -> web.StreamResponse:
        # CDI signs for any name: whether there is such a claim, the upload proxy looks at.
        try:
            body = json.loads(await request.read())
            name = body["spec"]["pvcName"]
        except (ValueError, KeyError, TypeError) as error:
            raise bad_request(f"the body is no UploadTokenRequest: {error}") from error
        token = self._tokens.sign(request.match_info["namespace"], name)
        return json_response({**body, "status": {"token": token}})
