"""awx_setup and its templates in a real AWX, in this order. Jobs that could change the cluster run in check mode.

How to run them: tests/README.md.
"""

import os
import re
from typing import Any

import pytest

TEMPLATES = ("deploy catalog", "fleet report", "refresh")
# awx.awx cannot compare secrets. It warns of those of the credential; those of notifications it hides.
ALWAYS_CHANGED = {"Create the credential of the cluster"}


def test_awx_setup_ends(setup: Any) -> None:
    done = setup.run()
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    assert "duplicate" not in done.stdout + done.stderr
    assert os.environ["K8S_AUTH_API_KEY"] not in done.stdout + done.stderr


def test_awx_setup_again_changes_nothing(setup: Any) -> None:
    done = setup.run()
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    tasks = re.split(r"^TASK \[", done.stdout, flags=re.MULTILINE)[1:]
    changed = {task.partition("]")[0] for task in tasks if "\nchanged: " in task}
    assert changed <= ALWAYS_CHANGED
    warnings = re.findall(r"\[WARNING\]: (?!No inventory|provided hosts|The field inputs).*", done.stdout + done.stderr)
    assert not warnings


def test_the_inventory_was_read(setup: Any) -> None:
    assert setup.controller.named("inventory_sources", setup.name)["status"] == "successful"


@pytest.mark.parametrize("does", TEMPLATES)
def test_a_launch_needs_no_variables(setup: Any, does: str) -> None:
    job = setup.controller.launch(setup.template(does), job_type="check")
    printed = setup.controller.printout(job)
    assert job["status"] == "successful", printed[-2000:]
    assert os.environ["K8S_AUTH_API_KEY"] not in printed
    hosts = setup.controller.get(setup.controller.named("inventories", setup.name)["related"]["hosts"])["count"]
    assert (job["type"] == "workflow_job") is (does == "refresh" and hosts > 1), "slices"


def test_each_template_has_its_credential_and_notification(setup: Any) -> None:
    for does in TEMPLATES:
        template = setup.template(does)
        own = f": {does}" if os.environ.get("VIRTSHAPE_AWX_SERVICE_ACCOUNTS") else ""
        assert [item["name"] for item in template["summary_fields"]["credentials"]] == [f"{setup.name}{own}"]
        notified = setup.controller.get(template["related"]["notification_templates_error"])["results"]
        assert [item["name"] for item in notified] == [setup.name]


def test_survey_defaults_launch_a_job(setup: Any) -> None:
    """The user interface sends every answer, empty ones too."""
    template = setup.template("fleet report")
    spec = setup.controller.get(template["related"]["survey_spec"])["spec"]
    answers = {
        question["variable"]: question["default"] or ([] if question["type"] == "multiselect" else "")
        for question in spec
    }
    job = setup.controller.launch(template, extra_vars=answers)
    assert job["status"] == "successful", setup.controller.printout(job)[-2000:]
    assert job["artifacts"]["fleet_report_failed"] is False
    assert len(job["artifacts"]["fleet_report_drift"]) == job["artifacts"]["fleet_report_totals"]["drifted"]


def test_invalid_survey_answer_is_refused(setup: Any) -> None:
    """AWX itself refuses it, before a job is made."""
    template = setup.template("fleet report")
    sent = {"extra_vars": {"fleet_report_fail_if": "drifted"}}
    status, text = setup.controller.call("POST", f"{template['url']}launch/", sent)
    assert status == 400 and "'fleet_report_fail_if' value is expected to be a list." in text


def test_schedule_is_enabled_with_its_variables(setup: Any) -> None:
    schedule = setup.controller.named("schedules", f"{setup.name}: drift check")
    assert schedule["enabled"] and schedule["next_run"]
    assert schedule["extra_data"]["fleet_report_fail_if"] == ["drifted"]


def test_the_workflow_waits_for_an_approval(setup: Any) -> None:
    workflow = setup.controller.named("workflow_job_templates", f"{setup.name}: upgrade")
    nodes = setup.controller.get(workflow["related"]["workflow_nodes"])["results"]
    follows = {node["identifier"]: node["success_nodes"] for node in nodes}
    number = {node["identifier"]: node["id"] for node in nodes}
    assert follows == {
        "catalog": [number["report"]],
        "report": [number["approval"]],
        "approval": [number["refresh"]],
        "refresh": [],
    }


def test_a_limit_chooses_among_the_vms(setup: Any) -> None:
    template = setup.template("fleet report")
    host = setup.controller.get(setup.controller.named("inventories", setup.name)["related"]["hosts"])["results"]
    if not host:
        pytest.skip("the cluster has no VM that could be the limit")
    setup.controller.call("PATCH", template["url"], {"limit": host[0]["name"]})
    try:
        job = setup.controller.launch(template)
    finally:
        setup.controller.call("PATCH", template["url"], {"limit": ""})
    assert job["status"] == "successful"
    assert job["artifacts"]["fleet_report_totals"]["virtual_machines"] == 1
