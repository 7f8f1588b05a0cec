"""Requests to the API server: pooled connections, raw JSON, retries where they are safe."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlencode

import urllib3
from kubernetes.client.rest import RESTClientObject

from .configuration import configure
from .errors import ApiError, ConnectionFailed
from .kinds import Kind

__all__ = ["FIELD_MANAGER", "Session"]

FIELD_MANAGER: Final = "virtshape"
_APPLY: Final = "application/apply-patch+yaml"
_PAGE: Final = 500
_TIMEOUT: Final = urllib3.Timeout(connect=10, read=65)
# A server that never answered at all is more often a wrong address than a restart.
_FIRST_CONTACT: Final = 5.0
_RETRIED: Final = frozenset({429, 500, 502, 503, 504})


class Session:
    """One user's way to one API server; may be used by several threads.

    options: the authentication options (see `configuration`), impersonate_user, impersonate_groups, and
    retry_timeout: seconds for which 429, 5xx and lost connections are tried again (default 30).
    """

    def __init__(self, options: dict[str, Any], connections: int = 16) -> None:
        self._configuration = configure(options)
        self._configuration.connection_pool_maxsize = connections
        self._configuration.retries = False
        self._pool: Any = RESTClientObject(self._configuration).pool_manager
        self._headers = _headers(options)
        timeout = options.get("retry_timeout")
        self._retry_timeout = 30.0 if timeout is None else float(timeout)
        self._reached = threading.Event()

    @property
    def host(self) -> str:
        return str(self._configuration.host)

    def get(self, kind: Kind, namespace: str | None, name: str) -> dict[str, Any] | None:
        """The object, or None if there is none."""
        try:
            result: dict[str, Any] = self.request("GET", kind.path(namespace, name))
        except ApiError as error:
            if error.code == 404 and error.reason == "NotFound":
                return None
            raise
        return result

    def list(self, kind: Kind, namespace: str | None = None, **query: str) -> tuple[list[dict[str, Any]], str]:
        """All objects (in pages of 500) and the resourceVersion of the list, from which a watch may go on."""
        items: list[dict[str, Any]] = []
        query = {"limit": str(_PAGE), **query}
        while True:
            page = self.request("GET", kind.path(namespace), query=query)
            # Items of a list leave out what the list itself says.
            items += [{**item, "apiVersion": kind.api_version, "kind": kind.kind} for item in page.get("items") or []]
            token = page["metadata"].get("continue")
            if not token:
                return items, str(page["metadata"].get("resourceVersion", ""))
            query = {**query, "continue": token}

    def apply(self, kind: Kind, manifest: dict[str, Any], force: bool = False) -> dict[str, Any]:
        """Server-side apply with the collection's field manager; unknown fields are refused by the server."""
        metadata = manifest["metadata"]
        query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict", "force": "true" if force else "false"}
        path = kind.path(metadata.get("namespace"), metadata["name"])
        result: dict[str, Any] = self.request("PATCH", path, query=query, body=manifest, content_type=_APPLY)
        return result

    def watch(self, kind: Kind, namespace: str | None, version: str, seconds: float) -> Iterator[dict[str, Any]]:
        """Events {type, object} after a resourceVersion for at most so many seconds; ApiError 410 if it is too old."""
        query = {
            "watch": "1",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(max(1, int(seconds))),
        }
        response = self._send("GET", kind.path(namespace), query, None, None, preload=False)
        try:
            for line in _lines(response):
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiError(int(event["object"].get("code") or 500), event["object"])
                yield event
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise ConnectionFailed(f"the watch of {kind.plural} ended: {_words(error)}") from error
        finally:
            response.close()

    def request(
        self,
        method: str,
        path: str,
        query: dict[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        retry: bool | None = None,
    ) -> Any:
        """The decoded answer ({} where it is empty).

        retry: whether a request whose outcome is unknown may be sent again; default: not for POST.
        Raises ApiError for an answer that is no success, ConnectionFailed for none.
        """
        text = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        retry = method != "POST" if retry is None else retry
        started = time.monotonic()
        delay = 0.1
        while True:
            try:
                return self._once(method, path, query, text, content_type)
            except ApiError as error:
                # 429 means that the request was not taken up, so that even a create may be sent again.
                again = error.code == 429 or (retry and error.code in _RETRIED and not _final(error))
                wait, problem = error.retry_after or delay, error
                budget = self._retry_timeout
            except ConnectionFailed as error:
                again, wait, problem = retry, delay, error  # type: ignore[assignment]
                budget = self._retry_timeout if self._reached.is_set() else min(_FIRST_CONTACT, self._retry_timeout)
            wait *= random.uniform(0.8, 1.2)
            if not again or time.monotonic() - started + wait > budget:
                raise problem
            time.sleep(wait)
            delay = min(delay * 2, 5.0)

    def _once(self, method: str, path: str, query: dict[str, str] | None, body: bytes | None, content_type: str) -> Any:
        response = self._send(method, path, query, body, content_type)
        if not response.data:
            return {}
        try:
            return json.loads(response.data)
        except ValueError as error:
            raise ConnectionFailed(f"{self.host} sent no valid JSON: {_words(error)}") from error

    def _send(
        self,
        method: str,
        path: str,
        query: dict[str, str] | None,
        body: bytes | None,
        content_type: str | None,
        preload: bool = True,
    ) -> Any:
        url = f"{self.host}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = urllib3.HTTPHeaderDict(self._headers)
        if body is not None and content_type:
            headers["Content-Type"] = content_type
        # Asked anew for each request: exec plugins and service accounts renew their tokens.
        for setting in self._configuration.auth_settings().values():
            headers[setting["key"]] = setting["value"]
        if self._configuration.username and "Authorization" not in headers:
            headers["Authorization"] = self._configuration.get_basic_auth_token()
        try:
            response = self._pool.request(
                method, url, body=body, headers=headers, timeout=_TIMEOUT, retries=False, preload_content=preload
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ConnectionFailed(f"cannot reach the API server {self.host}: {_words(error)}") from error
        self._reached.set()
        if response.status >= 300:
            raise _api_error(response)
        return response


def _headers(options: dict[str, Any]) -> urllib3.HTTPHeaderDict:
    headers = urllib3.HTTPHeaderDict({"Accept": "application/json, */*", "User-Agent": "virtshape.instancetypes"})
    if options.get("impersonate_user"):
        headers["Impersonate-User"] = options["impersonate_user"]
    for group in options.get("impersonate_groups") or []:
        headers.add("Impersonate-Group", group)
    return headers


def _api_error(response: Any) -> ApiError:
    data = response.data if response.data is not None else b""
    try:
        body = json.loads(data)
    except ValueError:
        body = data.decode(errors="replace")
    after = response.headers.get("Retry-After", "")
    return ApiError(response.status, body, float(after) if after.isdigit() else None)


def _final(error: ApiError) -> bool:
    """A 500 that comes from the request itself, such as a webhook that refuses it, is the same next time."""
    return error.code == 500 and bool(error.reason) and error.reason != "InternalError"


def _lines(response: Any) -> Iterator[bytes]:
    rest = b""
    for chunk in response.stream(65536):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line.strip())


def _words(error: Exception) -> str:
    """The innermost reason of a connection error, on one line."""
    reason = getattr(error, "reason", None)
    text = str(reason if isinstance(reason, Exception) else error)
    return " ".join(text.split()) or type(error).__name__
