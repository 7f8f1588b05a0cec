"""Faults that keep a VM from running as declared: how to break it, and the link of the chain that is broken."""

import copy
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
_IN_NO_ZONE = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["nowhere"]}]}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_AFFINITY = {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [_IN_NO_ZONE]}}}
_SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
_SPREAD["labelSelector"] = {"matchLabels": {"app": "web"}}
_BEHAVIOUR = "instancetypes.virtshape.io/simulated-guest"
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

    def patch(self, path: str, patch: Manifest) -> None:
        self.api.request("PATCH", path, body=patch, content_type="application/merge-patch+json")

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


Declare = Callable[[Manifest, Place], None]


def _guest(*path: str, **fields: Any) -> Declare:
    """Sets fields of the guest's spec, or of what is at a path in it."""

    def declare(vm: Manifest, _place: Place) -> None:
        part = guest_of(vm)
        for name in path:
            part = part[name]
        part |= copy.deepcopy(fields)

    return declare


def _with_disk(name: str, **source: Any) -> Declare:
    return lambda vm, _place: _disk(vm, name, source)


def _with_data_volume(name: str, storage_class: str | None = None, **spec: Any) -> Declare:
    return lambda vm, _place: _data_volume(vm, name, spec, storage_class)


def _behaves(behaviour: str) -> Declare:
    """A guest that is simulated otherwise."""
    return lambda vm, _place: vm["spec"]["template"]["metadata"]["annotations"].update({_BEHAVIOUR: behaviour})


def _of_type(name: str, there: Manifest | None = None, **matcher: str) -> Declare:
    """A VM of an instancetype. there: its labels if it is to exist."""

    def declare(vm: Manifest, place: Place) -> None:
        kind = KINDS["VirtualMachineInstancetype"]
        if there is not None:
            spec = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
            body = {"metadata": {"name": name, "labels": there}, "spec": spec}
            place.create(kind.api_version, kind.plural, kind.kind, body)
        del guest_of(vm)["domain"]["memory"]
        vm["spec"]["instancetype"] = {"name": name, "kind": kind.kind, **matcher}

    return declare


def _quota(**hard: str) -> Declare:
    def declare(_vm: Manifest, place: Place) -> None:
        place.create("v1", "resourcequotas", "ResourceQuota", {"metadata": {"name": "team"}, "spec": {"hard": hard}})
        quota = place.path("v1", "resourcequotas", "team")
        wait_until(lambda: (place.api.request("GET", quota).get("status") or {}).get("used"))

    return declare


def _limits(**limit: Any) -> Declare:
    spec = {"limits": [limit]}
    return lambda _vm, place: place.create(
        "v1", "limitranges", "LimitRange", {"metadata": {"name": "team"}, "spec": spec}
    )


def _all(*declares: Declare) -> Declare:
    def declare(vm: Manifest, place: Place) -> None:
        for each in declares:
            each(vm, place)

    return declare


def _patched(patch: Manifest) -> Callable[[Place], None]:
    return lambda place: place.patch(place.vm_path, patch)


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


def _evict(place: Place) -> None:
    """Evicts the pod, as a drain of its node does; KubeVirt denies that, and migrates the guest."""
    [pod] = place.api.request("GET", place.path("v1", "pods"))["items"]
    path = place.path("v1", "pods", f"{pod['metadata']['name']}/eviction")
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod["metadata"]["name"]}}
    try:
        place.api.request("POST", path, body=body, final=(429,))
    except ApiError as error:
        assert "triggered evacuation" in str(error), error


def _missing_preference(vm: Manifest, _place: Place) -> None:
    vm["spec"]["preference"] = {"name": "nowhere", "kind": "VirtualMachinePreference"}


def _held(vm: Manifest, _place: Place) -> None:
    vm["metadata"]["finalizers"] = ["example.com/hold"]


