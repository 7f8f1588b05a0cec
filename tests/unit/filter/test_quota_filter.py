"""The filter quota: from manifests of a namespace to an answer for each VM."""

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from capacity_cluster import launcher
from loaded_filters import FILTERS

quota = FILTERS["quota"]
LARGE = {
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "large"},
    "spec": {"cpu": {"guest": 4}, "memory": {"guest": "8Gi"}},
}
AAQ = {"spec": {"namespaceSelector": {}, "configuration": {"allowApplicationAwareClusterResourceQuota": True}}}


def vm(name: str = "web", **spec: Any) -> dict[str, Any]:
    template = {"spec": {"domain": {"devices": {}}}}
    manifest = {"instancetype": {"name": "large"}, "template": template, **spec}
    return {"kind": "VirtualMachine", "metadata": {"name": name, "namespace": "shop"}, "spec": manifest}


def team(used: str = "0") -> dict[str, Any]:
    hard = {"requests.memory": "20Gi"}
    status = {"hard": hard, "used": {"requests.memory": used}}
    return {"metadata": {"name": "team", "namespace": "shop"}, "spec": {"hard": hard}, "status": status}


def fits(*vms: Any, **options: Any) -> list[bool]:
    return [item["fits"] for item in quota(list(vms), objects=LARGE, **options)["virtual_machines"]]


def test_running_guests_are_kept_restarted_or_migrated() -> None:
    assert fits(vm("a"), vm("b"), quotas=[team("9Gi")], pods=[launcher("a", memory="9Gi")]) == [True, True]
    assert fits(vm("a"), quotas=[team("18Gi")], pods=[launcher("a", memory="9Gi")], running="restart") == [True]
    assert fits(vm("a"), quotas=team("18Gi"), pods=[launcher("a", memory="9Gi")], running="migrate") == [False]


def test_limit_ranges_object_counts_and_volumes_count() -> None:
    limit = {
        "metadata": {"name": "r", "namespace": "shop"},
        "spec": {"limits": [{"type": "Pod", "max": {"cpu": "100m"}}]},
    }
    assert fits(vm(), limit_ranges=[limit]) == [False]
    only = {
        "metadata": {"name": "n", "namespace": "shop"},
        "spec": {"hard": {"count/virtualmachines.kubevirt.io": "0"}},
    }
    assert fits(vm(), quotas=[only]) == [False]
    assert fits(vm(), quotas=[only], virtual_machines=[vm()]) == [True]
    volume = {"metadata": {"name": "d"}, "spec": {"storage": {"resources": {"requests": {"storage": "1Gi"}}}}}
    hard = {"slow.storageclass.storage.k8s.io/requests.storage": "0"}
    disks = {"metadata": {"name": "s", "namespace": "shop"}, "spec": {"hard": hard}}
    assert fits(vm(dataVolumeTemplates=[volume]), quotas=[disks]) == [True]
    assert fits(vm(dataVolumeTemplates=[volume]), quotas=[disks], storage_class="slow") == [False]


def test_aaq_quotas_count_guests() -> None:
    quota = {"hard": {"requests.memory/vmi": "8Gi"}}
    own = {"metadata": {"name": "own", "namespace": "shop"}, "spec": quota}
    both = {
        "metadata": {"name": "both"},
        "spec": {"selector": {"labels": {"matchLabels": {"team": "a"}}}, "quota": quota},
    }
    space = {"metadata": {"name": "shop", "labels": {"team": "a"}}}
    for option in ({"application_quotas": [own]}, {"cluster_quotas": [both]}):
        assert fits(vm("a"), vm("b"), aaq=AAQ, namespaces=[space], **option) == [True, False]


def test_kubevirt_of_the_cluster_counts() -> None:
    kubevirt = {"spec": {"configuration": {"developerConfiguration": {"memoryOvercommit": 200}}}}
    assert fits(vm("a"), vm("b"), vm("c"), quotas=[team()], kubevirt=kubevirt, kubevirt_version="1.8") == [True] * 3
    kubevirt["spec"]["configuration"]["developerConfiguration"] = 5  # type: ignore[assignment]
    with pytest.raises(AnsibleFilterError, match="quota: kubevirt: cannot read the configuration"):
        fits(vm(), kubevirt=kubevirt)


def test_invalid_input_is_refused() -> None:
    for options, message in (
        ({"running": "stop"}, "running: 'stop' is not a valid value; choose keep or restart or migrate"),
        ({"quotas": [5]}, "quotas"),
        (
            {"quotas": [{"metadata": {"name": "q", "namespace": "shop"}, "spec": {"hard": {"cpu": "x"}}}]},
            "q is not a ResourceQuota",
        ),
        ({"aaq": []}, "aaq"),
    ):
        with pytest.raises(AnsibleFilterError, match=r"^quota: ") as error:
            quota(vm(), objects=[LARGE], **options)
        assert message in str(error.value)
    (line,) = quota(vm(instancetype={"name": "gone"}))["virtual_machines"]
    assert (line["evaluated"], line["fits"]) == (False, False)
