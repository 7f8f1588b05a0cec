"""The answer of the API server is the truth: webhooks that fill in, add, override and put back."""

import datetime
import itertools
from typing import Any

import pytest
from webhook_support import Manifest, Webhook

from modules_support import Task, live, objects, vm, warned

# The webhook is on this machine.
pytestmark = pytest.mark.needs("cdi_here")

NETWORKS = [{"name": "default", "ports": [{"port": 22}]}]


def interfaces(item: Manifest) -> list[Manifest]:
    return list(item["spec"]["template"]["spec"]["domain"]["devices"].get("interfaces") or [])


class MacPool:
    """Gives interfaces addresses, which they keep in updates if `keeps`, and notes the time of each request."""

    def __init__(self, *, keeps: bool = True) -> None:
        self._numbers, self._keeps = itertools.count(1), keeps

    def __call__(self, new: Manifest, old: Manifest) -> None:
        if new["kind"] != "VirtualMachine":
            return
        had = {entry["name"]: entry.get("macAddress") for entry in interfaces(old)} if old and self._keeps else {}
        for entry in interfaces(new):
            own = had.get(entry["name"]) or f"02:00:00:00:00:{next(self._numbers):02x}"
            entry.setdefault("macAddress", own)
        now = datetime.datetime.now(datetime.timezone.utc).isoformat()
        new["metadata"].setdefault("annotations", {})["kubemacpool.io/transaction-timestamp"] = now


@pytest.mark.parametrize("strategy", ["Always", "Halted"])
@pytest.mark.parametrize("restart", ["if_required", "never"])
def test_vm_behind_a_mac_pool_is_unchanged(
    task: Task, hook: Webhook, shop: str, api: Any, strategy: str, restart: str
) -> None:
    hook.mutate = MacPool()
    options = {
        **vm("web", networks=NETWORKS, run_strategy=strategy),
        "restart": restart,
        "wait": True,
        "labels": {"app": "web"},
    }
    assert task("virtual_machine", **options)["result"]["action"] == "create"
    before = live(api, shop)
    for check in (True, False, True):
        same = task("virtual_machine", **options, check=check)
        assert (same["changed"], same["diff"], warned(same)) == (False, [], []), same
        assert (same["msg"], same["result"]["action"]) == ("1 virtual machine: 1 unchanged", "none")
        assert same["result"].get("needs") is None
        assert (same["result"]["restart_required"], same["result"]["restarted"]) == (False, False)
    after = live(api, shop)
    assert (after["spec"], after["metadata"]["generation"]) == (before["spec"], before["metadata"]["generation"])
    # A change shows only what has changed.
    for check in (True, False):
        more = task("virtual_machine", **{**options, "labels": {"app": "shop"}}, check=check)
        assert (more["diff"][0]["before"], more["diff"][0]["after"]) == (
            {"metadata": {"labels": {"app": "web"}}},
            {"metadata": {"labels": {"app": "shop"}}},
        ), more
        assert (more["result"]["needs"], more["result"]["restarted"], warned(more)) == ("nothing", False, [])


def test_many_vms_behind_a_mac_pool(task: Task, hook: Webhook, shop: str, api: Any) -> None:
    hook.mutate = MacPool()
    entries = [vm(f"web-{number}", networks=NETWORKS, run_strategy="Halted") for number in range(5)]
    task("virtual_machine", virtual_machines=entries)
    hook.seen.clear()
    done = task("virtual_machine", virtual_machines=[*entries[:4], {**entries[4], "labels": {"new": "yes"}}])
    assert done["msg"] == "5 virtual machines: 1 changed, 4 unchanged"
    ours = [str(item["name"]) for item in hook.seen if item["options"].get("fieldManager") == "virtshape"]
    # The API server asks again when virt-controller has written the object meanwhile.
    assert set(ours) == {f"web-{number}" for number in range(5)}


def test_pool_that_gives_another_address_each_time(task: Task, hook: Webhook, shop: str, api: Any) -> None:
    """It does change the VM: the task says so, and who does it."""
    hook.mutate = MacPool(keeps=False)
    options = vm("web", networks=NETWORKS, run_strategy="Halted")
    task("virtual_machine", **options)
    before = interfaces(live(api, shop))
    changed = task("virtual_machine", **options)
    after = interfaces(live(api, shop))
    assert before[0]["macAddress"] != after[0]["macAddress"]
    shown = [changed["diff"][0][side]["spec"]["template"]["spec"]["domain"]["devices"] for side in ("before", "after")]
    assert shown == [{"interfaces": before}, {"interfaces": after}]
    assert warned(changed) == [
        f"{shop}/web: spec.template.spec.domain.devices.interfaces[0].macAddress: MutatingWebhookConfiguration"
        f" pool-{shop} sets another value at each write, so every run changes the object; declare the value"
    ]


def evict(new: Manifest, _old: Manifest) -> None:
    if new["kind"] == "VirtualMachine":
        new["spec"]["template"]["spec"]["evictionStrategy"] = "LiveMigrate"


