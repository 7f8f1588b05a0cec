"""choose.windows: the Windows that a manifest tells."""

from typing import Any

import pytest

from plugins.module_utils._resolver.choose.windows import desktop_in, used_sockets, version_in, version_of


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("windows.11.virtio", "11"),
        ("Windows10", "10"),
        ("win11-desk", "11"),
        ("windows2k22", "2k22"),
        ("Windows Server 2019", "2k19"),
        ("win2008", "2k8"),
        ("windows.7", ""),
        ("win100", ""),
        ("winter", ""),
    ],
)
def test_versions_in_texts(text: str, version: str) -> None:
    assert version_in(text) == version
    assert desktop_in(text) == (version if version in ("10", "11") else "")


def vm(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "desk"}, "spec": {"template": {"spec": {}}, **spec}}


def test_what_tells_most_comes_first() -> None:
    template = {"metadata": {"annotations": {"vm.kubevirt.io/os": "windows2k19"}}, "spec": {}}
    disk = {"volumes": [{"name": "root", "containerDisk": {"image": "acme/windows11:1"}}]}
    label = {"metadata": {"labels": {"os.template.kubevirt.io/win10": "true"}}, "spec": {}}
    cases = [
        (vm(preference={"name": "windows.11"}, template=template), "11"),
        (vm(template=template), "2k19"),
        (vm(template=label), "10"),
        (vm(template={"spec": disk}), "11"),
        ({"metadata": {"name": "win10-base"}, "spec": {}}, "10"),
        (vm(), ""),
    ]
    for manifest, version in cases:
        assert version_of(manifest) == version


def test_sockets_that_desktops_use() -> None:
    desktop, server = vm(preference={"name": "windows.10"}), vm(preference={"name": "windows.2k22"})
    assert [used_sockets(desktop, count) for count in (1, 2, 8)] == [1, 2, 2]
    assert used_sockets(server, 8) == 8
