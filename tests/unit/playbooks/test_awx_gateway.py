"""The tests against a real AWX find its API behind the gateway of Ansible Automation Platform, as awx.awx does."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "integration" / "awx"))

from awx_api import Controller


@pytest.mark.parametrize(
    ("prefix", "path"),
    [(None, "/api/v2"), ("/api/controller/", "/api/controller/v2"), ("api/controller", "/api/controller/v2")],
)
def test_api_path_follows_the_configured_prefix(monkeypatch: pytest.MonkeyPatch, prefix: str | None, path: str) -> None:
    monkeypatch.setenv("CONTROLLER_HOST", "https://awx.example.com/")
    monkeypatch.delenv("CONTROLLER_OPTIONAL_API_URLPATTERN_PREFIX", raising=False)
    if prefix:
        monkeypatch.setenv("CONTROLLER_OPTIONAL_API_URLPATTERN_PREFIX", prefix)
    controller = Controller("Bearer x")
    paths: list[str] = []
    monkeypatch.setattr(controller, "get", lambda path: paths.append(path) or {"results": [{"name": "a"}]})
    controller.named("job_templates", "a b")
    assert paths == [f"{path}/job_templates/?name=a%20b"]
