"""The rehearsal of an upgrade, as a page."""

import re
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

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


def test_page_shows_vms_quotas_and_steps() -> None:
    page = upgrade_page(result(), title="To <1.9>", scope="namespace shop")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))
    for words in (
        "To &lt;1.9&gt;",
        "KubeVirt 1.4.1 → 1.9.0",
        "2 virtual machines 1 would change",
        "before Look 1 shop/web",
        "before Change 1 shop/plan",
        "team ResourceQuota shop no requests.memory: 2Gi, lacks 1Gi",
        "ResourceQuota team lacks 1Gi",
        "required gates A, B none",
        "1 vCPU, 4Gi → 2 vCPU, 4Gi",
        "requests memory: 4Gi → 5Gi",
        "no &lt;memory&gt;",
        "would drop spec.devices",
        "would become pinned",
    ):
        assert words in text, words
    assert "quiet" not in text and "same" not in text


def test_a_vm_that_does_not_start() -> None:
    page = upgrade_page(result(guest_after={}, pod_after={}, problem="cannot be read"))
    assert "would not start" in page and "cannot be read" in page


def test_vms_differing_only_by_name_share_one_row() -> None:
    report = result()
    report["virtual_machines"].append({**report["virtual_machines"][0], "name": "twin"})
    assert "2 shop/web, shop/twin 1 vCPU" in re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", upgrade_page(report)))


def test_added_objects_are_folded() -> None:
    report = result()
    (named,) = report["objects"]
    nothing = {"changes": [], "lost": [], "effects": [], "used_by": []}
    report["objects"] += [{**named, **nothing, "name": f"new.{number}", "status": "new"} for number in range(119)]
    report["objects"] += [{**named, **nothing, "name": "old", "status": "gone"}]
    shown = upgrade_page(report).partition("<h2>Instancetypes and preferences</h2>")[2]
    assert shown.partition("<details>")[0].count("<tr>") == 2
    assert "<summary>119 would be new; no VM names them</summary>" in shown
    assert "<summary>1 would be gone; no VM names it</summary>" in shown


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
