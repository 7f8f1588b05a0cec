"""A cluster with random VMs that is upgraded: what upgrade_info says before, beside what is seen after."""

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kubernetes import client, config, dynamic
from kubernetes.utils.quantity import parse_quantity

from modules_support import Task, by_name
from plugins.module_utils._resolver.api.tree import differences
from plugins.module_utils._resolver.kubevirt.vm.vmi import guest_figures

Manifest = dict[str, Any]

NAMESPACE = "fleet"
_TYPES = "instancetype.kubevirt.io/v1beta1"
_MERGE = "application/merge-patch+json"
_TOPOLOGIES = ("sockets", "cores", "threads", "spread", "any", "preferSockets", "preferSpread", "preferCores")


def _some(chance: random.Random, *entries: tuple[float, str, Any]) -> Manifest:
    """Entries taken by chance, nested by the dots of their paths."""
    made: Manifest = {}
    for share, path, value in entries:
        if chance.random() < share:
            *above, last = path.split(".")
            inside = made
            for name in above:
                inside = inside.setdefault(name, {})
            inside[last] = value
    return made


def _instancetype(chance: random.Random) -> Manifest:
    dedicated = chance.random() < 0.2
    more = _some(
        chance,
        (0.3, "memory.overcommitPercent", chance.choice((10, 25))),
        (0.2, "memory.maxGuest", "64Gi"),
        (0.2, "cpu.maxSockets", 32),
        (0.2, "cpu.model", "host-model"),
        (0.2, "ioThreadsPolicy", chance.choice(("shared", "auto"))),
        (0.2, "annotations", {"size": "some"}),
        (0.2, "nodeSelector", {"zone": "a"}),
        (0.2, "launchSecurity", {"sev": {}}),
        (0.2, "schedulerName", "other"),
    )
    cpu = {"guest": chance.choice((1, 2, 3, 4, 8)), "dedicatedCPUPlacement": dedicated, **more.pop("cpu", {})}
    memory = {"guest": chance.choice(("1Gi", "2000Mi", "4Gi")), **more.pop("memory", {})}
    return {"cpu": cpu, "memory": memory, **more}


def _preference(chance: random.Random) -> Manifest:
    return _some(
        chance,
        (0.6, "cpu.preferredCPUTopology", chance.choice(_TOPOLOGIES)),
        (0.2, "cpu.spreadOptions", {"across": "CoresThreads", "ratio": 2}),
        (0.3, "devices.preferredDiskBus", chance.choice(("virtio", "sata"))),
        (0.2, "devices.preferredDiskDedicatedIoThread", True),
        (0.3, "devices.preferredInterfaceModel", "e1000e"),
        (0.2, "devices.preferredInterfaceMasquerade", {}),
        (0.2, "devices.preferredRng", {}),
        (0.3, "devices.preferredPanicDeviceModel", "hyperv"),
        (0.2, "devices.preferredVideoType", "virtio"),
        (0.2, "devices.preferredAutoattachInputDevice", True),
        (0.2, "firmware.preferredUseEfi", True),
        (0.2, "firmware.preferredUseBios", True),
        (0.3, "machine.preferredMachineType", chance.choice(("", "q35"))),
        (0.2, "features.preferredAcpi", {}),
        (0.2, "clock.preferredClockOffset", {"utc": {}}),
        (0.2, "preferredTerminationGracePeriodSeconds", 60),
        (0.2, "preferredArchitecture", "amd64"),
        (0.2, "requirements.memory.guest", "1Gi"),
        (0.2, "requirements.cpu.guest", 1),
    )


def _vm(chance: random.Random, number: int, sizes: int, preferences: int) -> Manifest:
    spec = _some(
        chance,
        (0.2, "domain.devices.rng", {}),
        (0.2, "domain.devices.panicDevices", [{}]),
        (0.2, "domain.devices.tpm", {}),
        (0.2, "domain.devices.disks", [{"name": "root", "disk": {}}]),
        (0.2, "domain.devices.autoattachPodInterface", False),
        (0.2, "domain.firmware.bootloader", {"efi": {"secureBoot": False}}),
        (0.2, "domain.machine", {"type": "q35"}),
        (0.2, "evictionStrategy", "None"),
        (0.2, "terminationGracePeriodSeconds", 30),
    )
    spec.setdefault("domain", {}).setdefault("devices", {})
    spec["volumes"] = [{"name": "root", "containerDisk": {"image": "registry.example.com/disk:1"}}]
    made: Manifest = {"runStrategy": chance.choice(("Always", "Always", "Halted")), "template": {"spec": spec}}
    if chance.random() < 0.75:
        made["instancetype"] = {"name": f"size-{chance.randrange(sizes)}", "kind": "VirtualMachineInstancetype"}
    else:
        spec["domain"]["cpu"] = {"cores": chance.choice((1, 2)), "sockets": 2}
        spec["domain"]["memory"] = {"guest": "1Gi"}
    if chance.random() < 0.7:
        made["preference"] = {"name": f"linux-{chance.randrange(preferences)}", "kind": "VirtualMachinePreference"}
    if "instancetype" in made and chance.random() < 0.1:
        spec["domain"]["memory"] = {"maxGuest": "32Gi"}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": f"vm-{number:03}"},
        "spec": made,
    }


