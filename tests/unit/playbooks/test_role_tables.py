"""The tables that the roles and the demo print."""

from pathlib import Path
from typing import Any

import jinja2
import yaml

ROOT = Path(__file__).parents[3]


def rendered(template: str, **values: Any) -> list[str]:
    text = (ROOT / template).read_text(encoding="utf-8")
    return jinja2.Environment(trim_blocks=True).from_string(text).render(values).splitlines()


def table(**result: Any) -> list[str]:
    lines = rendered("roles/virtual_machines/templates/table.txt.j2", virtual_machines_result=result)
    return [" ".join(line.split()) for line in lines]


def as_ansible_shows(lines: list[str]) -> list[str]:
    """The text with callback_result_format=yaml, which breaks lines at column 80."""
    return yaml.safe_dump({"result": {"msg": lines}}, allow_unicode=True).splitlines()[2:]


def line(name: str, action: str = "create", **more: Any) -> dict[str, Any]:
    changed = action != "none"
    return {"namespace": "shop", "name": name, "action": action, "changed": changed, "failed": False, **more}


def runs(evaluated: bool, fits: bool, problem: str = "") -> dict[str, Any]:
    return {"will_run": {"evaluated": evaluated, "fits": fits, "problem": problem}}


def test_without_questions_there_is_no_column() -> None:
    result = table(
        msg="2 virtual machines: 1 created, 1 unchanged", results=[line("a", status="Running"), line("b", "none")]
    )
    assert result == [
        "NAMESPACE VM ACTION STATUS",
        "shop a create Running",
        "",
        "2 virtual machines: 1 created, 1 unchanged",
    ]


def test_will_run_column_shows_the_verdict() -> None:
    results = [
        line("a", status="Running", **runs(True, True)),
        line("b", "none", failed=True, **runs(True, False, "no room")),
        line("c", "none", status="Stopped", **runs(False, False, "no such instancetype")),
        line("d", "none", **runs(True, True)),
        line("e", "apply", status="Stopped"),
    ]
    assert table(msg="done", results=results)[:-2] == [
        "NAMESPACE VM ACTION STATUS WILL RUN",
        "shop a create Running yes",
        "shop e apply Stopped -",
        "shop b none failed no: no room",
        "shop c none Stopped unknown: no such instancetype",
    ]


def test_a_task_that_failed_before_it_began() -> None:
    # The task itself shows why.
    assert table(failed=True, msg="quota: shop/a: no room. Nothing was sent") == []
    assert table() == []


def test_demo_rows_are_unbroken_in_yaml_output() -> None:
    def machine(memory: str) -> dict[str, Any]:
        known = {"instancetype": {"name": "u1.large"}, "preference": {"name": "windows.10.virtio"}, "status": "Running"}
        instance = {"guest": {"vcpus": 2, "memory": memory}}
        return {"namespace": "demo-office", "name": "desktop-1", "vmi": instance, **known}

    refresh = {"changed": True, "name": "database", "method": "status", "restarted": True}
    lines = rendered(
        "playbooks/templates/demo_summary.txt.j2",
        demo_before={"results": [{"virtual_machines": [machine("4Gi")]}]},
        demo_found=[machine("8Gi")],
        demo_again={"msg": "unchanged"},
        demo_refresh={"results": [refresh]},
        demo_refusal={"msg": "refused"},
    )
    assert lines[1].split()[3:] == ["u1.large", "windows.10.virtio", "2x8Gi", "2x4Gi"]
    assert as_ansible_shows(lines[:2]) == [f"  - {line}" for line in lines[:2]]
