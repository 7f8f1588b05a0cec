"""All filters of the collection by name, as Ansible finds them."""

from importlib import import_module
from pathlib import Path
from typing import Any

_PLUGINS = "ansible_collections.virtshape.instancetypes.plugins"

FILTERS: dict[str, Any] = {
    name: function
    for file in sorted(Path(__file__).parents[1].glob("plugins/filter/*.py"))
    for name, function in import_module(f"{_PLUGINS}.filter.{file.stem}").FilterModule().filters().items()
}
