"""The documentation of the catalogs' modules has the options that the modules take, with the same properties."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import yaml

from ansible_collections.virtshape.instancetypes.plugins.doc_fragments import auth, dry_run, on_failure, requests
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry import (
    catalog,
    catalog_info,
    kind_info,
)

PLUGINS = "ansible_collections.virtshape.instancetypes.plugins"


class Asked(BaseException):
    """The module has said which options it takes."""


def options_of(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    def make_module(*, argument_spec: dict[str, Any], **_rules: Any) -> Any:
        seen.update(argument_spec)
        raise Asked

    for edge in (catalog, catalog_info, kind_info):
        monkeypatch.setattr(edge, "make_module", make_module)
    with pytest.raises(Asked):
        importlib.import_module(f"{PLUGINS}.modules.{name}").main()
    return seen


@pytest.mark.parametrize("name", ["catalog", "instancetype_info", "preference_info", "catalog_info"])
def test_the_documentation_agrees_with_the_options(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = options_of(name, monkeypatch)
    documented = yaml.safe_load(importlib.import_module(f"{PLUGINS}.modules.{name}").DOCUMENTATION)["options"]
    fragments = (auth, requests, dry_run, on_failure) if name == "catalog" else (auth, requests)
    shared = {
        option
        for fragment in fragments
        for option in yaml.safe_load(fragment.ModuleDocFragment.DOCUMENTATION)["options"]
    }
    assert set(documented) | shared == set(spec)
    for option, entry in documented.items():
        for what in ("type", "elements", "default", "choices", "aliases"):
            given = spec[option].get(what)
            assert entry.get(what) == (given if what != "aliases" else given or None), (option, what)
