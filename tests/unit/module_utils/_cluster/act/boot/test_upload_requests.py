"""What the recordings of tests/boot_sources lack: missing objects, conflicts, timeouts, progress."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO

import pytest
import urllib3

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.act.boot.upload import (
    Clock,
    UploadFailed,
    UploadProgress,
    UploadSettings,
    upload,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.errors import ApiError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.pool import display
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot.upload import UploadTarget
from scripted_server import Store, session_with, status

CLAIM = "/api/v1/namespaces/shop/persistentvolumeclaims"
VOLUMES = "/apis/cdi.kubevirt.io/v1beta1/namespaces/shop/datavolumes"
EVENTS = "/api/v1/namespaces/shop/events"


@pytest.fixture
def file() -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as opened:
        yield opened


class Time:
    """A clock that moves only by waits."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def wait(self, seconds: float) -> None:
        self.seconds += seconds


class Proxy:
    """An upload proxy that takes everything."""

    def request(self, *_arguments: Any, **_options: Any) -> urllib3.HTTPResponse:
        return urllib3.HTTPResponse(body=io.BytesIO(), status=200)


def settings(time: Time, **options: Any) -> UploadSettings:
    return UploadSettings(Proxy(), "http://proxy", clock=Clock(lambda: time.seconds, time.wait), **options)


@pytest.mark.parametrize("claim", [True, False])
def test_upload_waits_for_a_missing_volume(file: BinaryIO, claim: bool) -> None:
    store = Store({CLAIM: [], VOLUMES: [], EVENTS: []}, {("POST", ""): (201, {"metadata": {"name": "golden"}})})
    time = Time()
    with session_with(store) as session, pytest.raises(UploadFailed, match=r"not ready .* within 5 seconds"):
        upload(session, UploadTarget("shop", "golden", claim, "1Gi"), file, settings(time, ready_timeout=5))
    assert time.seconds == 6


@pytest.mark.parametrize(("conflicts", "puts"), [(1, 2), (9, 5)])
def test_conflict_reads_the_claim_again(file: BinaryIO, conflicts: int, puts: int) -> None:
    ready = {"cdi.kubevirt.io/storage.pod.ready": "true"}
    store = Store({CLAIM: [{"metadata": {"name": "golden", "annotations": ready}}]}, {("POST", "requests"): (201, {})})

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        response = store(method, path, query)
        conflict = method == "PUT" and store.writes.count(("PUT", f"{CLAIM}/golden")) <= conflicts
        return status(409, "the object has been modified", "Conflict") if conflict else response

    outcome = pytest.raises(ApiError) if conflicts >= puts else contextlib.nullcontext()
    with outcome, session_with(answer) as session:
        upload(session, UploadTarget("shop", "golden", True, create=False), file, settings(Time(), timeout=0))
    assert store.writes.count(("PUT", f"{CLAIM}/golden")) == puts


def test_unprocessed_claim_times_out(file: BinaryIO) -> None:
    ready = {"cdi.kubevirt.io/storage.upload.target": "", "cdi.kubevirt.io/storage.pod.ready": "true"}
    store = Store({CLAIM: [{"metadata": {"name": "golden", "annotations": ready}}]}, {("POST", "requests"): (201, {})})
    time, target = Time(), UploadTarget("shop", "golden", True)
    with session_with(store) as session:
        upload(session, target, file, settings(time, timeout=0))
        assert time.seconds == 0
        with pytest.raises(UploadFailed, match="has not processed the upload to shop/golden within 3 seconds"):
            upload(session, target, file, settings(time, timeout=3))
    assert time.seconds == 4


def test_progress_shows_each_tenth_of_a_try() -> None:
    lines: list[str] = []
    progress = UploadProgress("disk-1", 1000)
    token = display.set(lines.append)
    for count in (1, 99, 100, 150, 1000, 5, 200):
        progress.report(count)
    display.reset(token)
    progress.report(700)
    assert [line.partition(" of ")[0] for line in lines] == [
        "disk-1: 10 %",
        "disk-1: 100 %",
        "disk-1: 0 %",
        "disk-1: 20 %",
    ]
    assert progress.read == 700


def test_progress_of_an_empty_file() -> None:
    lines: list[str] = []
    token = display.set(lines.append)
    UploadProgress("disk-1", 0).report(0)
    display.reset(token)
    assert lines == ["disk-1: 100 % of 0 bytes uploaded"]
