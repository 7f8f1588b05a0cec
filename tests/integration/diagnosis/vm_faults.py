"""Faults that keep a VM from running as declared: how to break it, and the link of the chain that is broken."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from waiting import wait_until

from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS

Manifest = dict[str, Any]

NAME = "web"
MARK = "virtshape-diagnosis"
"""The label of the VMs with faults."""
NODES: list[Manifest] = [
    {"name": "node01"},
    {"name": "node02", "labels": {"tier": "reserved"}, "taints": [{"key": "reserved", "effect": "NoSchedule"}]},
]
"""The nodes of the cluster for faults of scheduling."""
GPU = "example.com/A100"
_BEHAVIOUR = "local-cluster.virtshape.dev/guest"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_KUBEVIRT = "/apis/kubevirt.io/v1"


class Place(NamedTuple):
    """A namespace of a cluster for one VM."""

    api: Session
    namespace: str

    def path(self, group: str, plural: str, name: str = "") -> str:
        root = f"/apis/{group}" if "/" in group else f"/api/{group}"
        return f"{root}/namespaces/{self.namespace}/{plural}{f'/{name}' if name else ''}"

    def create(self, group: str, plural: str, kind: str, body: Manifest) -> None:
        self.api.request("POST", self.path(group, plural), body={"apiVersion": group, "kind": kind, **body})

    @property
    def vm(self) -> Manifest:
        vm = self.api.get(KINDS["VirtualMachine"], self.namespace, NAME)
        assert vm is not None
        return vm

    @property
    def vm_path(self) -> str:
        return f"{_KUBEVIRT}/namespaces/{self.namespace}/virtualmachines/{NAME}"

    @property
    def selector(self) -> Manifest:
        """Selects the namespace."""
        return {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}


NewPlaces = Callable[[Sequence[str]], list[Place]]
"""Makes namespaces of the names."""


class Fault(NamedTuple):
    """A fault.

    link: the broken link. declare: changes the VM before it is created, and what it refers to. follow: breaks the VM
    afterwards. running: `follow` needs a guest that runs. touches: what two faults cannot both change. nodes: needs
    the cluster with NODES. everywhere: breaks all VMs of the cluster.
    """

    name: str
    link: str
    declare: Callable[[Manifest, Place], None] = lambda _vm, _place: None
    follow: Callable[[Place], None] = lambda _place: None
    running: bool = False
    touches: frozenset[str] = frozenset()
    nodes: bool = False
    everywhere: bool = False


def healthy(name: str = NAME) -> Manifest:
    """A VM that runs."""
    devices = {
        "disks": [{"name": "root", "disk": {"bus": "virtio"}}],
        "interfaces": [{"name": "default", "masquerade": {}}],
    }
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "labels": {MARK: "fault"}},
        "spec": {
            "runStrategy": "Always",
            "template": {
                "metadata": {"annotations": {}},
                "spec": {
                    "domain": {"devices": devices, "memory": {"guest": "1Gi"}},
                    "networks": [{"name": "default", "pod": {}}],
                    "terminationGracePeriodSeconds": 0,
                    "volumes": [{"name": "root", "containerDisk": {"image": "registry.example.com/disk:1"}}],
                },
            },
        },
    }


def guest_of(vm: Manifest) -> Manifest:
    spec: Manifest = vm["spec"]["template"]["spec"]
    return spec


def _disk(vm: Manifest, name: str, source: Manifest) -> None:
    guest_of(vm)["volumes"].append({"name": name, **source})
    guest_of(vm)["domain"]["devices"]["disks"].append({"name": name, "disk": {"bus": "virtio"}})


def _data_volume(vm: Manifest, name: str, spec: Manifest, storage_class: str | None = None) -> None:
    pvc: Manifest = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    pvc |= {"storageClassName": storage_class} if storage_class else {}
    template = {"metadata": {"name": f"{NAME}-{name}"}, "spec": {"pvc": pvc, **spec}}
    vm["spec"].setdefault("dataVolumeTemplates", []).append(template)
    _disk(vm, name, {"dataVolume": {"name": f"{NAME}-{name}"}})


def _type(vm: Manifest, name: str, **matcher: str) -> None:
    del guest_of(vm)["domain"]["memory"]
    vm["spec"]["instancetype"] = {"name": name, "kind": "VirtualMachineInstancetype", **matcher}


def _small(place: Place, name: str = "small", **labels: str) -> None:
    metadata = {"name": name, "labels": labels}
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    place.create(
        "instancetype.kubevirt.io/v1beta1",
        "virtualmachineinstancetypes",
        "VirtualMachineInstancetype",
        {"metadata": metadata, "spec": spec},
    )


def _missing_class(vm: Manifest, _place: Place) -> None:
    _data_volume(vm, "classless", {"source": {"blank": {}}}, "nowhere")


def _missing_claim(vm: Manifest, _place: Place) -> None:
    _disk(vm, "claim", {"persistentVolumeClaim": {"claimName": "nowhere"}})


def _missing_type(vm: Manifest, _place: Place) -> None:
    _type(vm, "nowhere")


def _missing_preference(vm: Manifest, _place: Place) -> None:
    vm["spec"]["preference"] = {"name": "nowhere", "kind": "VirtualMachinePreference"}


def _missing_revision(vm: Manifest, place: Place) -> None:
    _small(place)
    _type(vm, "small", revisionName="nowhere")


def _missing_source(vm: Manifest, _place: Place) -> None:
    _data_volume(vm, "sourceless", {"sourceRef": {"kind": "DataSource", "name": "nowhere"}})


def _failing_import(vm: Manifest, _place: Place) -> None:
    _data_volume(vm, "import", {"source": {"http": {"url": "http://127.0.0.1:1/disk.img"}}})


def _quota(_vm: Manifest, place: Place) -> None:
    hard = {"requests.memory": "700Mi"}
    place.create("v1", "resourcequotas", "ResourceQuota", {"metadata": {"name": "team"}, "spec": {"hard": hard}})
    quota = place.path("v1", "resourcequotas", "team")
    wait_until(lambda: (place.api.request("GET", quota).get("status") or {}).get("used"))


def _limit_range(_vm: Manifest, place: Place) -> None:
    limit = {"type": "Pod", "max": {"memory": "700Mi"}}
    limits = {"limits": [limit]}
    place.create("v1", "limitranges", "LimitRange", {"metadata": {"name": "team"}, "spec": limits})


def _missing_gpu(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["domain"]["devices"]["gpus"] = [{"name": "gpu", "deviceName": GPU}]


def _tainted(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["nodeSelector"] = {"tier": "reserved"}


def _unmatched(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["nodeSelector"] = {"tier": "nowhere"}


def _tiny(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["domain"]["memory"]["guest"] = "4Mi"


def _missing_network(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["networks"].append({"name": "lan", "multus": {"networkName": "nowhere"}})
    guest_of(vm)["domain"]["devices"]["interfaces"].append({"name": "lan", "bridge": {}})


def _closed_port(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["domain"]["devices"]["interfaces"][0]["ports"] = [{"port": 80}]
    guest_of(vm)["readinessProbe"] = {"tcpSocket": {"port": 22}}
    vm["spec"]["template"]["metadata"]["annotations"][_BEHAVIOUR] = "silent"


def _missing_image(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["volumes"][0]["containerDisk"]["image"] = "registry.invalid/disk:1"


def _paused(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["startStrategy"] = "Paused"


def _changed(place: Place) -> None:
    patch = {"spec": {"template": {"spec": {"hostname": "renamed"}}}}
    place.api.request("PATCH", place.vm_path, body=patch, content_type="application/merge-patch+json")


def _crashing(vm: Manifest, _place: Place) -> None:
    vm["spec"]["template"]["metadata"]["annotations"][_BEHAVIOUR] = "crashes"


def _held(vm: Manifest, _place: Place) -> None:
    vm["metadata"]["finalizers"] = ["example.com/hold"]


def _delete(place: Place) -> None:
    place.api.request("DELETE", place.vm_path)


def _guests_of(place: Place) -> list[Manifest]:
    """Admission rules for the VMIs of the namespace."""
    rule = {"apiGroups": ["kubevirt.io"], "apiVersions": ["v1"], "operations": ["CREATE"]}
    return [{**rule, "resources": ["virtualmachineinstances"]}]


def _webhook_down(_vm: Manifest, place: Place) -> None:
    name = f"{place.namespace}.example.com"
    webhook = {
        "name": name,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "rules": _guests_of(place),
        "namespaceSelector": place.selector,
        "clientConfig": {"url": "https://127.0.0.1:1/validate"},
    }
    kind = "ValidatingWebhookConfiguration"
    body = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}}
    place.api.request("POST", f"{_ADMISSION}/validatingwebhookconfigurations", body={**body, "webhooks": [webhook]})
    _await_refusal(place, "failed calling webhook")


def _policy(_vm: Manifest, place: Place) -> None:
    name = f"{place.namespace}.example.com"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": _guests_of(place), "namespaceSelector": place.selector},
        "validations": [{"expression": "false", "message": "no guests here"}],
    }
    kinds = {
        "ValidatingAdmissionPolicy": spec,
        "ValidatingAdmissionPolicyBinding": {"policyName": name, "validationActions": ["Deny"]},
    }
    for kind, content in kinds.items():
        plural = f"{kind.lower()[:-1]}ies" if kind.endswith("Policy") else f"{kind.lower()}s"
        body = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}}
        place.api.request("POST", f"{_ADMISSION}/{plural}", body={**body, "spec": content})
    _await_refusal(place, "no guests here")


def _await_refusal(place: Place, text: str) -> None:
    """The API server takes a moment to know a new webhook or policy."""
    body = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "metadata": {"name": "probe"}}
    body["spec"] = {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}
    path = place.path("kubevirt.io/v1", "virtualmachineinstances")

    def refused() -> bool:
        try:
            place.api.request("POST", path, {"dryRun": "All"}, body, final=(500,))
        except ApiError as error:
            return text in str(error)
        return False

    wait_until(refused)


def _lonely_node(vm: Manifest, place: Place) -> None:
    """A node without a kubelet, on which the VM is to run."""
    name = f"gone-{place.namespace}"
    devices = {f"devices.kubevirt.io/{device}": "10" for device in ("kvm", "tun", "vhost-net")}
    room = {"cpu": "4", "memory": "8Gi", "ephemeral-storage": "10Gi", "pods": "10", **devices}
    labels = {
        "kubevirt.io/schedulable": "true",
        "kubernetes.io/arch": "amd64",
        "machine-type.node.kubevirt.io/q35": "true",
        "kubernetes.io/hostname": name,
    }
    conditions = [{"type": "Ready", "status": "True"}]
    body = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": [{"key": name, "effect": "NoSchedule"}]},
        "status": {"allocatable": room, "capacity": room, "conditions": conditions},
    }
    place.api.request("POST", "/api/v1/nodes", body=body)
    guest_of(vm)["nodeSelector"] = {"kubernetes.io/hostname": name}
    # The taint keeps other VMs off; Kubernetes adds its own to nodes without a kubelet.
    guest_of(vm)["tolerations"] = [{"operator": "Exists"}]


def _node_gone(place: Place) -> None:
    """Its controller finds in the end that the node is silent; here the test says so."""
    condition = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
    patch = {"status": {"conditions": [{**condition, "message": "Kubelet stopped posting node status."}]}}
    path = f"/api/v1/nodes/gone-{place.namespace}/status"
    place.api.request("PATCH", path, body=patch, content_type="application/strategic-merge-patch+json")


def _migrate(place: Place) -> None:
    # KubeVirt gives up a migration whose target has no node after 5 minutes, before other faults are named.
    patience = {"kubevirt.io/migrationUnschedulablePodTimeoutSeconds": "3600"}
    body = {"metadata": {"name": "move", "annotations": patience}, "spec": {"vmiName": NAME}}
    plural = "virtualmachineinstancemigrations"
    place.create("kubevirt.io/v1", plural, "VirtualMachineInstanceMigration", body)


def _obsolete_type(vm: Manifest, place: Place) -> None:
    _small(place, "old", **{"instancetypes.virtshape.io/state": "obsolete"})
    _type(vm, "old")


def _of(*parts: str) -> frozenset[str]:
    return frozenset(parts)


FAULTS = (
    Fault("missing class", "storage_class", _missing_class),
    Fault("missing claim", "claim", _missing_claim),
    Fault("missing type", "instancetype", _missing_type, touches=_of("size")),
    Fault("missing preference", "preference", _missing_preference),
    Fault("missing revision", "revision", _missing_revision, touches=_of("size")),
    Fault("missing DataSource", "data_source", _missing_source),
    Fault("import that fails", "import", _failing_import),
    Fault("quota", "quota", _quota, touches=_of("room")),
    Fault("limit range", "limits", _limit_range, touches=_of("room")),
    Fault("GPU that no node has", "device", _missing_gpu, nodes=True),
    Fault("taint", "scheduling", _tainted, touches=_of("node"), nodes=True),
    Fault("selector", "scheduling", _unmatched, touches=_of("node"), nodes=True),
    Fault("4Mi", "memory", _tiny, touches=_of("size", "room")),
    Fault("wrong network", "network", _missing_network),
    Fault("port of masquerade", "port", _closed_port, touches=_of("guest")),
    Fault("image that cannot be pulled", "image", _missing_image),
    Fault("paused", "paused", _paused),
    Fault("RestartRequired", "restart", follow=_changed, running=True),
    Fault("crash loop", "crash", _crashing, touches=_of("guest")),
    Fault("finalizer that hangs", "deletion", _held, _delete),
    Fault("webhook down", "webhook", _webhook_down),
    Fault("controller down", "controller", everywhere=True),
    Fault("node gone", "node", _lonely_node, _node_gone, touches=_of("node"), nodes=True),
    Fault("migration stuck", "migration", follow=_migrate, running=True, nodes=True),
    Fault("obsolete type", "obsolete", _obsolete_type, touches=_of("size")),
    Fault("policy that denies", "policy", _policy),
)


def _secret(vm: Manifest, _place: Place) -> None:
    _disk(vm, "init", {"cloudInitNoCloud": {"secretRef": {"name": "nowhere"}}})


def _config_map(vm: Manifest, _place: Place) -> None:
    _disk(vm, "settings", {"configMap": {"name": "nowhere"}})


def _service_account(vm: Manifest, _place: Place) -> None:
    _disk(vm, "account", {"serviceAccount": {"serviceAccountName": "nowhere"}})


def _priority(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["priorityClassName"] = "nowhere"


def _missing_disk(vm: Manifest, _place: Place) -> None:
    _disk(vm, "data", {"dataVolume": {"name": "nowhere"}})


def _missing_copy(vm: Manifest, _place: Place) -> None:
    _data_volume(vm, "copy", {"source": {"pvc": {"name": "nowhere", "namespace": _place.namespace}}})


def _hard(place: Place, **hard: str) -> None:
    place.create("v1", "resourcequotas", "ResourceQuota", {"metadata": {"name": "team"}, "spec": {"hard": hard}})
    quota = place.path("v1", "resourcequotas", "team")
    wait_until(lambda: (place.api.request("GET", quota).get("status") or {}).get("used"))


def _pods_quota(_vm: Manifest, place: Place) -> None:
    _hard(place, pods="0")


def _guests_quota(_vm: Manifest, place: Place) -> None:
    _hard(place, **{"count/virtualmachineinstances.kubevirt.io": "0"})


def _storage_quota(vm: Manifest, place: Place) -> None:
    _data_volume(vm, "big", {"source": {"blank": {}}})
    _hard(place, **{"requests.storage": "500Mi"})


def _minimum(_vm: Manifest, place: Place) -> None:
    limit = {"type": "Container", "min": {"memory": "8Gi"}}
    place.create("v1", "limitranges", "LimitRange", {"metadata": {"name": "team"}, "spec": {"limits": [limit]}})


def _huge(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["domain"]["memory"]["guest"] = "4Ti"


def _pages(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["domain"]["memory"]["hugepages"] = {"pageSize": "1Gi"}


def _pinned_cores(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["domain"]["cpu"] = {"cores": 2, "dedicatedCpuPlacement": True}


def _affinity(vm: Manifest, _place: Place) -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["nowhere"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    guest_of(vm)["affinity"] = {"nodeAffinity": required}


def _agent_probe(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["readinessProbe"] = {"guestAgentPing": {}}
    vm["spec"]["template"]["metadata"]["annotations"][_BEHAVIOUR] = "silent"


def _halt(place: Place) -> None:
    patch = {"spec": {"runStrategy": "Halted"}}
    place.api.request("PATCH", place.vm_path, body=patch, content_type="application/merge-patch+json")


def _hold_guest(place: Place) -> None:
    guest = place.path("kubevirt.io/v1", "virtualmachineinstances", NAME)
    patch = {"metadata": {"finalizers": ["example.com/hold"]}}
    place.api.request("PATCH", guest, body=patch, content_type="application/merge-patch+json")
    _halt(place)


FURTHER = (
    Fault("missing Secret", "files", _secret),
    Fault("missing ConfigMap", "files", _config_map),
    Fault("missing ServiceAccount", "prerequisite", _service_account),
    Fault("missing PriorityClass", "prerequisite", _priority),
    Fault("missing DataVolume", "claim", _missing_disk),
    Fault("missing source of a copy", "import", _missing_copy),
    Fault("quota of pods", "quota", _pods_quota),
    Fault("quota of guests", "quota", _guests_quota),
    Fault("quota of storage", "quota", _storage_quota),
    Fault("smallest container", "limits", _minimum),
    Fault("4Ti", "scheduling", _huge, nodes=True),
    Fault("hugepages", "scheduling", _pages, nodes=True),
    Fault("dedicated CPUs", "scheduling", _pinned_cores, nodes=True),
    Fault("affinity", "scheduling", _affinity, nodes=True),
    Fault("silent agent", "agent", _agent_probe),
    Fault("finalizer of a guest", "deletion", follow=_hold_guest, running=True),
)
"""Other faults of the same kinds."""


def clean(place: Place) -> None:
    """Removes what faults have left beside the namespace."""
    name = f"{place.namespace}.example.com"
    for path in (
        f"{_ADMISSION}/validatingwebhookconfigurations/{name}",
        f"{_ADMISSION}/validatingadmissionpolicybindings/{name}",
        f"{_ADMISSION}/validatingadmissionpolicies/{name}",
        f"/api/v1/nodes/gone-{place.namespace}",
    ):
        try:
            place.api.request("DELETE", path)
        except ApiError as error:
            if error.code != 404:
                raise
    for kind in ("VirtualMachine", "VirtualMachineInstance"):
        item = place.api.get(KINDS[kind], place.namespace, NAME)
        if item is not None and "example.com/hold" in (item["metadata"].get("finalizers") or ()):
            kept = [name for name in item["metadata"]["finalizers"] if name != "example.com/hold"]
            path = KINDS[kind].path(place.namespace, NAME)
            patch = {"metadata": {"finalizers": kept}}
            place.api.request("PATCH", path, body=patch, content_type="application/merge-patch+json")


def put(faults: Sequence[Fault], place: Place) -> None:
    """Creates the VM of a namespace with the faults."""
    vm = healthy()
    for fault in faults:
        fault.declare(vm, place)
    place.create("kubevirt.io/v1", "virtualmachines", "VirtualMachine", vm)
    for fault in faults:
        if fault.running:
            wait_until(lambda: (place.vm.get("status") or {}).get("ready"))
        fault.follow(place)
