"""A failure shows which objects failed and why, and the diffs of the others."""

import json
import sys
from pathlib import Path
from typing import Any

from ansible_environment import ansible

from plugins.plugin_utils._actions.action import printed_diffs
from scripted_server import Store, session_with, status

CHECKOUT = Path(__file__).parents[3]
SIZES = "/apis/instancetype.kubevirt.io/v1beta1/namespaces/shop/virtualmachineinstancetypes"
BAD = ("size-077", "size-200")
REFUSED = {("PATCH", f"/{name}"): status(422, f"the quota of {name} is used up", "Invalid") for name in BAD}


def live(name: str, guest: int) -> dict[str, Any]:
    owned = {"f:spec": {"f:cpu": {"f:guest": {}}, "f:memory": {"f:guest": {}}}}
    ours = {"manager": "virtshape", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": owned}
    metadata = {"name": name, "namespace": "shop", "uid": name, "generation": 1, "managedFields": [ours]}
    spec = {"cpu": {"guest": guest}, "memory": {"guest": "4Gi"}}
    return {"kind": "VirtualMachineInstancetype", "metadata": metadata, "spec": spec}


def screen(store: Store, folder: Path, *arguments: str, no_log: bool = False, **options: Any) -> list[str]:
    """The lines between the task's name and the recap, blank ones left out, as Ansible prints them by default."""
    names = [f"size-{number:03}" for number in range(300)]
    task = {
        "namespace": "shop",
        "cpu": {"guest": 2},
        "memory": {"guest": "4Gi"},
        "instancetypes": [{"name": name} for name in names],
    }
    with session_with(store) as session:
        where = {"host": session.host, "api_key": "scripted-token", "retry_timeout": 0}
        play = {
            "hosts": "localhost",
            "gather_facts": False,
            "vars": {"ansible_python_interpreter": sys.executable},
            "tasks": [
                {
                    "name": "Sizes",
                    "no_log": no_log,
                    "virtshape.instancetypes.instancetype": {**where, **task, **options},
                }
            ],
        }
        (folder / "play.yml").write_text(json.dumps([play]))
        code, printed = ansible(folder, "ansible-playbook", "play.yml", *arguments, bare=True)
    assert code == 2, printed
    shown = printed.partition("TASK [Sizes]")[2].partition("PLAY RECAP")[0]
    return [line for line in shown.splitlines()[1:] if line.strip()]


def test_failures_of_a_large_task_take_ten_lines(tmp_path: Path) -> None:
    lines = screen(Store({SIZES: []}, dict(REFUSED)), tmp_path)
    message = "\n".join(lines)
    assert len(lines) <= 10 and len(message) < 3000, message
    assert "2 of 300 instancetypes failed: shop/size-077: the quota of size-077 is used up; shop/size-200: " in message
    assert "; 298 created" in message and "size-076" not in message


def test_failed_task_shows_diffs_of_written_objects(tmp_path: Path) -> None:
    sizes = [live(f"size-{number:03}", 2) for number in range(300) if number not in (76, 77, 78)]
    sizes += [live(f"size-{number:03}", 1) for number in (76, 77, 78)]
    lines = screen(Store({SIZES: sizes}, {("PATCH", "/size-077"): REFUSED["PATCH", "/size-077"]}), tmp_path, "--diff")
    message = "\n".join(lines)
    assert "1 of 300 instancetypes failed: shop/size-077: " in message and "; 2 changed, 297 unchanged" in message
    heads = [line for line in lines if line.startswith("+++ ")]
    assert heads == [
        f"+++ after: VirtualMachineInstancetype shop/size-{number} (declared)" for number in ("076", "078")
    ]
    assert [line.strip() for line in lines if line[:1] in "+-" and "guest" in line] == [
        '-            "guest": 1',
        '+            "guest": 2',
    ] * 2


def test_no_log_hides_the_results_and_the_diffs(tmp_path: Path) -> None:
    sizes = [live(f"size-{number:03}", 1) for number in range(300)]
    lines = screen(Store({SIZES: sizes}, dict(REFUSED)), tmp_path, "--diff", no_log=True)
    # Ansible shows the warnings and the message of any such task.
    rest = [line for line in lines if not line.startswith(("[WARNING]: ", "[ERROR]: ", "Origin: "))]
    assert len(rest) == 1 and rest[0].startswith("fatal: [localhost]: ") and "size-" not in rest[0], rest


def test_results_on_failure_all_shows_every_result(tmp_path: Path) -> None:
    lines = screen(Store({SIZES: []}, dict(REFUSED)), tmp_path, results_on_failure="all")
    fatal = next(line for line in lines if line.startswith("fatal:"))
    results = json.loads(fatal.partition("=> ")[2])["results"]
    assert [item["name"] for item in results if item["failed"]] == list(BAD) and len(results) == 300


def test_diff_has_both_headers_and_only_differences() -> None:
    diff = {"before": {"cpu": 1, "memory": "1Gi"}, "after": {"cpu": 2, "memory": "1Gi"}}
    (message,) = printed_diffs([{**diff, "before_header": "VM a (live)", "after_header": "VM a (declared)"}])
    assert message.splitlines()[:2] == ["--- before: VM a (live)", "+++ after: VM a (declared)"]
    assert [line for line in message.splitlines()[3:] if line[0] in "+-"] == ['-    "cpu": 1,', '+    "cpu": 2,']
    (created,) = printed_diffs([{"before": {}, "after": {"cpu": 2}}])
    assert "-" not in [line[0] for line in created.splitlines()[3:]]
