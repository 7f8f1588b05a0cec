"""Commands of Ansible that tests run, and their environment."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
_OWN = ("KUBECONFIG", "K8S_AUTH_", "ANSIBLE_")


def ansible(
    folder: Path, program: str, *arguments: str, kubeconfig: object = "", bare: bool = False, **more: str
) -> tuple[int, str]:
    """The exit code of a command of Ansible that ran in a folder, and all that it printed; see `surroundings`."""
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program)), *arguments],
        cwd=folder,
        env=surroundings(kubeconfig, bare=bare, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def played(
    folder: Path,
    book: str | list[dict[str, Any]],
    *arguments: str,
    variables: dict[str, Any] | None = None,
    fails: bool = False,
    **around: Any,
) -> str:
    """The output, on one line, of ansible-playbook, which succeeds, or fails.

    book: the name of a playbook, or its plays. variables: extra variables. around: as `ansible` has it.
    """
    if not isinstance(book, str):
        (folder / "play.json").write_text(json.dumps(book))
        book = "play.json"
    given = ("-e", json.dumps(variables)) if variables is not None else ()
    code, printed = ansible(folder, "ansible-playbook", book, *given, *arguments, **around)
    assert (code != 0) == fails, printed
    return flat(printed)


def flat(output: str) -> str:
    """The output of a command on one line. Up to ansible-core 2.18 a message is YAML, with its quotes doubled."""
    return " ".join(output.split()).replace("''", "'")


def surroundings(kubeconfig: object = "", *, bare: bool = False, **more: str) -> dict[str, str]:
    """The test run's environment, in which Ansible finds the checkout's collection and writes plain text.

    kubeconfig: the kubeconfig of the cluster, "" for none. bare: without the checkout's ansible.cfg, and without what
    the test run has of Ansible and clusters. more: further variables.
    """
    result = {name: value for name, value in os.environ.items() if not (bare and name.startswith(_OWN))}
    if not bare:
        result["ANSIBLE_CONFIG"] = str(CHECKOUT / "ansible.cfg")
    if kubeconfig:
        result["K8S_AUTH_KUBECONFIG"] = str(kubeconfig)
    return {
        **result,
        "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".cache" / "collections"),
        "ANSIBLE_NOCOLOR": "1",
        "LC_ALL": "C.UTF-8",
        **more,
    }
