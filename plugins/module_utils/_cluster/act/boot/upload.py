"""Uploads a file to a volume through CDI: creates the objects, waits for CDI's upload server, sends the data."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final, NamedTuple

from ...._resolver.api.kinds import BY_NAME, Kind
from ...._resolver.api.write import json_patch, merge_patch, replace
from ...._resolver.boot import upload as rules
from ...._resolver.boot.upload import Upload
from ...client import upload_proxy
from ...client.errors import ApiError
from ...client.session import Session
from ...read.cdi import CDI_CONFIG
from ...read.snapshot import STORAGE_CLASS
from ..engine import send

Manifest = dict[str, Any]

_CLAIM: Final = BY_NAME["PersistentVolumeClaim"]
_DATA_VOLUME: Final = BY_NAME["DataVolume"]
_DATA_SOURCE: Final = BY_NAME["DataSource"]
_TOKEN: Final = Kind("UploadTokenRequest", "upload.cdi.kubevirt.io", "v1beta1", "uploadtokenrequests", True)
_EVENT: Final = Kind("Event", "", "v1", "events", True)
# Seconds between two polls.
_PAUSE: Final = 2
# Tokens are valid for five minutes. CDI rejects a longer upload at its end, and the module sends the file again.
_RENEWALS: Final = 3
# How often a claim is read and written, which CDI writes at the same time.
_ATTEMPTS: Final = 5


class UploadFailed(Exception):
    """The upload or its processing failed; the text is one line."""


class Clock(NamedTuple):
    """A monotonic clock, in seconds, and a way to sleep."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class Way(NamedTuple):
    """How to upload.

    url: of the upload proxy; "" asks CDI. pool: connections to it. tries: at least one.
    ready_timeout: seconds for CDI to get ready. timeout: seconds for it to process the data; 0 does not wait.
    told: called with the number of bytes that have been read of the file.
    """

    pool: Any
    url: str = ""
    tries: int = 5
    ready_timeout: float = 300
    timeout: float = 86400
    told: Callable[[int], None] = lambda _count: None
    clock: Clock = Clock()


def upload(session: Session, wish: Upload, file: BinaryIO, way: Way) -> None:
    """Uploads a file. Raises UploadFailed, and what requests raise."""
    _check(rules.request_problem(wish))
    existing = _existing(session, wish)
    if existing is None:
        _create(session, wish)
    else:
        _take(session, wish, existing)
    _wait_until_ready(session, wish, way)
    url = way.url or rules.proxy_of(session.request("GET", CDI_CONFIG.path(name="config")))
    url, problem = rules.proxy_address(url)
    _check(problem)
    _send(session, wish, file, way, url)
    if wish.data_source:
        _lead_to(session, wish)
    if way.timeout:
        _wait_until_done(session, wish, way)


def _existing(session: Session, wish: Upload) -> Manifest | None:
    """The claim that is uploaded to, if there is one: a DataVolume's may be another than that of its name."""
    claim = session.get(_CLAIM, wish.namespace, wish.name)
    if claim is None:
        return None
    if not wish.claim:
        claim = _claim_of_volume(session, wish, claim)
    _check(rules.existing_problem(wish, claim))
    return claim


def _claim_of_volume(session: Session, wish: Upload, claim: Manifest) -> Manifest:
    volume = session.get(_DATA_VOLUME, wish.namespace, wish.name)
    if volume is None:
        raise UploadFailed(rules.missing_volume(wish, claim))
    if not rules.uses_populator(volume):
        return claim
    name, problem = rules.prime_of(wish, claim)
    _check(problem)
    prime = session.get(_CLAIM, wish.namespace, name)
    if prime is None:
        raise UploadFailed(f"the claim {name} that CDI made for the upload to {wish.place} is gone; try again later")
    return prime


def _create(session: Session, wish: Upload) -> None:
    _check(rules.new_problem(wish))
    if wish.storage_class:
        # CDI would wait for a class that does not exist.
        session.request("GET", STORAGE_CLASS.path(name=wish.storage_class))
    session.create(_CLAIM if wish.claim else _DATA_VOLUME, wish.namespace, rules.volume(wish))


def _take(session: Session, wish: Upload, claim: Manifest) -> None:
    _prepare(session, wish, claim)
    for kind in (_CLAIM,) if wish.claim else (_CLAIM, _DATA_VOLUME):
        # virtctl does not add the requested labels to existing volumes.
        found = session.get(kind, wish.namespace, wish.name) if wish.labels or wish.digest else None
        patch = rules.patch(wish, found) if found is not None else None
        if patch is not None:
            send(session, merge_patch(kind.path(wish.namespace, wish.name), patch))


