"""The check's findings about the systems in guests, of which KubeVirt knows nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from checked_files import CHECKED, vm

Check = Callable[..., tuple[int, list[str]]]


@pytest.mark.parametrize(("strategy", "level", "code"), [("Always", "error", 1), ("Halted", "warning", 0)])
def test_four_mebibytes_never_start(check: Check, strategy: str, level: str, code: int) -> None:
    tiny = vm(template={"domain": {"devices": {}, "memory": {"guest": "4Mi"}}}, runStrategy=strategy)
    assert check({"vm.yaml": tiny}) == (
        code,
        [
            f"vm.yaml:13: {level}: VirtualMachine shop/web: spec.template.spec.domain.memory.guest: 4Mi is too little"
            " for a guest to boot; give it 32Mi or more [never-starts]",
            f"1 object {CHECKED}: 1 {level}",
        ],
    )


def windows(sockets: int) -> dict[str, Any]:
    domain = {"cpu": {"sockets": sockets}, "devices": {}, "memory": {"guest": "8Gi"}}
    return vm(template={"domain": domain}, preference={"name": "windows.11"})


def test_sockets_that_windows_does_not_use(check: Check) -> None:
    assert check({"vm.yaml": windows(2)})[1] == [f"1 object {CHECKED}: nothing found"]
    assert check({"vm.yaml": windows(4)})[1] == [
        "vm.yaml:14: warning: VirtualMachine shop/web: spec.template.spec.domain.cpu.sockets: Windows 11 uses 2 sockets"
        " at most, and the guest has 4; set cores instead of sockets [unused]",
        f"1 object {CHECKED}: 1 warning",
    ]