EVICTION = "spec.template.spec.evictionStrategy"


def test_overridden_value_is_told(task: Task, hook: Webhook, shop: str, api: Any, user_with: Any) -> None:
    hook.mutate = evict
    options = vm("web", run_strategy="Halted", template={"spec": {"evictionStrategy": "None"}})
    words = (
        f"{shop}/web: {EVICTION}: declared 'None', but MutatingWebhookConfiguration pool-{shop} makes it 'LiveMigrate';"
        " declare that, or change what sets it"
    )
    for check in (True, False):
        made = task("virtual_machine", **options, check=check)
        assert (made["result"]["action"], warned(made)) == ("create", [words]), made
        assert made["diff"][0]["after"]["spec"]["template"]["spec"]["evictionStrategy"] == "LiveMigrate"
    for check in (True, False):
        same = task("virtual_machine", **options, check=check)
        assert (same["changed"], same["diff"], warned(same)) == (False, [], [words]), same
    # Some of a change comes.
    other = {**options, "labels": {"app": "web"}}
    for check in (True, False):
        some = task("virtual_machine", **other, check=check)
        assert some["diff"][0]["after"] == {"metadata": {"labels": {"app": "web"}}}, some
        assert (some["result"]["action"], warned(some)) == ("apply", [words])
    rights = user_with(
        {
            "apiGroups": ["kubevirt.io", "instancetype.kubevirt.io"],
            "resources": ["virtualmachines", "virtualmachineinstancetypes", "virtualmachinepreferences"],
            "verbs": ["get", "list", "patch", "create"],
        }
    )
    told = task("virtual_machine", **other, **rights)
    assert any("but an admission webhook or policy of the cluster makes it" in text for text in warned(told)), told


def test_value_that_is_put_back(task: Task, hook: Webhook, shop: str, api: Any) -> None:
    """A field that the task no longer declares."""
    options = vm("web", run_strategy="Halted", template={"spec": {"evictionStrategy": "LiveMigrate"}})
    task("virtual_machine", **options)
    hook.mutate = evict
    del options["template"]
    words = f"{EVICTION}: no longer declared, but MutatingWebhookConfiguration pool-{shop} keeps it at 'LiveMigrate'"
    for check in (True, False):
        kept = task("virtual_machine", **options, check=check)
        assert (kept["diff"][0]["before"], kept["diff"][0]["after"]) == ({}, {}), kept
        assert warned(kept) == [f"{shop}/web: {words}"], kept
    assert not task("virtual_machine", **options)["changed"]


def tolerate(new: Manifest, _old: Manifest) -> None:
    if new["kind"] == "VirtualMachine":
        spec = new["spec"]["template"]["spec"]
        if all(item["key"] != "vm" for item in spec.get("tolerations") or []):
            # In front, as a policy engine may add it.
            spec["tolerations"] = [{"key": "vm", "operator": "Exists"}, *(spec.get("tolerations") or [])]
        new["metadata"].setdefault("labels", {})["owner"] = "platform"


def test_item_added_to_a_list(task: Task, hook: Webhook, shop: str, api: Any) -> None:
    hook.mutate = tolerate
    own = {"key": "own", "operator": "Exists"}
    options = {**vm("web"), "template": {"spec": {"tolerations": [own]}}, "labels": {"app": "web"}, "wait": True}
    task("virtual_machine", **options)
    for check in (True, False):
        same = task("virtual_machine", **options, restart="if_required", check=check)
        assert (same["changed"], same["diff"], warned(same)) == (False, [], []), same
        assert (same["result"]["restarted"], same["result"].get("needs")) == (False, None)
    more = {**options, "template": {"spec": {"tolerations": [own, {"key": "more", "operator": "Exists"}]}}}
    for check in (True, False):
        changed = task("virtual_machine", **more, check=check)
        shown = [
            [item["key"] for item in changed["diff"][0][side]["spec"]["template"]["spec"]["tolerations"]]
            for side in ("before", "after")
        ]
        assert (shown, warned(changed)[1:]) == ([["vm", "own"], ["vm", "own", "more"]], []), changed
        assert changed["result"]["needs"] == "live_update"


def randomize(new: Manifest, _old: Manifest) -> None:
    if new["kind"] == "VirtualMachine":
        new["spec"]["template"]["spec"]["domain"]["devices"]["rng"] = {}


def test_webhook_that_came_after_the_vm(task: Task, hook: Webhook, shop: str, api: Any) -> None:
    """Its addition at the first write is a change of the VM, whatever the task wanted to change."""
    options = {**vm("web", networks=NETWORKS), "wait": True}
    task("virtual_machine", **options)
    hook.mutate = randomize
    for check in (True, False):
        changed = task("virtual_machine", **options, labels={"app": "web"}, check=check)
        after = changed["diff"][0]["after"]
        assert after["metadata"] == {"labels": {"app": "web"}}
        assert after["spec"] == {"template": {"spec": {"domain": {"devices": {"rng": {}}}}}}, changed
        assert changed["result"]["needs"] == "restart"
    again = task("virtual_machine", **options, labels={"app": "web"}, restart="if_required")
    assert (again["result"]["action"], again["result"]["restarted"]) == ("none", True), again


