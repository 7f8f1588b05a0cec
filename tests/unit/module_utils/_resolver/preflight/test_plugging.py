"""Hotpluggable volumes where KubeVirt plugs them only on request."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.release import parse_release
from plugins.module_utils._resolver.kubevirt.config.cluster import KubeVirt
from plugins.module_utils._resolver.preflight.plugging import unplugged_volumes

COMMANDS = "run `virtctl addvolume` or `virtctl removevolume` before the task"
DECLARED, REQUESTED = "DeclarativeHotplugVolumes", "HotplugVolumes"


def vm(*claims: str, hot: bool = True, created: bool = True) -> dict[str, Any]:
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name, "hotpluggable": hot}} for name in claims]
    template = {"spec": {"domain": {"devices": {}}, **({"volumes": volumes} if volumes else {})}}
    return {"spec": {"runStrategy": "Always", "template": template}, "status": {"created": created}}


def kubevirt(version: str, *gates: str) -> KubeVirt:
    return KubeVirt(parse_release(version), {"developerConfiguration": {"featureGates": list(gates)}})


@pytest.mark.parametrize(
    ("version", "gates", "remedy"),
    [
        ("1.8.4", (), f"enable the feature gate {DECLARED} in the KubeVirt object"),
        ("1.8.4", (REQUESTED,), f"replace the feature gate {REQUESTED} by {DECLARED}, or {COMMANDS}"),
        ("1.9.0", (REQUESTED,), f"replace the feature gate {REQUESTED} by {DECLARED}, or {COMMANDS}"),
        ("1.5.0", (), f"enable the feature gate {REQUESTED}, and {COMMANDS}"),
        ("1.5.0", (REQUESTED,), COMMANDS),
    ],
)
def test_change_waits_for_a_restart(version: str, gates: tuple[str, ...], remedy: str) -> None:
    line = (
        "spec.template.spec.volumes: one, two: this KubeVirt plugs volumes into a running guest only on request, so a"
        f" restart makes the change; {remedy}"
    )
    assert unplugged_volumes(vm("one"), vm("two"), kubevirt(version, *gates)) == line


def test_nothing_to_say_of_other_changes() -> None:
    older = kubevirt("1.8.4")
    assert unplugged_volumes(vm("one"), vm(), kubevirt("1.9.0")) is None
    assert unplugged_volumes(vm("one"), None, older) is None
    assert unplugged_volumes(vm("one"), vm(created=False), older) is None
    assert unplugged_volumes(vm("one"), vm("one"), older) is None
    assert unplugged_volumes(vm("one", hot=False), vm(), older) is None
