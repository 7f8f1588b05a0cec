"""Records what each module prints, for its page of the site: `python tools/record_outputs.py`.

Runs tools/docsite/outputs.yml on a local cluster of its own, and writes docs/outputs/MODULE.txt: the output of the two
tasks that bear the module's name, with the differences that --diff shows.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PLAYBOOK = CHECKOUT / "tools" / "docsite" / "outputs.yml"
OUTPUTS = CHECKOUT / "docs" / "outputs"
BIN = Path(sys.executable).parent
LONGEST = 40


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = ["--name", "outputs", "--dir", f"{folder}/state"]
        environment = {
            **os.environ,
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml",
            "ANSIBLE_LOCALHOST_WARNING": "0",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "0",
            "COLUMNS": "80",
        }
        launcher = {**environment, "PYTHONPATH": str(CHECKOUT / "roles" / "local_cluster" / "files")}
        cluster = [sys.executable, "-m", "local_cluster"]
        try:
            started = subprocess.run(
                [*cluster, "start", *place, "--namespace", "shop"], env=launcher, check=True, stdout=subprocess.PIPE
            )
            kubeconfig = f"kubeconfig={json.loads(started.stdout)['kubeconfig']}"
            run = subprocess.run(
                [str(BIN / "ansible-playbook"), "--diff", str(PLAYBOOK), "-e", kubeconfig],
                env=environment,
                check=False,
                stdout=subprocess.PIPE,
                text=True,
            )
        finally:
            subprocess.run([*cluster, "stop", "--remove", *place], env=launcher, check=True, stdout=subprocess.PIPE)
    if run.returncode:
        print(run.stdout)
        return run.returncode
    OUTPUTS.mkdir(exist_ok=True)
    for module, text in outputs(run.stdout).items():
        (OUTPUTS / f"{module}.txt").write_text(text, encoding="utf-8")
    return 0


def outputs(printed: str) -> dict[str, str]:
    """Of each module, what its tasks have printed; of a long difference only the beginning."""
    found: dict[str, str] = {}
    for task in re.split(r"^(?=TASK |PLAY )", printed, flags=re.MULTILINE):
        title = re.match(r"TASK \[Module (\w+): (.*)\] \**\n", task)
        if title:
            lines = task.strip().replace(f"Module {title[1]}: ", "", 1).splitlines()
            if len(lines) > LONGEST:
                lines[LONGEST - 2 : -1] = ["…"]
            found[title[1]] = found.get(title[1], "") + "\n" * (title[1] in found) + "\n".join(lines) + "\n"
    return found


if __name__ == "__main__":
    sys.exit(main())
