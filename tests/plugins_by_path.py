"""Lets tests import the collection's Python by its path in the checkout: `plugins.module_utils._resolver.api`.

It is the module that Ansible knows by its full name, `ansible_collections.virtshape.instancetypes.plugins...`, and not
a second copy of it. Editors and type checkers find the path without this.
"""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

ALIAS = "plugins"
COLLECTION = "ansible_collections.virtshape.instancetypes"


class _SameModule:
    """Finds and loads `plugins...` as the module of the full name."""

    @classmethod
    def find_spec(
        cls, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module whose name begins with the alias; None for others, and for one that does not exist."""
        if name.partition(".")[0] != ALIAS or importlib.util.find_spec(f"{COLLECTION}.{name}") is None:
            return None
        return ModuleSpec(name, cls())

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of the full name. Importing gives it another spec, which exec_module takes back."""
        module = importlib.import_module(f"{COLLECTION}.{spec.name}")
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module ran under its full name."""
        module.__spec__ = self._own


def install() -> None:
    """Makes the names available; a second call changes nothing."""
    if _SameModule not in sys.meta_path:
        sys.meta_path.insert(0, _SameModule)
