"""The check quota of capacity_info on a scripted cluster: what it reads, what it says, and what it does without."""

from capacity_cluster import SPACE, VMS, Manifest, Run, check_result, launcher, store, vm

from scripted_server import forbidden

QUOTAS, LIMITS, PODS = (f"{SPACE}/{name}" for name in ("resourcequotas", "limitranges", "pods"))
APPLICATIONS = "/apis/aaq.kubevirt.io/v1alpha1/namespaces/shop/applicationawareresourcequotas"


def quota(name: str, hard: Manifest, used: Manifest) -> Manifest:
    return {"metadata": {"name": name, "namespace": "shop"}, "spec": {"hard": hard}, "status": {"used": used}}


def test_vms_of_the_cluster_are_judged(run: Run) -> None:
    team = quota("team", {"requests.memory": "12Gi", "pods": "5"}, {"requests.memory": "5Gi", "pods": "1"})
    cluster = store(vm("a"), vm("b"), vm("c"), quotas=[team], pods=[launcher("a")])
    result = check_result(run, cluster, "quota", namespace="shop")
    assert (result["changed"], result["fits"], result["warnings"]) == (False, False, [])
    assert [(item["has_pod"], item["fits"]) for item in result["virtual_machines"]] == [
        (True, True),
        (False, True),
        (False, False),
    ]
    assert result["virtual_machines"][2]["problem"].startswith("ResourceQuota team lacks 1.")
    (line,) = result["quotas"]
    assert (line["kind"], line["name"], line["fits"]) == ("ResourceQuota", "team", False)
    assert line["resources"]["pods"] == {"hard": "5", "used": "1", "wanted": "2", "left": "2"}
    assert "lacks" in line["resources"]["requests.memory"]


def test_manifests_bring_their_volumes(run: Run) -> None:
    template = {"metadata": {"name": "disk"}, "spec": {"storage": {"resources": {"requests": {"storage": "10Gi"}}}}}
    hard = {"fast.storageclass.storage.k8s.io/requests.storage": "15Gi", "count/virtualmachines.kubevirt.io": "9"}
    fast = {"metadata": {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}
    cluster = store(quotas=[quota("disks", hard, {})])
    cluster.lists["/apis/storage.k8s.io/v1/storageclasses"] = [fast]
    manifests = [vm(name, dataVolumeTemplates=[template]) for name in ("a", "b")]
    result = check_result(run, cluster, "quota", namespace="shop", manifests=manifests)
    first, second = result["virtual_machines"]
    assert first["fits"]
    assert second["problem"] == (
        "ResourceQuota disks lacks 5Gi of fast.storageclass.storage.k8s.io/requests.storage (10Gi wanted, 5Gi left)"
    )
    assert result["quotas"][0]["resources"]["count/virtualmachines.kubevirt.io"]["wanted"] == "2"


def test_aaq_quotas_are_checked(run: Run) -> None:
    cluster = store(vm("a"), vm("b"), pods=[launcher("b")])
    cluster.lists[APPLICATIONS] = [quota("guests", {"requests.memory/vmi": "3Gi"}, {})]
    cluster.lists["/apis/aaq.kubevirt.io/v1alpha1/aaqs"] = [
        {"metadata": {"name": "aaq"}, "spec": {"namespaceSelector": {}}}
    ]
    result = check_result(run, cluster, "quota", namespace="shop")
    assert [item["problem"] for item in result["virtual_machines"]] == [
        "ApplicationAwareResourceQuota guests lacks 1Gi of requests.memory/vmi (4Gi wanted, 3Gi left)",
        "",
    ]


def test_unreadable_aaq_quotas_give_a_warning(run: Run) -> None:
    cluster = store(vm("a"))
    cluster.answers["GET", "/applicationawareresourcequotas"] = forbidden("applicationawareresourcequotas")
    result = check_result(run, cluster, "quota", namespace="shop")
    assert result["fits"]
    assert result["warnings"][0].startswith("applicationawareresourcequotas are not taken into account: ")


def test_vms_of_several_namespaces_are_read_at_once(run: Run) -> None:
    cluster = store()
    for path in (VMS, QUOTAS, LIMITS, PODS):
        cluster.lists[path.replace("/namespaces/shop", "")] = []
    manifests = [{**vm("a"), "metadata": {"name": "a", "namespace": space}} for space in ("shop", "office")]
    result = check_result(run, cluster, "quota", manifests=manifests)
    assert [(item["namespace"], item["fits"]) for item in result["virtual_machines"]] == [
        ("shop", True),
        ("office", True),
    ]


def test_cluster_quotas_or_their_copies(run: Run) -> None:
    wide = "/apis/aaq.kubevirt.io/v1alpha1/applicationawareclusterresourcequotas"
    copies = "/apis/aaq.kubevirt.io/v1alpha1/namespaces/shop/applicationawareappliedclusterresourcequotas"
    spec = {"selector": {"labels": {}}, "quota": {"hard": {"requests.memory/vmi": "1Gi"}}}
    cluster = store(vm("a"))
    allowed = {"namespaceSelector": {}, "configuration": {"allowApplicationAwareClusterResourceQuota": True}}
    cluster.lists["/apis/aaq.kubevirt.io/v1alpha1/aaqs"] = [{"metadata": {"name": "aaq"}, "spec": allowed}]
    cluster.lists[wide] = [{"metadata": {"name": "both"}, "spec": spec}]
    problem = check_result(run, cluster, "quota", namespace="shop")["virtual_machines"][0]["problem"]
    assert problem.startswith("ApplicationAwareClusterResourceQuota both lacks 3Gi of requests.memory/vmi")
    cluster.answers["GET", "/applicationawareclusterresourcequotas"] = forbidden(
        "applicationawareclusterresourcequotas"
    )
    cluster.lists[copies] = [{"metadata": {"name": "both", "namespace": "shop"}, "spec": spec}]
    result = check_result(run, cluster, "quota", namespace="shop")
    assert (result["virtual_machines"][0]["problem"], result["warnings"]) == (problem, [])
