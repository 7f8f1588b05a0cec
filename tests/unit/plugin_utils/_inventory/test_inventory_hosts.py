"""VMs as hosts: names that are unique, and options that cannot be."""

import pytest
from ansible.errors import AnsibleParserError

from plugins.plugin_utils._inventory.hosts import check_options, host_names

VMS = [{"name": "web", "namespace": place, "uid": f"uid-{place}"} for place in ("shop", "office")]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("{name}.{namespace}", ["web.shop", "web.office"]),
        ("{namespace}-{name}", ["shop-web", "office-web"]),
        ("vm-{uid}", ["vm-uid-shop", "vm-uid-office"]),
        ("{{{name}}}@{namespace}", ["{web}@shop", "{web}@office"]),
    ],
)
def test_pattern_gives_the_host_names(pattern: str, names: list[str]) -> None:
    check_options(pattern, "vm_")
    assert host_names(VMS, pattern) == names


def test_two_vms_are_not_one_host() -> None:
    with pytest.raises(
        AnsibleParserError, match=r"^host_format: '\{name\}' gives shop/web and office/web the same host name, web"
    ):
        host_names(VMS, "{name}")
    assert host_names(VMS[:1], "{name}") == ["web"]


@pytest.mark.parametrize(
    ("pattern", "prefix", "result"),
    [
        ("{nam}", "vm_", "host_format: '{nam}': unknown field {nam}; choose from {name} and {namespace} and {uid}"),
        ("{name.upper}", "vm_", "unknown field {name.upper}"),
        ("{name:>9}", "vm_", "unknown field {name}"),
        ("{}", "vm_", "unknown field {}"),
        ("{name", "vm_", "host_format: '{name': expected '}' before end of string; write fields as {name}"),
        ("{namespace}", "vm_", "gives all virtual machines the same host name; add {name}"),
        ("{{ vm_name }}", "vm_", "gives all virtual machines the same host name; add {name}"),
        ("{name}", "vm-", "hostvars_prefix: 'vm-' cannot begin the name of a variable"),
        ("{name}", "1", "hostvars_prefix: '1' cannot begin the name of a variable"),
        ("{name}", "", "hostvars_prefix: '' cannot begin the name of a variable"),
    ],
)
def test_invalid_options_are_refused(pattern: str, prefix: str, result: str) -> None:
    with pytest.raises(AnsibleParserError) as raised:
        check_options(pattern, prefix)
    assert result in str(raised.value)
