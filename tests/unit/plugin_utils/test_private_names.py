"""Names of ansible-core that it may change at any time: which ones the collection uses, and where."""

import ast
from pathlib import Path

from ansible.module_utils import basic
from ansible.module_utils.common import arg_spec, warnings
from ansible.plugins.action import ActionBase

PLUGINS = Path(__file__).parents[3] / "plugins"
# Every action plugin uses these of its base class.
OF_ACTIONS = {"_connection", "_display", "_find_needle", "_loader", "_task", "_templar"}
OF_ACTIONS |= {"_execute_module", "_requires_connection", "_supports_async", "_supports_check_mode"}
# Only some of the supported versions have these.
OF_SOME_VERSIONS = {"_ANSIBLE_PROFILE", "_PARSED_MODULE_ARGS", "_internal", "_record_module_result"}
USED = {
    "plugin_utils/_actions/direct_execution.py": {
        # The arguments that a module gets, what it returns, and the environment that it runs in.
        "_update_module_args",
        "_parse_returned_data",
        "_compute_environment_string",
        # Globals of a module's process.
        "_ANSIBLE_ARGS",
        "_ANSIBLE_PROFILE",
        "_PARSED_MODULE_ARGS",
        "_global_warnings",
        "_global_deprecations",
        "_internal",
    },
    "module_utils/_cluster/modules/adapter.py": {"_diff", "_load_params", "_record_module_result", "_return_formatted"},
    # These are the secrets in an entry.
    "module_utils/_cluster/modules/declaration.py": {"_no_log_values"},
}


def private() -> set[str]:
    """The private names of the classes and modules of ansible-core that the collection deals with."""
    owners = (basic, basic.AnsibleModule, arg_spec, arg_spec.ArgumentSpecValidator, warnings, ActionBase)
    result = {name for owner in owners for name in dir(owner)}
    # Attributes that are made with the object are not among those of its class.
    for owner in (basic, arg_spec):
        tree = ast.parse(Path(owner.__file__).read_text(encoding="utf-8"))
        result |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {name for name in result | OF_SOME_VERSIONS if name.startswith("_") and not name.startswith("__")}


def names(path: Path) -> set[str]:
    """Private names that a file takes of something else, imports, or writes as a text."""
    result: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            result |= set() if own else {node.attr}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ansible."):
            result |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            result.add(node.value)
        elif isinstance(node, ast.ClassDef) and "AnsibleModule" in [getattr(base, "id", "") for base in node.bases]:
            result |= {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            result |= {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return result


def test_private_names_of_ansible_core_are_listed() -> None:
    existing = private() - OF_ACTIONS
    result = {path.relative_to(PLUGINS).as_posix(): names(path) & existing for path in PLUGINS.rglob("*.py")}
    assert {path: used for path, used in result.items() if used} == USED
