"""Every module is in the group of module_defaults, has an action, and stands in the README if it is one of users."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
MODULES = {path.stem for path in (ROOT / "plugins" / "modules").glob("[!_]*.py")}


def test_every_module_has_action_and_action_group() -> None:
    runtime = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())
    actions = {path.stem for path in (ROOT / "plugins" / "action").glob("[!_]*.py")}

    assert set(runtime["action_groups"]["all"]) == actions == MODULES


def test_the_readme_names_the_modules_of_users() -> None:
    rows = re.findall(r"^\| \w+ \| modules (.*?)[;|]", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    internal = {
        name
        for name in MODULES
        if "short_description: Internal" in (ROOT / "plugins/modules" / f"{name}.py").read_text(encoding="utf-8")
    }
    assert sorted(named) == sorted(MODULES - internal)
    assert internal == {"revision_rollout"}
