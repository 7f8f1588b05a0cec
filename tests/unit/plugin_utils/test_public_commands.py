"""The public part of plugin_utils: the commands, which people and pre-commit call by `python -m`."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "plugins" / "plugin_utils"
PACKAGE = "ansible_collections.virtshape.instancetypes.plugins.plugin_utils"
# Without capabilities, some of the commands do not exist.
COMMANDS = sorted(path.stem for path in FOLDER.glob("[!_]*"))


def test_only_commands_have_public_names() -> None:
    assert set(COMMANDS) <= {"check", "modernize"}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_run_by_their_public_names(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"{PACKAGE}.{name}", "--help"], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.split()[:2]) == (0, ["usage:", f"virtshape-{name}"]), done.stderr
