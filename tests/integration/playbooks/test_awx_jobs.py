"""Playbooks as jobs of AWX: no prompt, no kubeconfig, artifacts, and an exit state that says what became of it."""

from __future__ import annotations

import json
from pathlib import Path

from awx_support import CHECKOUT, Template, credential
from fleet_support import Fleet


def defaults(survey: str) -> dict[str, object]:
    """What AWX gives a job that was launched without an answer to any question."""
    spec = json.loads((CHECKOUT / "playbooks" / "awx" / "surveys" / f"{survey}.json").read_text())["spec"]
    return {question["variable"]: question["default"] for question in spec if question["default"] != ""}


def test_jobs(cluster: Path, namespace: str, tmp_path: Path) -> None:
    fleet = Fleet(cluster, namespace, tmp_path)
    fleet.size(1, "2Gi")
    fleet.create(2)
    fleet.size(1, "4Gi")
    with credential(cluster, tmp_path) as environment:

        def template(playbook: str) -> Template:
            return Template(tmp_path, f"playbooks/{playbook}.yml", environment)

        report, refresh = defaults("fleet_report"), defaults("refresh_revisions")
        here = {"fleet_report_namespaces": namespace}
        quiet = template("fleet_report").launch(**{**report, **here})
        loud = template("fleet_report").launch(**{**report, **here, "fleet_report_fail_if": ["drifted", "refused"]})
        catalog = template("deploy_catalog").launch(
            **{**defaults("deploy_catalog"), "common_instancetypes_namespace": namespace},
            common_instancetypes_instancetypes=["u1.nano"],
            common_instancetypes_kinds=["instancetype"],
        )
        wrong = template("deploy_catalog").launch(common_instancetypes_path="catalog.yml")

        job = quiet.wait()
        assert (job.status, job.code) == ("successful", 0), job
        assert job.artifacts["fleet_report_totals"]["drifted"] == 2
        assert job.artifacts["fleet_report_failed"] is False
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

        job = template("refresh_revisions").run(**{**refresh, "revision_refresh_namespaces": namespace})
        assert (job.status, job.code) == ("successful", 0), job
        assert job.artifacts["revision_refresh_counts"]["refreshed"] == 2
        assert environment["K8S_AUTH_API_KEY"] not in job.output

        wrong_token = {**environment, "K8S_AUTH_API_KEY": "expired"}
        job = Template(tmp_path, "playbooks/fleet_report.yml", wrong_token).run(**report)
        assert (job.status, job.code) == ("failed", 2), job
        assert "the API server refused the credentials" in job.artifacts["fleet_report_msg"]
