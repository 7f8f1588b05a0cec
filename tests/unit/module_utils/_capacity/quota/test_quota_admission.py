"""The effect of quotas on manifests, and errors in the manifests."""

from typing import Any

import pytest
from capacity_cluster import launcher

from growth import growth
from plugins.module_utils._capacity.pod.render import MIGRATE, RESTART, by_namespace
from plugins.module_utils._capacity.quota.budget import from_manifest, used_amounts
from plugins.module_utils._capacity.quota.check import QuotaObjects, check_quotas
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

GUEST = {"domain": {"devices": {}, "memory": {"guest": "2Gi"}, "cpu": {"sockets": 1}}}
AAQ = {"spec": {"namespaceSelector": {}}}


def vm(name: str = "web", guest: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop"}
    return {"metadata": metadata, "spec": {"template": {"spec": guest or GUEST}, **spec}}


def quota(used: dict[str, str] | None = None, **hard: str) -> dict[str, Any]:
    named = {name.replace("__", "/").replace("_", "."): amount for name, amount in hard.items()}
    return {"metadata": {"name": "team", "namespace": "shop"}, "spec": {"hard": named}, "status": {"used": used or {}}}


def pod(name: str = "web", **metadata: Any) -> dict[str, Any]:
    running = launcher(name, cpu="100m", memory="2Gi")
    return {**running, "metadata": {**running["metadata"], **metadata}}


def checked(*vms: dict[str, Any], running_policy: str = "keep", **objects: Any) -> dict[str, Any]:
    return check_quotas(vms, Objects([]), KubeVirt(NEWEST), QuotaObjects(**objects), running_policy)


def problem(*vms: dict[str, Any], running_policy: str = "keep", **objects: Any) -> str:
    return str(checked(*vms, running_policy=running_policy, **objects)["virtual_machines"][-1].get("problem", ""))


def test_vms_share_the_quotas() -> None:
    result = checked(vm("a"), vm("b"), quotas=[quota(requests_memory="3Gi", count__virtualmachines_kubevirt_io="9")])
    assert [entry["fits"] for entry in result["virtual_machines"]] == [True, False]
    assert "lacks 1.59Gi of requests.memory (2.29Gi wanted, " in result["virtual_machines"][1]["problem"]
    figures = result["quotas"][0]["resources"]
    assert figures["count/virtualmachines.kubevirt.io"] == {"hard": "9", "used": "0", "wanted": "2", "left": "7"}
    assert result["quotas"][0]["fits"] is False


def test_existing_objects_count_once() -> None:
    full = quota({"count/virtualmachines.kubevirt.io": "1"}, count__virtualmachines_kubevirt_io="1")
    assert "lacks 1 of count/virtualmachines.kubevirt.io" in problem(vm(), quotas=[full])
    assert not problem(vm(), quotas=[full], vms=[vm()])
    pods = quota({"pods": "1"}, pods="1")
    assert not problem(vm(), quotas=[pods], pods=[pod()])
    assert problem(vm(), quotas=[pods], pods=[pod(deletionTimestamp="now")])
    assert problem(vm(), quotas=[pods], pods=[{**pod(), "status": {"phase": "Failed"}}])


def test_restarts_reuse_quota_and_migrations_add() -> None:
    full = quota({"pods": "1"}, pods="1")
    assert not problem(vm(), quotas=[full], pods=[pod()], running_policy=RESTART)
    assert "lacks 1 of pods (1 wanted, 0 left)" in problem(vm(), quotas=[full], pods=[pod()], running_policy=MIGRATE)
    # Each migration is judged by itself.
    roomy = quota({"pods": "2"}, pods="3")
    result = checked(vm("a"), vm("b"), quotas=[roomy], pods=[pod("a"), pod("b")], running_policy=MIGRATE)
    assert all(entry["fits"] for entry in result["virtual_machines"])
    assert result["quotas"][0]["resources"]["pods"]["wanted"] == "0"


def test_exceeded_quota_rejects_only_what_it_counts() -> None:
    result = checked(vm(), quotas=[quota({"services": "3"}, services="1")])
    assert result["quotas"][0]["fits"] and result["virtual_machines"][0]["fits"]


def test_aaq_counts_running_guests() -> None:
    full = quota({"requests.memory/vmi": "2Gi"}, requests_memory__vmi="2Gi")
    cluster = {"application_quotas": [full], "aaq": AAQ, "pods": [pod()]}
    guest = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"domain": {**GUEST["domain"], "resources": {}}}}
    assert not problem(vm(), running_policy=RESTART, guests=[guest], **cluster)
    assert not problem(vm(), running_policy=MIGRATE, guests=[guest], **cluster)
    # Without the VMI, what AAQ counts for the guest is unknown.
    assert "lacks 2Gi" in problem(vm(), running_policy=RESTART, **cluster)
    assert not problem(vm(), running_policy=MIGRATE, **cluster)
    larger = vm(guest={"domain": {**GUEST["domain"], "memory": {"guest": "3Gi"}}})
    assert "lacks 1Gi of requests.memory/vmi (1Gi wanted" in problem(
        larger, running_policy=MIGRATE, guests=[guest], **cluster
    )


