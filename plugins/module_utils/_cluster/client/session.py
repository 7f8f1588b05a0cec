"""Requests to the API server: pooled connections, raw JSON, retries where they are safe."""

from __future__ import annotations

import copy
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from itertools import count
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from ..._resolver.api.keys import FIELD_MANAGER
from ..._resolver.api.kinds import Kind
from ..._resolver.api.name_rules import quoted
from ..._resolver.api.write import APPLY, RetrySafety, Write
from ..._resolver.secrets.redaction import without_logins
from .concurrency import Backoff, TokenBucket, raise_if_stopped
from .errors import TOO_LARGE, ApiError, ConnectionFailed, RequestFailed, is_other_object, reason_of
from .server_warnings import object_label, warning_texts
from .settings import configure
from .transport import USER_AGENT, HTTPHeaderDict, connections, deadline, request_sender, urllib3

# Client errors for which the server responds with 500: an unknown field in server-side apply, and an object that is too
# large for etcd.
_LASTING: Final = ("failed to create typed patch object", *TOO_LARGE)
PASSING: Final = frozenset({429, 500, 502, 503, 504})
"""Status codes for which a retry may succeed."""
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
_CONNECTIONS: Final = 16
_CONNECT_TIMEOUT: Final = 10
# Seconds without data. A stuck request leaves time for another attempt; a watch gets a bookmark every minute.
_READ_TIMEOUT: Final = 30
# Seconds and bytes of a whole response; a page of 500 large VMs has about ten MB.
_DEADLINE: Final = 120
_LARGEST: Final = 512 * 2**20
_WATCH_TIMEOUT: Final = 65
# Seconds for which the authentication headers are kept, so that a credential plugin does not run for each request.
_HEADERS_TTL: Final = 1.0
# If a server has never responded, its address is more likely wrong than the server restarting.
_FIRST_CONTACT: Final = 5.0

# Server-side apply parses JSON as YAML, which misreads these characters unless they are escaped. Other characters, such
# as emojis, must not be escaped.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")

