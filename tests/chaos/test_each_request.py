"""Every request of a run in turn: the run is killed at it, or it meets a fault. The next run comes to the same end.

A case is written `PHASE REQUEST DISTURBANCE`, such as `refresh 41 killed after`. `each` is the first attempt of every
request, `3/10` that of every tenth one from the third on: a playbook takes too long to meet one fault at a time. A
playbook waits for half a minute until it asks again, so `fleet 3/10 no answer` takes a quarter of an hour.
VIRTSHAPE_TEST_REQUESTS is a pattern of the shell for those that are tried, `*` for all; without it
VIRTSHAPE_TEST_SEED draws a few.
"""

import fnmatch
import os
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from client_proxies import ClientProxy, client_proxies
from runner import Play, Run
from snapshots import Guests, Namespace, difference
from waiting import wait_until

from chaos_support import TIMEOUT, WRITES, Faulty, Shop, names
from fault_proxy.request import RequestInfo
from fault_proxy.rules import Faults
from fleet_support import Fleet

Manifest = dict[str, Any]

PATTERN = os.environ.get("VIRTSHAPE_TEST_REQUESTS", "")
TENTH = 10
SEED = int(os.environ.get("VIRTSHAPE_TEST_SEED", "1"))
# Seconds: as long as nothing changes when all has been done, and as long as controllers take at most.
QUIET, LATEST = 0.5, 60
# A request waits so long for an answer that never comes.
SHORT = 0.5
PLAYBOOK = "refresh_revisions"
VMS = names(12)
RUNNING = VMS[::4]

DISTURBANCES: dict[str, Manifest] = {
    "killed before": {"fault": "hold"},
    "killed after": {"fault": "hold", "when": "after"},
    "no answer": {"fault": "hold"},
    "no answer after": {"fault": "hold", "when": "after"},
    "429": {"fault": "status", "status": 429, "retry_after": 1},
    "500": {"fault": "status", "status": 500},
    "503": {"fault": "status", "status": 503},
    "503 after": {"fault": "status", "status": 503, "when": "after"},
    "409": {"fault": "status", "status": 409, "methods": WRITES},
    "reset": {"fault": "reset"},
    "reset after": {"fault": "reset", "when": "after"},
    "cut": {"fault": "cut"},
    "truncated": {"fault": "truncate"},
    "watch cut": {"fault": "watch_cut", "after_events": 1},
    "watch gone": {"fault": "watch_gone", "after_events": 1},
}


class Phase(NamedTuple):
    """A module or playbook that is run again and again. guests: how many new guests each running VM gets by a run that
    is not disturbed. again: whether a run that is asked a second time does it a second time. alternates: whether each
    run changes what the one before has made."""

    module: str
    guests: int
    again: bool = False
    alternates: bool = False


PHASES = {
    "create": Phase("virtual_machine", 1),
    "change": Phase("virtual_machine", 1, alternates=True),
    "restart": Phase("virtual_machine_power", 1, again=True),
    "refresh": Phase("controller_revision", 1, alternates=True),
    "fleet": Phase(PLAYBOOK, 1, alternates=True),
    "prune": Phase("controller_revision", 0),
    "delete": Phase("virtual_machine", 0),
}
CHAINS = {
    "create": ("create", "delete"),
    "change": ("change",),
    "restart": ("restart",),
    "refresh": ("refresh", "prune"),
    "fleet": ("fleet",),
}
# test_refresh_killed.py draws kills of the playbook.
SAMPLED = [chain for chain in CHAINS if chain != "fleet"]


class Case(NamedTuple):
    """request: its number from 1. every: n for the first attempts of each nth request from that one on."""

    phase: str
    request: int
    disturbance: str
    every: int | None = None

    def __str__(self) -> str:
        request = {None: f"{self.request}", 1: "each"}.get(self.every, f"{self.request}/{self.every}")
        return f"{self.phase} {request} {self.disturbance}"


