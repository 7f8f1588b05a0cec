"""AAQ's calculators beyond the recorded amounts of tests/quota, worked out by hand."""

from typing import Any

from pod_samples import METADATA, make_env, spec_of

from plugins.module_utils._capacity.pod.pod import pod
from plugins.module_utils._capacity.quota.application import (
    application_quota,
    measured,
    migration_delta,
)
from plugins.module_utils._capacity.quota.budget import QuotaItem, from_pod
from plugins.module_utils._resolver.api.quantity import parse

DEDICATED = "DedicatedVirtualResources"
CPU = {"sockets": 2, "cores": 1, "threads": 2}


def texts(amounts: Any) -> dict[str, str]:
    return {name: amount.text for name, amount in amounts.items()}


def guest(**domain: Any) -> dict[str, Any]:
    return spec_of({"cpu": CPU, "memory": {"guest": "2Gi"}, **domain})


def item_of(spec: dict[str, Any]) -> QuotaItem:
    return from_pod(pod(METADATA, spec, make_env(), {}), "web")


def test_effective_resources_leave_out_the_overhead() -> None:
    # AAQ's copy of KubeVirt's formula lacks the memory for passt, which stays.
    passt = guest(devices={"interfaces": [{"name": "default", "passtBinding": {}}]})
    assert texts(measured("GuestEffectiveResources", passt, item_of(passt), make_env()))["requests.memory"] == "2298Mi"


def test_guest_without_memory_counts_its_requests() -> None:
    spec = {"domain": {"resources": {"limits": {"cpu": "3", "memory": "4Gi"}, "requests": {"memory": "3Gi"}}}}
    amounts = texts(measured(DEDICATED, spec, item_of(guest()), make_env()))
    assert (amounts["cpu/vmi"], amounts["memory/vmi"]) == ("3", "3Gi")
    nothing = {"domain": {"resources": {}}}
    amounts = texts(measured(DEDICATED, nothing, item_of(guest()), make_env()))
    assert (amounts["cpu/vmi"], amounts["memory/vmi"]) == ("0", "0")


def test_a_migration_counts_what_the_guest_grows_by() -> None:
    running = {
        "spec": guest(),
        "status": {"memory": {"guestRequested": "1536Mi"}, "currentCPUTopology": {"sockets": 1}},
    }
    amounts = texts(migration_delta("VirtualResources", guest(), item_of(guest()), make_env(), running))
    assert (amounts["requests.memory"], amounts["limits.cpu"], amounts["pods"]) == ("512Mi", "3", "0")
    assert migration_delta("VirtualResources", guest(), item_of(guest()), make_env(), {}) == {}
    assert migration_delta("VmiPodUsage", guest(), item_of(guest()), make_env(), running) == {}
    # AAQ counts like ResourceQuotas here.
    item = item_of(guest())
    for counts in (
        migration_delta("IgnoreVmiCalculator", guest(), item, make_env(), running),
        measured("IgnoreVmiCalculator", guest(), item, make_env()),
    ):
        assert counts == measured("VmiPodUsage", guest(), item, make_env())


def test_other_pods_count_as_pods() -> None:
    quota = application_quota({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}})
    other = QuotaItem("pods", "other")
    assert quota.used_amounts(other) == {"pods": parse("1").nanos}
    assert quota.used_amounts(other._replace(application={})) == {}