@pytest.mark.parametrize("take", [{"take_over": True}, {"force_conflicts": True}])
def test_vm_of_another_tool_behind_a_mac_pool(
    task: Task, hook: Webhook, shop: str, api: Any, take: dict[str, Any]
) -> None:
    hook.mutate = MacPool()
    options = vm("web", networks=NETWORKS, run_strategy="Halted")
    rendered = task("virtual_machine", **options, state="rendered")["rendered"]
    objects(api, "VirtualMachine").create(namespace=shop, body=rendered[0], field_manager="kubectl-create")
    before = live(api, shop)
    for check in (True, False):
        taken = task("virtual_machine", **options, **take, check=check)
        assert (taken["changed"], taken["diff"][0]["before"], taken["diff"][0]["after"]) == (True, {}, {}), taken
        assert (taken["result"]["taken_over"], taken["result"]["needs"]) == (True, "nothing")
    assert live(api, shop)["spec"] == before["spec"]
    assert not task("virtual_machine", **options, **take)["changed"]


def test_earlier_change_is_not_forgotten(task: Task, hook: Webhook, shop: str) -> None:
    """A guest that waits for a restart gets it, though the VM behind the pool is unchanged."""
    hook.mutate = MacPool()
    options = {**vm("web", networks=NETWORKS), "wait": True}
    task("virtual_machine", **options)
    changed = {**options, "template": {"spec": {"domain": {"devices": {"rng": {}}}}}}
    assert task("virtual_machine", **changed)["result"]["needs"] == "restart"
    foreseen = task("virtual_machine", **changed, restart="if_required", check=True)
    done = task("virtual_machine", **changed, restart="if_required")
    for result in (foreseen, done):
        assert (result["result"]["action"], result["result"]["restarted"]) == ("none", True), result["result"]
    assert not task("virtual_machine", **changed, restart="if_required")["changed"]


def test_instancetype_and_preference(task: Task, hook: Webhook, shop: str, api: Any) -> None:
    def mutate(new: Manifest, _old: Manifest) -> None:
        new["metadata"].setdefault("annotations", {})["seen"] = datetime.datetime.now().isoformat()
        if new["kind"] == "VirtualMachineInstancetype":
            new["spec"]["memory"]["guest"] = "4Gi"
        elif new["kind"] == "VirtualMachinePreference":
            new["spec"]["preferredSubdomain"] = "shop"

    hook.mutate = mutate
    size = {"name": "fixed", "cpu": {"guest": 1}, "memory": {"guest": "2Gi"}}
    preference = {"name": "fixed", "devices": {"preferred_disk_bus": "virtio"}}
    words = (
        f"{shop}/fixed: spec.memory.guest: declared '2Gi', but MutatingWebhookConfiguration pool-{shop} makes it '4Gi';"
        " declare that, or change what sets it"
    )
    assert warned(task("instancetype", **size)) == [words]
    assert warned(task("preference", **preference)) == []
    task("virtual_machine", **vm("user", instancetype="fixed", run_strategy="Halted"))
    for check in (True, False):
        same = task("instancetype", **size, check=check)
        # That VMs drift is no news of an object that stays as it is.
        assert (same["changed"], same["diff"], warned(same)) == (False, [], [words]), same
        assert not task("preference", **preference, check=check)["changed"]


def test_cron_behind_a_webhook_stays(task: Task, hook: Webhook, shop: str, api: Any) -> None:
    """CDI accepts no change of a DataImportCron, so one that differs is deleted and made anew."""

    def mutate(new: Manifest, _old: Manifest) -> None:
        if new["kind"] == "DataImportCron":
            new["spec"]["schedule"] = "0 3 1 1 *"

    def made() -> str:
        cron = live(api, shop, "os", "DataImportCron")
        assert cron["spec"]["schedule"] == "0 3 1 1 *"
        return str(cron["metadata"]["uid"])

    hook.mutate = mutate
    image = {"image": "registry.example/disks/os", "query_registry": False, "size": "1Gi"}
    options = {"name": "os", "namespace": shop, **image, "schedule": "0 0 1 1 *"}
    assert task("boot_source", **options)["changed"]
    uid = made()
    text = f"spec.schedule: declared '0 0 1 1 *', but MutatingWebhookConfiguration pool-{shop} makes it '0 3 1 1 *'"
    for check in (True, False):
        same = task("boot_source", **options, check=check)
        assert not same["changed"] and any(text in warning for warning in warned(same)), same
    assert made() == uid
    # Where a part of the change comes, it is made anew.
    assert task("boot_source", **options, keep=5)["changed"]
    assert made() != uid
