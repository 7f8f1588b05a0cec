"""The rulebooks, as far as they can be judged where no rule engine runs."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from plugins.module_utils._events.facts import TRANSITIONS

CHECKOUT = Path(__file__).parents[4]
EDA = CHECKOUT / "extensions" / "eda"
SCHEMA = json.loads((EDA / "plugins/event_source/schemas/virtual_machines.json").read_text(encoding="utf-8"))
COLLECTION = "virtshape.instancetypes."
RULEBOOKS = sorted((EDA / "rulebooks").glob("*.yml"))


@pytest.mark.parametrize("path", RULEBOOKS, ids=lambda path: path.stem)
def test_rulebook_names_what_there_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    [rules] = yaml.safe_load(text)
    assert set(rules) == {"name", "hosts", "sources", "rules"}
    [source] = rules["sources"]
    arguments = source[f"{COLLECTION}virtual_machines"]
    jsonschema.validate(arguments, SCHEMA)
    assert set(arguments["transitions"]) <= set(TRANSITIONS)
    for rule in rules["rules"]:
        assert set(rule) <= {"name", "condition", "throttle", "action", "actions"}
        for action in rule.get("actions") or [rule["action"]]:
            [(kind, options)] = action.items()
            names = {"run_playbook": "playbooks/{}.yml", "run_module": "plugins/modules/{}.py"}
            assert (CHECKOUT / names[kind].format(options["name"].removeprefix(COLLECTION))).is_file()
    # Without an id, ansible-rulebook refuses a source with feedback; its inventory has to be a file.
    command = f"ansible-rulebook -r {COLLECTION}{path.stem} -i inventory.yml --vars variables.yml"
    assert f"#   {command} --persistence-id {path.stem}\n" in text
    assert arguments["feedback"] and source["name"]


def test_each_variable_of_a_rulebook_is_named() -> None:
    for path in RULEBOOKS:
        text = path.read_text(encoding="utf-8")
        used = {part.split("}}")[0].strip() for part in text.split("{{")[1:]}
        [variables] = [line for line in text.splitlines() if line.startswith("# Variables: ")]
        assert not [name for name in used if not name.startswith("event") and name not in variables], path
