"""What `cloud_init` of `virtual_machine` does in a guest: the minimal one each day, cloud-init itself at night."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ansible_environment import played
from guest_images import guest_image
from guest_logins import NAMESPACE, Logins
from kubernetes import client, config

pytestmark = pytest.mark.own_cluster

PASSWORD = 'it\'s "a" pass#word: \\'
OTHER_PASSWORD = "another"
MAC = "02:00:00:00:00:07"
OTHER_MAC = "02:00:00:00:00:08"
USER_DATA = """\
#cloud-config
hostname: named
fqdn: named.example.org
groups: [shop]
users:
  - default
  - name: ada
    gecos: Ada of the shop
    groups: [shop]
    shell: /bin/sh
    lock_passwd: false
    sudo: "ALL=(ALL) NOPASSWD:ALL"
    ssh_authorized_keys: ["KEY"]
chpasswd:
  expire: false
  users: [{name: ada, password: another, type: text}]
write_files:
  - {path: /etc/shop/plain, content: "two\\nlines\\n", permissions: "0640", owner: "root:shop"}
  - {path: /etc/shop/encoded, content: AP8=, encoding: b64}
  - {path: /etc/shop/plain, content: "more\\n", append: true, owner: "root:shop", permissions: "0640"}
runcmd:
  - [sh, -c, 'echo "$0" >/etc/shop/listed', "a  b"]
  - echo done >/etc/shop/text
"""
NETWORK_DATA = f"""\
version: 2
ethernets:
  lan:
    match: {{macaddress: "{MAC}"}}
    set-name: lan0
    addresses: [10.0.2.2/24, 192.0.2.7/24]
    routes: [{{to: default, via: 10.0.2.1}}]
    nameservers: {{addresses: [192.0.2.53], search: [example.org]}}
"""
OLD_NETWORK_DATA = f"""\
version: 1
config:
  - type: physical
    name: old0
    mac_address: "{OTHER_MAC}"
    subnets: [{{type: static, address: 10.0.2.2/24, gateway: 10.0.2.1}}]
  - {{type: nameserver, address: [192.0.2.54]}}
"""
MINIMAL, DEBIAN = "minimal", "debian"


class Guests(NamedTuple):
    """run: a command in the guest of a VM, as a user. takes_password: of a VM, a user."""

    run: Callable[[str, str, str], str]
    takes_password: Callable[[str, str, str], bool]


@pytest.fixture(
    scope="module",
    params=[MINIMAL, pytest.param(DEBIAN, marks=pytest.mark.nightly("cloud-init itself, which takes minutes"))],
)
def guests(
    request: pytest.FixtureRequest,
    start_cluster: Callable[..., dict[str, Any]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Guests:
    """Four VMs: with generated user data, with data of their own, with a config drive, and with a guest's agent."""
    images = json.dumps({"quay.io/containerdisks/*": str(guest_image(request.param))})
    started = start_cluster("--guests", "qemu", "--images", images, "--namespace", NAMESPACE)
    folder = tmp_path_factory.mktemp("guests")
    logins = Logins(Path(started["kubeconfig"]), folder)
    _declare(folder, logins)
    return Guests(logins.run, logins.takes_password)


