"""The short name of a module is the module itself."""

import importlib
import sys


def test_short_and_full_names_are_one_module() -> None:
    name = "plugins.module_utils._resolver.api.quantity"
    short = importlib.import_module(name)
    full = importlib.import_module(f"ansible_collections.virtshape.instancetypes.{name}")
    assert short is full is sys.modules[name]
    assert full.__name__ == f"ansible_collections.virtshape.instancetypes.{name}"
    assert full.__spec__ is not None and full.__spec__.name == full.__name__


def test_each_module_is_loaded_once() -> None:
    loaded = [module for name, module in list(sys.modules.items()) if name.startswith("plugins.")]
    full = "ansible_collections.virtshape.instancetypes.plugins"
    assert loaded
    assert [module.__name__ for module in loaded if not module.__name__.startswith(full)] == []
