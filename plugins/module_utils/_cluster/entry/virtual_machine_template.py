"""The module virtual_machine_template: its options."""

from __future__ import annotations

from ..._resolver.declare import vm_template
from ..act.handlers.virtual_machine import TemplateHandler
from .objects import ObjectModule

MODULE = ObjectModule(
    plural="virtual_machine_templates",
    spec=vm_template.argument_spec(),
    manifest=vm_template.manifest,
    handler=TemplateHandler,
    warnings=vm_template.warnings,
).module
