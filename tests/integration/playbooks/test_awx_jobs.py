"""Playbooks as jobs of AWX: no prompt, no kubeconfig, artifacts, and an exit state that says what became of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from awx_support import Template, answers, credential
from fleet_support import Fleet


@pytest.fixture
def environment(cluster: Path, tmp_path: Path) -> Iterator[dict[str, str]]:
    # pytest ends the generator, and with it the context.
    with credential(cluster, tmp_path) as made:
        yield made


def test_jobs(cluster: Path, namespace: str, environment: dict[str, str], tmp_path: Path) -> None:
    fleet = Fleet(cluster, namespace, tmp_path)
    fleet.size(1, "2Gi")
    fleet.create(2)
    fleet.size(1, "4Gi")

    def template(playbook: str) -> Template:
        return Template(tmp_path, f"playbooks/{playbook}.yml", environment)

    here = {"fleet_report_namespaces": namespace}
    quiet = template("fleet_report").launch(**answers("fleet_report", **here))
    loud = template("fleet_report").launch(
        **answers("fleet_report", **here, fleet_report_fail_if=["drifted", "refused"])
    )
    catalog = template("deploy_catalog").launch(
        **answers("deploy_catalog"),
        common_instancetypes_namespace=namespace,
        common_instancetypes_instancetypes=["u1.nano"],
        common_instancetypes_kinds=["instancetype"],
    )
    wrong = template("deploy_catalog").launch(**answers("deploy_catalog", common_instancetypes_path="catalog.yml"))

    job = quiet.wait()
    assert (job.status, job.code) == ("successful", 0), job
    assert job.artifacts["fleet_report_totals"]["drifted"] == 2
    assert job.artifacts["fleet_report_failed"] is False
    # The approver of a refresh decides by these artifacts: the files end with the job.
    assert [line.partition(":")[0] for line in job.artifacts["fleet_report_drift"]] == [
        f"{namespace}/vm-000",
        f"{namespace}/vm-001",
    ]
    for line in job.artifacts["fleet_report_drift"]:
        assert "from 2Gi to 4Gi; needs " in line
        assert line in job.output
    assert (quiet.private / "project" / "fleet-report" / "fleet-report.html").is_file()

    job = loud.wait()
    assert (job.status, job.code) == ("failed", 2), job
    assert job.artifacts["fleet_report_failed"] is True
    assert job.artifacts["fleet_report_msg"].startswith("drifted: 2; see ")

    job = catalog.wait()
    assert (job.status, job.code) == ("successful", 0), job
    assert job.artifacts["common_instancetypes_counts"]["created"] == 1

    job = wrong.wait()
    assert (job.status, job.code) == ("failed", 2), job
    assert "catalog.yml would be ignored" in job.artifacts["common_instancetypes_msg"]

    job = template("refresh_revisions").run(**answers("refresh_revisions", revision_refresh_namespaces=namespace))
    assert (job.status, job.code) == ("successful", 0), job
    assert job.artifacts["revision_refresh_counts"]["refreshed"] == 2
    assert environment["K8S_AUTH_API_KEY"] not in job.output

    wrong_token = {**environment, "K8S_AUTH_API_KEY": "expired"}
    job = Template(tmp_path, "playbooks/fleet_report.yml", wrong_token).run(**answers("fleet_report"))
    assert (job.status, job.code) == ("failed", 2), job
    assert "the API server rejected the credentials" in job.artifacts["fleet_report_msg"]


def test_namespaces_and_selectors_choose_among_the_hosts(
    cluster: Path, namespace: str, environment: dict[str, str], tmp_path: Path
) -> None:
    """An inventory has the VMs of all namespaces, and those that are gone since it was read."""
    fleet = Fleet(cluster, namespace, tmp_path)
    fleet.size(1, "2Gi")
    fleet.create(4)
    fleet.size(1, "4Gi")
    places = [(namespace, f"vm-{number:03}") for number in range(4)] + [("elsewhere", "db-1")]
    hosts = {f"{name}.{place}": {"vm_namespace": place, "vm_name": name} for place, name in places}
    refresh = Template(
        tmp_path, "playbooks/refresh_revisions.yml", environment, hosts, {"revision_refresh_group": "all"}
    )
    lease = {"revision_refresh_lease": f"{namespace}/refresh"}
    item = refresh.launch(
        **answers(
            "refresh_revisions", revision_refresh_namespaces=namespace, revision_refresh_label_selectors="half=0"
        ),
        **lease,
    )
    limited = refresh.launch(limit=f"vm-001.{namespace}", **answers("refresh_revisions"), **lease)

    job = item.wait()
    assert (job.status, job.code) == ("successful", 0), job
    assert job.artifacts["revision_refresh_msg"] == "2 virtual machines: 2 refreshed"

    job = limited.wait()
    assert (job.status, job.code) == ("successful", 0), job
    assert job.artifacts["revision_refresh_msg"] == "1 virtual machine: 1 refreshed"
    assert fleet.generations() == {"vm-000": 2, "vm-001": 2, "vm-002": 2, "vm-003": 1}


def test_declaring_with_the_answers_of_a_survey(namespace: str, environment: dict[str, str], tmp_path: Path) -> None:
    vm = {"namespace": namespace, "run_strategy": "Halted", "cpu": {"cores": 1}, "memory": "1Gi"}
    declare = Template(tmp_path, "playbooks/virtual_machines.yml", environment, {"web": {"virtual_machine": vm}})
    job = declare.run(**answers("virtual_machines", virtual_machines_group=""))
    assert (job.status, job.code) == ("successful", 0), job
    assert job.artifacts["virtual_machines_msg"] == "1 virtual machine: 1 created"
    job = declare.run(**answers("virtual_machines", virtual_machines_state="absent"))
    assert job.artifacts["virtual_machines_msg"] == "1 virtual machine: 1 deleted"
