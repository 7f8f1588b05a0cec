"""The options of VMs: what their descriptions refer to, and what is secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.doc_fragments import virtual_machine_options
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.vm.options import SPEC
from ansible_collections.virtshape.instancetypes.plugins.modules import virtual_machine

FIELDS = virtual_machine_options.ModuleDocFragment.DOCUMENTATION


def paths(spec: dict[str, Any], above: str = "") -> Iterator[str]:
    for name, option in spec.items():
        yield above + name
        yield from paths(option.get("options", {}), f"{above}{name}{'[]' if option['type'] == 'list' else ''}.")


def test_option_references_point_to_existing_options() -> None:
    result = set(re.findall(r"\bO\(([^)=]+)\)", FIELDS + virtual_machine.DOCUMENTATION)) - {"virtual_machines"}
    assert result
    assert result <= set(paths(virtual_machine.MODULE.argument_spec))


def test_secret_options_are_marked_no_log() -> None:
    def marked(spec: dict[str, Any]) -> Iterator[str]:
        for name, option in spec.items():
            if option.get("no_log"):
                yield name
            yield from marked(option.get("options", {}))

    data = {"user_data", "user_data_base64", "network_data", "network_data_base64"}
    assert set(marked(SPEC)) == {*data, "password", "extra_headers"}
