"""A real AWX, where the environment names one; the table of steps at the end."""

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from awx_api import Controller, login

CHECKOUT = Path(__file__).resolve().parents[3]
PLACE = "tests/integration/awx"
# In an order in which nothing is deleted that another one uses.
KINDS = (
    "workflow_job_templates",
    "job_templates",
    "inventories",
    "projects",
    "credentials",
    "notification_templates",
    "execution_environments",
)
OPTIONS = ("project_url", "project_branch", "execution_environment_image", "organization", "service_accounts")
# No job of the tests fails, so nothing is sent.
WEBHOOK = {"url": "http://127.0.0.1:9", "http_method": "POST", "headers": {}}


class Setup:
    """The objects that awx_setup makes in an AWX, with a name of their own."""

    def __init__(self, controller: Controller) -> None:
        self.controller, self.name = controller, f"virtshape test {uuid.uuid4().hex[:6]}"

    def run(self) -> subprocess.CompletedProcess[str]:
        """The playbook. Which environment jobs run in, and where the project is, is said by VIRTSHAPE_AWX_*."""
        variables: dict[str, Any] = {
            "awx_setup_name": self.name,
            "awx_setup_slices": 2,
            "awx_setup_notification": self.name,
            "awx_setup_notification_type": "webhook",
            "awx_setup_notification_configuration": WEBHOOK,
        }
        for option in OPTIONS:
            given = os.environ.get(f"VIRTSHAPE_AWX_{option.upper()}")
            if given:
                variables[f"awx_setup_{option}"] = given
        if "awx_setup_execution_environment_image" in variables:
            variables["awx_setup_execution_environment"] = self.name
        paths = f"{CHECKOUT / '.cache' / 'collections'}:{Path.home() / '.ansible' / 'collections'}"
        return subprocess.run(
            [
                str(Path(sys.executable).with_name("ansible-playbook")),
                "virtshape.instancetypes.awx_setup",
                "-e",
                json.dumps(variables),
            ],
            env={
                **os.environ,
                "ANSIBLE_COLLECTIONS_PATH": os.environ.get("ANSIBLE_COLLECTIONS_PATH", paths),
                "ANSIBLE_NOCOLOR": "1",
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def template(self, does: str) -> dict[str, Any]:
        return self.controller.named("job_templates", f"{self.name}: {does}")

    def remove(self) -> None:
        for kind in KINDS:
            named = f"{self.controller.api}/{kind}/?name__startswith={self.name.replace(' ', '%20')}"
            for entry in self.controller.get(named)["results"]:
                self.controller.call("DELETE", entry["url"])


@pytest.fixture(scope="session")
def setup() -> Iterator[Setup]:
    authorization = login()
    if not authorization:
        pytest.skip(
            "no AWX: set CONTROLLER_HOST, and CONTROLLER_OAUTH_TOKEN or CONTROLLER_USERNAME and CONTROLLER_PASSWORD"
        )
    if not (os.environ.get("K8S_AUTH_HOST") and os.environ.get("K8S_AUTH_API_KEY")):
        pytest.skip("no cluster for AWX: set K8S_AUTH_HOST and K8S_AUTH_API_KEY as its jobs are to have them")
    made = Setup(Controller(authorization))
    yield made
    made.remove()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The table, if there was an AWX."""
    reports = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if getattr(report, "nodeid", "").startswith(PLACE) and report.when == "call"
    ]
    if not reports:
        return
    terminalreporter.section("AWX")
    for report in sorted(reports, key=lambda report: report.location[1]):
        step = re.sub(r"_", " ", report.nodeid.rpartition("::test_")[2])
        crash = getattr(report.longrepr, "reprcrash", None)
        why = "" if report.passed else " ".join(str(crash.message if crash else report.longrepr).split())[:300]
        terminalreporter.write_line(f"{report.outcome:7} {report.duration:6.0f} s  {step}  {why}".rstrip())
