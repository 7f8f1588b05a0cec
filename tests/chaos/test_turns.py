"""Two runs and a user with kubectl at once, whose requests take turns: all get what they own, whatever the order.

A seed draws the runs, what the user does, and the order. VIRTSHAPE_TEST_ORDERS is how many are tried, from
VIRTSHAPE_TEST_SEED on.
"""

import base64
import json
import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import urllib3
import yaml
from client_proxies import client_proxies
from runner import Run
from snapshots import Namespace, difference
from turns import Turns, TurnWay
from waiting import wait_until

from chaos_support import TIMEOUT, Shop, names

Manifest = dict[str, Any]

ORDERS = int(os.environ.get("VIRTSHAPE_TEST_ORDERS", "2"))
SEED = int(os.environ.get("VIRTSHAPE_TEST_SEED", "1"))
# Seconds that controllers take at most when all has been done.
LATEST = 60
NAMES = names(5)
CLIENTS = ["one", "two", "user"]


def play(shop: Shop, label: str) -> tuple[str, Manifest]:
    made = shop.declaration(NAMES, label, restart="if_required")
    return "virtual_machine", {**made, "volumes": [{"name": "root", "container_disk": f"registry.example.com/{label}"}]}


def others_play(shop: Shop, label: str) -> tuple[str, Manifest]:
    """The same VMs under another manager, with fields of its own: either may make what the user has deleted."""
    made = shop.declaration(NAMES)
    same = {option: made[option] for option in ("virtual_machines", "instancetype", "wait", "wait_timeout")}
    return "virtual_machine", {**same, "field_manager": "backup", "annotations": {"backup": label}}


def refresh(_shop: Shop, _label: str) -> tuple[str, Manifest]:
    return "controller_revision", {"state": "refreshed", "restart": "if_required"}


def restart(_shop: Shop, _label: str) -> tuple[str, Manifest]:
    return "virtual_machine_power", {"names": NAMES[::4], "state": "restarted", "wait": True}


SECOND: list[Callable[[Shop, str], tuple[str, Manifest]]] = [play, others_play, refresh, restart]


