"""Each recipe of docs/recipes.md does what its last sentence says, on a local cluster."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import played

from documented import CHECKOUT
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api import write
from plugins.module_utils._resolver.api.kinds import KINDS
from plugins.module_utils._resolver.kubevirt.vm.vmi import guest_figures
from plugins.plugin_utils._catalog_files import builtin

sys.path.append(str(Path(__file__).parents[1] / "modules"))

from waiting import wait_until

from modules_support import Task

pytestmark = [
    pytest.mark.own_cluster,
    pytest.mark.nightly("the options of each recipe are checked each day, as those of all examples"),
]

Manifest = dict[str, Any]
VM, VMI, PRESET = KINDS["VirtualMachine"], KINDS["VirtualMachineInstance"], "virtualmachineinstancepresets"
NODES = [{"name": "node01", "cpu": 32, "memory": "64Gi", "devices": {"nvidia.com/A30": 1}}]
MATCHERS = {"instancetype": "desk", "preference": "windows.10"}
DISK = "quay.io/containerdisks/fedora:latest"


def _recipes() -> Iterator[tuple[str, list[list[Manifest]]]]:
    """The titles of the recipes, with the tasks of their first block."""
    page = (CHECKOUT / "docs" / "recipes.md").read_text(encoding="utf-8")
    for section in page.split("\n## ")[1:]:
        title, _newline, text = section.partition("\n")
        yield title, yaml.safe_load(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0])


RECIPES = dict(_recipes())


class Place:
    """The cluster, and Ansible with a playbook of a recipe."""

    def __init__(self, kubeconfig: str, folder: Path) -> None:
        self.kubeconfig, self._folder = kubeconfig, folder
        self.session = Session({"kubeconfig": kubeconfig, "retry_timeout": 30})
        self.run = Task(kubeconfig)

    def play(self, title: str) -> str:
        return self.ansible([{"hosts": "localhost", "gather_facts": False, "tasks": RECIPES[title]}])

    def ansible(self, book: str | list[Manifest], *options: str) -> str:
        return played(self._folder, book, *options, kubeconfig=self.kubeconfig)

    def make(self, api_version: str, kind: str, namespace: str, name: str, plural: str, **content: Any) -> None:
        base = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        body = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **content}
        self.session.request("POST", f"{base}/namespaces/{namespace}/{plural}", body=body)

    def claim(self, namespace: str, name: str) -> None:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        self.make("v1", "PersistentVolumeClaim", namespace, name, "persistentvolumeclaims", spec=spec)

    def vm(self, namespace: str, name: str) -> Manifest:
        return self.session.get(VM, namespace, name) or {}

    def guest(self, namespace: str, name: str) -> Manifest:
        """The VMI once it runs."""

        def runs() -> bool:
            return ((self.session.get(VMI, namespace, name) or {}).get("status") or {}).get("phase") == "Running"

        wait_until(runs)
        return self.session.get(VMI, namespace, name) or {}


@pytest.fixture(scope="module")
def cluster_of_recipes(start_cluster: Callable[..., Manifest]) -> str:
    namespaces = [option for name in ("shop", "office", "lab") for option in ("--namespace", name)]
    return str(start_cluster("--nodes", json.dumps(NODES), *namespaces)["kubeconfig"])


@pytest.fixture
def place(cluster_of_recipes: str, tmp_path: Path) -> Place:
    return Place(cluster_of_recipes, tmp_path)


def test_windows_from_its_iso(place: Place) -> None:
    place.claim("office", "windows-iso")
    place.make("v1", "ConfigMap", "office", "unattend", "configmaps", data={"autounattend.xml": "<unattend/>"})
    place.play("Windows from its ISO")
    spec = place.guest("office", "windows")["spec"]["domain"]
    assert spec["firmware"]["bootloader"]["efi"]["secureBoot"] and "tpm" in spec["devices"]
    assert spec["features"]["hyperv"]
    disks = {disk["name"]: disk for disk in spec["devices"]["disks"]}
    assert (disks["root"]["bootOrder"], disks["iso"]["bootOrder"]) == (1, 2)
    assert disks["root"]["disk"]["bus"] == "virtio" and disks["drivers"]["cdrom"] and disks["sysprepdisk"]


def test_windows_desktops_lose_cpu_hot_plug(place: Place) -> None:
    """A larger size is plugged in before, and takes a restart after the refresh."""
    place.run("catalog", version="v1.7.0", definitions=builtin(), namespaces=["office"], preferences=["windows.10"])
    size = {"namespace": "office", "memory": {"guest": "4Gi"}}
    for name, cpus in (("desk", 2), ("desk-larger", 4)):
        place.run("instancetype", name=name, cpu={"guest": cpus}, **size)
    own = {name: {"name": of, "kind": f"VirtualMachine{name.capitalize()}"} for name, of in MATCHERS.items()}
    volumes = [{"name": "root", "container_disk": DISK}]
    place.run("virtual_machine", name="desktop", namespace="office", volumes=volumes, wait=True, **own)
    larger = {"namespace": "office", "names": ["desktop"], "state": "moved", "replace": {"desk": "desk-larger"}}

    def needs() -> str:
        return str(place.run("controller_revision", **larger, check=True)["results"][0]["needs"])

    assert needs() == "live_update"
    said = place.play("Windows desktops lose CPU hot-plug")
    for text in ("desktop: 2 sockets become 2 cores, needs restart", "msg: desktop"):
        assert text in said.replace('"', ""), said
    book = "virtshape.instancetypes.refresh_revisions"
    variables = {"namespaces": "office", "canary": "1", "batch_size": "10%", "rollback": "true"}
    place.ansible(book, *(f"-erevision_refresh_{name}={value}" for name, value in variables.items()))
    cpu = place.guest("office", "desktop")["spec"]["domain"]["cpu"]
    assert (cpu["sockets"], cpu["cores"]) == (1, 2)
    assert needs() == "restart"


def test_vm_gets_a_gpu(place: Place) -> None:
    # The node has one GPU, which another VM has at first.
    size = {"kind": "VirtualMachineInstancetype", "name": "other"}
    gpu = {"name": "gpu", "device_name": "nvidia.com/A30"}
    memory = {"guest": "1Gi"}
    place.run("instancetype", name="other", namespace="lab", cpu={"guest": 1}, memory=memory, gpus=[gpu])
    other = {"name": "other", "namespace": "lab"}
    place.run(
        "virtual_machine", **other, instancetype=size, volumes=[{"name": "root", "container_disk": DISK}], wait=True
    )
    said = place.play("A GPU")
    assert "node01 lacks 1 nvidia.com/A30" in said, said
    place.run("virtual_machine", **other, state="absent")
    assert place.guest("lab", "training")["spec"]["domain"]["devices"]["gpus"][0]["deviceName"] == "nvidia.com/A30"


def test_a_static_address(place: Place) -> None:
    config = {"config": '{"cniVersion": "0.3.1", "type": "bridge"}'}
    kind = ("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", "shop", "lan", "network-attachment-definitions")
    place.make(*kind, spec=config)
    place.play("A static address")
    spec = place.vm("shop", "dns")["spec"]["template"]["spec"]
    (interface,) = spec["domain"]["devices"]["interfaces"]
    (cloud_init,) = [item["cloudInitNoCloud"] for item in spec["volumes"] if "cloudInitNoCloud" in item]
    ethernet = yaml.safe_load(cloud_init["networkData"])["ethernets"]["lan"]
    assert ethernet["match"]["macaddress"] == interface["macAddress"]
    assert ethernet["addresses"] == ["192.0.2.53/24"]


def test_ssh_keys_that_change(place: Place) -> None:
    place.make("v1", "Secret", "shop", "team-keys", "secrets", stringData={"key": "ssh-ed25519 AAAA"})
    place.play("SSH keys that change")
    vm = place.vm("shop", "build")
    (credential,) = vm["spec"]["template"]["spec"]["accessCredentials"]
    public = credential["sshPublicKey"]
    assert public["source"]["secret"]["secretName"] == "team-keys"
    assert public["propagationMethod"]["qemuGuestAgent"]["users"] == ["fedora"]
    assert "AAAA" not in json.dumps(vm)


def test_sizes_for_three_teams(place: Place) -> None:
    place.play("Sizes for three teams")
    result = {(item["namespace"], item["name"]) for item in place.run("catalog_info")["instancetypes"]}
    assert {("shop", "web"), ("office", "desktop"), ("lab", "test")} <= result


def test_from_presets(place: Place) -> None:
    (task,) = RECIPES["From VirtualMachineInstancePresets"]
    place.make("kubevirt.io/v1", "VirtualMachineInstancePreset", "lab", "small", PRESET, **task["vars"]["preset"])
    volumes = [{"name": "root", "containerDisk": {"image": DISK}}]
    template = {
        "metadata": {"labels": {"size": "small"}},
        "spec": {"domain": {"devices": {}}, "volumes": volumes},
    }
    spec = {"runStrategy": "Always", "template": template}
    place.make(VM.api_version, VM.kind, "lab", "preset", VM.plural, spec=spec)
    place.play("From VirtualMachineInstancePresets")
    labelled, former = (place.guest("lab", name)["spec"] for name in ("preset", "former-preset"))
    assert guest_figures(former) == guest_figures(labelled) and guest_figures(former)["cores"] == 2
    assert former["domain"]["ioThreadsPolicy"] == labelled["domain"]["ioThreadsPolicy"] == "shared"


def test_from_openshift_templates(place: Place) -> None:
    cpu = {"sockets": 1, "cores": 1, "threads": 1}
    labels = {"vm.kubevirt.io/template": "fedora-server-small"}
    volumes = [{"name": "root", "container_disk": DISK}]
    old = {"name": "from-template", "namespace": "lab", "labels": labels, "cpu": cpu, "memory": "2Gi"}
    place.run("virtual_machine", **old, volumes=volumes, preference="fedora", wait=True)
    before = place.guest("lab", "from-template")
    place.play("From OpenShift Templates")
    assert place.vm("lab", "from-template")["spec"]["instancetype"]["name"] == "u1.small"
    assert place.guest("lab", "from-template")["metadata"]["uid"] == before["metadata"]["uid"]


def test_from_openstack_flavors(place: Place) -> None:
    place.play("From OpenStack flavors")
    kind = KINDS["VirtualMachineClusterInstancetype"]
    specs = {name: (place.session.get(kind, None, name) or {})["spec"] for name in ("os.m1.small", "os.m1.large")}
    assert {name: (spec["cpu"]["guest"], spec["memory"]["guest"]) for name, spec in specs.items()} == {
        "os.m1.small": (1, "2Gi"),
        "os.m1.large": (4, "8Gi"),
    }


def test_one_vcpu_becomes_two(place: Place) -> None:
    page = (CHECKOUT / "docs" / "recipes.md").read_text(encoding="utf-8")
    output = re.findall(r"```console\n(.*?)```", page.partition("## One vCPU becomes two")[2], re.DOTALL)[0]
    printed = place.play("One vCPU becomes two")
    # The callback of the tests writes YAML.
    messages = [line.partition(": ")[2].strip('"') for line in output.splitlines()]
    found = [message for message in messages if message in printed]
    assert found == messages, printed


def test_argo_cd_beside_ansible(place: Place) -> None:
    size = {"namespace": "shop", "name": "argo", "cpu": {"guest": 1}}
    place.run("instancetype", **size, memory={"guest": "1Gi"})
    template = {"spec": {"domain": {"devices": {}}, "volumes": [{"name": "root", "containerDisk": {"image": DISK}}]}}
    manifest = {
        "apiVersion": VM.api_version,
        "kind": VM.kind,
        "metadata": {
            "name": "web-argo",
            "namespace": "shop",
            "labels": {"app.kubernetes.io/instance": "shop"},
        },
        "spec": {
            "runStrategy": "Always",
            "instancetype": {"name": "argo", "kind": "VirtualMachineInstancetype"},
            "template": template,
        },
    }
    git = write.apply(VM.path("shop", "web-argo"), manifest, "argocd-controller")
    place.session.write(git)
    place.guest("shop", "web-argo")
    place.run("instancetype", **size, memory={"guest": "2Gi"})
    place.play("Argo CD alongside Ansible")
    assert place.guest("shop", "web-argo")["spec"]["domain"]["memory"]["guest"] == "2Gi"
    # Argo CD's next synchronization neither conflicts nor takes the annotation away.
    place.session.write(git)
    assert place.vm("shop", "web-argo")["metadata"]["annotations"]["backup"] == "nightly"
    refused = place.run.refused("virtual_machine", namespace="shop", name="web-argo", instancetype="u1.small")
    assert '"argocd-controller" owns spec.instancetype' in refused["msg"]
