"""A module that its action executes directly answers as the same module does when Ansible packs and sends it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ansible_environment import surroundings

SAME = "{{ ansible_playbook_python }}"
# The same Python under another name, so that Ansible has to start it.
OTHER = "{{ ansible_playbook_python | dirname }}/../bin/{{ ansible_playbook_python | basename }}"
COMMAND = str(Path(sys.executable).with_name("ansible-playbook"))
NOWHERE = "https://127.0.0.1:1"
SECRET = "a-password-of-nobody"
KEYWORDS = ("check_mode", "diff", "loop")
WITHOUT_NAMESPACE = ("expand_info",)
VM: dict[str, Any] = {"instancetype": {"name": "small"}, "run_strategy": "Halted", "labels": {"day": "{{ day }}"}}
SMALL = {"name": "small", "cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
KUBECONFIG = {
    "current-context": "a",
    "clusters": [{"name": "a", "cluster": {"server": f"{NOWHERE}/{SECRET}"}}],
    "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
    "users": [{"name": "a", "user": {"token": SECRET}}],
}

TASKS: dict[str, dict[str, Any]] = {
    "planned": {"instancetype": SMALL, "check_mode": True, "diff": True},
    "refused": {"instancetype": {**SMALL, "cpu": "many"}},
    "unknown option": {"virtual_machine_info": {"nonsense": 1}},
    "unknown instancetype": {"virtual_machine": {"name": "a", **VM, "preflight": "strict"}},
    "warned": {"virtual_machine": {"name": "a", **VM, "preflight": "warn"}, "check_mode": True},
    "without connection": {"virtual_machine_info": {"host": NOWHERE, "api_key": SECRET, "retry_timeout": 0}},
    "hidden": {"virtual_machine_info": {"host": SECRET, "api_key": SECRET, "retry_timeout": 0}},
    "hidden in a kubeconfig": {"virtual_machine_info": {"kubeconfig": KUBECONFIG, "retry_timeout": 0}},
    "both names": {"virtual_machine_info": {"validate_certs": False, "verify_ssl": False}},
    "nothing there": {"controller_revision_info": {}},
    "looped": {"instancetype_info": {"name": "{{ item }}"}, "loop": ["small", "large"]},
}


def play(cluster: Path, folder: Path, namespace: str, interpreter: str, **environment: str) -> list[dict[str, Any]]:
    """The results of TASKS, in order."""
    tasks: list[dict[str, Any]] = []
    for number, (name, task) in enumerate(TASKS.items()):
        module = next(key for key in task if key not in KEYWORDS)
        where = {} if module in WITHOUT_NAMESPACE else {"namespace": namespace}
        call = {f"virtshape.instancetypes.{module}": {**where, **task[module]}}
        keywords = {key: task[key] for key in task if key in KEYWORDS}
        tasks.append({"name": name, **call, **keywords, "register": f"task_{number}", "ignore_errors": True})
    registered = ", ".join(f"task_{number}" for number in range(len(TASKS)))
    answers = folder / "answers.json"
    save = {"content": f"{{{{ [{registered}] | to_json }}}}", "dest": str(answers), "mode": "0600"}
    local = {"ansible_remote_tmp": str(folder)}
    tasks.append({"ansible.builtin.copy": save, "vars": local})
    settings = {"K8S_AUTH_KUBECONFIG": str(cluster)}
    book = folder / "play.json"
    one = {"hosts": "localhost", "gather_facts": False, "environment": settings, "vars": {"day": "monday"}}
    book.write_text(json.dumps([{**one, "tasks": tasks}]))
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("ansible-playbook")),
            str(book),
            "-e",
            json.dumps({"ansible_python_interpreter": interpreter}),
        ],
        env=surroundings(**environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert SECRET not in done.stdout
    # Since ansible-core 2.22, a module's result is hidden where it is shown and no sooner.
    text = answers.read_text().replace("$REDACTED$", "********").replace(SECRET, "********")
    found: list[dict[str, Any]] = json.loads(text)
    return found


def test_the_answers_are_the_same(cluster: Path, tmp_path: Path, namespace: str) -> None:
    direct, sent = (
        play(cluster, tmp_path, namespace, interpreter, **environment)
        for interpreter, environment in ((SAME, {"ANSIBLE_REMOTE_TEMP": "/proc/none"}), (OTHER, {}))
    )
    for name, one, other in zip(TASKS, direct, sent):
        assert told(one) == told(other), name


def told(result: dict[str, Any]) -> dict[str, Any]:
    """Without what Ansible adds for whoever looks for mistakes in modules, and 2.22 about how it read the result."""
    if "results" in result and "item" in (result["results"] or [{}])[0]:
        return {**result, "results": [told(one) for one in result["results"]]}
    return {name: value for name, value in result.items() if name not in ("ansible_parsed", "exception", "invocation")}
