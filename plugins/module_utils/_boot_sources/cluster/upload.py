"""Uploads a file to a volume through CDI: creates the volume, waits for CDI's upload server, sends the data."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..._cluster.client.concurrency import display
from ..._cluster.client.errors import ApiError
from ..._cluster.client.session import Session
from ..._cluster.client.transport import web_pool
from ..._cluster.reads.snapshot import EVENT, STORAGE_CLASS
from ..._cluster.writes.engine import WriteSettings, send, send_create
from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.write import merge_patch, replace
from .. import source
from .. import upload as rules
from . import upload_proxy
from .cdi import CDI_CONFIG
from .state import BootSourceState

Options = dict[str, Any]

_CLAIM: Final = KINDS["PersistentVolumeClaim"]
_DATA_VOLUME: Final = KINDS["DataVolume"]
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


def upload(session: Session, boot_source: BootSourceState, settings: WriteSettings) -> None:
    """Uploads the file of a boot source to its volume. Raises UploadFailed, OSError, and what requests raise."""
    path, pool = Path(boot_source.options["upload"]["path"]), proxy_connections(boot_source.options)
    progress = UploadProgress(boot_source.volume, path.stat().st_size)
    with path.open("rb") as file:
        try:
            _Upload(session, boot_source).run(file, pool, progress, settings.wait_timeout if settings.wait else 0)
        except UploadFailed as error:
            progress_note = f" ({progress.read} bytes of the file had been read)" if progress.read else ""
            raise UploadFailed(f"{error}{progress_note}") from error


def proxy_url(session: Session, options: Options) -> str:
    """The URL of the upload proxy: the task's, else the one that CDI publishes, "" if there is none."""
    url = (options.get("upload_proxy") or {}).get("url")
    return url or rules.proxy_url(session.request("GET", CDI_CONFIG.path(name="config")))


def proxy_connections(options: Options) -> Any:
    """Connections to the upload proxy. Raises OSError for an unusable `upload_proxy.ca_cert`."""
    proxy = options.get("upload_proxy") or {}
    return web_pool(proxy.get("ca_cert"), check=proxy.get("validate_certs") is not False, retries=False)


