"""The settings of a fleet refresh are checked before a request is sent, each in one line that names its variable."""

from pathlib import Path
from typing import Any

import pytest

from plugins.module_utils._cluster.client.errors import TaskFailed
from plugins.module_utils._rollout.cluster import revision_rollout

DEFAULTS: dict[str, Any] = {
    "namespaces": ["shop"],
    "names": [],
    "batch_size": "20%",
    "max_unavailable": "20%",
    "max_failures": "0",
    "lease": "",
    "pause": 0,
    "windows": [],
    "deadline": "",
    "time_zone": "UTC",
    "quota": False,
    "placement": False,
    "replace": {},
    "patch": {},
    "health_timeout": 300,
    "wait_timeout": 120,
    "revisions_of": "both",
    "restart": "if_required",
    "guest_agent": False,
}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"namespaces": []}, "namespaces: is empty; name namespaces"),
        ({"namespaces": [], "names": ["shop/a", "b"]}, "namespaces: is empty; name namespaces"),
        ({"batch_size": ""}, "batch_size: is empty; write a number of VMs or percent"),
        ({"max_failures": "-1"}, "max_failures: is -1; write a number"),
        ({"pause": -1}, "pause: expected 0"),
        ({"health_timeout": -1}, "health_timeout: expected 0"),
        ({"wait_timeout": -1}, "wait_timeout: expected 0"),
        ({"lease": "shop"}, "lease: is shop; write NAMESPACE/NAME"),
        ({"patch": "["}, "patch: is not YAML"),
        ({"patch": "spec"}, "patch: is 'spec'; write a merge patch of spec.template"),
        ({"replace": ["u1.small"]}, "replace: is "),
        ({"quota": True, "replace": "deprecated"}, "quota: foresees a refresh only"),
        ({"placement": True, "patch": {"spec": {}}}, "placement: foresees a refresh only"),
        ({"windows": "[{"}, "windows: is not YAML; write a list of windows"),
        ({"windows": [{"from": "22:00"}]}, "windows[0]: "),
        ({"time_zone": "Europe/Nowhere"}, "time_zone: 'Europe/Nowhere' is unknown"),
        ({"time_zone": "../etc"}, "time_zone: '../etc' is unknown"),
        ({"deadline": "late"}, "deadline: "),
    ],
)
def test_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(TaskFailed) as error:
        revision_rollout._schedule(revision_rollout._checked({**DEFAULTS, **settings}))
    assert str(error.value).startswith(f"revision_refresh_{message}")


def test_texts_of_a_survey_are_read() -> None:
    settings = {
        **DEFAULTS,
        "batch_size": " 5 ",
        "replace": "{u1.medium: u1.large}",
        "patch": "",
        "time_zone": "Europe/Berlin",
    }
    checked = revision_rollout._checked(settings)
    assert (checked["batch_size"], checked["replace"], checked["patch"]) == ("5", {"u1.medium": "u1.large"}, None)
    assert revision_rollout._selection(checked).moves
    assert revision_rollout._schedule({**settings, "windows": "[{from: '22:00', to: '04:00'}]"})


def test_reports_need_a_folder_to_write_to(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert revision_rollout._folder_problem(tmp_path / "new" / "reports") == ""
    assert revision_rollout._folder_problem(file / "reports") == f"{file} is not a folder"
    assert revision_rollout._file_problem(file) == ""
    assert revision_rollout._file_problem(tmp_path).startswith("there is no such file")


def test_the_oldest_copies_go(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        for ending in ("json", "html"):
            (tmp_path / f"revision-refresh-2026010{day}.{ending}").write_text("")
    (tmp_path / "revision-refresh.json").write_text("")
    revision_rollout._prune_reports(tmp_path, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "revision-refresh-20260103.html",
        "revision-refresh-20260103.json",
        "revision-refresh.json",
    ]