def test_aaq_ignores_unselected_namespaces() -> None:
    cluster = {"application_quotas": [quota(requests_memory__vmi="1Gi")], "aaq": {}}
    assert problem(vm(), **cluster)
    assert not problem(vm(), namespaces=[{"metadata": {"name": "shop"}}], **cluster)


def test_data_volumes_count_as_claims() -> None:
    template = {"metadata": {"name": "d"}, "spec": {"pvc": {"resources": {"requests": {"storage": "1.5Gi"}}}}}
    from_source = {"metadata": {"name": "e"}, "spec": {"storage": {"storageClassName": "slow"}}}
    machine = vm(dataVolumeTemplates=[template, from_source])
    small = quota(requests_storage="1Gi", persistentvolumeclaims="9")
    assert "lacks 512Mi of requests.storage" in problem(machine, quotas=[small])
    bad = vm(dataVolumeTemplates=[{"spec": {"pvc": {"resources": {"requests": {"storage": "big"}}}}}])
    assert "spec.dataVolumeTemplates[0]: big: " in problem(bad)


def test_scopes_match_pods() -> None:
    machine = vm(dataVolumeTemplates=[{"metadata": {"name": "d"}, "spec": {"storage": {}}}])
    scoped = quota(count__virtualmachines_kubevirt_io="0", persistentvolumeclaims="0", pods="0")
    for scope, resource in (("NotTerminating", "pods"), ("BestEffort", ""), ("VolumeAttributesClass", "")):
        scoped["spec"]["scopes"] = [scope]
        result = problem(machine, quotas=[scoped])
        assert result == (f"ResourceQuota team lacks 1 of {resource} (1 wanted, 0 left)" if resource else ""), scope


def test_unknown_resources_are_not_counted() -> None:
    odd = used_amounts(from_manifest({"spec": {"containers": [{"resources": {"requests": {"odd": "1", "x/y": "2"}}}]}}))
    assert set(odd) == {"count/pods", "pods", "requests.x/y"}


def test_limit_ranges_default_and_reject() -> None:
    def ranges(**limit: Any) -> list[Any]:
        return [{"metadata": {"name": "r", "namespace": "shop"}, "spec": {"limits": [limit]}}]

    least = {"type": "Container", "min": {"cpu": "10m"}}
    assert "LimitRange r: minimum cpu usage per Container (guest-console-log) is 10m, but request is 5m" in problem(
        vm(), limit_ranges=ranges(**least)
    )
    with_disk = vm(dataVolumeTemplates=[{"metadata": {"name": "d"}, "spec": {"storage": {}}}])
    for bound in ("min", "max"):
        claims = ranges(type="PersistentVolumeClaim", **{bound: {"storage": "1Gi"}})
        assert "No request is specified" in problem(with_disk, limit_ranges=claims)
    for bad in ({"type": "Pod", "min": {"memory": "many"}}, {"type": "Container", "default": 5}):
        assert problem(vm(), limit_ranges=ranges(**bad)).startswith("limitRanges: r is not a LimitRange: ")


def test_amounts_too_large_to_count_in_thousandths() -> None:
    limits = [{"type": "Container", "maxLimitRequestRatio": {"memory": "9E"}}]
    ranges = [{"metadata": {"name": "r", "namespace": "shop"}, "spec": {"limits": limits}}]
    machine = vm(guest={"domain": {**GUEST["domain"], "resources": {"limits": {"memory": "4Gi"}}}})
    assert not problem(machine, limit_ranges=ranges)


