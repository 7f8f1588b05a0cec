"""Guests that QEMU boots beside the real control plane: how they are reached, and what becomes of their VMs."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from guest_images import guest_image
from waiting import wait_until

from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS

sys.path.append(str(Path(__file__).parents[1] / "modules"))

from modules_support import execute

pytestmark = pytest.mark.own_cluster

Facts = dict[str, Any]
VM = KINDS["VirtualMachine"]
VMI = KINDS["VirtualMachineInstance"]
IMAGE = "quay.io/containerdisks/debian:13"
UNKNOWN = "quay.io/containerdisks/fedora:42"
DATA = "/var/lib/kept"
MAC = "02:00:00:00:00:17"


WEB = {
    "boot": {"url": f"docker://{IMAGE}", "size": "2Gi"},
    "networks": [{"ports": [{"port": 22}]}],
    "run_strategy": "Always",
}


class Local(NamedTuple):
    """A cluster with guests, and the key that opens them."""

    kubeconfig: str
    folder: Path
    key: Path

    def run(self, module: str, **options: Any) -> Facts:
        result = execute(module, {"kubeconfig": self.kubeconfig, "namespace": "shop", **options})
        assert not result.get("failed"), result["msg"]
        return result

    def declare(self, name: str, **options: Any) -> Facts:
        login = {"user": "admin", "ssh_keys": [self.key.with_suffix(".pub").read_text()]}
        given = {"cpu": {"sockets": 1}, "memory": "1Gi", "cloud_init": login, "wait": True, "wait_timeout": 300}
        return self.run("virtual_machine", name=name, **{**given, **options})

    def info(self, name: str) -> Facts:
        (vm,) = self.run("virtual_machine_info", name=name)["virtual_machines"]
        return dict(vm)

    def vmi(self, name: str) -> Facts:
        session = Session({"kubeconfig": self.kubeconfig, "retry_timeout": 30})
        return session.get(VMI, "shop", name) or {"metadata": {"uid": ""}, "status": {}}

    def power(self, state: str, **options: Any) -> None:
        self.run("virtual_machine_power", names=["web"], state=state, wait=True, wait_timeout=300, **options)

    def agent_is_there(self, name: str = "web") -> bool:
        conditions = self.vmi(name)["status"].get("conditions") or []
        return any(entry["type"] == "AgentConnected" for entry in conditions)

    def ssh(self, name: str, command: str) -> str:
        """What a command prints in the guest, once its SSH server lets one in."""
        address = self.info(name)["vmi"]["ssh"]
        options = {"StrictHostKeyChecking": "no", "UserKnownHostsFile": "/dev/null", "ConnectTimeout": 20}
        settings = [part for option, value in options.items() for part in ("-o", f"{option}={value}")]
        login = ["-i", str(self.key), "-p", str(address["port"]), f"admin@{address['host']}"]

        def answer() -> subprocess.CompletedProcess[str] | None:
            done = subprocess.run(
                ["ssh", "-q", "-o", "BatchMode=yes", *settings, *login, command],
                capture_output=True,
                text=True,
                check=False,
            )
            return done if done.returncode != 255 else None

        done = wait_until(answer, 300, 1)
        assert done.returncode == 0, done.stderr
        return str(done.stdout.strip())

    def record(self, name: str) -> Path:
        return self.folder / "run" / "guests" / self.vmi(name)["metadata"]["uid"] / "qemu.json"


@pytest.fixture(scope="module")
def local(start_cluster: Callable[..., dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Local:
    image = guest_image()
    for program in ("ssh", "xorrisofs"):
        if shutil.which(program) is None:
            pytest.skip(f"guests need {program}")
    key = tmp_path_factory.mktemp("key") / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    images = f'{{"quay.io/containerdisks/debian:*": {image}}}'
    started = start_cluster("--guests", "qemu", "--images", images, "--namespace", "shop")
    return Local(started["kubeconfig"], Path(started["kubeconfig"]).parent, key)


@pytest.fixture(scope="module")
def web(local: Local) -> Local:
    """The cluster with a VM that keeps its disk."""
    local.declare("web", **WEB)
    wait_until(local.agent_is_there)
    return local


def test_guest_of_the_declared_vm_is_reached(web: Local) -> None:
    assert web.ssh("web", "hostname; cat /sys/class/net/e*/address").split() == [
        "web",
        web.vmi("web")["status"]["interfaces"][0]["mac"],
    ]
    status = web.vmi("web")["status"]
    assert status["guestOSInfo"]["id"] == "debian"
    assert "guest-agent" in status["interfaces"][0]["infoSource"]


def test_paused_guest_stands_still(web: Local) -> None:
    web.power("paused")
    assert web.info("web")["status"] == "Paused"
    web.power("unpaused")
    assert web.ssh("web", "echo awake") == "awake"


def test_soft_reboot_starts_the_same_vmi_again(web: Local) -> None:
    before, boot = web.vmi("web")["metadata"]["uid"], web.ssh("web", "cat /proc/sys/kernel/random/boot_id")
    web.power("soft_rebooted")
    wait_until(lambda: web.ssh("web", "cat /proc/sys/kernel/random/boot_id") != boot, 300, 1)
    assert web.vmi("web")["metadata"]["uid"] == before


def test_plugged_disk_arrives_and_leaves(web: Local) -> None:
    def sizes() -> list[str]:
        return web.ssh("web", "cat /sys/block/[sv]d*/size").split()

    sectors = str(64 * 2**20 // 512)
    assert sectors not in sizes()
    resources = {"requests": {"storage": "64Mi"}}
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources}}
    session = Session({"kubeconfig": web.kubeconfig, "retry_timeout": 30})
    session.request("POST", "/api/v1/namespaces/shop/persistentvolumeclaims", body=claim)
    data = {"name": "data", "persistent_volume_claim": "data", "bus": "virtio", "hotpluggable": True}
    web.declare("web", **WEB, volumes=[data])
    wait_until(lambda: sectors in sizes(), 300, 1)
    web.declare("web", **WEB, volumes=[])
    wait_until(lambda: sectors not in sizes(), 300, 1)


def test_cpus_memory_and_nics_arrive_in_the_guest(web: Local) -> None:
    def memory() -> int:
        return int(web.ssh("web", "awk '/MemTotal/ {print $2}' /proc/meminfo"))

    def nics() -> str:
        return web.ssh("web", "cat /sys/class/net/*/address")

    network = "k8s.cni.cncf.io/v1/namespaces/shop/network-attachment-definitions"
    spec = {"config": json.dumps({"cniVersion": "1.0.0", "type": "bridge"})}
    body = {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": {"name": "lan"}}
    session = Session({"kubeconfig": web.kubeconfig, "retry_timeout": 30})
    session.request("POST", f"/apis/{network}", body={**body, "spec": spec})
    uid, before = web.vmi("web")["metadata"]["uid"], memory()
    lan = {"name": "lan", "multus": "lan", "mac_address": MAC}
    web.declare("web", **{**WEB, "networks": [*WEB["networks"], lan]}, cpu={"sockets": 2}, memory="2Gi")
    wait_until(lambda: memory() > before + 900 * 1024, 300, 1)
    wait_until(lambda: MAC in nics(), 300, 1)
    # Linux plugs no CPU where it does not know the hypervisor, such as QEMU without KVM: it only notes the offer.
    cpus = "[ $(nproc) = 2 ] || sudo dmesg | grep -q 'Unable to map lapic to logical cpu'"
    wait_until(lambda: web.ssh("web", f"{cpus} && echo offered || echo waiting") == "offered", 300, 1)
    wait_until(lambda: web.vmi("web")["status"]["memory"]["guestCurrent"] == "2Gi", 60, 1)
    assert web.vmi("web")["metadata"]["uid"] == uid
    vm = session.get(VM, "shop", "web") or {}
    vm["spec"]["template"]["spec"]["domain"]["devices"]["interfaces"][-1]["state"] = "absent"
    session.request("PUT", VM.path("shop", "web"), body=vm)
    wait_until(lambda: MAC not in nics(), 300, 1)


def test_data_and_port_outlive_a_restart(web: Local) -> None:
    web.ssh("web", f"sudo sh -c {shlex.quote(f'echo kept > {DATA}; sync')}")
    before = web.info("web")["vmi"]
    wait_until(web.agent_is_there)
    web.power("restarted")
    after = web.info("web")["vmi"]
    assert after["uid"] != before["uid"] and after["ssh"] == before["ssh"]
    assert web.ssh("web", f"cat {DATA}") == "kept"


def test_crashed_guest_is_started_again(web: Local) -> None:
    before = web.vmi("web")["metadata"]["uid"]
    os.kill(_pid(web.record("web")), signal.SIGKILL)
    wait_until(lambda: web.vmi("web")["metadata"]["uid"] not in ("", before))
    wait_until(lambda: web.info("web")["status"] == "Running")


def test_stopped_guest_shuts_itself_down(web: Local) -> None:
    wait_until(web.agent_is_there)
    pid = _pid(web.record("web"))
    web.power("stopped")
    assert web.info("web")["status"] == "Stopped" and not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(("efi", "state"), [({"secureBoot": False}, "disabled"), ({}, "enabled")])
def test_guest_boots_by_efi(web: Local, efi: Facts, state: str) -> None:
    """Secure boot is KubeVirt's default."""
    domain = {"firmware": {"bootloader": {"efi": efi}}, "features": {"smm": {"enabled": True}}}
    web.declare("web", **WEB, template={"spec": {"domain": domain}}, restart="if_required")
    if "ssh" not in web.info("web")["vmi"]:
        pytest.skip(web.info("web")["vmi"]["simulated_because"])
    assert web.ssh("web", "sudo dmesg | grep -o 'Secure boot .*'") == f"Secure boot {state}"


def test_vm_without_known_image_is_simulated(local: Local) -> None:
    local.declare("other", boot={"container_disk": UNKNOWN})
    vmi = local.info("other")["vmi"]
    assert vmi["simulated_because"] == f"no entry of local_cluster_images matches {UNKNOWN}"
    assert "ssh" not in vmi and local.agent_is_there("other")


def test_console_shows_the_boot_of_the_guest(web: Local) -> None:
    web.power("started")
    log = web.record("web").parent / "console.log"
    wait_until(lambda: "login" in log.read_text(errors="replace"))


def test_end_of_the_cluster_ends_its_guests(web: Local, launch: Callable[..., Any]) -> None:
    pid = _pid(web.record("web"))
    launch("stop", "--dir", str(web.folder))
    assert not Path(f"/proc/{pid}").exists()


def _pid(record: Path) -> int:
    return int(json.loads(record.read_text())["pid"])
