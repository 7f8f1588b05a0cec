"""Reads, writes and watches objects at an API server."""

from __future__ import annotations

import copy
import http.client
import json
import re
import time
import zlib
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from typing import Any, Final
from urllib.parse import urlencode

from ..._resolver.api.keys import FIELD_MANAGER
from ..._resolver.api.kinds import Kind
from ..._resolver.api.write import APPLY, RetrySafety, Write
from .concurrency import Backoff, raise_if_stopped
from .connections import Response
from .errors import ApiError, ConnectionFailed
from .sender import Request, Sender

_JSON: Final = "application/json, */*"
_METADATA: Final = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"
_PAGE: Final = 500
# How often an expired list is begun, and its most pages: a million objects.
_LISTS: Final = 5
_PAGES: Final = 2000
_ENDLESS: Final = (
    "{} does not end the list of {}: page {} still has a continue token; check the API server, and a proxy in front of"
    " it"
)
# Server-side apply parses JSON as YAML, which misreads these characters unless they are escaped. Other characters, such
# as emojis, must not be escaped.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")

# Inside the class, `list` is the method.
_Items = list[dict[str, Any]]


class Session:
    """A connection to one API server with one user's credentials. Threads may share it.

    options: the authentication options (see `settings.configure`), impersonate_user, impersonate_groups,
    retry_timeout: seconds for the retries of one request (default 60),
    qps: requests per second, retries included (default: no limit), concurrency: the most connections (default 16), and
    field_manager: the manager for server-side apply (default FIELD_MANAGER).
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self.field_manager = str(options.get("field_manager") or FIELD_MANAGER)
        # Threads add to it; copies for dry runs share it.
        self.warnings: dict[str, dict[str, None]] = {}
        self._sender = Sender(options)
        self.is_dry_run = False

    @property
    def host(self) -> str:
        """The address of the API server, without a login."""
        return self._sender.host

    @property
    def retry_timeout(self) -> float:
        return self._sender.retry_timeout

    def dry_run_session(self) -> Session:
        """A copy of this session that sends writes as dry runs: the server validates them but stores nothing."""
        other = copy.copy(self)
        other.is_dry_run = True
        return other

    @property
    def give_up_reason(self) -> str:
        """Why no request is retried any more, if the server has answered none for a while; "" while it answers."""
        return self._sender.outage.reason

    def get(self, kind: Kind, namespace: str | None, name: str, metadata_only: bool = False) -> dict[str, Any] | None:
        """The object, or None if it does not exist. metadata_only: return only the metadata."""
        accept = _METADATA.format("") if metadata_only else _JSON
        try:
            result: dict[str, Any] = self.request("GET", kind.path(namespace, name), accept=accept)
        except ApiError as error:
            if error.code == 404 and error.reason == "NotFound":
                return None
            raise
        return self._object(result)

    def list(self, kind: Kind, namespace: str | None = None, metadata_only: bool = False, /, **query: str) -> _Items:
        """All objects, in pages of 500. metadata_only: return only the metadata."""
        return self.list_to_watch(kind, namespace, metadata_only, **query)[0]

    def list_to_watch(
        self, kind: Kind, namespace: str | None = None, metadata_only: bool = False, /, **query: str
    ) -> tuple[_Items, str]:
        """The items of `list`, and the resourceVersion of the list, from which a watch can start."""
        pauses = Backoff()
        while True:
            try:
                return self._pages(kind, namespace, {"limit": str(_PAGE), **query}, metadata_only)
            except ApiError as error:
                # The continue token expires after a few minutes; then only a new list is consistent. By then the time
                # for retries is over, so the lists count.
                if error.code != 410 or pauses.tries == _LISTS:
                    raise
                time.sleep(pauses.next())

    def _pages(
        self, kind: Kind, namespace: str | None, query: dict[str, str], metadata_only: bool
    ) -> tuple[_Items, str]:
        items: _Items = []
        field_sets: dict[str, dict[str, Any]] = {}
        accept = _METADATA.format("List") if metadata_only else _JSON
        firsts = set()
        for number in count(1):
            try:
                page = self.request("GET", kind.path(namespace), query=query, accept=accept)
            except ApiError as error:
                error.selector = query.get("labelSelector", "") if "continue" not in query else ""
                raise
            page_items = self._items(page)
            # The items of a list lack apiVersion and kind.
            for item in page_items:
                _share_field_sets(item["metadata"].get("managedFields"), field_sets)
                items.append({**item, "apiVersion": kind.api_version, "kind": kind.kind})
            token = page["metadata"].get("continue")
            if not token:
                break
            # A page may be empty. A proxy that drops the token gets the same one again and again.
            metadata = page_items[0]["metadata"] if page_items else {"name": number}
            first = metadata.get("namespace"), metadata["name"]
            if first in firsts or number == _PAGES:
                raise ConnectionFailed(_ENDLESS.format(self.host, kind.plural, number), final=True)
            firsts.add(first)
            query = {**query, "continue": token}
        return items, str(page["metadata"].get("resourceVersion", ""))

    def _items(self, page: dict[str, Any]) -> _Items:
        """The objects of a page. Checked here, because malformed objects would fail later, far from the cause."""
        items = page.get("items") or []
        well_formed = isinstance(items, list) and isinstance(page.get("metadata"), dict)
        if not well_formed or not all(map(_is_object, items)):
            raise self._not_of_the_api("a list of objects")
        return items

    def _object(self, item: dict[str, Any]) -> dict[str, Any]:
        if not _is_object(item):
            raise self._not_of_the_api("an object")
        return item

    def _not_of_the_api(self, expected: str) -> ConnectionFailed:
        from .failures import not_of_the_api

        return not_of_the_api(self.host, expected)

    def write(self, write: Write) -> dict[str, Any]:
        """Sends a write, and again where that is safe at any time. Returns the decoded response; {} if it is empty.

        Raises the errors of `request`.
        """
        response: dict[str, Any] = self.request(
            write.method,
            write.path,
            dict(write.query),
            body=write.body,
            content_type=write.content_type,
            retry=write.repeat is RetrySafety.ALWAYS,
        )
        return self._object(response) if write.content_type == APPLY else response

    def watch(
        self,
        kind: Kind,
        namespace: str | None,
        version: str,
        seconds: float,
        metadata_only: bool = False,
        /,
        **query: str,
    ) -> Iterator[dict[str, Any]]:
        """Events {type, object} after a resourceVersion, including bookmarks. seconds: the longest time of the watch.

        A lost connection ends the watch early; continue from the last resourceVersion. Raises ApiError 410 if the
        resourceVersion is too old, and the errors of `request` if the watch cannot be opened.
        """
        query = {
            **query,
            "watch": "1",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(max(1, int(seconds))),
        }
        accept = _METADATA.format("") if metadata_only else _JSON
        path = kind.path(namespace)
        request = Request("GET", path, _target(path, query), accept, self.warnings, watched=seconds)
        budget = min(seconds, self.retry_timeout)
        response = self._sender.retried(lambda: self._sender.opened(request), safe=True, budget=budget)
        try:
            for line in _lines(response):
                raise_if_stopped()
                event = json.loads(line)
                if not _is_event(event):
                    return
                if event["type"] == "ERROR":
                    code = int(event["object"].get("code") or 500)
                    raise ApiError(code, event["object"], verb="WATCH", path=path)
                yield event
        except (http.client.HTTPException, OSError, ValueError, zlib.error):
            return
        finally:
            response.end()

    def request(
        self,
        method: str,
        path: str,
        query: dict[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        retry: bool | None = None,
        accept: str = _JSON,
        final: tuple[int, ...] = (),
    ) -> Any:
        """Sends a request and returns the decoded response; {} if it is empty.

        retry: whether a request whose outcome is unknown may be sent again; default: all but POST.
        final: status codes that are not retried.
        Raises ApiError for an unsuccessful response, ConnectionFailed if there is no response.
        """
        if self.is_dry_run and method != "GET":
            query = {**(query or {}), "dryRun": "All"}
            if method == "DELETE":
                # If a deletion has a body, the server ignores the query.
                body = {**(body or {}), "dryRun": ["All"]}
        text = None if body is None else _encoded(body)
        safe = method != "POST" if retry is None else retry
        # The body names the version to change: a conflict is final.
        versioned = not isinstance(body, dict) or "resourceVersion" in (body.get("metadata") or {})
        if versioned and method not in ("GET", "DELETE"):
            final = (*final, 409)
        request = Request(method, path, _target(path, query), accept, self.warnings, text, content_type)
        return self._sender.retried(lambda: self._sender.once(request), safe, final=final)


def _target(path: str, query: dict[str, str] | None) -> str:
    return f"{path}?{_encoded_query(tuple(query.items()))}" if query else path


# The writes of a task have the same.
@lru_cache(maxsize=64)
def _encoded_query(query: tuple[tuple[str, str], ...]) -> str:
    return urlencode(query)


def _share_field_sets(managed: Any, field_sets: dict[str, dict[str, Any]]) -> None:
    """Replaces equal sets of managed fields by one.

    They take 40 percent of an object's memory, and what one task has declared has the same fields.
    """
    for item in managed if isinstance(managed, list) else ():
        fields = item.get("fieldsV1") if isinstance(item, dict) else None
        if fields is not None:
            item["fieldsV1"] = field_sets.setdefault(json.dumps(fields), fields)


def _is_object(item: Any) -> bool:
    metadata = item.get("metadata") if isinstance(item, dict) else None
    return isinstance(metadata, dict) and isinstance(metadata.get("name"), str)


def _is_event(event: Any) -> bool:
    about = event.get("object") if isinstance(event, dict) else None
    return isinstance(about, dict) and (event.get("type") == "ERROR" or isinstance(about.get("metadata"), dict))


def _encoded(body: Any) -> bytes:
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _lines(response: Response) -> Iterator[bytes]:
    partial = b""
    for part in response.parts():
        *lines, partial = (partial + part).split(b"\n")
        yield from (line for line in lines if line.strip())
