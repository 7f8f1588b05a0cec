"""The cluster of a recording of `virtctl image-upload`: an API server with CDI's kinds, and CDI's upload proxy.

Objects live in memory. The API server refuses the objects that it refused in the recording, since its validation is
not compared; readiness, events and the proxy's answers are those of the case.
"""

import hashlib
import io
import json
from copy import deepcopy
from typing import Any
from urllib.parse import urlsplit

import collection_path  # noqa: F401  # pylint: disable=unused-import
import urllib3

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.errors import ApiError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.sender import Request
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session

Case = dict[str, Any]

HOST = "uploadproxy.test"
# The recording's proxy listened on an address, of which Go reads no scheme.
ADDRESS = "127.0.0.1"
_CDI = "cdi.kubevirt.io"
_TARGET = f"{_CDI}/storage.upload.target"
_KINDS = {"pvc": "persistentvolumeclaims", "dv": "datavolumes", "ds": "datasources"}
_TYPES = {
    "persistentvolumeclaims": ("v1", "PersistentVolumeClaim"),
    "datavolumes": (f"{_CDI}/v1beta1", "DataVolume"),
    "datasources": (f"{_CDI}/v1beta1", "DataSource"),
}
_GROUPS = {"persistentvolumeclaims": "", "storageclasses": ".storage.k8s.io"}
_URLS = {"http": f"http://{HOST}", "https": f"https://{HOST}:443", "bare": f"{HOST}:443"}


class RecordedSession(Session):
    """A session whose requests a recording's cluster answers; those that retry do it as with any."""

    def __init__(self, case: Case) -> None:
        super().__init__({"host": "https://api.test", "api_key": "none", "retry_timeout": 0})
        self._sender.once = self._once  # type: ignore[method-assign]
        self.requests: list[Case] = []
        self._given = case["given"]
        self._refusals = [r for r in case["expect"]["requests"] if r["status"] >= 400 and r["method"] != "GET"]
        self._error = case["expect"]["error"]
        self._faults = deepcopy(self._given.get("faults") or [])
        self._objects: dict[tuple[str, str], Case] = {}
        self._existed: set[tuple[str, str]] = set()
        self._events_listed = False
        self._looks = 0
        self.tokens = 0
        self.received = False
        self.proxy = RecordedProxy(self, self._given)
        for short, given in self._given.get("existing") or []:
            plural = _KINDS[short]
            key = (plural, given["metadata"]["name"])
            self._objects[key] = _stored(plural, deepcopy(given))
            self._existed.add(key)

    @property
    def has_volumes(self) -> bool:
        """Whether there is a claim or a DataVolume in the beginning."""
        return any(plural != "datasources" for plural, _name in self._existed)

    def objects(self) -> list[Case]:
        """The objects at the end, in the form of recordings."""
        result = []
        for key, item in self._objects.items():
            metadata = {name: value for name, value in item["metadata"].items() if name != "uid"}
            if "annotations" in metadata:
                # Recordings leave out what CDI's upload controller wrote.
                kept = {k: v for k, v in metadata["annotations"].items() if "/storage.pod." not in k}
                metadata["annotations"] = kept
            plain = {**{name: item[name] for name in ("apiVersion", "kind", "spec")}, "metadata": metadata}
            result.append({"existed": key in self._existed, "object": plain})
        return result

    def _once(self, request: Request) -> Any:
        method, path = request.method, request.path
        sent = None if request.body is None else json.loads(request.body)
        entry: Case = {"method": method, "path": path}
        if sent is not None:
            entry.update(body=_plain(sent), content_type=request.content_type)
        self.requests.append(entry)
        try:
            answer = self._answer(method, path, sent)
        except ApiError as error:
            entry["status"] = error.code
            raise
        entry["status"] = 201 if method == "POST" and "uploadtokenrequests" not in path else 200
        return deepcopy(answer)

    def _answer(self, method: str, path: str, sent: Any) -> Any:
        for fault in self._faults:
            if fault["method"] == method and fault["path"] in path and fault.get("times", 1) > 0:
                fault["times"] = fault.get("times", 1) - 1
                self.requests[-1]["fault"] = True
                raise _error(fault["code"], fault["reason"], fault["message"])
        parts = path.split("/")
        if path.endswith("/uploadtokenrequests"):
            self.tokens += 1
            return {**sent, "status": {"token": f"token-{self.tokens}"}}
        if parts[-1] == "events":
            self._events_listed = True
            return {"items": self._events(), "metadata": {}}
        if "cdiconfigs" in parts:
            return self._configuration()
        plural, name = (parts[-1], sent["metadata"]["name"]) if method == "POST" else parts[-2:]
        if plural == "storageclasses":
            if name != "fast":
                raise _error(404, "NotFound", f'storageclasses.storage.k8s.io "{name}" not found')
            return {"metadata": {"name": name}}
        return self._write(method, plural, name, sent) if method != "GET" else self._read_one(plural, name)

    def _read_one(self, plural: str, name: str) -> Case:
        made_by_cdi = plural == "persistentvolumeclaims" and ("datavolumes", name) in self._objects
        if (plural, name) not in self._objects:
            if not made_by_cdi or ("datavolumes", name) in self._existed:
                group = _GROUPS.get(plural, f".{_CDI}")
                raise _error(404, "NotFound", f'{plural}{group} "{name}" not found')
            result = _stored(plural, {"metadata": {"name": name}, "spec": {}})
        else:
            result = deepcopy(self._objects[plural, name])
        ready = self._given.get("ready", "now")
        if plural == "datavolumes" and (plural, name) not in self._existed:
            done = ready == "now" or (ready == "after-events" and self._events_listed)
            phase = "UploadReady" if done else self._given.get("first_phase", "UploadScheduled")
            result["status"] = {"claimName": name, **({"phase": phase} if phase else {})}
        if plural == "persistentvolumeclaims":
            self._complete(result, ready)
        return result

    def _complete(self, claim: Case, ready: str) -> None:
        """Writes the annotations of CDI's upload controller to a claim."""
        annotations = claim["metadata"].setdefault("annotations", {})
        if _TARGET in annotations and (ready == "now" or (ready == "after-events" and self._events_listed)):
            annotations.setdefault(f"{_CDI}/storage.pod.ready", "true")
        if self.received:
            self._looks += 1
            if self._looks > (1 if self._given.get("processing") == "second" else 0):
                annotations[f"{_CDI}/storage.pod.phase"] = "Succeeded"

    def _write(self, method: str, plural: str, name: str, sent: Any) -> Case:
        path = self.requests[-1]["path"]
        for refusal in self._refusals:
            # A name that is taken is refused by the objects, not by the recording.
            if refusal["status"] == 422 and (refusal["method"], refusal["path"]) == (method, path):
                raise _error(422, "Invalid", self._error)
        key = (plural, name)
        if method == "POST":
            if key in self._objects:
                raise _error(409, "AlreadyExists", f'{plural}.{_CDI} "{name}" already exists')
            self._objects[key] = _stored(plural, deepcopy(sent))
        elif method == "PUT":
            self._objects[key] = _stored(plural, deepcopy(sent))
        else:
            self._objects[key]["metadata"].setdefault("labels", {}).update(sent["metadata"]["labels"])
        return self._objects[key]

    def _configuration(self) -> Case:
        given = self._given.get("cdiconfig", {"status": "http"})
        if given is None:
            raise _error(404, "NotFound", 'cdiconfigs.cdi.kubevirt.io "config" not found')
        urls = {field: _url(given[field]) + given.get("path", "") for field in ("status", "override") if field in given}
        result: Case = {"spec": {}, "status": {}}
        if "override" in urls:
            result["spec"]["uploadProxyURLOverride"] = urls["override"]
        if "status" in urls:
            result["status"]["uploadProxyURL"] = urls["status"]
        return result

    def _events(self) -> list[Case]:
        kinds = {"pvc": ("PersistentVolumeClaim", "persistentvolumeclaims"), "dv": ("DataVolume", "datavolumes")}
        events = []
        for number, event in enumerate(self._given.get("events") or []):
            kind, plural = kinds[event["of"]]
            involved = {"kind": kind, "uid": f"uid-{plural}-golden"}
            result = {name: event[name] for name in ("reason", "message")}
            events.append({"metadata": {"name": f"e{number}"}, "involvedObject": involved, **result})
        return events