TEMPLATES = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "virtualmachinetemplates.template.kubevirt.io"},
    "spec": {
        "group": "template.kubevirt.io",
        "scope": "Namespaced",
        "names": {"kind": "VirtualMachineTemplate", "plural": "virtualmachinetemplates"},
        "versions": [
            {
                "name": "v1beta1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


class Cluster:
    """A cluster by its kubeconfig, whatever release runs there now."""

    def __init__(self, kubeconfig: Path, quiet: float = 1.5) -> None:
        """quiet: after how many seconds without a change nothing more is expected."""
        self._kubeconfig, self._quiet = kubeconfig, quiet
        self.run = Task(kubeconfig, NAMESPACE)
        # VMs that were changed after the start of their guests.
        self.changed: set[str] = set()

    def create(self, count: int, seed: int, chance_of_change: float = 0.15) -> None:
        """Creates so many VMs that the cluster accepts. Some running ones are changed after their start."""
        chance = random.Random(seed)
        sizes, preferences = max(4, count // 6), max(4, count // 6)
        with config.new_client_from_config(str(self._kubeconfig)) as connection:
            api = dynamic.DynamicClient(connection)
            client.CoreV1Api(connection).create_namespace({"metadata": {"name": NAMESPACE}})
            for kind, name, made in (
                *(("VirtualMachineInstancetype", f"size-{n}", _instancetype(chance)) for n in range(sizes)),
                *(("VirtualMachinePreference", f"linux-{n}", _preference(chance)) for n in range(preferences)),
            ):
                manifest = {"apiVersion": _TYPES, "kind": kind, "metadata": {"name": name}, "spec": made}
                self._create(api, manifest)
            accepted, number = 0, 0
            while accepted < count:
                accepted += self._create(api, _vm(chance, number, sizes, preferences))
                number += 1
        self.settle()
        for name, vm in self.vms().items():
            if chance.random() < chance_of_change and vm["spec"]["runStrategy"] == "Always":
                self.changed.add(name)
                own = vm["spec"]["template"]["spec"]["domain"].get("cpu")
                change = {"domain": {"cpu": {"sockets": 3}}} if own else {"terminationGracePeriodSeconds": 17}
                self.patch(name, {"spec": {"template": {"spec": change}}})
        self.settle()

    @staticmethod
    def _create(api: Any, manifest: Manifest) -> bool:
        """Whether the API accepts the object; the releases differ in that."""
        resource = api.resources.get(api_version=manifest["apiVersion"], kind=manifest["kind"])
        try:
            resource.create(manifest, namespace=NAMESPACE)
        except dynamic.exceptions.DynamicApiError as error:
            assert error.status in (400, 422, 500), error
            return False
        return True

    def create_templates(self, count: int, seed: int) -> None:
        """Templates of random VMs, which get the sizes and preferences of `create`."""
        chance = random.Random(seed)
        with config.new_client_from_config(str(self._kubeconfig)) as connection:
            try:
                client.ApiextensionsV1Api(connection).create_custom_resource_definition(TEMPLATES)
            except client.ApiException as error:
                assert error.status == 409, error  # this release has them
            custom = client.CustomObjectsApi(connection)
            deadline = time.monotonic() + 60
            for number in range(count):
                vm = _vm(chance, number, 4, 4)
                vm["metadata"]["name"] = "${NAME}"
                body = {
                    "apiVersion": "template.kubevirt.io/v1beta1",
                    "kind": "VirtualMachineTemplate",
                    "metadata": {"name": f"plan-{number}"},
                    "spec": {"virtualMachine": vm, "parameters": [{"name": "NAME", "required": True}]},
                }
                while True:
                    try:
                        custom.create_namespaced_custom_object(
                            "template.kubevirt.io", "v1beta1", NAMESPACE, "virtualmachinetemplates", body
                        )
                        break
                    except client.ApiException as error:
                        # The API server serves a new kind after a moment.
                        assert error.status == 404 and time.monotonic() < deadline, error
                        time.sleep(0.2)

    def create_of_template(self, name: str) -> bool:
        """Whether the API accepts the VM of a template, which then has the template's name."""
        with config.new_client_from_config(str(self._kubeconfig)) as connection:
            template = client.CustomObjectsApi(connection).get_namespaced_custom_object(
                "template.kubevirt.io", "v1beta1", NAMESPACE, "virtualmachinetemplates", name
            )
            vm = template["spec"]["virtualMachine"]
            vm["metadata"]["name"] = name
            vm["spec"]["runStrategy"] = "Always"
            return self._create(dynamic.DynamicClient(connection), vm)

    def limit_memory(self, amount: int) -> None:
        """Gives the namespace a quota, or the quota another limit, and waits until it counts what there is."""
        body = {"metadata": {"name": "team"}, "spec": {"hard": {"requests.memory": str(amount)}}}
        with config.new_client_from_config(str(self._kubeconfig)) as connection:
            core = client.CoreV1Api(connection)
            try:
                core.create_namespaced_resource_quota(NAMESPACE, body)
            except client.ApiException as error:
                assert error.status == 409, error
                core.patch_namespaced_resource_quota("team", NAMESPACE, body)
            deadline = time.monotonic() + 60
            while True:
                status = core.read_namespaced_resource_quota("team", NAMESPACE).status
                if status.used and parse_quantity((status.hard or {}).get("requests.memory", 0)) == amount:
                    return
                assert time.monotonic() < deadline, status
                time.sleep(0.2)

    def _items(self, kind: str) -> dict[str, Manifest]:
        with config.new_client_from_config(str(self._kubeconfig)) as connection:
            custom = client.CustomObjectsApi(connection)
            items = custom.list_namespaced_custom_object("kubevirt.io", "v1", NAMESPACE, kind)["items"]
        return {item["metadata"]["name"]: item for item in items}

    def vms(self) -> dict[str, Manifest]:
        return self._items("virtualmachines")

    def instances(self) -> dict[str, Manifest]:
        """The VMIs that run."""
        return {
            name: item
            for name, item in self._items("virtualmachineinstances").items()
            if (item.get("status") or {}).get("phase") == "Running" and not item["metadata"].get("deletionTimestamp")
        }

    def pods(self) -> dict[str, Manifest]:
        """Requests of the launcher pods by VM, as Kubernetes sums them up."""
        with config.new_client_from_config(str(self._kubeconfig)) as connection:
            pods = client.CoreV1Api(connection).list_namespaced_pod(NAMESPACE).items
        result: dict[str, Manifest] = {}
        for pod in pods:
            if pod.metadata.deletion_timestamp:
                continue
            total = result.setdefault((pod.metadata.annotations or {}).get("kubevirt.io/domain", ""), {})
            sidecars = [item for item in pod.spec.init_containers or [] if item.restart_policy == "Always"]
            for container in (*pod.spec.containers, *sidecars):
                for resource, amount in (container.resources.requests or {}).items():
                    total[resource] = total.get(resource, 0) + parse_quantity(amount)
        return result

    def patch(self, name: str, body: Manifest, **query: Any) -> str:
        """The refusal of the patch, or ""."""
        with config.new_client_from_config(str(self._kubeconfig)) as connection:
            vms = dynamic.DynamicClient(connection).resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
            try:
                vms.patch(name=name, namespace=NAMESPACE, body=body, content_type=_MERGE, **query)
            except dynamic.exceptions.DynamicApiError as error:
                return str(json.loads(error.body)["message"])
        return ""

    def rejected(self, name: str) -> str:
        body = {"metadata": {"annotations": {"anything": "1"}}}
        return self.patch(name, body, query_params=[("dryRun", "All")])

    def settle(self) -> None:
        """Waits until nothing has changed for a while."""
        seen, since, deadline = None, time.monotonic(), time.monotonic() + 300
        while time.monotonic() - since < self._quiet:
            assert time.monotonic() < deadline, "the VMs do not settle"
            now = {
                (kind, name): item["metadata"]["resourceVersion"]
                for kind in ("virtualmachines", "virtualmachineinstances")
                for name, item in self._items(kind).items()
            }
            if now != seen:
                seen, since = now, time.monotonic()
            time.sleep(0.3)

    def restart_all(self) -> None:
        """Every VM that can start has a new guest afterwards."""
        self.patch_each({"spec": {"runStrategy": "Halted"}})
        self.patch_each({"spec": {"runStrategy": "Always"}})

    def patch_each(self, body: Manifest) -> None:
        for name in self.vms():
            self.patch(name, body)
        self.settle()


def has_restart_condition(vm: Manifest) -> bool:
    conditions = (vm.get("status") or {}).get("conditions") or []
    return any(item["type"] == "RestartRequired" and item["status"] == "True" for item in conditions)


def template_mismatches(cluster: Cluster, foreseen: list[Manifest]) -> list[str]:
    """The wrong forecasts for the VMs that templates make. foreseen: `templates` of upgrade_info."""
    wrong = []
    accepted = {item["name"] for item in foreseen if cluster.create_of_template(item["name"])}
    cluster.settle()
    made = cluster.instances()
    for item in foreseen:
        name = item["name"]
        if (name in accepted) == ("refusal" in item):
            wrong.append(f"template {name}: refusal {item.get('refusal')}, accepted: {name in accepted}")
        elif (name in made) != (name in accepted and "problem" not in item):
            wrong.append(f"template {name}: problem {item.get('problem')}, starts: {name in made}")
        elif name in made and guest_figures(made[name]["spec"]) != item["guest_after"]:
            wrong.append(f"template {name}: guest {item['guest_after']}, seen {guest_figures(made[name]['spec'])}")
    return wrong


def over_quota(vms: list[Manifest], pods: dict[str, int], side: str, room: int) -> set[str]:
    """The VMs whose pods have no room when all start in order, those that run first.

    pods: the memory of the pods that there are, by VM. side: pod_before or pod_after.
    """
    over, taken = set(), dict(pods)
    for vm in sorted(vms, key=lambda item: item["name"] not in pods):
        taken.pop(vm["name"], None)
        memory = int(parse_quantity(vm[side]["requests"]["memory"])) if vm[side] else 0
        if memory > room - sum(taken.values()):
            over.add(vm["name"])
        else:
            taken[vm["name"]] = memory
    return over


def mismatches(cluster: Cluster, upgrade: Callable[[], Any], version: str) -> tuple[list[str], dict[str, int]]:
    """The wrong forecasts of upgrade_info, and the number of forecasts of each kind.

    upgrade: brings the cluster to the version.
    """
    foreseen = by_name(cluster.run("upgrade_info", kubevirt_version=version)["virtual_machines"])
    before = cluster.instances()
    upgrade()
    cluster.settle()
    vms = cluster.vms()
    wrong: list[str] = []
    for name, vm in vms.items():
        item = foreseen[name]
        if has_restart_condition(vm) != item["restart_required"]:
            wrong.append(f"{name}: restart_required {item['restart_required']}, seen {vm['status'].get('conditions')}")
        message = cluster.rejected(name)
        if item.get("refusal", "") not in message or bool(message) != bool(item.get("refusal")):
            wrong.append(f"{name}: refusal {item.get('refusal')}, seen {message}")
        if item["pinned"] != any(
            (vm["spec"].get(matcher_field) or {}).get("revisionName")
            for matcher_field in ("instancetype", "preference")
        ):
            wrong.append(f"{name}: pinned {item['pinned']}")
    cluster.restart_all()
    after, pods = cluster.instances(), cluster.pods()
    for name, item in foreseen.items():
        if item.get("refusal"):
            # It cannot even be stopped by its spec.
            continue
        if (name in after) != (not item.get("problem")):
            wrong.append(f"{name}: problem {item.get('problem')}, but starts: {name in after}")
        elif name in after and guest_figures(after[name]["spec"]) != item["guest_after"]:
            wrong.append(f"{name}: guest {item['guest_after']}, seen {guest_figures(after[name]['spec'])}")
        requests = {resource: parse_quantity(text) for resource, text in item["pod_after"].get("requests", {}).items()}
        if name in pods and pods[name] != requests:
            wrong.append(f"{name}: pod {requests}, seen {pods[name]}")
        if name in before and name in after and name not in cluster.changed:
            seen = differences(before[name]["spec"], after[name]["spec"])
            if seen != item["changes"]:
                wrong.append(f"{name}: changes {item['changes']}, seen {seen}")
    figures = {
        "vms": len(foreseen),
        "running": len(before),
        "pods": len(pods),
        "changed before": len(cluster.changed),
        "with changes": sum(bool(item["changes"]) for item in foreseen.values()),
        "restart required": sum(item["restart_required"] for item in foreseen.values()),
        "rejected": sum("refusal" in item for item in foreseen.values()),
        "cannot start": sum("problem" in item for item in foreseen.values()),
        "pinned": sum(item["pinned"] for item in foreseen.values()),
    }
    return wrong, figures
