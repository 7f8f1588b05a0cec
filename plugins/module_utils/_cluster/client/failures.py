"""The errors of answers that are no success, and of requests without an answer. Only a failure imports this file."""

from __future__ import annotations

import http.client
import json
import re
import ssl
from http import HTTPStatus
from typing import Any, Final

from ..._resolver.api.name_rules import quoted
from .errors import ApiError, ConnectionFailed, RequestFailed, reason_of

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
_HTTP_TO_HTTPS: Final = "HTTP request to an HTTPS server"
# The texts of these have nothing but what was read.
_NO_HTTP: Final = {
    http.client.BadStatusLine: "its answer is not HTTP",
    http.client.IncompleteRead: "its answer ended too early",
}
_HTTPS_TO_HTTP: Final = re.compile(r"wrong version number|record layer failure|unknown protocol", re.IGNORECASE)


def refusal(host: str, response: Any, data: bytes, verb: str, path: str) -> RequestFailed:
    """The error for a response that is no success. data: its body. verb, path: of the request."""
    if response.status < 400:
        where = response.headers.get("Location", "")
        # The query may contain a token.
        target = f" to {quoted(where.partition('?')[0])}" if where else ""
        return ConnectionFailed(f"{host} answered with a redirect ({response.status}){target}{_WRONG_HOST}", final=True)
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        if data and "json" in response.headers.get("Content-Type", ""):
            return ConnectionFailed(f"{host} answered {response.status} with invalid JSON: {reason_of(error)}")
        if _HTTP_TO_HTTPS in _beginning(data):
            return ConnectionFailed(
                f"{host} answers HTTPS only; set host, or server in the kubeconfig, to https://...", final=True
            )
        body = None
    if not isinstance(body, dict) or _STATUS.isdisjoint(body):
        body = _without_status(host, response.status, data)
    after = response.headers.get("Retry-After", "")
    return ApiError(response.status, body, float(after) if after.isdigit() else None, verb=verb, path=path)


def _without_status(host: str, code: int, data: bytes) -> str:
    """The message about an answer that is no Status: a proxy or load balancer in front of the API server gave it.

    The API server itself has answers of plain text, but none for a gateway's errors.
    """
    text = _one_line(data)
    is_page = _is_page(data)
    if text and not is_page and code not in _GATEWAY:
        return text
    what = f"{'the web page' if is_page else 'the text'} {quoted(text)}" if text else "nothing"
    return _PROXY.format(host=host, code=code, phrase=_PHRASES.get(code, ""), what=what)


def not_json(host: str, data: bytes, error: Exception) -> ConnectionFailed:
    """The error for a success whose body is no JSON."""
    is_page = _is_page(data)
    if isinstance(error, RecursionError):
        what = "JSON that is nested too deeply"
    elif is_page:
        what = f"the web page {quoted(_one_line(data) or 'without a title')}"
    else:
        what = f"invalid JSON: {reason_of(error)}"
    # A web page stays the same; truncated JSON may be complete next time.
    return ConnectionFailed(f"{host} answered with {what}{_WRONG_HOST}", final=is_page)


def not_an_object(host: str, content: Any) -> ConnectionFailed:
    """The error for a success with another JSON value than an object."""
    return ConnectionFailed(f"{host} answered with {quoted(content)} instead of an object{_WRONG_HOST}", final=True)


def not_of_the_api(host: str, expected: str) -> ConnectionFailed:
    """The error for a success that is no object of the API. expected: what it should be."""
    return ConnectionFailed(f"{host} did not answer with {expected}{_WRONG_HOST}", final=True)


def unreachable(host: str, error: Exception, sent: bool) -> ConnectionFailed:
    """The error for a request without a response. sent: whether the server may have got it."""
    if isinstance(error, ssl.SSLCertVerificationError):
        text = (
            f"cannot verify the certificate of {host}: {reason_of(error)}; set ca_cert to the CA that"
            " signed the server's certificate"
        )
        return ConnectionFailed(text, sent=sent, final=True)
    reason = _NO_HTTP.get(type(error)) or reason_of(error)
    text = f"cannot reach the API server {host}: {reason}"
    if isinstance(error, ssl.SSLError) and _HTTPS_TO_HTTP.search(text):
        text = f"{text}; if it answers HTTP only, set host, or server in the kubeconfig, to http://..."
        return ConnectionFailed(text, sent=sent, final=True)
    return ConnectionFailed(text, sent=sent)


def _one_line(data: bytes) -> str:
    """A response that is not JSON, as one line: for a web page its title, or its text if it has no title."""
    text = _beginning(data)
    if _HTML.search(text):
        title = _TITLE.search(text)
        text = title[1] if title else _TAG.sub(" ", text)
    return " ".join(text.split())


def _beginning(data: bytes) -> str:
    return data[:_SNIFFED].decode(errors="replace")


def _is_page(data: bytes) -> bool:
    return _HTML.search(_beginning(data)) is not None
