"""The aggregated API `subresources.kubevirt.io`: routes, discovery, and the behaviour of virt-api's router."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import Any, Callable

from aiohttp import web

from kubevirt_emulation.client import ApiError, Client
from kubevirt_emulation.install.names import SUBRESOURCE_GROUP, SUBRESOURCE_VERSIONS
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.lookup import Objects
from kubevirt_emulation.subresources import body, expand
from kubevirt_emulation.subresources.answers import Refused, from_api, json_response, text_response
from kubevirt_emulation.subresources.pause import set_paused
from kubevirt_emulation.subresources.power import Power

log = logging.getLogger(__name__)

Manifest = dict[str, Any]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Verb = Callable[[str, str, Manifest], Awaitable[None]]

_VM_VERBS = ("start", "stop", "restart")
_VMI_VERBS = ("pause", "unpause")
# Build information in a release's binaries; it does not affect behaviour.
_BUILD = {
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "",
    "goVersion": "",
    "compiler": "gc",
    "platform": "linux/amd64",
}


class SubresourceApi:
    """Handlers of the group's paths."""

    def __init__(self, client: Client, objects: Objects, configuration: KubeVirtConfiguration) -> None:
        self._client = client
        self._objects = objects
        self._configuration = configuration
        self._power = Power(client)

    def routes(self) -> list[web.RouteDef]:
        """The routes; a known path with another method is 405, an unknown path 404."""
        group = f"/apis/{SUBRESOURCE_GROUP}"
        result = [web.get(group, self._group)]
        for version in SUBRESOURCE_VERSIONS:
            base = f"{group}/{version}"
            namespaced = base + "/namespaces/{namespace}"
            vm, vmi = namespaced + "/virtualmachines/{name}", namespaced + "/virtualmachineinstances/{name}"
            result += [
                web.get(base, self._resources),
                web.get(f"{base}/version", self._version),
                *(web.put(f"{vm}/{verb}", self._verb(verb, getattr(self._power, verb))) for verb in _VM_VERBS),
                *(web.put(f"{vmi}/{verb}", self._verb(verb, self._pause(verb == "pause"), 200)) for verb in _VMI_VERBS),
                web.get(vm + "/expand-spec", self._expand_spec),
                web.put(namespaced + "/expand-vm-spec", self._expand_vm_spec),
            ]
        return result

    def _verb(self, verb: str, act: Verb, code: int = 202) -> Handler:
        """Handles PUT of an action with options in its body; the response is empty."""

        async def handle(request: web.Request) -> web.StreamResponse:
            if "*/*" not in request.headers.get("Accept", "*/*"):
                return text_response("406: Not Acceptable\n\nAvailable representations: ", 406)
            options = body.options(await request.read(), f"{verb.capitalize()}Options")
            await act(request.match_info["namespace"], request.match_info["name"], options)
            return web.Response(status=code)

        return handle

    def _pause(self, paused: bool) -> Verb:
        return lambda namespace, name, options: set_paused(self._client, namespace, name, options, paused)

    async def _expand_spec(self, request: web.Request) -> web.StreamResponse:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        return json_response(await expand.stored_vm(self._client, self._objects, self._configuration, namespace, name))

    async def _expand_vm_spec(self, request: web.Request) -> web.StreamResponse:
        if "Content-Type" not in request.headers:
            code, text = self._configuration.behaviour.no_content_type
            return text_response(text, code)
        vm = body.json_body(await request.read())
        answer = await expand.given_vm(self._objects, self._configuration, request.match_info["namespace"], vm)
        return json_response(answer.body, answer.code)

    async def _group(self, _request: web.Request) -> web.StreamResponse:
        versions = [{"groupVersion": f"{SUBRESOURCE_GROUP}/{name}", "version": name} for name in SUBRESOURCE_VERSIONS]
        return json_response(
            {
                "kind": "APIGroup",
                "apiVersion": "v1",
                "name": SUBRESOURCE_GROUP,
                "versions": versions,
                "preferredVersion": versions[0],
            }
        )

    async def _version(self, _request: web.Request) -> web.StreamResponse:
        release = ".".join(map(str, self._configuration.release.version))
        return json_response({"gitVersion": f"v{release}", **_BUILD})

    async def _resources(self, request: web.Request) -> web.StreamResponse:
        names = [f"virtualmachines/{verb}" for verb in (*_VM_VERBS, "expand-spec")]
        names += [f"virtualmachineinstances/{verb}" for verb in _VMI_VERBS]
        names.append("expand-vm-spec")
        return json_response(
            {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": request.path.removeprefix("/apis/"),
                "resources": [
                    {
                        "name": name,
                        "singularName": "",
                        "namespaced": True,
                        "kind": "",
                        "verbs": ["get"] if name.endswith("expand-spec") else ["update"],
                    }
                    for name in names
                ],
            }
        )


@web.middleware
async def answer_failures(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turns exceptions of handlers into virt-api's responses. Rejects clients without the API server's certificate."""
    is_subresource = request.path.startswith("/apis/")
    if is_subresource and request.transport is not None and not request.transport.get_extra_info("peercert"):
        return text_response("401: Unauthorized", 401)
    try:
        return await handler(request)
    except Refused as refused:
        return json_response(refused.status, refused.code)
    except ApiError as error:
        failed = from_api(error)
        return json_response(failed.status, failed.code)
    except web.HTTPMethodNotAllowed:
        return text_response("405: Method Not Allowed", 405)
    except web.HTTPNotFound:
        return text_response("404: Page Not Found", 404)
    except Exception:
        log.exception("%s %s", request.method, request.path)
        return text_response("500: Internal Server Error", 500)
