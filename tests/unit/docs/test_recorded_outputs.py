"""tools/record_outputs.py takes a part of the output of its playbook."""

from pathlib import Path

import yaml
from loaded_files import load

CHECKOUT = Path(__file__).resolve().parents[3]
RECORDER = load(CHECKOUT / "tools" / "record_outputs.py")

PRINTED = """
PLAY [Record] ***

TASK [Module catalog: Offer it] ***
changed: [localhost]

TASK [Something between] ***
ok: [localhost]

TASK [Module catalog: Its result] ***
ok: [localhost] =>
    result.msg: 2 created

PLAY RECAP ***
localhost : ok=3
"""


def test_module_output_is_that_of_its_tasks() -> None:
    assert RECORDER.outputs(PRINTED) == {
        "catalog": "TASK [Offer it] ***\nchanged: [localhost]\n\n"
        "TASK [Its result] ***\nok: [localhost] =>\n    result.msg: 2 created\n"
    }


def test_long_differences_are_cut_before_the_end() -> None:
    added = "".join(f"+line {number}\n" for number in range(99))
    (text,) = RECORDER.outputs(f"TASK [Module catalog: Offer it] ***\n{added}\nchanged: [localhost]\n").values()
    lines = text.splitlines()
    assert len(lines) == RECORDER.LONGEST and lines[-2:] == ["…", "changed: [localhost]"]


def test_each_module_has_a_task_and_its_result() -> None:
    (play,) = yaml.safe_load(RECORDER.PLAYBOOK.read_text(encoding="utf-8"))
    names = [task["name"].partition(": ") for task in play["tasks"] if ": " in task["name"]]
    modules = [path.stem for path in (CHECKOUT / "plugins" / "modules").glob("*.py") if path.stem != "revision_rollout"]
    assert sorted(name[0] for name in names) == sorted(f"Module {module}" for module in modules * 2)
    assert [name[2] == "Its result" for name in names] == [False, True] * len(modules)
