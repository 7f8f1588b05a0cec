"""Runs of the role revision_refresh that end early: they say why, and leave no Lease behind."""

import os
import signal
from pathlib import Path

import pytest
from waiting import wait_until

from fleet_support import Fleet
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._rollout.cluster.lease import LEASE, acquire


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_releases_its_lease(fleet: Fleet, cluster: Path, number: signal.Signals) -> None:
    fleet.create(1)
    fleet.size(1, "4Gi")
    session = Session({"kubeconfig": str(cluster), "retry_timeout": 60})

    def holder() -> str:
        lease = session.get(LEASE, fleet.namespace, "refresh") or {}
        return str((lease.get("spec") or {}).get("holderIdentity") or "")

    run = fleet.begin(lease=f"{fleet.namespace}/refresh")
    wait_until(holder)
    os.killpg(run.pid, number)
    run.communicate()
    wait_until(lambda: not holder())


def test_a_waiting_run_says_whom_for(fleet: Fleet, cluster: Path) -> None:
    fleet.create(1)
    fleet.size(1, "4Gi")
    session = Session({"kubeconfig": str(cluster), "retry_timeout": 60})
    acquire(session, fleet.namespace, "refresh", "a dead run", 3, 0)
    output = fleet.refresh(lease=f"{fleet.namespace}/refresh")
    assert f"Lease {fleet.namespace}/refresh: a dead run has held it since 20" in output
    assert "1 virtual machine: 1 refreshed" in output


def test_a_looped_health_task_has_the_last_word(fleet: Fleet) -> None:
    fleet.create(1)
    fleet.size(1, "4Gi")
    path = fleet.folder / "health.yml"
    path.write_text(
        "- ansible.builtin.fail: {msg: 'the shop is down at {{ item }}'}\n"
        "  loop: [door, till]\n"
        "  when: item == 'till'\n"
    )
    output = fleet.refresh(health_tasks=str(path), fails=True)
    assert f"{fleet.namespace}/vm-000: health check: the shop is down at till" in output