def test_containers_must_set_resources_of_the_quota() -> None:
    machine = vm()
    hooks = {"hooks.kubevirt.io/hookSidecars": '[{"image": "x"}]'}
    machine["spec"]["template"]["metadata"] = {"annotations": hooks}
    assert "ResourceQuota team requires requests.cpu in each container, but hook-sidecar-0 does not set it" in problem(
        machine, quotas=[quota(requests_cpu="9")]
    )


def test_vm_without_a_pod_has_a_problem() -> None:
    assert "not found" in problem(vm(instancetype={"name": "none", "kind": "VirtualMachineInstancetype"}))


def test_malformed_objects_are_an_error() -> None:
    with pytest.raises(FieldError, match="resourceQuotas: team is not a ResourceQuota"):
        checked(vm(), quotas=[quota(pods="many")])
    with pytest.raises(FieldError, match="pods: an object without a name is not a Pod"):
        checked(vm(), pods=[{"spec": {"containers": [5]}}])


def test_contradictory_limit_ranges_are_tried_in_any_order() -> None:
    def ranges(*defaults: str, resource: str = "memory") -> list[Any]:
        return [
            {
                "metadata": {"name": f"r{number}", "namespace": "shop"},
                "spec": {"limits": [{"type": "Container", "default": {resource: amount}}]},
            }
            for number, amount in enumerate(defaults)
        ]

    (line,) = checked(vm(), limit_ranges=ranges("4Gi", "1Gi"))["virtual_machines"]
    assert (line["evaluated"], line["fits"], line["depends_on_order"]) == (True, False, True)
    assert line["problem"].startswith(
        "in some orders of the LimitRanges r0, r1, which the API server draws for each pod: "
    )
    for never in (("4Gi", "4096Mi"), ("4Gi",)):
        assert "depends_on_order" not in checked(vm(), limit_ranges=ranges(*never))["virtual_machines"][0]
    (line,) = checked(vm(), limit_ranges=ranges("1Gi", "1.5Gi"))["virtual_machines"]
    assert not line["fits"] and "depends_on_order" not in line
    # The most counts; KubeVirt sets no such limit itself.
    full = quota()
    full["spec"]["hard"] = {"limits.ephemeral-storage": "15Gi"}
    disk = "ephemeral-storage"
    result = checked(vm(), vm("b"), limit_ranges=ranges("3Gi", "4Gi", resource=disk), quotas=[full])
    assert [entry["fits"] for entry in result["virtual_machines"]] == [True, False]
    assert result["virtual_machines"][1]["depends_on_order"] and "lacks 1Gi" in result["virtual_machines"][1]["problem"]
    assert result["quotas"][0]["resources"]["limits.ephemeral-storage"]["wanted"] == "16Gi"


def shared(selector: dict[str, Any], used: str = "0", **spec: Any) -> dict[str, Any]:
    hard = {"requests.memory/vmi": "4Gi"}
    total = {"hard": hard, "used": {"requests.memory/vmi": used}}
    status = {"total": total, "namespaces": [{"namespace": "shop"}]}
    return {
        "metadata": {"name": "both"},
        "spec": {"selector": selector, "quota": {"hard": hard, **spec}},
        "status": status,
    }


def elsewhere(name: str) -> dict[str, Any]:
    machine = vm(name)
    machine["metadata"]["namespace"] = "office"
    return machine


TEAM = [
    {"metadata": {"name": "shop", "labels": {"team": "a"}, "annotations": {"owner": "me"}}},
    {"metadata": {"name": "office", "labels": {"team": "a"}, "annotations": {"owner": "you"}}},
]
LABEL = {"labels": {"matchLabels": {"team": "a"}}}
ALLOWING = {"spec": {"namespaceSelector": {}, "configuration": {"allowApplicationAwareClusterResourceQuota": True}}}


def test_namespaces_share_a_cluster_quota() -> None:
    cluster = {"namespaces": TEAM, "cluster_quotas": [shared(LABEL)], "aaq": ALLOWING}
    result = checked(vm("a"), elsewhere("b"), vm("c"), **cluster)
    assert [entry["fits"] for entry in result["virtual_machines"]] == [True, True, False]
    assert result["virtual_machines"][2]["problem"] == (
        "ApplicationAwareClusterResourceQuota both lacks 2Gi of requests.memory/vmi (2Gi wanted, 0 left)"
    )
    (line,) = result["quotas"]
    assert "namespace" not in line and line["fits"] is False
    sums = {"hard": "4Gi", "used": "0", "wanted": "6Gi", "left": "0", "lacks": "2Gi"}
    assert line["resources"] == {"requests.memory/vmi": sums}
    # The use of all namespaces counts.
    assert "1Gi left" in problem(vm(), **{**cluster, "cluster_quotas": [shared(LABEL, "3Gi")]})


