"""The rehearsal of an upgrade, as a page."""

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

import approved

page = FILTERS["_page"]


def upgrade_page(actual: Any, title: str = "Upgrade", **options: Any) -> str:
    return page(actual, "upgrade", title, **options)


GUEST = {"vcpus": 2, "memory": "4Gi"}


def result(**more: Any) -> dict[str, Any]:
    vm = {
        "namespace": "shop",
        "name": "web",
        "affected": True,
        "changes": [{"field": "domain.cpu.sockets", "before": 1, "after": 2}],
        "guest_before": {**GUEST, "vcpus": 1},
        "guest_after": GUEST,
        "pod_before": {"requests": {"memory": "4Gi"}, "limits": {}},
        "pod_after": {"requests": {"memory": "5Gi"}},
        "lost": ["spec.template.spec.domain.devices.panicDevices"],
        "needs": "restart",
        "restart_required": True,
        "pinned": True,
        "drifted": True,
        "refresh": {"guest_after": GUEST, "needs": "restart", "refusal": ""},
        "refusal": "no <memory>",
        "quota_after": "ResourceQuota team lacks 1Gi of requests.memory",
        **more,
    }
    quiet = {**vm, "name": "quiet", "affected": False}
    held = {
        "kind": "VirtualMachineClusterPreference",
        "namespace": "",
        "name": "linux",
        "status": "changed",
        "changes": [{"field": "cpu", "before": None, "after": {}}],
        "lost": ["spec.devices"],
        "effects": [],
        "used_by": ["shop/web"],
    }
    memory = {"hard": "4Gi", "used": "3Gi", "wanted": "2Gi", "left": "0", "lacks": "1Gi"}
    quota = {
        "kind": "ResourceQuota",
        "name": "team",
        "namespace": "shop",
        "fits_before": True,
        "fits": False,
        "resources": {"requests.memory": memory},
    }
    return {
        "kubevirt": {"before": "1.4.1", "after": "1.9.0"},
        "settings": [
            {"setting": "live_updates", "before": False, "after": True},
            {"setting": "required_gates", "before": ["A", "B"], "after": []},
        ],
        "steps": [
            {"when": "before", "text": "Look", "virtual_machines": ["shop/web"], "templates": []},
            {"when": "before", "text": "Change", "virtual_machines": [], "templates": ["shop/plan"]},
        ],
        "virtual_machines": [vm, quiet],
        "quotas": [quota],
        "templates": [{**vm, "name": "plan"}, {**quiet, "name": "same"}],
        "objects": [held],
    }


def test_the_page_shows_all_of_it() -> None:
    report = result()
    (named,) = report["objects"]
    nothing = {"changes": [], "lost": [], "effects": [], "used_by": []}
    report["objects"] += [{**named, **nothing, "name": name, "status": "new"} for name in ("new.1", "new.2")]
    report["objects"] += [{**named, **nothing, "name": "old", "status": "gone"}]
    (vm, quiet) = report["virtual_machines"]
    halted = {"guest_after": {}, "pod_after": {}, "problem": "cannot be read", "needs": "nothing", "pinned": False}
    report["virtual_machines"] += [{**vm, "name": "twin"}, {**vm, **halted, "name": "halted"}, quiet]
    approved.check_page("upgrade.html", upgrade_page(report, title="To <1.9>", scope="namespace shop"), True)


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        ([], {}, "expected the data of the report upgrade"),
        ({}, {}, "not the data of the report upgrade"),
        (result(), {"rows": "many"}, "rows"),
    ],
)
def test_invalid_input_is_refused(value: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(AnsibleFilterError, match=message):
        upgrade_page(value, **options)
