"""The source's knowledge outlives kills; the source refuses a file that is no state of its own in one line."""

import base64
import json
import os
import resource
import zlib
from pathlib import Path
from typing import Any

import pytest

from plugins.module_utils._cluster.client.errors import ApiError, TaskFailed
from plugins.module_utils._events.cluster.stores import StateConfigMap, StateFile, packed_state
from plugins.module_utils._events.transitions import KnownVM, LastEvent
from scripted_server import Store, session_with

CONFIG_MAPS = "/api/v1/namespaces/eda/configmaps"
HEADER = b"# virtshape.instancetypes.virtual_machines 1 https://east:6443"
HOST = "https://east:6443"
TOLD = {"running": LastEvent(True, "a" * 8, "b" * 32)}
KNOWN = {f"shop/vm-{number}": KnownVM(f"uid-{number}", TOLD) for number in range(4)}


def saved(folder: Path, cluster: str = "east") -> StateFile:
    store = StateFile(str(folder), cluster, HOST)
    store.load()
    for name, known in KNOWN.items():
        store.save(name, known)
    store.flush()
    return store


def loaded(folder: Path, cluster: str = "east", host: str = HOST) -> dict[str, KnownVM] | None:
    store = StateFile(str(folder), cluster, host)
    return store.known if store.load() else None


def test_file_holds_what_was_saved_last(tmp_path: Path) -> None:
    assert loaded(tmp_path) is None
    store = saved(tmp_path / "new")
    store.save("shop/vm-1", None)
    changed = KnownVM("other", {})
    store.save("shop/vm-2", changed)
    # The end of a source, which frees its file.
    del store
    expected = {name: known for name, known in KNOWN.items() if name != "shop/vm-1"}
    assert loaded(tmp_path / "new") == {**expected, "shop/vm-2": changed}


@pytest.mark.parametrize("lost", [1, 5, 60])
def test_line_cut_off_does_not_count(tmp_path: Path, lost: int) -> None:
    saved(tmp_path)
    [path] = tmp_path.glob("*.jsonl")
    path.write_bytes(path.read_bytes()[:-lost])
    assert loaded(tmp_path) == {name: known for name, known in KNOWN.items() if name != "shop/vm-3"}
    # Nothing is left of the line, to which the next one would be appended.
    assert path.read_bytes().endswith(b"\n")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{}\n", "is no state of this source, or delete it"),
        (HEADER + b"\nnonsense\n", "'nonsense' is not a line of this event source"),
        (HEADER + b"\n[1, 2]\n", "is not a line of this event source"),
        (b"\xff\xfe\n", "cannot use"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "east.jsonl").write_bytes(content)
    with pytest.raises(TaskFailed, match="state_directory: ") as failure:
        loaded(tmp_path)
    assert problem in str(failure.value) and "\n" not in str(failure.value)
    assert (tmp_path / "east.jsonl").read_bytes() == content


@pytest.mark.parametrize("place", ["file/state", "file"])
def test_folder_that_cannot_be_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TaskFailed, match="state_directory: cannot"):
        saved(tmp_path / place)


def test_clusters_have_files_of_their_own(tmp_path: Path) -> None:
    saved(tmp_path, "https://east:6443")
    assert loaded(tmp_path, "https://west:6443") is None
    assert loaded(tmp_path, "https://east:6443") == KNOWN


def test_two_sources_cannot_share_a_file(tmp_path: Path) -> None:
    first = saved(tmp_path)
    with pytest.raises(TaskFailed, match=r"another source uses .*east.jsonl; give each its own folder"):
        loaded(tmp_path)
    saved(tmp_path, "west")
    del first
    assert loaded(tmp_path) == KNOWN


def test_state_of_another_cluster_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    with pytest.raises(
        TaskFailed, match="is the state of https://east:6443; give this cluster another name, or delete"
    ):
        loaded(tmp_path, host="https://west:6443")


def test_file_is_written_anew_before_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.module_utils._events.cluster.stores._SURPLUS", 10)
    store = saved(tmp_path)
    for number in range(100):
        store.save("shop/vm-0", KnownVM(f"uid-{number}", {}))
        store.flush()
    del store
    [path] = tmp_path.glob("*.jsonl")
    assert len(path.read_text().splitlines()) < 20
    assert (loaded(tmp_path) or {})["shop/vm-0"].uid == "uid-99"


def test_full_disk_loses_no_record(tmp_path: Path) -> None:
    store = StateFile(str(tmp_path), "east", HOST)
    store.load()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    written = {}
    try:
        # Python ignores the signal, so that writes fail as on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, hard))
        with pytest.raises(TaskFailed, match=r"state_directory: cannot write .*east.jsonl: File too large"):
            for number in range(1000):
                store.save(f"shop/vm-{number}", KnownVM("uid", TOLD))
                written[f"shop/vm-{number}"] = KnownVM("uid", TOLD)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    del store
    assert written and written.items() <= (loaded(tmp_path) or {}).items()


def config_map(**data: Any) -> dict[str, Any]:
    return {"metadata": {"name": "state", "namespace": "eda"}, **data}


def test_config_map_gives_what_it_holds() -> None:
    with session_with(Store({CONFIG_MAPS: [config_map(binaryData={"known": packed_state(KNOWN)})]})) as session:
        state = StateConfigMap(lambda: session, "eda", "state")
        assert state.load() and state.known == KNOWN
        assert not StateConfigMap(lambda: session, "eda", "other").load()


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"data": {"known": "x"}},
        {"binaryData": {"known": "x"}},
        {"binaryData": {"known": base64.b64encode(b"x").decode()}},
        {"binaryData": {"known": base64.b64encode(zlib.compress(b"x")).decode()}},
        {"binaryData": {"known": base64.b64encode(zlib.compress(b"\xff")).decode()}},
    ],
)
def test_other_config_maps_are_refused(content: dict[str, Any]) -> None:
    with (
        session_with(Store({CONFIG_MAPS: [config_map(**content)]})) as session,
        pytest.raises(TaskFailed, match="state_config_map: eda/state is no state of this event source; delete it"),
    ):
        StateConfigMap(lambda: session, "eda", "state").load()


def test_config_map_is_written_after_a_hundred() -> None:
    store = Store({CONFIG_MAPS: []})
    with session_with(store) as session:
        state = StateConfigMap(lambda: session, "eda", "state")
        for number in range(250):
            state.save(f"shop/vm-{number}", KnownVM("uid", {}))
        assert len(store.writes) == 2
        state.flush()
        state.flush()
    assert len(store.writes) == 3


def test_too_large_config_map_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store({CONFIG_MAPS: []})
    with session_with(store) as session:
        state = StateConfigMap(lambda: session, "eda", "state")
        # Digests cannot be compressed.
        for number in range(12_000):
            told = {name: LastEvent(True, os.urandom(4).hex(), os.urandom(16).hex()) for name in ("running", "drifted")}
            state.known[f"shop/vm-{number}"] = KnownVM(os.urandom(16).hex(), told)
        state._unsaved = 1
        with pytest.raises(TaskFailed, match="the state of 12000 VMs is larger than a ConfigMap may be"):
            state.flush()
    assert store.writes == []


def test_forbidden_config_map_is_the_servers_refusal() -> None:
    refusal = 403, {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "configmaps is forbidden"}
    with session_with(Store({}, {("GET", "/state"): refusal})) as session, pytest.raises(ApiError, match="forbidden"):
        StateConfigMap(lambda: session, "eda", "state").load()


def test_packed_state_is_text() -> None:
    assert json.dumps(packed_state(KNOWN)).isascii()
