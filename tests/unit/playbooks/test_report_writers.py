"""All playbooks and roles write their reports in one way, which `test_report_files` runs."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
TASKS = [*CHECKOUT.glob("playbooks/**/*.yml"), *CHECKOUT.glob("roles/*/tasks/*.yml")]


def those_with(text: str) -> list[str]:
    return sorted(path.relative_to(CHECKOUT).as_posix() for path in TASKS if text in path.read_text(encoding="utf-8"))


def test_reports_are_written_by_one_file_of_tasks() -> None:
    assert those_with("write_report_content: ") == [
        "playbooks/catalog_report.yml",
        "playbooks/fleet_report.yml",
        "playbooks/upgrade_report.yml",
        "roles/revision_refresh/tasks/report.yml",
    ]
    assert those_with("ansible.builtin.copy:") == ["playbooks/tasks/write_report.yml"]
    assert those_with("ansible.builtin.template:") == []
