"""The module virtual_machine_template: its options."""

from __future__ import annotations

from ..._cluster.modules.objects import ObjectModule
from ..._cluster.writes.handlers.virtual_machine import TemplateHandler
from .. import declared as vm_template

MODULE = ObjectModule(
    plural="virtual_machine_templates",
    spec=vm_template.argument_spec(),
    manifest=vm_template.manifest,
    handler=TemplateHandler,
    warnings=vm_template.warnings,
).module
