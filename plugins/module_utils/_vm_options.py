"""All options of a VM: from the core, and from capabilities."""

from __future__ import annotations

from typing import Final

from ._boot_sources.vm_options import BOOT_SOURCES
from ._capacity.vm_options import CAPACITY
from ._resolver.declare.option_rows import Table, joined
from ._resolver.declare.vm.options import VM
from ._sizes.vm_options import SIZE_FORMS
from ._templates.vm_options import TEMPLATES

VM_OPTIONS: Final[Table] = joined(
    [
        VM,
        BOOT_SOURCES,
        TEMPLATES,
        CAPACITY,
        SIZE_FORMS,
    ]
)
