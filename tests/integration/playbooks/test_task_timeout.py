"""A task that reaches its timeout writes nothing any more, wherever its module runs."""

import re
import sys
import time
import uuid
from pathlib import Path

import pytest
from ansible_environment import played

from scripted_server import Store, session_with

SIZES = "/apis/instancetype.kubevirt.io/v1beta1/namespaces/shop/virtualmachineinstancetypes"
COUNT = 64
# All writes take 48 seconds. A module needs the second timeout to start on a very busy machine only.
TIMEOUTS = (12, 30)


class Slow(Store):
    """A server that takes its time for each write."""

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, object] | None:
        answer = super().__call__(method, path, query)
        if method == "PATCH":
            time.sleep(1.5)
        return answer


SENT = pytest.mark.nightly("test_direct_execution compares both ways each day")


def is_running(run: str) -> bool:
    """Whether a process is left that has inherited the variable RUN."""
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"RUN={run}".encode() in environment.read_bytes().split(b"\0"):
                return True
        except OSError:
            # It has ended meanwhile, or is somebody else's.
            continue
    return False


@pytest.mark.parametrize("direct", [pytest.param(True, id="direct"), pytest.param(False, id="sent", marks=SENT)])
def test_no_write_follows_a_timeout(tmp_path: Path, direct: bool) -> None:
    store = Slow({SIZES: []})
    with session_with(store) as session:
        where = {"host": session.host, "api_key": "scripted-token", "namespace": "shop", "concurrency": 2}
        sizes = [{"name": f"size-{number}"} for number in range(COUNT)]
        given = {"instancetypes": sizes, "cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
        play = {
            "hosts": "localhost",
            "gather_facts": False,
            "vars": {"ansible_python_interpreter": sys.executable, "virtshape_direct_execution": direct},
        }
        run = uuid.uuid4().hex
        for seconds in TIMEOUTS:
            task = {"virtshape.instancetypes.instancetype": {**where, **given}, "timeout": seconds}
            shown = played(tmp_path, [{**play, "tasks": [task]}], fails=True, bare=True, RUN=run)
            # The words are those of ansible-core 2.19 and later, and of those before.
            assert re.search(rf"(imed out after|expected time frame) .?{seconds}", shown), shown
            # A module's own process notices that nobody reads its result, and ends.
            while is_running(run):
                time.sleep(0.1)
            if store.writes:
                break
        assert 0 < len(store.writes) < COUNT