class _Upload:
    def __init__(self, session: Session, boot_source: BootSourceState) -> None:
        self._session = session
        self._boot_source = boot_source
        self._options = boot_source.options
        self._file_options = boot_source.options["upload"]
        self._namespace, self._name = boot_source.options["namespace"], boot_source.volume
        self._label = f"{self._namespace}/{self._name}"
        self._kind = KINDS[boot_source.volume_kind]

    def run(self, file: BinaryIO, pool: Any, progress: UploadProgress, timeout: float) -> None:
        """pool: connections to the upload proxy. timeout: seconds for CDI to process the file; 0 does not wait."""
        claim = self._existing()
        if claim is None:
            self._create()
        else:
            self._update_existing(claim)
        self._wait_until_ready()
        url, problem = rules.proxy_address(proxy_url(self._session, self._options))
        _check(problem)
        self._send(file, pool, progress, url)
        if timeout:
            self._wait_until_done(timeout)

    def _get(self, kind: Kind) -> Manifest | None:
        return self._session.get(kind, self._namespace, self._name)

    def _existing(self) -> Manifest | None:
        """The claim that is uploaded to, if there is one: a DataVolume's may be another than that of its name."""
        claim = self._get(_CLAIM)
        if claim is None:
            return None
        if self._kind is not _CLAIM:
            claim = self._claim_of_volume(claim)
        _check(rules.existing_problem(self._options, self._label, claim))
        return claim

    def _claim_of_volume(self, claim: Manifest) -> Manifest:
        volume = self._get(_DATA_VOLUME)
        if volume is None:
            raise UploadFailed(rules.missing_volume(claim))
        if not rules.uses_populator(volume):
            return claim
        name, problem = rules.prime_of(claim)
        _check(problem)
        prime = self._session.get(_CLAIM, self._namespace, name)
        if prime is None:
            raise UploadFailed(
                f"the claim {name} that CDI made for the upload to {self._label} is gone; try again later"
            )
        return prime

    def _create(self) -> None:
        if not self._file_options["create"]:
            raise UploadFailed(f"there is no PersistentVolumeClaim {self._label}, and upload.create is false")
        volume = source.volume(self._options, self._boot_source.content.digest, self._boot_source.labels)
        if self._options.get("storage_class"):
            # CDI would wait for a class that does not exist.
            self._session.request("GET", STORAGE_CLASS.path(name=self._options["storage_class"]))
        manifest = rules.claim(volume) if self._kind is _CLAIM else volume
        send_create(self._session, self._kind, self._namespace, manifest)

    def _update_existing(self, claim: Manifest) -> None:
        self._prepare(claim)
        labels, digest = self._boot_source.labels, self._boot_source.content.digest
        for kind in dict.fromkeys((_CLAIM, self._kind)):
            # virtctl does not add the requested labels to existing volumes.
            live = self._get(kind) if labels or digest else None
            patch = rules.patch(labels, digest, live) if live is not None else None
            if patch is not None:
                send(self._session, merge_patch(kind.path(self._namespace, self._name), patch))

    def _prepare(self, claim: Manifest) -> None:
        for remaining in reversed(range(_ATTEMPTS)):
            changed = rules.prepared(claim)
            if changed is None:
                return
            try:
                send(self._session, replace(_CLAIM.path(self._namespace, claim["metadata"]["name"]), changed))
                return
            except ApiError as error:
                existing = self._existing() if error.code == 409 and remaining else None
                if existing is None:
                    raise
                claim = existing

    def _wait_until_ready(self) -> None:
        timeout = self._file_options["ready_timeout"]
        for _poll in _polls(timeout):
            if self._claim_is_ready() if self._kind is _CLAIM else self._volume_is_ready():
                return
        raise UploadFailed(f"CDI was not ready for the upload to {self._label} within {timeout:g} seconds")

    def _claim_is_ready(self) -> bool:
        claim = self._get(_CLAIM)
        if claim is None or rules.claim_is_ready(claim):
            return claim is not None
        self._check_events(self._name)
        return False

    def _volume_is_ready(self) -> bool:
        volume = self._get(_DATA_VOLUME)
        if volume is None:
            return False
        _check(rules.unbound_volume_problem(self._options, volume))
        status = volume.get("status") or {}
        if status.get("phase") == "UploadReady":
            return True
        self._check_events(status.get("claimName") or "")
        return False

    def _check_events(self, claim: str) -> None:
        events = self._session.list(EVENT, self._namespace)
        uids = {}
        for kind, name in ((_CLAIM, claim), (_DATA_VOLUME, self._name)):
            live = self._session.get(kind, self._namespace, name) if name else None
            if live is not None:
                uids[kind.kind] = live["metadata"].get("uid") or ""
        for event in events:
            _check(rules.event_problem(event, uids))

    def _send(self, file: BinaryIO, pool: Any, progress: UploadProgress, url: str) -> None:
        length = os.fstat(file.fileno()).st_size
        fast, slow = rules.proxy_paths(url)
        token, renewals = self._token(), 0
        response = upload_proxy.UploadResponse(None, "")
        # virtctl with --retry=0 uploads nothing, and waits a day for the processing.
        for attempt in range(max(1, self._file_options["tries"])):
            if attempt:
                time.sleep(min(attempt, 10) / 10)
            path = fast if upload_proxy.accepts_uploads(pool, fast, token) else slow
            response = upload_proxy.send(pool, path, token, file, length, progress.report)
            if response.code == 200:
                return
            if response.final:
                break
            if response.code == 401:
                if not attempt or renewals == _RENEWALS:
                    raise UploadFailed(f"the upload proxy at {url} refuses the token: {_error_text(response)}")
                token, renewals = self._token(), renewals + 1
        raise UploadFailed(f"the upload to {url} failed: {_error_text(response)}")

    def _token(self) -> str:
        body = {
            "apiVersion": _TOKEN.api_version,
            "kind": _TOKEN.kind,
            "metadata": {"generateName": "token-for-upload-"},
            "spec": {"pvcName": self._name},
        }
        response = self._session.request("POST", _TOKEN.path(self._namespace), body=body, retry=True)
        return str((response.get("status") or {}).get("token") or "")

    def _wait_until_done(self, timeout: float) -> None:
        for _poll in _polls(timeout):
            claim = self._session.request("GET", _CLAIM.path(self._namespace, self._name))
            if rules.claim_is_done(claim):
                return
        raise UploadFailed(f"CDI has not processed the upload to {self._label} within {timeout:g} seconds")


def _error_text(response: upload_proxy.UploadResponse) -> str:
    return response.text if response.code is None else f"HTTP {response.code} {response.text}".strip()


def _polls(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(_PAUSE)


def _check(problem: str) -> None:
    if problem:
        raise UploadFailed(problem)
