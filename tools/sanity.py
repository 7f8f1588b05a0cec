"""Run ansible-test sanity on a copy of this checkout: `python tools/sanity.py [OPTIONS OF ansible-test sanity]`.

ansible-test wants a collection in a folder of its name, not behind a link, and a virtual environment for each of its
tests. It would fetch a script that puts pip into them; Python brings pip along, so that the script is one line here.
"""

from __future__ import annotations

import ast
import configparser
import os
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
HOME = CHECKOUT / ".cache" / "sanity"
COLLECTION = HOME / "ansible_collections" / "virtshape" / "instancetypes"
CACHE = HOME / ".ansible" / "test" / "cache"
SCRIPTS = ("get_pip_23_1_2.py", "get_pip_24_2.py", "get_pip_25_2.py")
"""The names that ansible-test has for that script: of ansible-core 2.16, up to 2.19, and from 2.20 on."""
PRESERVED = ("tests/output", ".git")
"""Its virtual environments, which are used again, and a repository: ansible-test tests what git does not ignore."""


def copy() -> None:
    """Make the copy equal to the checkout's files that are under version control, or could be."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=CHECKOUT, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")
    tracked = {Path(name) for name in names if name and (CHECKOUT / name).is_file()}
    for path in COLLECTION.rglob("*"):
        relative = path.relative_to(COLLECTION)
        if (
            path.is_file()
            and relative not in tracked
            and not any(relative.is_relative_to(preserved) for preserved in PRESERVED)
        ):
            path.unlink()
    for name in tracked:
        (COLLECTION / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, COLLECTION / name)


def configure_pip() -> None:
    """Let pip find packages where it finds them for this user: ansible-test takes no environment along to it."""
    listed = [sys.executable, "-m", "pip", "config", "list"]
    settings = subprocess.run(listed, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    options = dict(setting.split("=", 1) for setting in settings if setting.startswith((":env:.", "global.")))
    config = configparser.RawConfigParser()
    # What the environment says comes first in the list and counts more than what files say.
    config["global"] = {
        name.rpartition(".")[2]: str(ast.literal_eval(value)) for name, value in reversed(list(options.items()))
    }
    path = HOME / ".config" / "pip" / "pip.conf"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        config.write(file)


def main() -> int:
    copy()
    configure_pip()
    subprocess.run(["git", "init", "--quiet", COLLECTION], check=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    for script in SCRIPTS:
        (CACHE / script).write_text("import ensurepip\nensurepip.bootstrap(upgrade=True)\n")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    command = ["ansible-test", "sanity", "--venv", "--python", version, "--color", "no", *sys.argv[1:]]
    environment = {**os.environ, "HOME": str(HOME), "LC_ALL": "C.UTF-8"}
    for name in ("ANSIBLE_CONFIG", "ANSIBLE_COLLECTIONS_PATH", "PYTHONPATH"):
        environment.pop(name, None)
    done = subprocess.run(
        command,
        cwd=COLLECTION,
        env=environment,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        # What pip says stands between the findings. Without a finding, it is what failed.
        findings = [line for line in done.stdout.splitlines() if line.startswith("ERROR")]
        print("\n".join(findings) or done.stdout)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
