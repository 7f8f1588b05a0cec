"""Uploads a file to a volume through CDI: creates the volume, waits for CDI's upload server, sends the data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ..._cluster.client.errors import ApiError
from ..._cluster.client.session import Session
from ..._cluster.client.web import web_pool
from ..._cluster.reads.delays import blockers, listed_events, newest_events
from ..._cluster.reads.surroundings import EVENT, STORAGE_CLASS
from ..._cluster.task import Task
from ..._cluster.writes.send import send, send_create
from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.api.write import merge_patch, replace
from .. import source, upload_rules
from ..upload_rules import UploadFailed
from .boot_source_state import BootSourceState
from .cdi import CDI_CONFIG
from .upload_proxy import SCHEMES, UploadedFile, UploadResponse, accepts_uploads
from .upload_proxy import send as send_file

_CLAIM: Final = KINDS["PersistentVolumeClaim"]
_DATA_VOLUME: Final = KINDS["DataVolume"]
_TOKEN: Final = Kind("UploadTokenRequest", "upload.cdi.kubevirt.io", "v1beta1", "uploadtokenrequests", True)
# Seconds between two polls.
_PAUSE: Final = 2
# Tokens are valid for five minutes. CDI rejects a longer upload at its end, and the module sends the file again.
_RENEWALS: Final = 3
# How often a claim is read and written, which CDI writes at the same time.
_ATTEMPTS: Final = 5


def upload(session: Session, boot_source: BootSourceState, task: Task) -> None:
    """Uploads the file of a boot source to its volume. Raises UploadFailed, OSError, and what requests raise."""
    path, pool = Path(boot_source.options["upload"]["path"]), proxy_connections(boot_source.options)
    with path.open("rb") as opened:
        file = UploadedFile(opened, path.stat().st_size, boot_source.volume)
        try:
            _Upload(session, boot_source).run(file, pool, task.wait_timeout if task.wait else 0)
        except UploadFailed as error:
            progress_note = f" ({file.count} bytes of the file had been read)" if file.count else ""
            raise UploadFailed(f"{error}{progress_note}") from error


def proxy_url(session: Session, options: Options) -> str:
    """The URL of the upload proxy: the task's, else the one that CDI publishes. Raises UploadFailed without any."""
    url = (options.get("upload_proxy") or {}).get("url")
    return upload_rules.proxy_address(
        url or upload_rules.published_url(session.request("GET", CDI_CONFIG.path(name="config")))
    )


def proxy_connections(options: Options) -> Any:
    """Connections to the upload proxy. Raises OSError for an unusable `ca_cert` of `upload_proxy`."""
    proxy = options.get("upload_proxy") or {}
    return web_pool(proxy.get("ca_cert"), check=proxy.get("validate_certs") is not False, retries=False)