def _declare(folder: Path, logins: Logins) -> None:
    (folder / "password").write_text(f"{PASSWORD}\n")
    key = logins.public_key()
    data = USER_DATA.replace("KEY", key)
    encoded, old = (base64.b64encode(text.encode()).decode() for text in ("#cloud-config\n{}\n", OLD_NETWORK_DATA))
    vms = [
        {
            "name": "generated",
            "cloud_init": {"user": "ops", "password_file": str(folder / "password"), "ssh_keys": [key]},
        },
        {
            "name": "given",
            "cloud_init": {"user_data": data, "network_data": NETWORK_DATA},
            "networks": [{"mac_address": MAC}],
        },
        {
            "name": "drive",
            "cloud_init": {"type": "configdrive", "user_data_base64": encoded},
            "access_credentials": [{"secret": "keys", "method": "configdrive"}],
        },
        {
            "name": "agent",
            "cloud_init": {"user": "ops", "network_data_base64": old},
            "networks": [{"mac_address": OTHER_MAC}],
            "access_credentials": [{"secret": "keys", "users": ["ops"]}, {"secret": "passwords", "type": "password"}],
        },
    ]
    secrets = {"keys": {"key": key}, "passwords": {"ops": OTHER_PASSWORD}}
    core = client.CoreV1Api(config.new_client_from_config(str(logins.kubeconfig)))
    for name, values in secrets.items():
        core.create_namespaced_secret(NAMESPACE, {"metadata": {"name": name}, "stringData": values})
    tasks = [
        {
            "virtshape.instancetypes.virtual_machine": {
                "namespace": NAMESPACE,
                "cpu": {"cores": 1},
                "memory": "512Mi",
                "boot": {"container_disk": "quay.io/containerdisks/debian:13"},
                "virtual_machines": vms,
                "wait": True,
            }
        }
    ]
    played(folder, [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}], kubeconfig=logins.kubeconfig)


def test_generated_data_make_user_and_password(guests: Guests) -> None:
    assert guests.run("generated", "ops", "id -un; hostname; sudo -n id -un").split() == ["ops", "generated", "root"]
    assert guests.takes_password("generated", "ops", PASSWORD)
    assert not guests.takes_password("generated", "ops", PASSWORD + "x")
    # No new password is asked for.
    assert guests.run("generated", "ops", "sudo cut -d: -f1,3 /etc/shadow | grep ops:") != "ops:0"


def test_user_data_make_users_and_files(guests: Guests) -> None:
    guests.run("given", "ada", "cloud-init status --wait")
    assert guests.run("given", "ada", "id -Gn; hostname; hostname -f; sudo -n id -un").split() == [
        *("ada", "shop"),
        *("named", "named.example.org", "root"),
    ]
    assert guests.run("given", "ada", "grep ^ada: /etc/passwd | cut -d: -f5,7") == "Ada of the shop:/bin/sh"
    assert guests.takes_password("given", "ada", OTHER_PASSWORD)
    assert guests.run("given", "ada", "cat /etc/shop/plain; stat -c %a:%U:%G /etc/shop/plain").splitlines() == [
        *("two", "lines", "more"),
        "640:root:shop",
    ]
    assert guests.run("given", "ada", "od -An -tx1 /etc/shop/encoded").split() == ["00", "ff"]
    assert guests.run("given", "ada", "cat /etc/shop/listed /etc/shop/text").splitlines() == ["a  b", "done"]


def test_network_data_set_addresses_and_name_servers(guests: Guests) -> None:
    addresses = guests.run("given", "ada", "ip -o -4 addr show dev lan0")
    assert "10.0.2.2/24" in addresses and "192.0.2.7/24" in addresses
    assert guests.run("given", "ada", "ip route show default").startswith("default via 10.0.2.1 dev lan0")
    resolver = "cat /run/systemd/resolve/resolv.conf 2>/dev/null || cat /etc/resolv.conf"
    assert "nameserver 192.0.2.53" in guests.run("given", "ada", resolver)


def test_a_config_drive_is_read_too(guests: Guests) -> None:
    assert guests.run("drive", "debian", "id -un; hostname").split() == ["debian", "drive"]
    # DHCP gave the address.
    assert "10.0.2.2/24" in guests.run("drive", "debian", "ip -o -4 addr show")


def test_agent_brings_keys_and_passwords(guests: Guests) -> None:
    assert guests.run("agent", "ops", "id -un; hostname").split() == ["ops", "agent"]
    assert guests.takes_password("agent", "ops", OTHER_PASSWORD)


def test_network_data_of_version_1_are_read(guests: Guests) -> None:
    assert "10.0.2.2/24" in guests.run("agent", "ops", "ip -o -4 addr show dev old0")
    assert guests.run("agent", "ops", "ip route show default").startswith("default via 10.0.2.1 dev old0")
    resolver = "cat /run/systemd/resolve/resolv.conf 2>/dev/null || cat /etc/resolv.conf"
    assert "nameserver 192.0.2.54" in guests.run("agent", "ops", resolver)
