"""A job that AWX did not split says so; the variables are those that AWX 24.6.1 gave to such jobs."""

import json
import re
from pathlib import Path
from typing import Any

from ansible_environment import ansible

CHECKOUT = Path(__file__).resolve().parents[3]
REFRESH = {"awx_job_template_name": "KubeVirt: refresh"}
VMS = ["web-1.shop", "web-2.shop"]
SAY_SO: list[dict[str, Any]] = [
    {**REFRESH, "job_slices": 2, "inventory_hosts": VMS},
    {**REFRESH, "job_slices": 3, "inventory_hosts": VMS, "awx_workflow_job_name": "KubeVirt: upgrade"},
]
SAY_NOTHING: list[dict[str, Any]] = [
    # Without AWX.
    {"job_slices": 4, "inventory_hosts": VMS},
    # Slices were not asked for.
    {**REFRESH, "inventory_hosts": VMS},
    {**REFRESH, "job_slices": 1, "inventory_hosts": VMS},
    # Nothing to split.
    {**REFRESH, "job_slices": 5, "inventory_hosts": VMS[:1]},
    # A slice, also in a workflow.
    {**REFRESH, "job_slices": 6, "inventory_hosts": VMS, "awx_workflow_job_name": "KubeVirt: refresh"},
]


def test_sliced_job_is_refused_where_one_must_run(tmp_path: Path) -> None:
    file = str(CHECKOUT / "playbooks" / "tasks" / "slices.yml")
    tasks = [{"ansible.builtin.include_tasks": file, "vars": variables} for variables in SAY_SO + SAY_NOTHING]
    play = [{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}]
    (tmp_path / "play.yml").write_text(json.dumps(play))
    code, printed = ansible(tmp_path, "ansible-playbook", "play.yml")
    assert code == 0, printed
    assert re.findall(r"job_slices: (\d+) slices were asked for", printed) == ["2", "3"], printed
