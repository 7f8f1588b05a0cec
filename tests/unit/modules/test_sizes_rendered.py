"""The option `sizes` without a cluster."""

import pytest

from modules_support import execute

VM = {"name": "web", "namespace": "shop", "state": "rendered", "instancetype": {"name": "u1.small"}}


@pytest.mark.parametrize("sizes", ["expanded", "auto"])
def test_values_need_a_connection(sizes: str) -> None:
    result = execute("virtual_machine", {**VM, "sizes": sizes})
    assert result["failed"] and "sizes: needs a connection," in result["msg"], result


def test_names_are_rendered() -> None:
    result = execute("virtual_machine", {**VM, "sizes": "named"})
    assert result["rendered"] == execute("virtual_machine", VM)["rendered"]
    assert result["rendered"][0]["spec"]["instancetype"] == {"name": "u1.small"}