# How much of a response that is not JSON is searched for a web page.
_SNIFFED: Final = 4096
_HTML: Final = re.compile(r"<(!doctype\s+html|html|head|body|title)\b", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_TAG: Final = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>?", re.IGNORECASE | re.DOTALL)
# Fields of which a Status has at least one.
_STATUS: Final = frozenset({"kind", "message", "reason"})
_GATEWAY: Final = (502, 504)
_PHRASES: Final = {status.value: f" {status.phrase}" for status in HTTPStatus}
_PROXY: Final = (
    "{host} answered {code}{phrase} with {what}: that is a proxy or load balancer, not the Kubernetes API; check the"
    " API server behind it"
)
_WRONG_HOST: Final = "; set host to the address of an API server, not of a console, a login page or a proxy"
_CHUNK: Final = 65536
_HEADER: Final = (
    "a credential or name has characters that no HTTP header may have, such as a line break; check api_key, username,"
    " password, impersonate_user, impersonate_groups, and the token in the kubeconfig"
)
_HTTP_TO_HTTPS: Final = "HTTP request to an HTTPS server"
_HTTPS_TO_HTTP: Final = re.compile(r"wrong version number|record layer failure|unknown protocol", re.IGNORECASE)

_WARNING: Final = "Warning"
# Different warnings that a session keeps.
_WARNINGS: Final = 100
_MORE_WARNINGS: Final = "the API server gives more different warnings than are shown"

_T = TypeVar("_T")


class _Outage:
    """How long a server has not answered: `answers` so far, and why it is given up; "" while it answers.

    Each of thousands of requests to a server that has gone would else be retried for as long as the first.
    """

    def __init__(self) -> None:
        self.answers, self.reason = 0, ""

    def end(self) -> None:
        self.answers, self.reason = self.answers + 1, ""


# Inside the class, `list` is the method.
_Items = list[dict[str, Any]]


class Session:
    """A connection to one API server with one user's credentials. Threads may share it.

    options: the authentication options (see `settings.configure`), impersonate_user, impersonate_groups,
    retry_timeout: seconds for the retries of one request (default 60),
    qps: requests per second, retries included (default: no limit), concurrency: the most connections (default 16), and
    field_manager: the manager for server-side apply (default FIELD_MANAGER).

    warnings: what the API server has warned of → the objects, as labels.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        # Threads add to it; copies for dry runs share it.
        self.warnings: dict[str, dict[str, None]] = {}
        self.field_manager = str(options.get("field_manager") or FIELD_MANAGER)
        self._options = options
        self._connect()
        self._headers = _headers(options)
        timeout = options.get("retry_timeout")
        self.retry_timeout = 60.0 if timeout is None else float(timeout)
        self._bucket = TokenBucket(options["qps"]) if options.get("qps") else None
        self._reached = threading.Event()
        self._outage = _Outage()
        self._accepted = threading.Event()
        self._lock = threading.Lock()
        # _renewals: how often the credentials were read again. _renewal_useless: until the server accepts some.
        self._renewals = 0
        self._renewal_useless = False
        self.is_dry_run = False

    def _connect(self) -> None:
        self._settings = configure(self._options)
        address = self._settings.host
        self.host = without_logins(address, "host")
        self._cached_headers: tuple[float, dict[str, str]] = (0.0, {})
        manager = connections(self._settings, self._options.get("concurrency") or _CONNECTIONS)
        self._open = request_sender(manager, address)

    def dry_run_session(self) -> Session:
        """A copy of this session that sends writes as dry runs: the server validates them but stores nothing."""
        other = copy.copy(self)
        other.is_dry_run = True
        return other

    @property
    def give_up_reason(self) -> str:
        """Why no request is retried any more, if the server has answered none for a while; "" while it answers."""
        return self._outage.reason

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
            raise ConnectionFailed(f"{self.host} did not answer with a list of objects{_WRONG_HOST}", final=True)
        return items

    def _object(self, item: dict[str, Any]) -> dict[str, Any]:
        if not _is_object(item):
            raise ConnectionFailed(f"{self.host} did not answer with an object{_WRONG_HOST}", final=True)
        return item

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
        response = self._retried(
            lambda: self._send("GET", kind.path(namespace), query, None, None, accept, watched=seconds),
            safe=True,
            budget=min(seconds, self.retry_timeout),
        )
        try:
            for line in _lines(response):
                raise_if_stopped()
                event = json.loads(line)
                if not _is_event(event):
                    return
                if event["type"] == "ERROR":
                    code = int(event["object"].get("code") or 500)
                    raise ApiError(code, event["object"], verb="WATCH", path=kind.path(namespace))
                yield event
        except (urllib3.exceptions.HTTPError, OSError, ValueError):
            return
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
        accept: str = _JSON,
        final: tuple[int, ...] = (),
    ) -> Any:
        """Sends a request and returns the decoded response; {} if it is empty.

        retry: whether a request whose outcome is unknown may be sent again; default: all but POST.
        final: status codes that are not retried.
        Raises ApiError for an unsuccessful response, ConnectionFailed if there is no response.
        """
        if self.is_dry_run and method == "DELETE":
            # If a deletion has a body, the server ignores the query.
            body = {**(body or {}), "dryRun": ["All"]}
        text = None if body is None else _encoded(body)
        safe = method != "POST" if retry is None else retry
        # The body names the version to change: a conflict is final.
        versioned = not isinstance(body, dict) or "resourceVersion" in (body.get("metadata") or {})
        if versioned and method not in ("GET", "DELETE"):
            final = (*final, 409)
        return self._retried(lambda: self._once(method, path, query, text, content_type, accept), safe, final=final)

    def _retried(
        self, send: Callable[[], _T], safe: bool, budget: float | None = None, final: tuple[int, ...] = ()
    ) -> _T:
        """Calls `send`, with retries while they can help.

        safe: sending a request twice does no harm. budget: seconds, default retry_timeout.
        """
        allowed = self.retry_timeout if budget is None else budget
        pauses, lost, answers = Backoff(), False, self._outage.answers
        while True:
            renewals = self._renewals
            raise_if_stopped()
            try:
                return send()
            except ApiError as error:
                error.after_lost, lost = lost, lost or (error.code in PASSING and error.code != 429)
                if error.code == 401 and self._renew(renewals):
                    continue
                if error.code == 401 and self._accepted.is_set():
                    error.message += "; they worked earlier in this task, so they expired or were revoked"
                elif error.code not in final and _may_retry(error, safe):
                    if pauses.pause(allowed, error.retry_after):
                        continue
                    error.message += _attempts_text(pauses)
                raise
            except ConnectionFailed as error:
                reachable, lost = self._reached.is_set(), lost or error.sent
                if error.final or (error.sent and not safe):
                    raise
                text = self._outage.reason
                if text or not pauses.pause(allowed if reachable else min(_FIRST_CONTACT, allowed)):
                    text = text or f"{error}{_attempts_text(pauses)}"
                    if budget is None and answers == self._outage.answers:
                        self._outage.reason = text
                    raise ConnectionFailed(text, sent=error.sent) from error

    def _renew(self, renewals: int) -> bool:
        """Reads the credentials again after a 401; False if they did not change.

        renewals: the value of `_renewals` when the rejected request was sent.
        """
        with self._lock:
            if self._renewals != renewals:
                return True  # another thread renewed them
            if self._renewal_useless:
                return False
            rejected = self._credentials()
            self._connect()
            # An exec plugin that returns a new token each time runs once, until the server accepts a token.
            self._renewal_useless = True
            if self._credentials() == rejected:
                return False
            self._renewals += 1
            return True

    def _credentials(self) -> dict[str, str]:
        """The authentication headers, a second old at most: exec plugins and service accounts renew their tokens."""
        expiry, headers = self._cached_headers
        now = time.monotonic()
        if now > expiry:
            value = self._settings.authorization()
            headers = {"Authorization": value} if value else {}
            self._cached_headers = (now + _HEADERS_TTL, headers)
        return headers

    def _once(
        self,
        method: str,
        path: str,
        query: dict[str, str] | None,
        body: bytes | None,
        content_type: str,
        accept: str,
    ) -> Any:
        response = self._send(method, path, query, body, content_type, accept)
        data = self._read(response)
        if not data:
            return {}
        try:
            content = json.loads(data)
        except (ValueError, RecursionError) as error:
            text = f"{self.host} answered with {_not_json_error(data, error)}{_WRONG_HOST}"
            # A web page stays the same; truncated JSON may be complete next time.
            raise ConnectionFailed(text, final=_HTML.search(_beginning(data)) is not None) from error
        if not isinstance(content, dict):
            raise ConnectionFailed(
                f"{self.host} answered with {quoted(content)} instead of an object{_WRONG_HOST}", final=True
            )
        return content

    def _read(self, response: Any) -> bytes:
        """The whole body, decompressed."""
        parts, length = [], 0
        try:
            for part in response.stream(_CHUNK, decode_content=True):
                parts.append(part)
                length += len(part)
                if length > _LARGEST:
                    response.close()
                    raise ConnectionFailed(f"{self.host} answered with more than {_LARGEST >> 20} MiB", final=True)
        except urllib3.exceptions.DecodeError as error:
            raise ConnectionFailed(f"cannot decompress the answer of {self.host}: {reason_of(error)}") from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self._unreachable(error) from error
        return b"".join(parts)

    def _send(
        self,
        method: str,
        path: str,
        query: dict[str, str] | None,
        body: bytes | None,
        content_type: str | None,
        accept: str,
        watched: float | None = None,
    ) -> Any:
        """The response, with its body unread. watched: the seconds of a watch; None for other requests."""
        if self._bucket is not None:
            self._bucket.wait_for_turn()
            raise_if_stopped()
        if self.is_dry_run and method != "GET":
            query = {**(query or {}), "dryRun": "All"}
        target = f"{path}?{urlencode(query)}" if query else path
        timeout = urllib3.Timeout(connect=_CONNECT_TIMEOUT, read=_READ_TIMEOUT if watched is None else _WATCH_TIMEOUT)
        headers = self._headers.copy()
        headers["Accept"] = accept
        if body is not None and content_type:
            headers["Content-Type"] = content_type
        # One thread at a time, so that an exec plugin whose token has expired runs once.
        with self._lock:
            headers.update(self._credentials())
            send = self._open
        # The server ends a watch by its timeout; the deadline is for a watch that hangs beyond it.
        deadline.set(time.monotonic() + (_DEADLINE if watched is None else watched + _WATCH_TIMEOUT))
        try:
            response = send(method, target, body=body, headers=headers, timeout=timeout)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if isinstance(error, urllib3.exceptions.ReadTimeoutError):
                # The connection was accepted: the address is right, and another server behind it may answer.
                self._reached.set()
            raise self._unreachable(error) from error
        except ValueError:
            # The error contains the header, which may be a secret.
            raise ConnectionFailed(_HEADER, final=True) from None
        self._reached.set()
        self._outage.end()
        if _WARNING in response.headers:
            self._keep_warnings(response.headers.getlist(_WARNING), object_label(path))
        if response.status >= 300:
            raise self._refusal(response, method if watched is None else "WATCH", path)
        self._accepted.set()
        self._renewal_useless = False
        return response

    def _keep_warnings(self, headers: Iterable[str], label: str) -> None:
        for text in (text for header in headers for text in warning_texts(header)):
            known = text in self.warnings or len(self.warnings) < _WARNINGS
            self.warnings.setdefault(text if known else _MORE_WARNINGS, {})[label] = None

    def _refusal(self, response: Any, verb: str, path: str) -> RequestFailed:
        data = self._read(response)
        if response.status < 400:
            where = response.headers.get("Location", "")
            # The query may contain a token.
            target = f" to {quoted(where.partition('?')[0])}" if where else ""
            return ConnectionFailed(
                f"{self.host} answered with a redirect ({response.status}){target}{_WRONG_HOST}", final=True
            )
        try:
            body = json.loads(data)
        except (ValueError, RecursionError) as error:
            if data and "json" in response.headers.get("Content-Type", ""):
                return ConnectionFailed(f"{self.host} answered {response.status} with invalid JSON: {reason_of(error)}")
            if _HTTP_TO_HTTPS in _beginning(data):
                return ConnectionFailed(
                    f"{self.host} answers HTTPS only; set host, or server in the kubeconfig, to https://...", final=True
                )
            body = None
        if not isinstance(body, dict) or _STATUS.isdisjoint(body):
            body = self._without_status(response.status, data)
        after = response.headers.get("Retry-After", "")
        return ApiError(response.status, body, float(after) if after.isdigit() else None, verb=verb, path=path)

    def _without_status(self, code: int, data: bytes) -> str:
        """The message about an answer that is no Status: a proxy or load balancer in front of the API server gave it.

        The API server itself has answers of plain text, but none for a gateway's errors.
        """
        text = _one_line(data)
        is_page = _HTML.search(_beginning(data)) is not None
        if text and not is_page and code not in _GATEWAY:
            return text
        what = f"{'the web page' if is_page else 'the text'} {quoted(text)}" if text else "nothing"
        return _PROXY.format(host=self.host, code=code, phrase=_PHRASES.get(code, ""), what=what)

    def _unreachable(self, error: Exception) -> ConnectionFailed:
        cause = error.args[0] if error.args else None
        text = f"cannot reach the API server {self.host}: {reason_of(error)}"
        # The certificate error of TLS and that of urllib3, which compares names itself at times, are both ValueErrors.
        if isinstance(error, urllib3.exceptions.SSLError) and isinstance(cause, ValueError):
            text = (
                f"cannot verify the certificate of {self.host}: {reason_of(error)}; set ca_cert to the CA that"
                " signed the server's certificate"
            )
            return ConnectionFailed(text, sent=False, final=True)
        exceptions = urllib3.exceptions
        if isinstance(error, exceptions.SSLError) and _HTTPS_TO_HTTP.search(text):
            text = f"{text}; if it answers HTTP only, set host, or server in the kubeconfig, to http://..."
            return ConnectionFailed(text, sent=False, final=True)
        unsent = isinstance(error, (exceptions.NewConnectionError, exceptions.ConnectTimeoutError))
        return ConnectionFailed(text, sent=not unsent)


def _headers(options: dict[str, Any]) -> Any:
    """The headers of all requests, as a dict or a mapping."""
    headers: Any = {"User-Agent": USER_AGENT}
    if options.get("impersonate_user"):
        headers["Impersonate-User"] = options["impersonate_user"]
    groups = options.get("impersonate_groups") or []
    # Only this class repeats a header; with a dict, a request takes less time.
    headers = HTTPHeaderDict(headers) if groups else headers
    for group in groups:
        headers.add("Impersonate-Group", group)
    return headers


def _may_retry(error: ApiError, safe: bool) -> bool:
    """Whether a retry may succeed and is safe."""
    if error.code == 429:
        return True  # the server did not process the request
    if error.code == 409:
        # A concurrent write, unlike a conflict of field managers, has no causes; a retry helps.
        return safe and error.reason == "Conflict" and not error.causes and not is_other_object(error)
    lasting = any(words in error.message for words in _LASTING)
    if error.code == 500 and (error.reason not in ("", "InternalError") or lasting):
        return False  # such as a webhook that rejects the request: a retry gets the same error
    return safe and error.code in PASSING


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


def _attempts_text(pauses: Backoff) -> str:
    return f" (tried {pauses.tries} times in {pauses.seconds:.0f} s)" if pauses.tries > 1 else ""


def _encoded(body: Any) -> bytes:
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _not_json_error(data: bytes, error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "JSON that is nested too deeply"
    return (
        f"the web page {quoted(_one_line(data) or 'without a title')}"
        if _HTML.search(_beginning(data))
        else f"invalid JSON: {reason_of(error)}"
    )


def _one_line(data: bytes) -> str:
    """A response that is not JSON, as one line: for a web page its title, or its text if it has no title."""
    text = _beginning(data)
    if _HTML.search(text):
        title = _TITLE.search(text)
        text = title[1] if title else _TAG.sub(" ", text)
    return " ".join(text.split())


def _beginning(data: bytes) -> str:
    return data[:_SNIFFED].decode(errors="replace")


def _lines(response: Any) -> Iterator[bytes]:
    partial = b""
    for chunk in response.stream(_CHUNK, decode_content=True):
        *lines, partial = (partial + chunk).split(b"\n")
        yield from (line for line in lines if line.strip())
