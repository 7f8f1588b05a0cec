"""Objects that the user of the event source may not read."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from plugins.module_utils._cluster.client.errors import RequestFailed
from plugins.module_utils._events.cluster.source import watch_cluster
from plugins.module_utils._events.source_options import ClusterOptions, source_options
from scripted_server import Store, forbidden, session_with

VM = {
    "metadata": {"name": "db", "namespace": "shop", "uid": "vm", "resourceVersion": "5", "generation": 1},
    "spec": {"runStrategy": "Always", "template": {"spec": {"domain": {"devices": {}}}}},
}
Put = Callable[[dict[str, Any]], None]


def watch(lacking: str, put: Put, stop: threading.Event, looks: int) -> None:
    """Runs a source whose user may not read one kind, until so many lists of VMs are answered."""
    lists = {f"/apis/{path}": [] for path in ("kubevirt.io/v1/virtualmachineinstances", "apps/v1/controllerrevisions")}
    store, asked = Store({**lists, "/apis/kubevirt.io/v1/virtualmachines": [VM]}), 0

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        nonlocal asked
        if f"/{lacking}" in path:
            return forbidden(lacking)
        if path.endswith("/virtualmachines") and query.get("limit") != "1":
            asked += 1
            if asked == looks:
                stop.set()
        return store(method, path, query)

    with session_with(answer) as session:
        options = source_options({"delay": 0.01, "resync": 0.01}, {})
        watch_cluster(options, ClusterOptions("east", {"host": session.host, "api_key": "x"}), put, stop)


@pytest.mark.parametrize("lacking", ["virtualmachines", "controllerrevisions"])
def test_source_without_a_needed_right_ends(lacking: str) -> None:
    events: list[dict[str, Any]] = []
    stop = threading.Event()
    with pytest.raises(RequestFailed, match=rf'{lacking} is forbidden.* grant .*verbs: \["list"\]'):
        watch(lacking, events.append, stop, 100)
    stop.set()
    assert events == []


@pytest.mark.parametrize("lacking", ["virtualmachineinstances", "datasources", "virtualmachineinstancetypes"])
def test_right_that_is_optional_is_logged_once(lacking: str, caplog: pytest.LogCaptureFixture) -> None:
    watch(lacking, lambda _event: None, threading.Event(), 8)
    [record] = [record for record in caplog.records if record.name.endswith("triggers")]
    assert record.getMessage().startswith(f"watch of {lacking}: {lacking} is forbidden")
    assert [record for record in caplog.records if record.name.endswith(("source", "look"))] == []