class RecordedProxy:
    """CDI's upload proxy, in place of a pool of connections to it."""

    def __init__(self, session: RecordedSession, given: Case) -> None:
        self._session = session
        self._head = given.get("async", 200)
        self._answers = list(given.get("upload") or [200])
        # Its certificate is known only with SSL_CERT_FILE, which is `ca_cert` here.
        self.trusted = bool(given.get("ssl_cert"))

    def request(self, method: str, url: str, headers: Case, body: Any = None, **_options: Any) -> Any:
        """Answers, and notes the request as recordings have it."""
        parts = urlsplit(url)
        if parts.scheme == "https" and not self.trusted:
            raise urllib3.exceptions.SSLError("certificate verify failed")
        entry: Case = {"method": method, "path": parts.path, "upload_proxy": parts.scheme}
        entry["headers"] = {name: value for name, value in headers.items() if name != "Content-Length"}
        self._session.requests.append(entry)
        if method == "HEAD":
            entry["status"] = self._head
            return urllib3.HTTPResponse(status=self._head)
        data = body.read()
        assert len(data) == int(headers["Content-Length"])
        entry.update(body_bytes=len(data), body_sha256=hashlib.sha256(data).hexdigest())
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        status, text = answer if isinstance(answer, list) else (answer, "")
        entry["status"] = status
        self._session.received = self._session.received or status == 200
        return urllib3.HTTPResponse(body=io.BytesIO(text.encode()), status=status)


def _url(name: str) -> str:
    return _URLS[name].replace(HOST, ADDRESS) if name else ""


def _stored(plural: str, item: Case) -> Case:
    """An object as the API server stores it."""
    version, kind = _TYPES[plural]
    metadata = {**item["metadata"], "namespace": "default", "uid": f"uid-{plural}-{item['metadata']['name']}"}
    for field in ("annotations", "labels"):
        if not metadata.get(field):
            metadata.pop(field, None)
    result = {**item, "apiVersion": version, "kind": kind, "metadata": metadata}
    if plural == "persistentvolumeclaims":
        result["spec"] = {"volumeMode": "Filesystem", **item["spec"]}
        result["status"] = item.get("status") or {"phase": "Pending"}
    return result


def _plain(sent: Any) -> Any:
    """A body as recordings have it: without what the server has made."""
    if isinstance(sent, dict) and "metadata" in sent:
        metadata = {name: value for name, value in sent["metadata"].items() if name != "uid"}
        return {**sent, "metadata": metadata}
    return sent


def _error(code: int, reason: str, message: str) -> ApiError:
    return ApiError(code, {"reason": reason, "message": message})
