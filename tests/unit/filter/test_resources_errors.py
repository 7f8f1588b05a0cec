"""The filter resources refuses malformed options in one line."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

INSTANCETYPE = {
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "small"},
    "spec": {"cpu": {"guest": 1, "maxSockets": 4}, "memory": {"guest": "1Gi"}},
}

VM = {
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"instancetype": {"name": "small"}, "template": {"spec": {"domain": {"devices": {}}}}},
}


@pytest.mark.parametrize("number", ["x", [1], 1.5, True])
def test_non_numeric_hotplug_ratio_is_refused(number: Any) -> None:
    kubevirt = {"spec": {"configuration": {"liveUpdateConfiguration": {"maxHotplugRatio": number}}}}
    with pytest.raises(AnsibleFilterError) as error:
        FILTERS["resources"](VM, objects=[INSTANCETYPE], kubevirt=kubevirt)
    assert str(error.value).endswith(f"maxHotplugRatio: expected a whole number, found {number!r}")
