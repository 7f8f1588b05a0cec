"""The table that the role virtual_machines prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2

TABLE = Path(__file__).parents[3] / "roles" / "virtual_machines" / "templates" / "table.txt.j2"


def table(**result: Any) -> list[str]:
    template = jinja2.Environment(trim_blocks=True).from_string(TABLE.read_text())
    return [" ".join(line.split()) for line in template.render(virtual_machines_result=result).splitlines()]


def line(name: str, action: str = "create", **more: Any) -> dict[str, Any]:
    changed = action != "none"
    return {"namespace": "shop", "name": name, "action": action, "changed": changed, "failed": False, **more}


def runs(judged: bool, fits: bool, problem: str = "") -> dict[str, Any]:
    return {"will_run": {"judged": judged, "fits": fits, "problem": problem}}


def test_without_questions_there_is_no_column() -> None:
    found = table(
        msg="2 virtual machines: 1 created, 1 unchanged", results=[line("a", status="Running"), line("b", "none")]
    )
    assert found == [
        "NAMESPACE VM ACTION STATUS",
        "shop a create Running",
        "",
        "2 virtual machines: 1 created, 1 unchanged",
    ]


def test_a_column_says_whether_vms_will_run() -> None:
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
    assert table(msg="quota: shop/a: no room. Nothing was sent") == ["quota: shop/a: no room. Nothing was sent"]
    assert table() == []
