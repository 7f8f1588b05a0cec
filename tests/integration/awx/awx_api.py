"""The API of a real AWX, in what the tests ask of it."""

import base64
import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

ENDED = ("successful", "failed", "error", "canceled")

Answer = dict[str, Any]


def login() -> str:
    """The header Authorization for the AWX that the environment names; empty for none."""
    token, user = os.environ.get("CONTROLLER_OAUTH_TOKEN"), os.environ.get("CONTROLLER_USERNAME")
    if not os.environ.get("CONTROLLER_HOST"):
        return ""
    if token:
        return f"Bearer {token}"
    word = os.environ.get("CONTROLLER_PASSWORD")
    return f"Basic {base64.b64encode(f'{user}:{word}'.encode()).decode()}" if user and word else ""


class Controller:
    """Requests to an AWX. seconds: how long a job may take."""

    def __init__(self, authorization: str, seconds: int = 900) -> None:
        self.host, self.seconds = os.environ["CONTROLLER_HOST"].rstrip("/"), seconds
        # The variable by which awx.awx finds the controller behind the gateway of Ansible Automation Platform.
        prefix = os.environ.get("CONTROLLER_OPTIONAL_API_URLPATTERN_PREFIX", "/api/").strip("/")
        self.api = f"/{prefix}/v2"
        self._headers = {"Authorization": authorization, "Content-Type": "application/json"}
        self._context = ssl.create_default_context()
        if os.environ.get("CONTROLLER_VERIFY_SSL", "true").lower() in ("0", "false", "no"):
            self._context.check_hostname = False
            self._context.verify_mode = ssl.CERT_NONE

    def call(self, method: str, path: str, body: Answer | None = None) -> tuple[int, str]:
        """Status and text of an answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.host}{path}", data, self._headers, method=method)
        context = self._context if self.host.startswith("https:") else None
        try:
            with urllib.request.urlopen(request, timeout=60, context=context) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def get(self, path: str) -> Answer:
        status, text = self.call("GET", path)
        assert status == 200, f"GET {path}: {status} {text}"
        result: Answer = json.loads(text)
        return result

    def named(self, kind: str, name: str) -> Answer:
        result: list[Answer] = self.get(f"{self.api}/{kind}/?name={urllib.parse.quote(name)}")["results"]
        assert result, f"there is no {name!r} among {kind}"
        return result[0]

    def launch(self, template: Answer, **fields: Any) -> Answer:
        """The job, ended; one for each slice is a workflow job."""
        status, text = self.call("POST", f"{template['url']}launch/", fields)
        assert status == 201, f"launch of {template['name']}: {status} {text}"
        return self.ended(json.loads(text)["url"])

    def ended(self, path: str) -> Answer:
        deadline = time.monotonic() + self.seconds
        while (job := self.get(path))["status"] not in ENDED:
            assert time.monotonic() < deadline, f"{path}: {job['status']} after {self.seconds} s"
            time.sleep(1)
        return job

    def printout(self, job: Answer) -> str:
        """The output of a job, or of all jobs of its slices."""
        if job["type"] != "workflow_job":
            return self.call("GET", f"{job['url']}stdout/?format=txt")[1]
        nodes = self.get(f"{job['url']}workflow_nodes/?page_size=50")["results"]
        made = [node["summary_fields"]["job"]["id"] for node in nodes if node["summary_fields"].get("job")]
        return "\n".join(self.printout(self.get(f"{self.api}/jobs/{number}/")) for number in made)
