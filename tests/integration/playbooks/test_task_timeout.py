"""A task that reaches its timeout writes nothing any more, wherever its module runs."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ansible_environment import surroundings

from scripted_server import Store, session_with

SIZES = "/apis/instancetype.kubevirt.io/v1beta1/namespaces/shop/virtualmachineinstancetypes"
COUNT = 64
# Enough for a module to start on a busy machine, and a quarter of what all writes take.
SECONDS = 12


class Slow(Store):
    """A server that takes its time for each write."""

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, object] | None:
        answer = super().__call__(method, path, query)
        if method == "PATCH":
            time.sleep(1.5)
        return answer


SENT = pytest.mark.nightly("test_direct_execution compares both ways each day")


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
            "tasks": [{"virtshape.instancetypes.instancetype": {**where, **given}, "timeout": SECONDS}],
        }
        book = tmp_path / "play.json"
        book.write_text(json.dumps([play]))
        command = [str(Path(sys.executable).with_name("ansible-playbook")), str(book)]
        done = subprocess.run(command, env=surroundings(bare=True), capture_output=True, text=True, check=False)
        shown = done.stdout + done.stderr
        # The words are those of ansible-core 2.19 and later, and of those before.
        assert done.returncode == 2 and re.search(f"(imed out after|expected\\s+time frame) .?{SECONDS}", shown), shown
        # A module's own process has noticed by then that nobody reads its result.
        time.sleep(2)
        result = len(store.writes)
        time.sleep(3)
        assert 0 < result == len(store.writes) < COUNT
