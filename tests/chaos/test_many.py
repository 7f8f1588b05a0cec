"""Many VMs while a tenth of all requests fails, and what else goes wrong in the middle of a run.

VIRTSHAPE_TEST_CHAOS makes it larger, 1000 for example; VIRTSHAPE_TEST_KILLS is how often a module is killed, and
VIRTSHAPE_TEST_SEED repeats a run.
"""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from waiting import wait_until

from chaos_support import TIMEOUT, Shop, finished, names

pytestmark = pytest.mark.nightly("random faults and kills; test_faults has each fault by itself")

SIZE = int(os.environ.get("VIRTSHAPE_TEST_CHAOS", "60"))
KILLS = int(os.environ.get("VIRTSHAPE_TEST_KILLS", "4"))
SEED = int(os.environ.get("VIRTSHAPE_TEST_SEED", "1"))

# So many requests most runs take that declare a dozen VMs: two or three lists, the writes, and those of the wait.
REQUESTS = 18

# Nine faults that make a tenth of all requests fail together.
SHARE = 0.0117
TENTH: list[dict[str, Any]] = [
    *({"fault": "status", "status": code, "rate": SHARE} for code in (500, 502, 503, 504)),
    {"fault": "status", "status": 429, "retry_after": 1, "rate": SHARE},
    {"fault": "reset", "rate": SHARE},
    {"fault": "reset", "when": "after", "rate": SHARE},
    {"fault": "cut", "rate": SHARE},
    {"fault": "truncate", "rate": SHARE},
]


def test_a_tenth_of_all_requests_fails(shop: Shop) -> None:
    print(f"{SIZE} VMs, seed {SEED}")
    expected, output = names(SIZE), []
    timeout = {"wait_timeout": TIMEOUT + SIZE}
    shop.faulty.rules(*TENTH, seed=SEED)

    def step(what: str, work: Callable[[], dict[str, Any]]) -> None:
        began = time.monotonic()
        work()
        output.append(f"{what} {time.monotonic() - began:.1f} s")

    step("create", lambda: shop.declare(expected, "1", **timeout))
    first = {name: vm["metadata"]["uid"] for name, vm in shop.vms().items()}
    # Others write to the same VMs meanwhile.
    with ThreadPoolExecutor(4) as pool:
        notes = [pool.submit(shop.annotate, name, f"note on {name}") for name in expected]
        step("change", lambda: shop.declare(expected, "2", **timeout))
    for note in notes:
        note.result()
    restart = {"names": expected[::4], "state": "restarted", "wait": True}
    step("restart", lambda: shop.run("virtual_machine_power", **restart, **timeout))
    counts = shop.faulty.counts()
    print(f"{', '.join(output)}; {counts['requests']} requests, {sum(counts['faults'].values())} faults")

    vms = shop.vms()
    assert {name: vm["metadata"]["uid"] for name, vm in vms.items()} == first
    assert {vm["metadata"]["annotations"]["example.com/note"] for vm in vms.values()} == {
        f"note on {n}" for n in expected
    }
    assert counts["faults"]
    shop.judge(expected, "2")

    shop.faulty.rules(*TENTH, seed=SEED)
    step("delete", lambda: shop.remove(expected, **timeout))
    assert (shop.vms(), shop.revisions()) == ({}, [])


def test_webhooks_time_out_and_come_back(shop: Shop) -> None:
    expected = names(4)
    shop.faulty.kill("virt-api", signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(shop.declare, expected)
            wait_until(lambda: shop.faulty.counts()["responses"].get("500", 0) > 0)
            shop.faulty.kill("virt-api", signal.SIGCONT)
            made.result()
    finally:
        shop.faulty.kill("virt-api", signal.SIGCONT)
    shop.judge(expected, "1")


def test_the_api_server_is_killed_and_started_again(shop: Shop) -> None:
    expected = names(SIZE)
    with ThreadPoolExecutor(1) as pool:
        # Straight to the API server, whose port refuses connections meanwhile; slow enough to be in the middle of it.
        direct = {"kubeconfig": shop.faulty.path("kubeconfig"), "concurrency": 2, "retry_timeout": TIMEOUT}
        made = pool.submit(shop.declare, expected, qps=max(20, SIZE / 5), **direct)
        wait_until(lambda: len(shop.vms()) >= SIZE // 4)
        shop.faulty.kill("control-plane", signal.SIGKILL)
        shop.faulty.start()
        made.result()
    shop.judge(expected, "1")


def test_two_controllers_at_once(shop: Shop) -> None:
    expected = names(min(SIZE, 100))
    processes = [shop.begin("virtual_machine", **shop.declaration(expected)) for _unused in range(2)]
    results = [finished(process) for process in processes]
    for result in results:
        assert not result.get("failed"), result["msg"]
    assert {vm["metadata"]["generation"] for vm in shop.vms().values()} == {1}
    shop.judge(expected, "1")


def test_run_killed_at_random_points(shop: Shop) -> None:
    print(f"{KILLS} kills, seed {SEED}")
    chance = random.Random(SEED)
    pool = names(12)
    shop.faulty.rules({"fault": "latency", "seconds": 0.01, "jitter": 0.04})
    runs = killed = 0
    while True:
        kept = [name for name in pool if chance.random() < 0.7] or pool[:1]
        entries = [{"name": name, "state": "present" if name in kept else "absent"} for name in pool]
        declared = {**shop.declaration(pool, str(runs)), "virtual_machines": entries, "run_strategy": "Halted"}
        process = shop.begin("virtual_machine", **declared)
        if killed == KILLS:
            break
        # One that has come to its end before is none that was killed.
        killed += _killed_after(process, shop, chance.randint(1, REQUESTS))
        runs += 1
    result = finished(process)
    assert not result.get("failed"), result["msg"]
    print(f"{killed} of {runs} runs were killed")
    shop.faulty.rules()
    assert shop.labels() == dict.fromkeys(kept, str(runs))
    again = shop.run("virtual_machine", **declared)
    assert not again["changed"], again
    wait_until(lambda: shop.revisions() == kept)


def _killed_after(process: subprocess.Popen[str], shop: Shop, requests: int) -> bool:
    """SIGKILL once so many requests have been seen; whether the process had not come to its end by then."""
    shop.faulty.clear_counts()
    while process.poll() is None and shop.faulty.counts()["requests"] < requests:
        time.sleep(0.005)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL
