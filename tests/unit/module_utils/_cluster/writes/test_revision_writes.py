"""VMs get other revisions: the requests for many of them, and the messages about those that fail."""

import threading
from collections import Counter
from typing import Any

from captured_vms import unknown_drift

from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.revisions import change
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE
from plugins.module_utils._resolver.change.revision_change import RevisionChange
from plugins.module_utils._resolver.change.revision_steps import RevisionJob, is_changed, needs
from plugins.module_utils._resolver.guest.effect import NOTHING, GuestEffect
from scripted_server import Manifest, listed, session_with, status

_FORBIDDEN = (
    'virtualmachines.kubevirt.io "vm" is forbidden: User "u" cannot patch resource "virtualmachines/status"'
    ' in API group "kubevirt.io"'
)
REFRESH = RevisionChange(matcher_fields=(INSTANCETYPE,), recapture=True)


class Cluster:
    """Halted VMs, given as namespace/name. virt-controller captures when asked, but for those whose name ends with `n`;
    those ending with `g` are deleted meanwhile, and nobody may write to those ending with `d`."""

    def __init__(self, *labels: str) -> None:
        self.labels = labels
        self.released: set[str] = set()
        self.asked: Counter[str] = Counter()
        self.queries: list[dict[str, str]] = []
        self._lock = threading.Lock()

    def vm(self, label: str) -> Manifest:
        namespace, name = label.split("/")
        reference = {"name": "size", "controllerRevisionRef": {"name": f"{name}-old"}}
        if label in self.released:
            reference = {"name": "size"} if name.endswith("n") else _captured(name)
        return {
            "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}", "resourceVersion": "1"},
            "spec": {"runStrategy": "Halted", "instancetype": {"name": "size"}, "template": {"spec": {"domain": {}}}},
            "status": {"printableStatus": "Stopped", "instancetypeRef": reference},
        }

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        namespace, plural, *rest = path.split("/namespaces/")[1].split("/")
        with self._lock:
            verb = "WATCH" if query.get("watch") else "GET" if rest or method != "GET" else "LIST"
            self.asked[verb if method == "GET" else f"{method} {'/'.join(rest[1:])}"] += 1
            self.queries.append(query)
            if plural == "events":
                return 200, listed()
            if method == "PATCH":
                if rest[0].endswith("d"):
                    return status(403, _FORBIDDEN, "Forbidden")
                if rest[0].endswith("x"):
                    return status(422, "spec.template: Invalid value", "Invalid")
                if query.get("dryRun"):
                    return 200, self.vm(f"{namespace}/{rest[0]}")
                self.released.add(f"{namespace}/{rest[0]}")
                return 200, self.vm(f"{namespace}/{rest[0]}")
            there = [label for label in self.labels if label.startswith(f"{namespace}/") and not label.endswith("g")]
            vms = [self.vm(label) for label in there]
            return 200, [{"type": "MODIFIED", "object": vm} for vm in vms] if verb == "WATCH" else listed(*vms)


def _captured(name: str) -> Manifest:
    return {"name": "size", "controllerRevisionRef": {"name": f"{name}-new"}}


def refreshed(
    cluster: Cluster, seconds: float = 30, decided: RevisionChange = REFRESH, check: bool = False, dry_run: bool = True
) -> list[RevisionJob]:
    with session_with(cluster) as session:
        inspected = [unknown_drift(cluster.vm(label)) for label in cluster.labels]
        settings = Task(check, server_dry_run=dry_run, wait_timeout=seconds, concurrency=4)
        return change(session, inspected, lambda _one: decided, "never", settings)


def test_many_vms_share_one_watch_per_namespace() -> None:
    cluster = Cluster(*(f"{namespace}/vm-{number}" for namespace in ("lab", "shop") for number in range(20)))
    results = refreshed(cluster)
    assert [result.failed for result in results] == [None] * 40
    assert all(result.goal.revisions == {"instancetype": f"{result.key.name}-new"} for result in results)
    assert cluster.asked["PATCH status"] == 40
    # Whether KubeVirt still accepts the VMs.
    assert cluster.asked["PATCH "] == 40
    # All were captured by the time of the list, so that nothing was left to watch for.
    assert cluster.asked["LIST"] == 2
    assert cluster.asked["GET"] == cluster.asked["WATCH"] == 0


def test_single_vm_is_listed_by_field_selector() -> None:
    cluster = Cluster("shop/only")
    (result,) = refreshed(cluster)
    assert result.goal.revisions == {"instancetype": "only-new"}
    assert "metadata.name=only" in [query.get("fieldSelector") for query in cluster.queries]


def test_failed_change_is_explained_and_others_continue() -> None:
    cluster = Cluster("shop/well", "shop/seen-n", "shop/denied-d", "shop/went-g")
    results = {result.key.name: result for result in refreshed(cluster, seconds=0.3)}
    assert results["well"].failed is None and results["well"].written
    assert "waiting for KubeVirt to capture the revision" in str(results["seen-n"].failed)
    assert "deleted while the task waited" in str(results["went-g"].failed)
    assert "virtualmachines/status" in str(results["denied-d"].failed)
    assert not results["denied-d"].written


def test_check_mode_and_no_change_send_nothing() -> None:
    cluster = Cluster("shop/one", "shop/two")
    assert all(is_changed(result) and not result.written for result in refreshed(cluster, check=True, dry_run=False))
    assert not any(is_changed(result) for result in refreshed(cluster, decided=RevisionChange()))
    assert not cluster.asked


def test_check_mode_sends_only_dry_runs() -> None:
    cluster = Cluster("shop/well", "shop/refused-x", "lab/denied-d")
    results = {result.key.name: result for result in refreshed(cluster, check=True)}
    assert {query.get("dryRun") for query in cluster.queries} == {"All"} and not cluster.released
    assert set(cluster.asked) == {"PATCH status"}
    assert is_changed(results["well"]) and not results["well"].written and not results["well"].warnings
    assert not is_changed(results["refused-x"]) and "spec.template: Invalid value" in str(results["refused-x"].failed)
    # Without the right to write the local judgement stands.
    assert is_changed(results["denied-d"]) and results["denied-d"].failed is None
    assert "forbidden" in results["denied-d"].warnings[0]


def test_halted_vm_needs_no_restart() -> None:
    effect = GuestEffect(NOTHING, changes=({"field": "memory", "before": "1Gi", "after": "2Gi"},))
    results = refreshed(Cluster("shop/one"), decided=RevisionChange((INSTANCETYPE,), recapture=True, effect=effect))
    assert [needs(result) for result in results] == ["nothing"]
