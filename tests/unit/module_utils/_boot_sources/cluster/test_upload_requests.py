"""Uploads that the recordings of tests/boot_sources lack: missing objects, conflicts, timeouts."""

import contextlib
import io
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import urllib3

from plugins.module_utils._boot_sources.cluster import upload as act
from plugins.module_utils._boot_sources.cluster.boot_source_state import BootSourceState
from plugins.module_utils._boot_sources.cluster.upload import UploadFailed, upload
from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.task import Task
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change.declared import declare_job
from scripted_server import Store, session_with, status

CLAIM = "/api/v1/namespaces/shop/persistentvolumeclaims"
VOLUMES = "/apis/cdi.kubevirt.io/v1beta1/namespaces/shop/datavolumes"
EVENTS = "/api/v1/namespaces/shop/events"


class Time:
    """A clock that moves only by waits."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


class Proxy:
    """An upload proxy that takes everything."""

    def request(self, *_arguments: Any, **_options: Any) -> urllib3.HTTPResponse:
        return urllib3.HTTPResponse(body=io.BytesIO(), status=200)


@pytest.fixture(name="time", autouse=True)
def _time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(act, "time", time)
    monkeypatch.setattr(act, "web_pool", mock.Mock(return_value=Proxy()))
    return time


def boot_source(folder: Path, **file_options: Any) -> BootSourceState:
    path = folder / "disk.img"
    path.write_bytes(b"")
    defaults = {"archive": False, "volume": "golden", "claim": True, "create": True, "tries": 5, "ready_timeout": 5}
    file = {"path": str(path), **defaults, **file_options}
    options = {"name": "golden", "namespace": "shop", "size": "1Gi", "upload": file}
    job = declare_job(
        ObjectKey("", "shop", "golden"), "present", {}, options={**options, "upload_proxy": {"url": "http://p"}}
    )
    return BootSourceState(job, volume="golden")


@pytest.mark.parametrize("claim", [True, False])
def test_upload_waits_for_a_missing_volume(tmp_path: Path, time: Time, claim: bool) -> None:
    store = Store({CLAIM: [], VOLUMES: [], EVENTS: []}, {("POST", ""): (201, {"metadata": {"name": "golden"}})})
    with session_with(store) as session, pytest.raises(UploadFailed, match=r"not ready .* within 5 seconds"):
        upload(session, boot_source(tmp_path, claim=claim), Task())
    assert time.seconds == 6


@pytest.mark.parametrize(("conflicts", "puts"), [(1, 2), (9, 5)])
def test_conflict_reads_the_claim_again(tmp_path: Path, conflicts: int, puts: int) -> None:
    ready = {"cdi.kubevirt.io/storage.pod.ready": "true"}
    store = Store({CLAIM: [{"metadata": {"name": "golden", "annotations": ready}}]}, {("POST", "requests"): (201, {})})

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        response = store(method, path, query)
        conflict = method == "PUT" and store.writes.count(("PUT", f"{CLAIM}/golden")) <= conflicts
        return status(409, "the object has been modified", "Conflict") if conflict else response

    outcome = pytest.raises(ApiError) if conflicts >= puts else contextlib.nullcontext()
    with outcome, session_with(answer) as session:
        upload(session, boot_source(tmp_path, create=False), Task())
    assert store.writes.count(("PUT", f"{CLAIM}/golden")) == puts


def test_unprocessed_claim_times_out(tmp_path: Path, time: Time) -> None:
    ready = {"cdi.kubevirt.io/storage.upload.target": "", "cdi.kubevirt.io/storage.pod.ready": "true"}
    store = Store({CLAIM: [{"metadata": {"name": "golden", "annotations": ready}}]}, {("POST", "requests"): (201, {})})
    with session_with(store) as session:
        upload(session, boot_source(tmp_path), Task())
        assert time.seconds == 0
        with pytest.raises(UploadFailed, match="has not processed the upload to shop/golden within 3 seconds"):
            upload(session, boot_source(tmp_path), Task(wait=True, wait_timeout=3))
    assert time.seconds == 4
