"""The documentation of the catalogs' modules has the options that the modules take, with the same properties."""

import importlib

import pytest
import yaml

from plugins.doc_fragments import auth, declare, writes

PLUGINS = "ansible_collections.virtshape.instancetypes.plugins"


@pytest.mark.parametrize("name", ["catalog", "catalog_info"])
def test_the_documentation_agrees_with_the_options(name: str) -> None:
    spec = importlib.import_module(f"{PLUGINS}.modules.{name}").MODULE.argument_spec
    documented = yaml.safe_load(importlib.import_module(f"{PLUGINS}.modules.{name}").DOCUMENTATION)["options"]
    write, declared = writes.ModuleDocFragment, declare.ModuleDocFragment
    texts = [auth.ModuleDocFragment.DOCUMENTATION]
    if name == "catalog":
        texts += [write.DOCUMENTATION, write.DRY_RUN, write.EXISTING]
        texts += [declared.CONCURRENCY, declared.FAIL_FAST, declared.OWNERSHIP]
    shared = {option for text in texts for option in yaml.safe_load(text)["options"]}
    assert set(documented) | shared == set(spec)
    for option, entry in documented.items():
        for what in ("type", "elements", "default", "choices", "aliases"):
            value = spec[option].get(what)
            assert entry.get(what) == (value if what != "aliases" else value or None), (option, what)
