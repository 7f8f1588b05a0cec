"""The option of a VM that templates add."""

from __future__ import annotations

from typing import Final

from .._resolver.declare.option_rows import DICT, NEEDED, STR, Row, Table

# A template has these as lists, whose items a task cannot name, or decides on them.
_OF_TEMPLATE: Final = (
    *("workload", "size", "boot", "volumes", "sysprep", "cloud_init"),
    *("access_credentials", "networks", "data_volume_templates"),
)

TEMPLATES: Final = Table(
    {
        "from_template": Row(
            DICT,
            [
                "The VirtualMachineTemplate of which to make the VM. It is processed here, with the rights of the user,"
                " who must be allowed to read it. A string is short for O(from_template.name). Requires KubeVirt 1.9."
                " With O(state=rendered), which makes no connection, the option is an error.",
                "Other options take precedence over the template. Objects are merged, other values replaced."
                " O(name) and"
                " O(namespace) are those of the VM, whatever the template says, and give their value to a"
                " parameter that"
                " names the VM, such as C(NAME) in C(${NAME}). Options that add disks, networks or credentials"
                " cannot be"
                " combined with it.",
                "Parameters that generate their value do so once. In an existing VM, the value is read from where the"
                " template has the parameter. If that is impossible, the error says which parameter to set.",
                "The run strategy of the template is that of a new VM, as if O(run_strategy) was not set.",
                "Values of parameters whose names contain such words as C(password), C(secret) and C(token) are hidden,"
                " as is cloud-init data. To know a password, set it.",
            ],
            shorthand="name",
        ),
        "from_template.name": Row(NEEDED, "Name of the template."),
        "from_template.namespace": Row(STR, "Namespace of the template. Default is that of the VM."),
        "from_template.parameters": Row(DICT, "Values of the template's parameters, by name."),
    },
    exclusive=[("from_template", option) for option in _OF_TEMPLATE],
)
