"""Every module is in the group of module_defaults and has an action."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
MODULES = {path.stem for path in (ROOT / "plugins" / "modules").glob("[!_]*.py")}


def test_every_module_has_action_and_action_group() -> None:
    runtime = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())
    actions = {path.stem for path in (ROOT / "plugins" / "action").glob("[!_]*.py")}

    assert set(runtime["action_groups"]["all"]) == actions == MODULES
