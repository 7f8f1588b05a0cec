"""The filter resources computes the pods that virt-controller makes for VMs."""

from collections.abc import Iterable
from typing import Any

import pytest
import yaml
from loaded_filters import FILTERS
from waiting import wait_until

from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._cluster.reads.kubevirt import KUBEVIRT
from plugins.module_utils._resolver.api.kinds import KINDS
from plugins.module_utils._resolver.api.quantity import parse

Manifest = dict[str, Any]
Figures = dict[tuple[str, ...], Any]

OBJECTS = """
- apiVersion: instancetype.kubevirt.io/v1beta1
  kind: VirtualMachineInstancetype
  metadata: {name: shared}
  spec: {cpu: {guest: 3, maxSockets: 6}, memory: {guest: 4Gi, overcommitPercent: 20}}
- apiVersion: instancetype.kubevirt.io/v1beta1
  kind: VirtualMachineInstancetype
  metadata: {name: paged}
  spec: {cpu: {guest: 4, dedicatedCPUPlacement: true}, memory: {guest: 4Gi, hugepages: {pageSize: 1Gi}}}
- apiVersion: instancetype.kubevirt.io/v1beta1
  kind: VirtualMachinePreference
  metadata: {name: windows}
  spec:
    cpu: {preferredCPUTopology: cores}
    devices: {preferredInterfaceModel: e1000e, preferredTPM: {}}
    features: {preferredHyperv: {relaxed: {}, synic: {}, vpindex: {}}, preferredSmm: {}}
    firmware: {preferredEfi: {secureBoot: true}}
    machine: {preferredMachineType: q35}
"""
VMS = """
shared: {instancetype: {name: shared, kind: VirtualMachineInstancetype}}
windows:
  instancetype: {name: shared, kind: VirtualMachineInstancetype}
  preference: {name: windows, kind: VirtualMachinePreference}
  template: {spec: {domain: {ioThreadsPolicy: supplementalPool, ioThreads: {supplementalPoolThreadCount: 2}}}}
paged: {instancetype: {name: paged, kind: VirtualMachineInstancetype}}
alone:
  template:
    spec:
      domain: {cpu: {sockets: 2, threads: 2}, memory: {guest: 3Gi}, resources: {limits: {cpu: "4"}}}
      nodeSelector: {zone: south}
isolated:
  template:
    spec:
      domain:
        cpu: {cores: 8, dedicatedCpuPlacement: true, isolateEmulatorThread: true}
        memory: {hugepages: {pageSize: 1Gi}}
        resources: {limits: {memory: 1Gi}}
"""


def manifest(name: str, spec: Manifest, namespace: str) -> Manifest:
    template = spec.get("template", {"spec": {"domain": {}}})
    template["spec"]["domain"]["devices"] = {}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"runStrategy": "Always", **spec, "template": template},
    }


def figures(containers: Iterable[Manifest], nodes: dict[str, str], quality: str) -> Figures:
    """The figures of a pod by their place in it. containers: with `requests` and `limits`."""
    result: Figures = {("node", label): value for label, value in nodes.items()}
    for item in containers:
        limits = item.get("limits") or {}
        # The API server requests what a container limits.
        parts = {"limits": limits, "requests": {**limits, **(item.get("requests") or {})}}
        for part, quantities in parts.items():
            for resource, quantity in quantities.items():
                result[item["name"], part, resource] = parse(quantity).nanos
    return {**result, ("quality",): quality}


def made(pod: Manifest) -> Figures:
    spec = pod["spec"]
    every = [*spec["containers"], *spec.get("initContainers", ())]
    containers = [{"name": item["name"], **item["resources"]} for item in every]
    return figures(containers, spec["nodeSelector"], pod["status"]["qosClass"])


def foreseen(vm: Manifest, objects: list[Manifest], kubevirt: Manifest) -> Figures:
    pod = FILTERS["resources"](vm, objects=objects, kubevirt=kubevirt)["pod"]
    return figures([*pod["containers"], *pod.get("init_containers", ())], pod["node_selector"], pod["qos_class"])


@pytest.fixture
def objects(session: Session, namespace: str) -> list[Manifest]:
    result: list[Manifest] = yaml.safe_load(OBJECTS)
    for item in result:
        item["metadata"]["namespace"] = namespace
        session.request("POST", KINDS[item["kind"]].path(namespace), None, item)
    return result


def test_pods_are_as_foreseen(session: Session, namespace: str, objects: list[Manifest]) -> None:
    vms = {name: manifest(name, spec, namespace) for name, spec in yaml.safe_load(VMS).items()}
    for vm in vms.values():
        session.request("POST", KINDS["VirtualMachine"].path(namespace), None, vm)
    pods: dict[str, Manifest] = {}

    def complete() -> bool:
        for pod in session.request("GET", f"/api/v1/namespaces/{namespace}/pods")["items"]:
            pods[pod["metadata"]["labels"]["vm.kubevirt.io/name"]] = pod
        return pods.keys() == vms.keys()

    wait_until(complete)
    (kubevirt,) = session.list(KUBEVIRT)
    wrong = {}
    for name, vm in vms.items():
        ours, theirs = foreseen(vm, objects, kubevirt), made(pods[name])
        places = [place for place in {**ours, **theirs} if ours.get(place) != theirs.get(place)]
        wrong.update({(name, *place): (ours.get(place), theirs.get(place)) for place in places})
    assert wrong == {}