def _missing_network(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["networks"].append({"name": "lan", "multus": {"networkName": "nowhere"}})
    guest_of(vm)["domain"]["devices"]["interfaces"].append({"name": "lan", "bridge": {}})


def _closed_port(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["domain"]["devices"]["interfaces"][0]["ports"] = [{"port": 80}]
    guest_of(vm)["readinessProbe"] = {"tcpSocket": {"port": 22}}
    _behaves("silent")(vm, _place)


def _missing_image(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["volumes"][0]["containerDisk"]["image"] = "registry.invalid/disk:1"


def _missing_copy(vm: Manifest, place: Place) -> None:
    _data_volume(vm, "copy", {"source": {"pvc": {"name": "nowhere", "namespace": place.namespace}}})


def _small_copy(vm: Manifest, place: Place) -> None:
    """A copy that is smaller than its source, which CDI refuses before it creates the claim."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
    place.create("v1", "persistentvolumeclaims", "PersistentVolumeClaim", {"metadata": {"name": "large"}, "spec": spec})
    _data_volume(vm, "small", {"source": {"pvc": {"name": "large", "namespace": place.namespace}}})


def _hold_guest(place: Place) -> None:
    guest = place.path("kubevirt.io/v1", "virtualmachineinstances", NAME)
    place.patch(guest, {"metadata": {"finalizers": ["example.com/hold"]}})
    place.patch(place.vm_path, {"spec": {"runStrategy": "Halted"}})


def _stored_elsewhere(vm: Manifest, place: Place) -> None:
    """A claim whose volume only a node that there is not can reach."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claims = ("v1", "persistentvolumeclaims")
    place.create(*claims, "PersistentVolumeClaim", {"metadata": {"name": "far"}, "spec": spec})
    claim = place.path(*claims, "far")
    wait_until(lambda: place.api.request("GET", claim)["status"].get("phase") == "Bound")
    volume = f"/api/v1/persistentvolumes/{place.api.request('GET', claim)['spec']['volumeName']}"
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["nowhere"]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}
    place.patch(volume, {"spec": {"nodeAffinity": affinity}})
    _disk(vm, "far", {"persistentVolumeClaim": {"claimName": "far"}})


def _unprofiled(vm: Manifest, place: Place) -> None:
    """A disk without access modes, of a StorageClass of which CDI knows none."""
    name = place.namespace
    body = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
    place.api.request(
        "POST",
        "/apis/storage.k8s.io/v1/storageclasses",
        body={**body, "provisioner": "local.instancetypes.virtshape.io"},
    )
    storage = {"resources": {"requests": {"storage": "1Gi"}}, "storageClassName": name}
    template = {"metadata": {"name": f"{NAME}-bare"}, "spec": {"storage": storage, "source": {"blank": {}}}}
    vm["spec"].setdefault("dataVolumeTemplates", []).append(template)
    _disk(vm, "bare", {"dataVolume": {"name": f"{NAME}-bare"}})


def _restricted(_vm: Manifest, place: Place) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    place.patch(f"/api/v1/namespaces/{place.namespace}", {"metadata": {"labels": labels}})


def _own_labels(*, reserved: bool) -> Declare:
    """A VM for nodes with labels that none has, on a node with a taint or not."""

    def declare(vm: Manifest, place: Place) -> None:
        own = {f"{part}-{place.namespace}": "yes" for part in ("rack", "disk")}
        guest_of(vm)["nodeSelector"] = {**own, **({"tier": "reserved"} if reserved else {})}

    return declare


def _cpu(vm: Manifest, _place: Place) -> None:
    guest_of(vm)["domain"]["cpu"] = {"model": "Skylake-Client-v4"}


def _sysprep(**source: Any) -> Declare:
    def declare(vm: Manifest, _place: Place) -> None:
        guest_of(vm)["volumes"].append({"name": "answers", "sysprep": source})
        guest_of(vm)["domain"]["devices"]["disks"].append({"name": "answers", "cdrom": {"bus": "sata"}})

    return declare


def _affine(**rule: Any) -> Declare:
    term = {"labelSelector": {"matchLabels": {"app": "nowhere"}}, "topologyKey": "kubernetes.io/hostname"}
    return _guest(affinity={name: {_REQUIRED: [term]} for name in rule.get("rules", ("podAffinity",))})


def _of(*parts: str) -> frozenset[str]:
    return frozenset(parts)


FAULTS = (
    Fault("missing class", "storage_class", _with_data_volume("classless", "nowhere", source={"blank": {}})),
    Fault("missing claim", "claim", _with_disk("claim", persistentVolumeClaim={"claimName": "nowhere"})),
    Fault("missing type", "instancetype", _of_type("nowhere"), touches=_of("size")),
    Fault("missing preference", "preference", _missing_preference),
    Fault("missing revision", "revision", _of_type("small", {}, revisionName="nowhere"), touches=_of("size")),
    Fault(
        "missing DataSource",
        "data_source",
        _with_data_volume("sourceless", sourceRef={"kind": "DataSource", "name": "nowhere"}),
    ),
    Fault(
        "import that fails",
        "import",
        _with_data_volume("import", source={"http": {"url": "http://127.0.0.1:1/disk.img"}}),
        touches=_of("disks"),
    ),
    Fault("quota", "quota", _quota(**{"requests.memory": "700Mi"}), touches=_of("room")),
    Fault("limit range", "limit_range", _limits(type="Pod", max={"memory": "700Mi"}), touches=_of("room")),
    Fault(
        "GPU that no node has",
        "device",
        _guest("domain", "devices", gpus=[{"name": "gpu", "deviceName": GPU}]),
        nodes=True,
    ),
    Fault("taint", "scheduling", _guest(nodeSelector={"tier": "reserved"}), touches=_of("node"), nodes=True),
    Fault("selector", "scheduling", _guest(nodeSelector={"tier": "nowhere"}), touches=_of("node"), nodes=True),
    Fault("4Mi", "memory", _guest("domain", "memory", guest="4Mi"), touches=_of("size", "room")),
    Fault("wrong network", "network", _missing_network),
    Fault("port of masquerade", "port", _closed_port, touches=_of("guest")),
    Fault("image that cannot be pulled", "image", _missing_image),
    Fault("paused", "paused", _guest(startStrategy="Paused")),
    Fault(
        "RestartRequired",
        "restart",
        follow=_patched({"spec": {"template": {"spec": {"hostname": "renamed"}}}}),
        running=True,
    ),
    Fault("crash loop", "crash", _behaves("crashes"), touches=_of("guest")),
    Fault("finalizer that hangs", "deletion", _held, _delete),
    Fault("webhook down", "webhook", _webhook_down),
    Fault("controller down", "controller", everywhere=True),
    Fault("node gone", "node", _lonely_node, _node_gone, touches=_of("node"), nodes=True),
    Fault("migration stuck", "migration", follow=_migrate, running=True, touches=_of("pods"), nodes=True),
    Fault(
        "obsolete type",
        "obsolete",
        _of_type("old", {"instancetypes.virtshape.io/state": "obsolete"}),
        touches=_of("size"),
    ),
    Fault("policy that denies", "policy", _policy),
)

FURTHER = (
    Fault("missing Secret", "files", _with_disk("init", cloudInitNoCloud={"secretRef": {"name": "nowhere"}})),
    Fault("missing ConfigMap", "files", _with_disk("settings", configMap={"name": "nowhere"})),
    Fault(
        "missing ServiceAccount",
        "prerequisite",
        _with_disk("account", serviceAccount={"serviceAccountName": "nowhere"}),
    ),
    Fault("missing PriorityClass", "prerequisite", _guest(priorityClassName="nowhere")),
    Fault("missing DataVolume", "claim", _with_disk("data", dataVolume={"name": "nowhere"})),
    Fault("missing source of a copy", "import", _missing_copy, touches=_of("disks")),
    Fault("copy that is too small", "import", _small_copy, touches=_of("disks")),
    Fault("quota of pods", "quota", _quota(pods="0")),
    Fault("quota of guests", "quota", _quota(**{"count/virtualmachineinstances.kubevirt.io": "0"})),
    Fault(
        "quota of storage",
        "quota",
        _all(_with_data_volume("big", source={"blank": {}}), _quota(**{"requests.storage": "500Mi"})),
        touches=_of("disks", "room"),
    ),
    Fault("smallest container", "limit_range", _limits(type="Container", min={"memory": "8Gi"})),
    Fault("4Ti", "scheduling", _guest("domain", "memory", guest="4Ti"), touches=_of("size"), nodes=True),
    Fault(
        "hugepages",
        "scheduling",
        _guest("domain", "memory", hugepages={"pageSize": "1Gi"}),
        touches=_of("size"),
        nodes=True,
    ),
    Fault(
        "dedicated CPUs",
        "scheduling",
        _guest("domain", cpu={"cores": 2, "dedicatedCpuPlacement": True}),
        nodes=True,
    ),
    Fault("affinity", "scheduling", _guest(affinity=_AFFINITY), nodes=True),
    Fault("silent agent", "agent", _all(_guest(readinessProbe={"guestAgentPing": {}}), _behaves("silent"))),
    Fault(
        "drain without a target",
        "migration",
        _guest(evictionStrategy="LiveMigrate"),
        _evict,
        running=True,
        touches=_of("pods"),
        nodes=True,
    ),
    Fault("finalizer of a guest", "deletion", follow=_hold_guest, running=True, touches=_of("pods")),
    Fault(
        "clone without the right",
        "clone_right",
        _with_data_volume("foreign", source={"pvc": {"name": "golden", "namespace": "kube-system"}}),
    ),
    Fault("StorageProfile without modes", "storage_class", _unprofiled),
    # The API server says only the first refusal of a pod.
    Fault("restricted namespace", "policy", _restricted, touches=_of("room")),
    Fault("missing answers in a Secret", "files", _sysprep(secret={"name": "answers"})),
    Fault("missing answers in a ConfigMap", "files", _sysprep(configMap={"name": "answers"})),
    Fault(
        "GPU that is not permitted",
        "admission",
        _guest("domain", "devices", gpus=[{"name": "gpu", "deviceName": "example.com/unknown"}]),
    ),
    Fault("scheduler that does not run", "scheduling", _guest(schedulerName="nowhere"), nodes=True),
    Fault("two labels", "scheduling", _own_labels(reserved=False), touches=_of("node"), nodes=True),
    Fault("labels and a taint", "scheduling", _own_labels(reserved=True), touches=_of("node"), nodes=True),
    Fault("missing neighbour", "scheduling", _affine(), touches=_of("affinity"), nodes=True),
    Fault("spread over zones", "scheduling", _guest(topologySpreadConstraints=[_SPREAD]), nodes=True),
    Fault("CPU model", "scheduling", _cpu, nodes=True),
    Fault("machine type", "scheduling", _guest("domain", machine={"type": "pc-q35-rhel6.6.0"}), nodes=True),
    Fault("architecture", "scheduling", _guest(architecture="arm64"), nodes=True),
    Fault("volume of another node", "scheduling", _stored_elsewhere, nodes=True),
    Fault(
        "registry that is not there",
        "import",
        _with_data_volume("pull", source={"registry": {"url": "docker://registry.invalid/disk:1"}}),
        touches=_of("disks"),
    ),
    Fault(
        "import without its Secret",
        "import",
        _with_data_volume("keyed", source={"http": {"url": "http://127.0.0.1:1/a.img", "secretRef": "nowhere"}}),
        touches=_of("disks"),
    ),
    Fault("quota of CPUs", "quota", _quota(**{"limits.cpu": "0", "requests.cpu": "1m"}), touches=_of("room")),
    Fault(
        "quota of claims",
        "quota",
        _all(_with_data_volume("more", source={"blank": {}}), _quota(persistentvolumeclaims="0")),
        touches=_of("disks", "room"),  # no pod is refused before there is the disk
    ),
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
        f"/apis/storage.k8s.io/v1/storageclasses/{place.namespace}",
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
            place.patch(KINDS[kind].path(place.namespace, NAME), {"metadata": {"finalizers": kept}})


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