class Story:
    """A namespace in which phases follow each other, each from where the one before has ended.

    requests: those of a run that was not disturbed, by phase.
    """

    def __init__(self, shop: Shop, proxy: ClientProxy, namespace: Namespace, folder: Path) -> None:
        self._shop, self._proxy, self._namespace, self._folder = shop, proxy, namespace, folder
        self._round = self._runs = 0
        self._pictures: dict[tuple[str, int], Any] = {}
        self.requests: dict[str, list[RequestInfo]] = {}

    def plain(self, phase: str) -> None:
        """A run that nothing disturbs. The first of its kind shows what all others must come to."""
        self._prepare(phase)
        self._proxy.rules()
        self._finish(phase)
        self.requests[phase] = list(self._proxy.requests)
        if self._place(phase) not in self._pictures:
            self._pictures[self._place(phase)] = self._settled()
        self._judge(phase)

    def disturbed(self, case: Case) -> str:
        """Disturbs a run, and runs the next one if it needs it. Returns the end of the first: `converged`, `killed`,
        `failed`, or `missed` if it had fewer requests."""
        phase = case.phase
        self._prepare(phase)
        with Guests(self._past(), self._shop.namespace) as guests:
            wait_until(lambda: guests.know(self._namespace.guests()))
            before = guests.seen()
            became = self._disturb(case)
            if became in ("killed", "failed"):
                self._proxy.rules()
                self._finish(phase)
            self._judge(phase)
            wait_until(lambda: guests.know(self._namespace.guests()))
            started = Counter({name: count - before.get(name, 0) for name, count in guests.seen().items()})
        once, twice = PHASES[phase].guests, PHASES[phase].again and became in ("killed", "failed")
        assert set(+started) == (set(RUNNING) if once else set()), f"guests that were started: {started}"
        assert max(started.values(), default=0) <= once + twice, f"guests that were started: {started}"
        return became

    def _prepare(self, phase: str) -> None:
        if not PHASES[phase].alternates:
            return
        self._round += 1
        if phase == "fleet":
            # The run before has left history.
            self._shop.run("controller_revision", kubeconfig=self._past(), state="pruned")
        if phase != "change":
            self._shop.size(f"{2 + self._round % 2}Gi")

    def _past(self) -> str:
        """The kubeconfig of a client that nothing disturbs."""
        return self._shop.faulty.path("kubeconfig")

    def _place(self, phase: str) -> tuple[str, int]:
        return phase, self._round % 2

    def _begin(self, phase: str, timeout: float = TIMEOUT) -> Run | Play:
        if PHASES[phase].module == PLAYBOOK:
            fleet = Fleet(Path(self._proxy.kubeconfig), self._shop.namespace, self._folder)
            # A canary, a batch of running VMs, and one of halted ones.
            return Play(fleet.begin(batch_size="100%", max_unavailable=2, concurrency=1))
        options = {"kubeconfig": self._proxy.kubeconfig, "concurrency": 1, **self._options(phase)}
        return Run(PHASES[phase].module, self._shop.options(**options), timeout)

    def _options(self, phase: str) -> Manifest:
        if phase in ("create", "change"):
            odd = self._round % 2
            made = self._shop.declaration(VMS, str(odd), restart="if_required")
            made["volumes"] = [{"name": "root", "container_disk": f"registry.example.com/disk:{odd}"}]
            made["virtual_machines"][1]["volumes"] = [{"name": "spare", "import": {"blank": True, "size": "1Gi"}}]
            return made
        return {
            "restart": {"names": RUNNING, "state": "restarted", "wait": True},
            "refresh": {"state": "refreshed", "restart": "if_required"},
            "prune": {"state": "pruned"},
            "delete": {"virtual_machines": [{"name": name} for name in VMS], "state": "absent", "wait": True},
        }[phase]

    def _finish(self, phase: str) -> None:
        result = self._begin(phase).result()
        assert not result.get("failed"), f"a run that nothing disturbs: {result['msg']}"

    def _disturb(self, case: Case) -> str:
        rule, kills = DISTURBANCES[case.disturbance], case.disturbance.startswith("killed")
        if case.every:
            self._proxy.disturb(rule, case.request, case.every)
        else:
            self._proxy.rules({**rule, "skip": case.request - 1, "times": 1})
        # A run that is to be killed does not give up before.
        run = self._begin(case.phase, TIMEOUT if kills else SHORT)
        if kills and self._proxy.holds(run):
            run.kill()
            return "killed"
        result = run.result()
        if not result.get("failed"):
            return "converged" if self._proxy.met else "missed"
        assert result["msg"].strip() and "\n" not in result["msg"], result["msg"]
        print(f"{case}: {result['msg']}")
        return "failed"

    def _settled(self) -> Any:
        """The snapshot, once it stays the same."""
        snapshot = None
        while snapshot != (snapshot := self._namespace.snapshot()):
            time.sleep(QUIET)
        return snapshot

    def _judge(self, phase: str) -> None:
        expected, deadline = self._pictures[self._place(phase)], time.monotonic() + LATEST
        while result := difference(expected, self._namespace.snapshot()):
            assert time.monotonic() < deadline, f"wanted and found: {result}"
            time.sleep(0.02)


