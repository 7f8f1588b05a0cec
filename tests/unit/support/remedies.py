"""Whether the remedy of a diagnosis can be pasted into a play."""

import importlib
from typing import Any

import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

OURS = "virtshape.instancetypes."
_OBJECT = {"api_version", "kind", "name", "namespace"}
KUBERNETES = {
    "k8s": {*_OBJECT, "definition", "delete_all", "label_selectors", "state"},
    "k8s_drain": {"name", "state"},
    "k8s_info": {*_OBJECT, "label_selectors"},
    "k8s_json_patch": {*_OBJECT, "patch"},
    "k8s_log": _OBJECT,
    "k8s_taint": {"name", "state", "taints"},
}
"""Options of kubernetes.core. test_remedies.py runs the remedies with the collection itself."""


def checked(diagnosis: dict[str, Any]) -> dict[str, Any]:
    """A diagnosis whose task, if it has one, survives YAML and has options that the module has."""
    task = diagnosis.get("task")
    if task is None:
        return diagnosis
    assert yaml.safe_load(yaml.safe_dump(task)) == task
    for step in task.get("block", [task]):
        _check(step)
    return diagnosis


def _check(task: dict[str, Any]) -> None:
    name, module = task
    assert name == "name" and task[name][0].isupper()
    options = task[module]
    if not module.startswith(OURS):
        assert set(options) <= KUBERNETES[module.removeprefix("kubernetes.core.")], task
        return
    found = importlib.import_module(f"plugins.modules.{module.removeprefix(OURS)}").MODULE
    validator = ArgumentSpecValidator(found.argument_spec, **found.rules)
    assert not validator.validate(options).error_messages, task
