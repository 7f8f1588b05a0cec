"""What the recordings of tests/boot_sources do not show: objects that are gone, tokens that end, nobody who waits."""

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
    Way,
    upload,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.errors import ApiError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.boot.upload import Upload
from scripted_server import Store, session_with, status

CLAIM = "/api/v1/namespaces/shop/persistentvolumeclaims"
VOLUMES = "/apis/cdi.kubevirt.io/v1beta1/namespaces/shop/datavolumes"
EVENTS = "/api/v1/namespaces/shop/events"


@pytest.fixture
def file() -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as opened:
        yield opened


class Time:
    """A clock that moves when somebody waits."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def wait(self, seconds: float) -> None:
        self.seconds += seconds


class Proxy:
    """An upload proxy that takes everything."""

    def request(self, *_arguments: Any, **_options: Any) -> urllib3.HTTPResponse:
        return urllib3.HTTPResponse(body=io.BytesIO(), status=200)


def way(time: Time, **options: Any) -> Way:
    return Way(Proxy(), "http://proxy", clock=Clock(lambda: time.seconds, time.wait), **options)


@pytest.mark.parametrize("claim", [True, False])
def test_a_volume_that_disappears_is_waited_for(file: BinaryIO, claim: bool) -> None:
    store = Store({CLAIM: [], VOLUMES: [], EVENTS: []}, {("POST", ""): (201, {"metadata": {"name": "golden"}})})
    time = Time()
    with session_with(store) as session, pytest.raises(UploadFailed, match=r"not ready .* within 5 seconds"):
        upload(session, Upload("shop", "golden", claim, "1Gi"), file, way(time, ready_timeout=5))
    assert time.seconds == 6


@pytest.mark.parametrize(("conflicts", "puts"), [(1, 2), (9, 5)])
def test_a_claim_that_cdi_has_written_meanwhile_is_read_again(file: BinaryIO, conflicts: int, puts: int) -> None:
    ready = {"cdi.kubevirt.io/storage.pod.ready": "true"}
    store = Store({CLAIM: [{"metadata": {"name": "golden", "annotations": ready}}]}, {("POST", "requests"): (201, {})})

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        told = store(method, path, query)
        met = method == "PUT" and store.writes.count(("PUT", f"{CLAIM}/golden")) <= conflicts
        return status(409, "the object has been modified", "Conflict") if met else told

    ends = pytest.raises(ApiError) if conflicts >= puts else contextlib.nullcontext()
    with ends, session_with(answer) as session:
        upload(session, Upload("shop", "golden", True, create=False), file, way(Time(), timeout=0))
    assert store.writes.count(("PUT", f"{CLAIM}/golden")) == puts


def test_a_claim_that_is_never_processed(file: BinaryIO) -> None:
    ready = {"cdi.kubevirt.io/storage.upload.target": "", "cdi.kubevirt.io/storage.pod.ready": "true"}
    store = Store({CLAIM: [{"metadata": {"name": "golden", "annotations": ready}}]}, {("POST", "requests"): (201, {})})
    time, wish = Time(), Upload("shop", "golden", True)
    with session_with(store) as session:
        upload(session, wish, file, way(time, timeout=0))
        assert time.seconds == 0
        with pytest.raises(UploadFailed, match="has not processed the upload to shop/golden within 3 seconds"):
            upload(session, wish, file, way(time, timeout=3))
    assert time.seconds == 4