def _prepare(session: Session, wish: Upload, claim: Manifest) -> None:
    for left in reversed(range(_ATTEMPTS)):
        changed = rules.prepared(claim)
        if changed is None:
            return
        try:
            send(session, replace(_CLAIM.path(wish.namespace, claim["metadata"]["name"]), changed))
            return
        except ApiError as error:
            found = _existing(session, wish) if error.code == 409 and left else None
            if found is None:
                raise
            claim = found


def _wait_until_ready(session: Session, wish: Upload, way: Way) -> None:
    for _look in _looks(way.ready_timeout, way.clock):
        if (_claim_is_ready if wish.claim else _volume_is_ready)(session, wish):
            return
    raise UploadFailed(f"CDI was not ready for the upload to {wish.place} within {way.ready_timeout:g} seconds")


def _claim_is_ready(session: Session, wish: Upload) -> bool:
    claim = session.get(_CLAIM, wish.namespace, wish.name)
    if claim is None or rules.claim_is_ready(claim):
        return claim is not None
    _check_events(session, wish, wish.name)
    return False


def _volume_is_ready(session: Session, wish: Upload) -> bool:
    volume = session.get(_DATA_VOLUME, wish.namespace, wish.name)
    if volume is None:
        return False
    _check(rules.unbound_problem(wish, volume))
    status = volume.get("status") or {}
    if status.get("phase") == "UploadReady":
        return True
    _check_events(session, wish, status.get("claimName") or "")
    return False


def _check_events(session: Session, wish: Upload, claim: str) -> None:
    events, _version = session.list(_EVENT, wish.namespace)
    uids = {}
    for kind, name in ((_CLAIM, claim), (_DATA_VOLUME, wish.name)):
        found = session.get(kind, wish.namespace, name) if name else None
        if found is not None:
            uids[kind.kind] = found["metadata"].get("uid") or ""
    for event in events:
        _check(rules.event_problem(event, uids))


def _send(session: Session, wish: Upload, file: BinaryIO, way: Way, url: str) -> None:
    length = os.fstat(file.fileno()).st_size
    fast, slow = rules.proxy_paths(url)
    token, renewals = _token(session, wish), 0
    answer = upload_proxy.Answer(None, "")
    # virtctl with --retry=0 uploads nothing, and waits a day for the processing.
    for tried in range(max(1, way.tries)):
        if tried:
            way.clock.sleep(min(tried, 10) / 10)
        path = fast if upload_proxy.takes_data(way.pool, fast, token) else slow
        answer = upload_proxy.send(way.pool, path, token, file, length, way.told)
        if answer.code == 200:
            return
        if answer.final:
            break
        if answer.code == 401:
            if not tried or renewals == _RENEWALS:
                raise UploadFailed(f"the upload proxy at {url} refuses the token: {_words(answer)}")
            token, renewals = _token(session, wish), renewals + 1
    raise UploadFailed(f"the upload to {url} failed: {_words(answer)}")


def _words(answer: upload_proxy.Answer) -> str:
    return answer.text if answer.code is None else f"HTTP {answer.code} {answer.text}".strip()


def _token(session: Session, wish: Upload) -> str:
    body = {
        "apiVersion": _TOKEN.api_version,
        "kind": _TOKEN.kind,
        "metadata": {"generateName": "token-for-upload-"},
        "spec": {"pvcName": wish.name},
    }
    answer = session.request("POST", _TOKEN.path(wish.namespace), body=body, retry=True)
    return str((answer.get("status") or {}).get("token") or "")


def _lead_to(session: Session, wish: Upload) -> None:
    found = session.get(_DATA_SOURCE, wish.namespace, wish.name)
    if found is None:
        session.create(_DATA_SOURCE, wish.namespace, rules.data_source(wish))
        return
    patch = rules.data_source_patch(wish, found)
    send(session, json_patch(_DATA_SOURCE.path(wish.namespace, wish.name), patch))


def _wait_until_done(session: Session, wish: Upload, way: Way) -> None:
    for _look in _looks(way.timeout, way.clock):
        claim = session.request("GET", _CLAIM.path(wish.namespace, wish.name))
        if rules.claim_is_done(claim):
            return
    raise UploadFailed(f"CDI has not processed the upload to {wish.place} within {way.timeout:g} seconds")


def _looks(seconds: float, clock: Clock) -> Iterator[None]:
    end = clock.now() + seconds
    while clock.now() < end:
        yield
        clock.sleep(_PAUSE)


def _check(problem: str) -> None:
    if problem:
        raise UploadFailed(problem)