class _Upload:
    def __init__(self, session: Session, boot_source: BootSourceState) -> None:
        self._session = session
        self._boot_source = boot_source
        self._options = boot_source.options
        self._namespace, self._name = boot_source.options["namespace"], boot_source.volume
        self._label = f"{self._namespace}/{self._name}"
        self._kind = KINDS[boot_source.volume_kind]

    def run(self, file: UploadedFile, pool: Any, timeout: float) -> None:
        """Creates the claim or finds it, sends the file, and waits.

        pool: connections to the upload proxy. timeout: seconds for CDI to process the file; 0 does not wait.
        """
        claim = self._existing()
        if claim is None:
            self._create()
        else:
            self._update_existing(claim)
        self._wait_until_ready()
        self._send(file, pool, proxy_url(self._session, self._options))
        if timeout:
            self._wait_until_done(timeout)

    def _get(self, kind: Kind) -> Manifest | None:
        return self._session.get(kind, self._namespace, self._name)

    def _existing(self) -> Manifest | None:
        """The claim that takes the upload; None without one. CDI may fill a claim through another one, its prime."""
        claim = self._get(_CLAIM)
        if claim is None:
            return None
        prime = "" if self._kind is _CLAIM else upload_rules.prime_of(claim, self._get(_DATA_VOLUME))
        if prime:
            claim = self._session.get(_CLAIM, self._namespace, prime)
        if claim is None:
            raise UploadFailed(
                f"the claim {prime} that CDI made for the upload to {self._label} is gone; try again later"
            )
        upload_rules.check_existing(self._options, self._label, claim)
        return claim

    def _create(self) -> None:
        if not self._options["upload"]["create"]:
            raise UploadFailed(f"there is no PersistentVolumeClaim {self._label}, and upload.create is false")
        volume = source.volume(self._options, self._boot_source.content.digest, self._boot_source.labels)
        if self._options.get("storage_class"):
            # CDI would wait for a class that does not exist.
            self._session.request("GET", STORAGE_CLASS.path(name=self._options["storage_class"]))
        manifest = upload_rules.claim(volume) if self._kind is _CLAIM else volume
        send_create(self._session, self._kind, self._namespace, manifest)

    def _update_existing(self, claim: Manifest) -> None:
        self._prepare(claim)
        labels, digest = self._boot_source.labels, self._boot_source.content.digest
        for kind in dict.fromkeys((_CLAIM, self._kind)):
            # virtctl does not add the requested labels to existing volumes.
            live = self._get(kind) if labels or digest else None
            patch = upload_rules.patch(labels, digest, live) if live is not None else None
            if patch is not None:
                send(self._session, merge_patch(kind.path(self._namespace, self._name), patch))

    def _prepare(self, claim: Manifest) -> None:
        for remaining in reversed(range(_ATTEMPTS)):
            changed = upload_rules.prepared(claim)
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
        timeout = self._options["upload"]["ready_timeout"]
        if not any(self._is_ready() for _poll in _polls(timeout)):
            raise UploadFailed(
                f"CDI was not ready for the upload to {self._label} within {timeout:g} seconds{self._reasons()}"
            )

    def _reasons(self) -> str:
        """The words of the objects that keep the volume, each after a semicolon."""
        events = listed_events(self._session, self._namespace)
        volumes = {self._name: self._get(self._kind)}
        kept = blockers(self._session, self._kind.kind, self._namespace, volumes, events).get(self._name)
        return "".join(f"; {line}" for line in kept or newest_events(events, volumes).get(self._name, []))

    def _is_ready(self) -> bool:
        live = self._get(self._kind)
        if live is None:
            return False
        if self._kind is _CLAIM:
            ready, claim = upload_rules.claim_is_ready(live), self._name
        else:
            upload_rules.check_binding(self._options, live)
            status = live.get("status") or {}
            ready, claim = status.get("phase") == "UploadReady", status.get("claimName") or ""
        if not ready:
            self._check_events(claim)
        return ready

    def _check_events(self, claim: str) -> None:
        events = self._session.list(EVENT, self._namespace)
        uids = {}
        for kind, name in ((_CLAIM, claim), (_DATA_VOLUME, self._name)):
            live = self._session.get(kind, self._namespace, name) if name else None
            if live is not None:
                uids[kind.kind] = live["metadata"].get("uid") or ""
        for event in events:
            upload_rules.check_event(event, uids)

    def _send(self, file: UploadedFile, pool: Any, url: str) -> None:
        fast, slow = upload_rules.proxy_paths(url)
        token, renewals = self._token(), 0
        if not url.startswith(SCHEMES):
            raise UploadFailed(f"the upload to {url} failed: {slow} is neither http nor https")
        response = UploadResponse(None, "")
        # virtctl with --retry=0 uploads nothing, and waits a day for the processing.
        for attempt in range(max(1, self._options["upload"]["tries"])):
            if attempt:
                time.sleep(min(attempt, 10) / 10)
            response = send_file(pool, fast if accepts_uploads(pool, fast, token) else slow, token, file)
            if response.code == 200:
                return
            if response.final:
                break
            if response.code == 401:
                if not attempt or renewals == _RENEWALS:
                    raise UploadFailed(f"the upload proxy at {url} refuses the token: {response.reason}")
                token, renewals = self._token(), renewals + 1
        raise UploadFailed(f"the upload to {url} failed: {response.reason}")

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
        path = _CLAIM.path(self._namespace, self._name)
        if not any(upload_rules.claim_is_done(self._session.request("GET", path)) for _poll in _polls(timeout)):
            raise UploadFailed(
                f"CDI has not processed the upload to {self._label} within {timeout:g} seconds{self._reasons()}"
            )


def _polls(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(_PAUSE)