def drawn(chain: str, requests: Mapping[str, list[RequestInfo]]) -> list[Case]:
    """The cases of a chain that are tried."""

    def met(phase: str, rule: Manifest) -> int:
        faults = Faults([rule])
        return sum(faults.choose(item).rule is not None for item in requests[phase])

    killed, disturbed = [], []
    for phase in CHAINS[chain]:
        for disturbance, rule in DISTURBANCES.items():
            count = met(phase, rule)
            if disturbance.startswith("killed"):
                killed += [Case(phase, number + 1, disturbance) for number in range(count)]
            elif PHASES[phase].module == PLAYBOOK:
                disturbed += [Case(phase, number + 1, disturbance, TENTH) for number in range(min(count, TENTH))]
            else:
                disturbed += [Case(phase, number + 1, disturbance) for number in range(count)]
    each = list(dict.fromkeys(case._replace(request=1, every=1) for case in disturbed))
    if PATTERN:
        return [case for case in killed + each + disturbed if fnmatch.fnmatch(str(case), PATTERN)]
    chance = random.Random(f"{SEED} {chain}")
    return [chance.choice(killed), chance.choice(each)]


@pytest.fixture
def proxy(faulty: Faulty, tmp_path: Path) -> Iterator[ClientProxy]:
    with client_proxies(faulty, tmp_path, {"client": ClientProxy}) as opened:
        yield opened["client"]


@pytest.fixture
def story(shop: Shop, proxy: ClientProxy, tmp_path: Path) -> Iterator[Story]:
    namespace = Namespace(shop.faulty.path("kubeconfig"), shop.namespace)
    yield Story(shop, proxy, namespace, tmp_path)
    namespace.close()


@pytest.mark.nightly("kills and faults at random requests")
@pytest.mark.parametrize("chain", CHAINS if PATTERN else SAMPLED)
def test_each_request(story: Story, chain: str) -> None:
    began, phases = time.monotonic(), CHAINS[chain]
    if chain != "create":
        story.plain("create")
    # The next phase changes back the changes of this one.
    for phase in 2 * phases if PHASES[phases[0]].alternates else phases:
        story.plain(phase)
    cases = {phase: [case for case in drawn(chain, story.requests) if case.phase == phase] for phase in phases}
    became: Counter[str] = Counter()
    wrong = []
    while any(cases.values()):
        for phase in phases:
            if not cases[phase]:
                story.plain(phase)
                continue
            case = cases[phase].pop(0)
            began_case = time.monotonic()
            try:
                result = story.disturbed(case)
                became[result] += 1
                print(f"{case}: {result}, {time.monotonic() - began_case:.1f} s", flush=True)
            except AssertionError as error:
                wrong.append(f"{case}: {error}")
                print(wrong[-1], flush=True)
                # The story goes on here without faults.
                story.plain(phase)
    print(f"{chain}: {dict(became)}, {len(wrong)} wrong, {time.monotonic() - began:.0f} s")
    assert not wrong, "\n".join(wrong)
