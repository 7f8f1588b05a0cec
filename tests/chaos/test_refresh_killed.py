"""A refresh of a fleet that is killed at request after request: the next run goes on where it was.

VIRTSHAPE_TEST_FLEET and VIRTSHAPE_TEST_KILLS make it larger, for example 200 and 10; VIRTSHAPE_TEST_SEED repeats a run.
"""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path
from typing import Any

import pytest
from client_proxies import ClientProxy, client_proxies
from kubernetes import client, config
from runner import Play

from chaos_support import Shop
from fleet_support import Fleet

SIZE = int(os.environ.get("VIRTSHAPE_TEST_FLEET", "12"))
KILLS = [1, int(os.environ.get("VIRTSHAPE_TEST_KILLS", "3"))]
SEED = int(os.environ.get("VIRTSHAPE_TEST_SEED", "1"))

# A run is killed at one of so many requests, of which there are 4 before its first batch and some 10 a batch.
REQUESTS = 35


@pytest.mark.nightly("kills at random requests")
@pytest.mark.parametrize("kills", KILLS)
def test_refresh_killed_at_random_requests(shop: Shop, tmp_path: Path, kills: int) -> None:
    print(f"{SIZE} VMs, {kills} kills, seed {SEED}")
    # Small enough that all kills come before the end: a killed run gets through three batches at most.
    batch = max(1, SIZE // (3 * kills + 3))
    chance = random.Random(SEED)
    fleet = Fleet(Path(shop.faulty.path("kubeconfig")), shop.namespace, tmp_path)
    fleet.size(1, "2Gi")
    fleet.create(SIZE)
    before, old = fleet.power(), fleet.kept()
    running = {name for name, (_strategy, status) in before.items() if status == "Running"}
    fleet.size(1, "4Gi")
    # Canary, batches of running VMs, and batches of halted ones.
    variables: dict[str, Any] = {"batch_size": "20%", "max_unavailable": "20%"}
    most_down = SIZE // 5

    with Watch(fleet, running) as watch:
        progress = []
        with client_proxies(shop.faulty, tmp_path, {"role": ClientProxy}) as opened:
            proxy = opened["role"]
            slow = Fleet(Path(proxy.kubeconfig), shop.namespace, tmp_path)
            for _kill in range(kills):
                point = {"skip": chance.randrange(REQUESTS), "when": chance.choice(["before", "after"])}
                proxy.rules({"fault": "hold", "times": 1, **point})
                run = Play(slow.begin(**{**variables, "batch_size": batch}))
                assert proxy.holds(run), f"it was done before its request {point}"
                run.kill()
                progress.append(sum(generation == 2 for generation in fleet.generations().values()))
        output = fleet.refresh(**variables)
    print(f"refreshed after each kill: {progress}; at most {watch.most_down} of {most_down} down at a time")
    assert progress[-1] < SIZE, "it was done before the last kill"
    assert watch.most_down <= most_down

    captured = fleet.revisions()
    assert {item["instancetype"]["generation"] for item in captured.values()} == {2}
    assert {item["instancetype"]["state"] for item in captured.values()} == {"current"}
    assert not any(item["restart_required"] or item["instancetype"]["pinned"] for item in captured.values())
    assert fleet.power() == before
    assert fleet.memory() == dict.fromkeys(sorted(running), "4Gi")
    # The revisions beside the new ones are history: the one that each VM had.
    assert fleet.kept() == old | {item["instancetype"]["revision"] for item in captured.values()}
    assert len(fleet.kept()) == 2 * SIZE

    output = fleet.refresh(**variables)
    assert f"{SIZE} virtual machines: {SIZE} unchanged" in output


class Watch:
    """Counts all the time how many of the VMs that shall run are not ready; most_down: the most that were seen."""

    def __init__(self, fleet: Fleet, names: set[str]) -> None:
        self._fleet, self._names = fleet, names
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.most_down = 0

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        with config.new_client_from_config(str(self._fleet.kubeconfig)) as connection:
            api = client.CustomObjectsApi(connection)
            while not self._stop.wait(0.3):
                result = api.list_namespaced_custom_object(
                    "kubevirt.io", "v1", self._fleet.namespace, "virtualmachines"
                )
                down = sum(
                    vm["metadata"]["name"] in self._names and not vm.get("status", {}).get("ready")
                    for vm in result["items"]
                )
                self.most_down = max(self.most_down, down)
