"""Uploads a file to a volume through CDI: creates the objects, waits for CDI's upload server, sends the data."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final, NamedTuple

from ...._resolver.api.kinds import BY_NAME, Kind
from ...._resolver.api.write import json_patch, merge_patch, replace
from ...._resolver.boot import upload as rules
from ...._resolver.boot.upload import UploadTarget
from ...client import upload_proxy
from ...client.errors import ApiError
from ...client.pool import display
from ...client.session import Session
from ...read.kubevirt import CDI_CONFIG
from ...read.snapshot import EVENT, STORAGE_CLASS
from ..engine import send, send_create

Manifest = dict[str, Any]

_CLAIM: Final = BY_NAME["PersistentVolumeClaim"]
_DATA_VOLUME: Final = BY_NAME["DataVolume"]
_DATA_SOURCE: Final = BY_NAME["DataSource"]
_TOKEN: Final = Kind("UploadTokenRequest", "upload.cdi.kubevirt.io", "v1beta1", "uploadtokenrequests", True)
# Seconds between two polls.
_PAUSE: Final = 2
# Tokens are valid for five minutes. CDI rejects a longer upload at its end, and the module sends the file again.
_RENEWALS: Final = 3
# How often a claim is read and written, which CDI writes at the same time.
_ATTEMPTS: Final = 5
# How often the progress is shown.
_STEPS: Final = 10


class UploadFailed(Exception):
    """The upload or its processing failed; the text is one line."""


class UploadProgress:
    """The progress of one upload. read: bytes of the file that have been read in this try."""

    def __init__(self, name: str, length: int) -> None:
        self.read = 0
        self._name = name
        self._length = length
        self._step = 0

    def report(self, count: int) -> None:
        """Reports the progress. count: bytes that have been read so far."""
        self.read = count
        step = _STEPS * count // self._length if self._length else _STEPS
        if step != self._step:
            self._step = step
            display.get()(f"{self._name}: {100 * step // _STEPS} % of {self._length} bytes uploaded")


class Clock(NamedTuple):
    """A monotonic clock, in seconds, and a way to sleep."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class UploadSettings(NamedTuple):
    """How to upload a file.

    url: of the upload proxy; "" asks CDI. pool: connections to it. tries: at least one.
    ready_timeout: seconds for CDI to get ready. timeout: seconds for it to process the data; 0 does not wait.
    report: called with the number of bytes that have been read of the file.
    """

    pool: Any
    url: str = ""
    tries: int = 5
    ready_timeout: float = 300
    timeout: float = 86400
    report: Callable[[int], None] = lambda _count: None
    clock: Clock = Clock()


def upload(session: Session, target: UploadTarget, file: BinaryIO, settings: UploadSettings) -> None:
    """Uploads a file. Raises UploadFailed, and what requests raise."""
    _check(rules.request_problem(target))
    existing = _existing(session, target)
    if existing is None:
        _create(session, target)
    else:
        _update_existing(session, target, existing)
    _wait_until_ready(session, target, settings)
    url = settings.url or rules.proxy_url(session.request("GET", CDI_CONFIG.path(name="config")))
    url, problem = rules.proxy_address(url)
    _check(problem)
    _send(session, target, file, settings, url)
    if target.data_source:
        _point_data_source(session, target)
    if settings.timeout:
        _wait_until_done(session, target, settings)


def _existing(session: Session, target: UploadTarget) -> Manifest | None:
    """The claim that is uploaded to, if there is one: a DataVolume's may be another than that of its name."""
    claim = session.get(_CLAIM, target.namespace, target.name)
    if claim is None:
        return None
    if not target.claim:
        claim = _claim_of_volume(session, target, claim)
    _check(rules.existing_problem(target, claim))
    return claim


def _claim_of_volume(session: Session, target: UploadTarget, claim: Manifest) -> Manifest:
    volume = session.get(_DATA_VOLUME, target.namespace, target.name)
    if volume is None:
        raise UploadFailed(rules.missing_volume(target, claim))
    if not rules.uses_populator(volume):
        return claim
    name, problem = rules.prime_of(target, claim)
    _check(problem)
    prime = session.get(_CLAIM, target.namespace, name)
    if prime is None:
        raise UploadFailed(f"the claim {name} that CDI made for the upload to {target.label} is gone; try again later")
    return prime


def _create(session: Session, target: UploadTarget) -> None:
    _check(rules.new_problem(target))
    if target.storage_class:
        # CDI would wait for a class that does not exist.
        session.request("GET", STORAGE_CLASS.path(name=target.storage_class))
    send_create(session, _CLAIM if target.claim else _DATA_VOLUME, target.namespace, rules.volume(target))


