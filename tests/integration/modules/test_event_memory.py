"""The memory of the event source for thousands of VMs, which are copies of a real one."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from modules_support import Task, vm
from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS
from rights_support import CHECKOUT
from scripted_server import listed, session_with, status

pytestmark = pytest.mark.nightly("memory for 10,000 VMs")


COPIED = {KINDS[kind].plural: kind for kind in ("VirtualMachine", "VirtualMachineInstance", "ControllerRevision")}
NAME = "copied-machine"
# Tells that each VM runs, then that each has drifted, and what memory it had at most, in MiB.
SOURCE = """
import json, resource, sys, threading
from plugins.module_utils._events.cluster.source import watch_cluster
from plugins.module_utils._events.options import ClusterOptions, source_options

host, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
stop, told = threading.Event(), []

def put(event):
    told.append(event["transition"])
    if len(told) == count:
        print(set(told), flush=True)
    if len(told) == 2 * count:
        stop.set()

options = source_options({"state_directory": folder, "resync": 1, "transitions": ["running", "drifted"]}, {})
watch_cluster(options, ClusterOptions("east", {"host": host, "api_key": "x"}), put, stop)
print(set(told[count:]), flush=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


class Copies:
    """An API server with copies of a VM, in namespaces of so many; for all else it asks the cluster of the VM."""

    def __init__(self, session: Session, namespace: str, count: int, in_namespace: int) -> None:
        self._session, self._namespace = session, namespace
        self._places = {f"{namespace}-{number}": number for number in range(count // in_namespace)}
        self._in_namespace = in_namespace
        # The oldest supported client sends lists without kinds.
        self._originals = {
            plural: [json.dumps(item) for item in session.list(KINDS[kind], namespace)]
            for plural, kind in COPIED.items()
        }
        self._uids = [json.loads(text)["metadata"]["uid"] for texts in self._originals.values() for text in texts]

    def __call__(self, _method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if query.get("watch"):
            return 200, []
        found = re.search("/namespaces/([^/]+)/", path)
        place, plural = found[1] if found else "", path.rpartition("/")[2]
        if plural in COPIED:
            return 200, self._page(plural, place, int(query.get("continue", 0)), int(query["limit"]))
        try:
            answer = self._session.request("GET", path.replace(f"/{place}/", f"/{self._namespace}/"), query)
        except ApiError as error:
            return status(error.code, error.message, error.reason)
        if place:
            return 200, json.loads(json.dumps(answer).replace(self._namespace, place))
        own = [json.dumps(item) for item in answer.get("items", []) if item["metadata"].get("namespace")]
        own = [text for text in own if json.loads(text)["metadata"]["namespace"] == self._namespace]
        copies = [json.loads(text.replace(self._namespace, place)) for place in self._places for text in own]
        return 200, {**answer, **({"items": [*answer["items"], *copies]} if own else {})}

    def _page(self, plural: str, place: str, first: int, limit: int) -> dict[str, Any]:
        originals = self._originals[plural]
        places = [place] if place else [*self._places]
        end = len(places) * self._in_namespace * len(originals)
        copies = []
        for index in range(first, min(first + limit, end)):
            number, original = divmod(index, len(originals))
            copies.append(self._copy(originals[original], places[number // self._in_namespace], number))
        page = listed(*copies)
        if first + limit < end:
            page["metadata"]["continue"] = str(first + limit)
        return page

    def _copy(self, text: str, place: str, number: int) -> dict[str, Any]:
        prefix = f"{self._places[place]:03}{number % self._in_namespace:05}"
        for uid in self._uids:
            text = text.replace(uid, f"{prefix}{uid[8:]}")
        copy: dict[str, Any] = json.loads(text.replace(self._namespace, place).replace(NAME, f"vm-{prefix}"))
        return copy


@pytest.mark.parametrize(
    ("count", "in_namespace", "bound"),
    [(1_000, 1_000, 250), (10_000, 200, 250), (10_000, 10_000, 800)],
    ids=["1,000 VMs", "10,000 VMs in 50 namespaces", "10,000 VMs in one namespace"],
)
def test_memory_is_bounded(
    session: Session, task: Task, namespace: str, tmp_path: Path, count: int, in_namespace: int, bound: int
) -> None:
    """bound: MiB."""

    def size(memory: str) -> None:
        task("instancetype", name="small", cpu={"guest": 1}, memory={"guest": memory})

    size("1Gi")
    task("preference", name="linux")
    task("virtual_machine", **vm(NAME, run_strategy="Always"), wait=True)
    with (
        session_with(Copies(session, namespace, count, in_namespace)) as copies,
        subprocess.Popen(
            [sys.executable, "-c", SOURCE, copies.host, str(count), str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=CHECKOUT,
        ) as source,
    ):
        assert source.stdout is not None
        assert source.stdout.readline() == "{'running'}\n"
        size("2Gi")
        assert source.stdout.readline() == "{'drifted'}\n"
        peak = int(source.stdout.readline())
    [state] = tmp_path.glob("*.jsonl")
    record = state.stat().st_size // count
    print(f"{count} VMs, {in_namespace} in a namespace: {peak} MiB, {record} bytes of state for a VM")
    assert peak < bound and record < 1000
