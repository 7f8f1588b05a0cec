"""The cluster's configuration and the defaults that come from it."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api import release, schema
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt
from plugins.module_utils._resolver.kubevirt.vm import defaults
from plugins.module_utils._resolver.kubevirt.vm.hotplug import live_update_limits


def spec(**fields: Any) -> dict[str, Any]:
    return schema.canonical("VirtualMachineInstanceSpec", fields)


def with_defaults(config: dict[str, Any] | None = None, version: str = "1.9", **fields: Any) -> dict[str, Any]:
    result = spec(**fields)
    assert defaults.set_spec_defaults(result, KubeVirt(release.parse_release(version), config or {})) is None
    return result


@pytest.mark.parametrize(
    "settings",
    [
        {"network": {"defaultNetworkInterface": "tap"}},
        {"imagePullPolicy": "Sometimes"},
        {"developerConfiguration": {"memoryOvercommit": -1}},
        {"developerConfiguration": {"cpuAllocationRatio": -1}},
        {"developerConfiguration": {"pvcTolerateLessSpaceUpToPercent": 101}},
        {"developerConfiguration": {"pvcTolerateLessSpaceUpToPercent": -1}},
        {"cpuRequest": "much"},
    ],
)
def test_invalid_configuration_is_ignored_as_a_whole(settings: dict[str, Any]) -> None:
    assert KubeVirt(NEWEST, {**settings, "machineType": "pc"}).configuration == {}


@pytest.mark.parametrize(
    ("memory", "config", "requested"),
    [
        ({"guest": "0"}, {}, None),
        ({"guest": "-1Gi"}, {}, None),
        ({"guest": "1"}, {}, "1"),
        ({"guest": "3Gi"}, {"memoryOvercommit": 150}, "2Gi"),
        ({"hugepages": {"pageSize": "2Mi"}}, {}, "2Mi"),
        ({"hugepages": {"pageSize": "big"}}, {}, None),
        ({"guest": "1Gi", "hugepages": {"pageSize": "2Mi"}}, {}, "1Gi"),
    ],
)
def test_guest_memory_is_requested_before_1_6(
    memory: dict[str, Any], config: dict[str, int], requested: str | None
) -> None:
    for version in ("1.5", "1.9"):
        result = with_defaults({"developerConfiguration": config}, version, domain={"devices": {}, "memory": memory})
        requests = result["domain"]["resources"].get("requests", {})
        assert requests.get("memory") == (requested if version == "1.5" else None)


@pytest.mark.parametrize("field", ["maxCpuSockets", "maxHotplugRatio"])
def test_limit_of_wrong_type(field: str) -> None:
    with pytest.raises(ValueError, match=f"liveUpdateConfiguration.{field}: expected a whole number, found '4'"):
        live_update_limits({"liveUpdateConfiguration": {field: "4"}})