def _update_existing(session: Session, target: UploadTarget, claim: Manifest) -> None:
    _prepare(session, target, claim)
    for kind in (_CLAIM,) if target.claim else (_CLAIM, _DATA_VOLUME):
        # virtctl does not add the requested labels to existing volumes.
        live = session.get(kind, target.namespace, target.name) if target.labels or target.digest else None
        patch = rules.patch(target, live) if live is not None else None
        if patch is not None:
            send(session, merge_patch(kind.path(target.namespace, target.name), patch))


def _prepare(session: Session, target: UploadTarget, claim: Manifest) -> None:
    for remaining in reversed(range(_ATTEMPTS)):
        changed = rules.prepared(claim)
        if changed is None:
            return
        try:
            send(session, replace(_CLAIM.path(target.namespace, claim["metadata"]["name"]), changed))
            return
        except ApiError as error:
            existing = _existing(session, target) if error.code == 409 and remaining else None
            if existing is None:
                raise
            claim = existing


def _wait_until_ready(session: Session, target: UploadTarget, settings: UploadSettings) -> None:
    for _poll in _polls(settings.ready_timeout, settings.clock):
        if (_claim_is_ready if target.claim else _volume_is_ready)(session, target):
            return
    raise UploadFailed(f"CDI was not ready for the upload to {target.label} within {settings.ready_timeout:g} seconds")


def _claim_is_ready(session: Session, target: UploadTarget) -> bool:
    claim = session.get(_CLAIM, target.namespace, target.name)
    if claim is None or rules.claim_is_ready(claim):
        return claim is not None
    _check_events(session, target, target.name)
    return False


def _volume_is_ready(session: Session, target: UploadTarget) -> bool:
    volume = session.get(_DATA_VOLUME, target.namespace, target.name)
    if volume is None:
        return False
    _check(rules.unbound_problem(target, volume))
    status = volume.get("status") or {}
    if status.get("phase") == "UploadReady":
        return True
    _check_events(session, target, status.get("claimName") or "")
    return False


def _check_events(session: Session, target: UploadTarget, claim: str) -> None:
    events = session.list(EVENT, target.namespace)
    uids = {}
    for kind, name in ((_CLAIM, claim), (_DATA_VOLUME, target.name)):
        live = session.get(kind, target.namespace, name) if name else None
        if live is not None:
            uids[kind.kind] = live["metadata"].get("uid") or ""
    for event in events:
        _check(rules.event_problem(event, uids))


def _send(session: Session, target: UploadTarget, file: BinaryIO, settings: UploadSettings, url: str) -> None:
    length = os.fstat(file.fileno()).st_size
    fast, slow = rules.proxy_paths(url)
    token, renewals = _token(session, target), 0
    response = upload_proxy.UploadResponse(None, "")
    # virtctl with --retry=0 uploads nothing, and waits a day for the processing.
    for attempt in range(max(1, settings.tries)):
        if attempt:
            settings.clock.sleep(min(attempt, 10) / 10)
        path = fast if upload_proxy.takes_data(settings.pool, fast, token) else slow
        response = upload_proxy.send(settings.pool, path, token, file, length, settings.report)
        if response.code == 200:
            return
        if response.final:
            break
        if response.code == 401:
            if not attempt or renewals == _RENEWALS:
                raise UploadFailed(f"the upload proxy at {url} refuses the token: {_error_text(response)}")
            token, renewals = _token(session, target), renewals + 1
    raise UploadFailed(f"the upload to {url} failed: {_error_text(response)}")


def _error_text(response: upload_proxy.UploadResponse) -> str:
    return response.text if response.code is None else f"HTTP {response.code} {response.text}".strip()


def _token(session: Session, target: UploadTarget) -> str:
    body = {
        "apiVersion": _TOKEN.api_version,
        "kind": _TOKEN.kind,
        "metadata": {"generateName": "token-for-upload-"},
        "spec": {"pvcName": target.name},
    }
    response = session.request("POST", _TOKEN.path(target.namespace), body=body, retry=True)
    return str((response.get("status") or {}).get("token") or "")


def _point_data_source(session: Session, target: UploadTarget) -> None:
    live = session.get(_DATA_SOURCE, target.namespace, target.name)
    if live is None:
        send_create(session, _DATA_SOURCE, target.namespace, rules.data_source(target))
        return
    patch = rules.data_source_patch(target, live)
    send(session, json_patch(_DATA_SOURCE.path(target.namespace, target.name), patch))


def _wait_until_done(session: Session, target: UploadTarget, settings: UploadSettings) -> None:
    for _poll in _polls(settings.timeout, settings.clock):
        claim = session.request("GET", _CLAIM.path(target.namespace, target.name))
        if rules.claim_is_done(claim):
            return
    raise UploadFailed(f"CDI has not processed the upload to {target.label} within {settings.timeout:g} seconds")


def _polls(seconds: float, clock: Clock) -> Iterator[None]:
    end = clock.now() + seconds
    while clock.now() < end:
        yield
        clock.sleep(_PAUSE)


def _check(problem: str) -> None:
    if problem:
        raise UploadFailed(problem)
