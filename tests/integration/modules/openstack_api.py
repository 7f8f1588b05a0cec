"""A scripted OpenStack on loopback: Keystone, Nova, Glance and Cinder, with the fields of their API references.

It is no OpenStack: it checks the password and the token, and answers the lists that openstacksdk asks for, in pages.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

PASSWORD = "secret"
TOKEN = "token-of-the-test"
PAGE = 2


def server(number: int, **fields: Any) -> dict[str, Any]:
    """A server as Nova lists it with microversion 2.47 and later: the flavor as it was, without its ID."""
    extra = {"hw:cpu_policy": "dedicated"} if number == 1 else {}
    return {
        "id": f"s{number}",
        "name": f"web-{number}",
        "status": "ACTIVE" if number % 2 else "SHUTOFF",
        "tenant_id": "p1",
        "flavor": {"vcpus": 1 + number, "ram": 1024 * (1 + number), "disk": 20, "ephemeral": 0, "swap": 0,
                   "original_name": f"m{number}", "extra_specs": extra},
        "image": {"id": "i1"},
        "addresses": {"lan": [{"addr": f"10.0.0.{number}", "version": 4, "OS-EXT-IPS:type": "fixed",
                               "OS-EXT-IPS-MAC:mac_addr": f"fa:16:3e:00:00:0{number}"}]},
        "os-extended-volumes:volumes_attached": [],
        **fields,
    }  # fmt: skip


SERVERS = [server(0), server(1), server(2, image="")]
IMAGES = [{"id": "i1", "name": "rhel-9", "status": "active", "os_distro": "rhel", "os_version": "9.4",
           "hw_firmware_type": "uefi", "os_secure_boot": "required", "hw_tpm_version": "2.0"}]  # fmt: skip
FLAVORS = [{"id": f"f{number}", "name": f"m{number}", "vcpus": 1 + number, "ram": 1024 * (1 + number), "disk": 20}
           for number in range(3)]  # fmt: skip
VOLUMES = [{"id": "v1", "name": "root", "size": 40, "volume_type": "ssd", "status": "in-use",
            "attachments": [{"server_id": "s2", "device": "/dev/vda", "volume_id": "v1"}]}]  # fmt: skip
# Path → name of the list and its entries.
LISTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "/compute/v2.1/servers/detail": ("servers", SERVERS),
    "/compute/v2.1/flavors/detail": ("flavors", FLAVORS),
    "/image/v2/images": ("images", IMAGES),
    "/volume/v3/volumes/detail": ("volumes", VOLUMES),
}
SERVICES = (
    ("compute", "nova", "/compute/v2.1"),
    ("image", "glance", "/image"),
    ("block-storage", "cinder", "/volume/v3"),
)


class _Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments: Any) -> None:
        """Nothing is printed."""

    @property
    def _root(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def _answer(self, code: int, body: Any, **headers: str) -> None:
        content = json.dumps(body).encode()
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        user = body["auth"]["identity"]["password"]["user"]
        if user["password"] != PASSWORD:
            message = "The request you have made requires authentication."
            self._answer(401, {"error": {"code": 401, "title": "Unauthorized", "message": message}})
            return
        catalog = [
            {"id": name, "type": kind, "name": name,
             "endpoints": [{"id": name, "interface": "public", "region": "one", "region_id": "one",
                            "url": self._root + path}]}
            for kind, name, path in SERVICES
        ]  # fmt: skip
        project = {"id": "p1", "name": "shop", "domain": {"id": "default", "name": "Default"}}
        token = {"methods": ["password"], "user": {"id": "u", "name": user["name"], "domain": project["domain"]},
                 "project": project, "catalog": catalog, "roles": [], "issued_at": "2026-01-01T00:00:00.000000Z",
                 "expires_at": "2100-01-01T00:00:00.000000Z"}  # fmt: skip
        self._answer(201, {"token": token}, X_Subject_Token=TOKEN)

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        path = address.path.rstrip("/")
        versions = {
            "/identity/v3": {"version": self._version("v3.14", "/identity/v3/")},
            "/compute/v2.1": {"version": self._version("v2.1", "/compute/v2.1/", "2.96")},
            "/image": {"versions": [self._version("v2.16", "/image/v2/")]},
            "/image/v2": {"versions": [self._version("v2.16", "/image/v2/")]},
            "/volume/v3": {"version": self._version("v3.0", "/volume/v3/", "3.71")},
        }
        if path in versions:
            self._answer(200, versions[path])
        elif self.headers.get("X-Auth-Token") != TOKEN:
            self._answer(401, {"error": {"code": 401, "message": "Unauthorized"}})
        elif path.endswith("/os-extra_specs"):
            self._answer(200, {"extra_specs": {}})
        elif path in LISTS:
            self._list(path, parse_qs(address.query))
        else:
            self._answer(404, {"itemNotFound": {"code": 404, "message": "not found"}})

    def _version(self, name: str, path: str, microversion: str = "") -> dict[str, Any]:
        known = {"version": microversion, "min_version": "2.1" if "2." in microversion[:2] else "3.0"}
        links = [{"rel": "self", "href": self._root + path}]
        return {"id": name, "status": "CURRENT", "links": links, **(known if microversion else {})}

    def _list(self, path: str, query: dict[str, list[str]]) -> None:
        """A page, as Nova and Glance make them: with a link to the next one, or the ID to go on with."""
        name, entries = LISTS[path]
        marker = query.get("marker", [""])[0]
        start = next((number for number, entry in enumerate(entries, 1) if entry["id"] == marker), 0)
        page = entries[start : start + PAGE]
        body: dict[str, Any] = {name: page}
        if start + PAGE < len(entries):
            body[f"{name}_links"] = [{"rel": "next", "href": f"{self._root}{path}?marker={page[-1]['id']}"}]
        self._answer(200, body)


@contextmanager
def openstack_api() -> Iterator[str]:
    """The address of Keystone."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Api) as httpd:
        thread = Thread(target=httpd.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_address[1]}/identity/v3"
        finally:
            httpd.shutdown()
            thread.join()
