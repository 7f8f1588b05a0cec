"""Rules for the files of playbooks and roles: one way to write reports, JSON that each ansible-core reads."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
TASKS = [*CHECKOUT.glob("playbooks/**/*.yml"), *CHECKOUT.glob("roles/*/tasks/*.yml")]


def those_with(text: str) -> list[str]:
    return sorted(path.relative_to(CHECKOUT).as_posix() for path in TASKS if text in path.read_text(encoding="utf-8"))


def test_reports_are_written_by_one_file_of_tasks() -> None:
    """test_report_files runs that file."""
    assert those_with("write_report_content: ") == [
        "playbooks/catalog_report.yml",
        "playbooks/fleet_report.yml",
        "playbooks/upgrade_report.yml",
        "roles/revision_refresh/tasks/report.yml",
    ]
    # The playbook estate writes for Git, so a second run and check mode tell whether it would change.
    assert those_with("ansible.builtin.copy:") == ["playbooks/estate.yml", "playbooks/tasks/write_report.yml"]
    assert those_with("ansible.builtin.template:") == []


def test_json_templates_begin_with_an_empty_line() -> None:
    """Up to ansible-core 2.18 a lookup parses a text that begins with a bracket."""
    templates = [path for part in ("playbooks", "roles") for path in sorted((CHECKOUT / part).rglob("*.json.j2"))]
    assert templates
    for path in templates:
        text = path.read_text(encoding="utf-8")
        comment = re.match(r"\{#.*?#\}\n", text, re.DOTALL)
        text = text[comment.end() if comment else 0 :]
        assert text.startswith("\n") and not text.lstrip().startswith("{%-"), path.name
