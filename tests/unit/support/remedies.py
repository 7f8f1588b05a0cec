"""Whether the remedy of a diagnosis can be pasted into a play, and its command into a shell."""

import importlib
import json
import shlex
from typing import Any

import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

Manifest = dict[str, Any]

OURS = "virtshape.instancetypes."
COMMAND = "ansible.builtin.command"
"""Modules of other collections would have to be installed first."""


def checked(diagnosis: Manifest) -> Manifest:
    """A diagnosis whose task, if it has one, survives YAML and has options that the module has."""
    task = diagnosis.get("task")
    if task is None:
        return diagnosis
    assert yaml.safe_load(yaml.safe_dump(task)) == task
    for step in steps(diagnosis):
        _check(step)
    return diagnosis


def steps(diagnosis: Manifest) -> list[Manifest]:
    task = diagnosis["task"]
    return list(task.get("block", [task]))


def command(diagnosis: Manifest) -> list[str]:
    """The words of kubectl in the first step of a remedy."""
    program, *words = shlex.split(steps(diagnosis)[0][COMMAND]["cmd"])
    assert program == "kubectl"
    return words


def patch(diagnosis: Manifest) -> Any:
    """The patch in the first step of a remedy."""
    words = command(diagnosis)
    return json.loads(words[words.index("--patch") + 1])


def stdin(diagnosis: Manifest) -> Manifest:
    """The object that the first step of a remedy creates."""
    manifest: Manifest = json.loads(steps(diagnosis)[0][COMMAND]["stdin"])
    return manifest


def _check(task: Manifest) -> None:
    name, module = task
    assert name == "name" and task[name][0].isupper()
    options = task[module]
    if module == COMMAND:
        # Ansible takes these for expressions.
        assert not any(mark in text for mark in ("{{", "{%", "{#") for text in options.values()), task
        assert set(options) <= {"cmd", "stdin"} and shlex.split(options["cmd"])[0] == "kubectl", task
        return
    assert module.startswith(OURS), task
    found = importlib.import_module(f"plugins.modules.{module.removeprefix(OURS)}").MODULE
    validator = ArgumentSpecValidator(found.argument_spec, **found.rules)
    assert not validator.validate(options).error_messages, task
