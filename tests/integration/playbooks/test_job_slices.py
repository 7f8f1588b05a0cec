"""Slices of a job side by side: each VM in one of them, one budget for all, and any of them again."""

from pathlib import Path
from typing import Any

import pytest

from awx_support import DownWatch, Template
from fleet_support import Fleet
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._rollout.cluster.lease import acquire, release

SLICES = 2
SIZE = 4
TRUSTED = {"revision_refresh_group": "all"}
REFRESH = {
    "revision_refresh_max_unavailable": 2,
    "revision_refresh_batch_size": 2,
    "revision_refresh_canary": 0,
    "revision_refresh_health_interval": 1,
}


@pytest.fixture
def environment(cluster: Path) -> dict[str, str]:
    return {"K8S_AUTH_KUBECONFIG": str(cluster)}


def hosts(namespace: str) -> dict[str, dict[str, Any]]:
    """An inventory of VMs as people write it, which also has the variables of the inventory plugin."""
    vm = {
        "namespace": namespace,
        "instancetype": {"name": "fleet", "kind": "VirtualMachineInstancetype"},
        "volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}],
    }
    names = [f"vm-{number:03}" for number in range(SIZE)]
    return {name: {"virtual_machine": vm, "vm_name": name, "vm_namespace": namespace} for name in names}


def test_slices_side_by_side(fleet: Fleet, environment: dict[str, str], cluster: Path, tmp_path: Path) -> None:
    declare = Template(tmp_path, "playbooks/virtual_machines.yml", environment, hosts(fleet.namespace))
    slices = declare.slices(SLICES)
    jobs = [item.wait() for item in [declare.launch(part) for part in slices]]
    assert [job.status for job in jobs] == ["successful"] * SLICES, jobs
    # Nothing is created twice, and nothing is left out.
    assert [job.artifacts["virtual_machines_msg"] for job in jobs] == ["2 virtual machines: 2 created"] * SLICES
    assert sorted(fleet.vms()) == sorted(hosts(fleet.namespace))

    again = declare.run(slices[1])
    assert again.artifacts["virtual_machines_msg"] == "2 virtual machines: 2 unchanged"

    fleet.size(1, "4Gi")
    refresh = Template(tmp_path, "playbooks/refresh_revisions.yml", environment, hosts(fleet.namespace), TRUSTED)
    lease = f"{fleet.namespace}/refresh"
    variables = {**REFRESH, "revision_refresh_namespaces": [fleet.namespace], "revision_refresh_lease": lease}
    session = Session({"kubeconfig": str(cluster), "retry_timeout": 60})
    with DownWatch(cluster, fleet.namespace) as seen:
        # All of them are let go at the same moment, which is when one would not see what the others begin.
        acquire(session, namespace=fleet.namespace, name="refresh", holder="test", duration=3600, seconds=0)
        begun = [refresh.launch(part, **variables) for part in slices]
        for item in begun:
            item.await_task("Refresh batch 1 of 1")
        assert seen.most == 0
        release(session, fleet.namespace, "refresh", "test")
        jobs = [item.wait() for item in begun]
    assert [job.status for job in jobs] == ["successful"] * SLICES, jobs
    assert [job.artifacts["revision_refresh_msg"] for job in jobs] == ["2 virtual machines: 2 refreshed"] * SLICES
    assert set(fleet.memory().values()) == {"4Gi"}
    assert 1 <= seen.most <= 2

    again = refresh.run(slices[1], **variables)
    assert again.artifacts["revision_refresh_msg"] == "2 virtual machines: 2 unchanged"


def test_job_slice_covers_its_own_vms(
    fleet: Fleet, environment: dict[str, str], namespace: str, tmp_path: Path
) -> None:
    fleet.create(4)
    fleet.size(1, "4Gi")
    item = {"vm-001": {"vm_name": "vm-001", "vm_namespace": namespace}}
    refresh = Template(tmp_path, "playbooks/refresh_revisions.yml", environment, item, TRUSTED)
    variables = {"revision_refresh_namespaces": [namespace], "revision_refresh_lease": f"{namespace}/refresh"}

    # More slices than VMs: the last ones have none, which is not all of them.
    job = refresh.run({}, **REFRESH, **variables)
    assert job.status == "successful", job
    assert job.artifacts["revision_refresh_msg"] == "0 virtual machines: the inventory has no hosts in all"
    assert set(fleet.generations().values()) == {1}

    job = refresh.run(**REFRESH, **variables)
    assert job.status == "successful", job
    assert fleet.generations() == {"vm-000": 1, "vm-001": 2, "vm-002": 1, "vm-003": 1}


def test_bad_input_is_one_line(environment: dict[str, str], namespace: str, tmp_path: Path) -> None:
    host = {"vm_name": "vm-001", "vm_namespace": "nowhere"}
    wrong: list[tuple[dict[str, str], dict[str, Any], str]] = [
        (
            {"vm_name": "vm-001"},
            {},
            "host: has no vm_namespace or vm_name; use the inventory plugin virtshape.instancetypes.virtual_machines",
        ),
        (host, {"revision_refresh_lease": "refresh"}, "revision_refresh_lease: is refresh; write NAMESPACE/NAME"),
        (
            host,
            {"revision_refresh_names": ["vm-002"]},
            "revision_refresh_names: the VMs are those of revision_refresh_group (all); set only one of these two",
        ),
        (host, {"revision_refresh_namespaces": ""}, "revision_refresh_names: no such virtual machine: nowhere/vm-001"),
    ]
    refresh = Template(tmp_path, "playbooks/refresh_revisions.yml", environment, trusted=TRUSTED)
    common = {**REFRESH, "revision_refresh_namespaces": [namespace]}
    begun = [refresh.launch({"host": variables}, **{**common, **extra}) for variables, extra, _told in wrong]
    for (_host, _extra, result), job in zip(wrong, [item.wait() for item in begun]):
        assert (job.code, job.status) == (2, "failed")
        assert result in " ".join(job.artifacts["revision_refresh_msg"].split())