class User:
    """Somebody with kubectl."""

    def __init__(self, kubeconfig: str, namespace: str, chance: random.Random) -> None:
        content = yaml.safe_load(Path(kubeconfig).read_text())
        cluster = content["clusters"][0]["cluster"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._pool = urllib3.PoolManager(ca_cert_data=authority, retries=False)
        self._token = content["users"][0]["user"]["token"]
        self._server = cluster["server"]
        self._place = f"/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines"
        self._power = f"/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines"
        verbs = [self._annotate, self._label, self._edit, self._grace, self._restart]
        self._deeds = [(chance.choice(verbs), chance.choice(NAMES[:-1])) for _unused in range(6)]
        if chance.random() < 0.3:
            self._deeds.insert(chance.randrange(6), (self._delete, NAMES[-1]))

    def work(self) -> None:
        for deed, name in self._deeds:
            deed(name)
        self._pool.clear()

    def _ask(self, method: str, path: str, body: Any = None, kind: str = "json", **query: str) -> Any:
        """The answer; None if somebody else was faster, or the VM is not in the state for it (409)."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": f"application/{kind}"}
        address = f"{self._server}{path}?{urlencode(query)}"
        answer = self._pool.request(method, address, body=json.dumps(body), headers=headers)
        assert answer.status in (200, 202, 409), answer.data
        return None if answer.status == 409 else json.loads(answer.data or b"{}")

    def _annotate(self, name: str) -> None:
        body = {"metadata": {"annotations": {"example.com/note": "seen"}}}
        self._ask("PATCH", f"{self._place}/{name}", body, "merge-patch+json", fieldManager="kubectl-annotate")

    def _label(self, name: str) -> None:
        self._apply(name, {"metadata": {"labels": {"team": "blue"}}}, "kubectl-label")

    def _grace(self, name: str) -> None:
        self._apply(name, {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 77}}}}, "kubectl")

    def _apply(self, name: str, body: Manifest, manager: str) -> None:
        whole = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", **body}
        query = {"fieldManager": manager, "force": "false"}
        self._ask("PATCH", f"{self._place}/{name}", whole, "apply-patch+yaml", **query)

    def _edit(self, name: str) -> None:
        """Reads and replaces the whole object, again if somebody was faster."""
        done = None
        while done is None:
            result = self._ask("GET", f"{self._place}/{name}")
            result["metadata"].setdefault("annotations", {})["example.com/edited"] = "yes"
            done = self._ask("PUT", f"{self._place}/{name}", result, fieldManager="kubectl-edit")

    def _restart(self, name: str) -> None:
        self._ask("PUT", f"{self._power}/{name}/restart", {})

    def _delete(self, name: str) -> None:
        self._ask("DELETE", f"{self._place}/{name}")


class Fight:
    """The clients of a seed in a namespace of their own."""

    def __init__(self, shop: Shop, seed: int) -> None:
        self._shop, self._seed = shop, seed
        self._second = random.Random(seed).choice(SECOND)

    def prepare(self) -> None:
        module, options = play(self._shop, "1")
        self._shop.run(module, **options)
        if self._second is refresh:
            self._shop.size("2Gi")

    def together(self, folder: Path) -> list[str]:
        """All at the same time. The order of the requests."""
        turns = Turns(CLIENTS, self._seed)
        makers: dict[str, Any] = {name: partial(TurnWay, turns, name) for name in CLIENTS}
        with client_proxies(self._shop.faulty, folder, makers) as opened, ThreadPoolExecutor(3) as pool:
            work = {name: partial(self.run, name, opened[name].kubeconfig) for name in CLIENTS}
            for done in [pool.submit(_and_leave, turns, name, work[name]) for name in CLIENTS]:
                done.result()
        return turns.order

    def run(self, name: str, kubeconfig: str) -> Manifest | None:
        if name == "user":
            User(kubeconfig, self._shop.namespace, random.Random(self._seed)).work()
            return None
        module, options = (play if name == "one" else self._second)(self._shop, "2")
        own = {"kubeconfig": kubeconfig, "concurrency": 1}
        result = Run(module, self._shop.options(**{**options, **own}), timeout=TIMEOUT).result()
        if result.get("failed"):
            assert "\n" not in result["msg"], result["msg"]
            print(f"seed {self._seed}, {name}: {result['msg']}")
        return result

    def finish(self) -> None:
        """Each run once more by itself, for what was refused or deleted meanwhile."""
        for name in ("one", "two", "one"):
            if name == "two" and self._second is restart:
                continue
            result = self.run(name, self._shop.faulty.path("kubeconfig"))
            assert result is not None and not result.get("failed"), result
        assert not result["changed"], result


def _and_leave(turns: Turns, name: str, work: Callable[[], Any]) -> None:
    try:
        work()
    finally:
        turns.leave(name)


@pytest.mark.nightly("random orders of requests")
@pytest.mark.parametrize("seed", range(SEED, SEED + ORDERS))
def test_two_runs_and_a_user(shop: Shop, other_shop: Shop, tmp_path: Path, seed: int) -> None:
    # The result of one after the other.
    serial = Fight(other_shop, seed)
    serial.prepare()
    for name in ("user", "one", "two"):
        serial.run(name, other_shop.faulty.path("kubeconfig"))
    serial.finish()
    fight = Fight(shop, seed)
    fight.prepare()
    order = fight.together(tmp_path)
    fight.finish()
    expected, result = (Namespace(item.faulty.path("kubeconfig"), item.namespace) for item in (other_shop, shop))
    different: list[str] = []

    def same() -> bool:
        different[:] = difference(expected.snapshot(), result.snapshot())
        return not different

    try:
        wait_until(same, pause=0.1, seconds=LATEST)
    except AssertionError:
        raise AssertionError("\n".join([f"seed {seed}: apart and at once:", *different, *order])) from None
    finally:
        expected.close()
        result.close()