def test_selectors_of_a_cluster_quota() -> None:
    full = "4Gi"
    for selector, caught in (
        (LABEL, {"shop", "office"}),
        ({"labels": {"matchLabels": {"team": "b"}}}, set()),
        ({"annotations": {"owner": "me"}}, {"shop"}),
        ({**LABEL, "annotations": {"owner": "you"}}, {"office"}),
        ({**LABEL, "annotations": {"owner": "none"}}, set()),
    ):
        cluster = {"cluster_quotas": [shared(selector, full)], "aaq": ALLOWING}
        result = checked(vm(), elsewhere("x"), namespaces=TEAM, **cluster)["virtual_machines"]
        assert {entry["namespace"] for entry in result if not entry["fits"]} == caught, selector
    # Without the Namespaces those count that AAQ has found, and copies are for their namespace.
    result = checked(vm(), elsewhere("x"), cluster_quotas=[shared({}, full)])["virtual_machines"]
    assert [entry["fits"] for entry in result] == [False, True]
    copies = [shared(LABEL, "2Gi"), shared(LABEL, "2Gi")]
    for copy, namespace in zip(copies, ("shop", "office")):
        copy["metadata"] = {"name": "both", "namespace": namespace}
    result = checked(vm(), elsewhere("x"), cluster_quotas=copies, namespaces=TEAM, aaq=ALLOWING)["virtual_machines"]
    assert [entry["fits"] for entry in result] == [True, False]


def test_disabled_or_unwatched_cluster_quotas_do_not_count() -> None:
    full = shared(LABEL, "4Gi")
    assert problem(vm(), namespaces=TEAM, cluster_quotas=[full], aaq=ALLOWING)
    assert not problem(vm(), namespaces=TEAM, cluster_quotas=[full], aaq=AAQ)
    unwatched = {"spec": {"configuration": ALLOWING["spec"]["configuration"]}}
    assert not problem(vm(), namespaces=TEAM, cluster_quotas=[full], aaq=unwatched)
    assert not problem(
        vm(), namespaces=TEAM, cluster_quotas=[shared(LABEL, "4Gi", scopes=["BestEffort"])], aaq=ALLOWING
    )
    # It counts pods, and any name that they have.
    others = shared(LABEL)
    others["spec"]["quota"]["hard"] = {"count/virtualmachines.kubevirt.io": "0", "instances/vmi": "0"}
    others["status"] = {}
    assert problem(vm(), namespaces=TEAM, cluster_quotas=[others], aaq=ALLOWING) == (
        "ApplicationAwareClusterResourceQuota both lacks 1 of instances/vmi (1 wanted, 0 left)"
    )


def test_quotas_scale_with_the_number_of_namespaces() -> None:
    def work(count: int) -> Any:
        def within(number: int, name: str) -> dict[str, Any]:
            return {"metadata": {"name": name, "namespace": f"ns-{number}"}}

        numbers = range(count)
        vms = [{**vm(), **within(number, "web")} for number in numbers]
        cluster = {
            "quotas": [{**quota(requests_memory="3Gi"), **within(number, "team")} for number in numbers],
            "cluster_quotas": [{**quota(requests_memory="3Gi"), **within(number, "copy")} for number in numbers],
            "limit_ranges": [within(number, "limits") for number in numbers],
            "guests": [within(number, "web") for number in numbers],
            "aaq": {"spec": {**AAQ["spec"], "configuration": {"allowApplicationAwareClusterResourceQuota": True}}},
        }

        def find() -> None:
            # The copies are one quota.
            assert len(checked(*vms, **cluster)["quotas"]) == count + 1

        return find

    assert growth(work) < 5


def test_objects_without_namespace_belong_to_all_in_order() -> None:
    manifests = [{"metadata": {"name": name, **more}} for name, more in (("a", {}), ("b", {"namespace": "shop"}))]
    broken: dict[str, Any] = {"metadata": {"name": "d", "namespace": 5}}
    within = by_namespace([*manifests, {"metadata": {"name": "c"}}, broken])
    assert [[manifest["metadata"]["name"] for manifest in within(name)] for name in ("shop", "lab")] == [
        ["a", "b", "c"],
        ["a", "c"],
    ]
