"""The documentation of virtual_machine_template has the options of the module."""

import yaml

from plugins.module_utils._templates import declared as vm_template
from plugins.modules import virtual_machine_template


def test_entry_and_task_options_are_documented() -> None:
    documented = yaml.safe_load(virtual_machine_template.DOCUMENTATION)["options"]
    entries = documented.pop("virtual_machine_templates")["suboptions"]
    assert set(documented) == set(entries) == set(vm_template.argument_spec())
