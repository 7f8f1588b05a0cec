"""The way to the cluster is checked, secrets stay where they are, and hostile input has a clear outcome."""

import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import ansible
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from modules_support import ANSIBLE_CORE, Task, by_name, vm

PLUGIN = """#!{python}
import json, os, pathlib
folder = pathlib.Path({folder!r})
seen = [os.environ.copy()]
for process in pathlib.Path("/proc").iterdir():
    try:
        seen.append((process / "cmdline").read_bytes().decode(errors="replace"))
    except OSError:
        pass
(folder / "seen.json").write_text(json.dumps([dict(one) if not isinstance(one, str) else one for one in seen]))
{body}
"""
GIVES = """
token = (folder / "token").read_text()
status = {"token": token}
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}))
"""


@pytest.fixture
def strange_ca(tmp_path: Path) -> Path:
    """The certificate of an authority that vouches for nobody here."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "stranger")])
    now = datetime.now(timezone.utc)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    path = tmp_path / "stranger.crt"
    path.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return path


def test_untrusted_server_certificate(task: Task, cluster: Path, strange_ca: Path) -> None:
    refused = task.refused("virtual_machine_info", ca_cert=str(strange_ca))
    for words in ("cannot verify the certificate of", "certificate verify failed", "set ca_cert"):
        assert words in refused["msg"]
    # To ask again would not help.
    assert "tried" not in refused["msg"]

    kubeconfig = yaml.safe_load(cluster.read_text())
    for entry in kubeconfig["clusters"]:
        entry["cluster"].pop("certificate-authority-data", None)
    unknown = task.refused("virtual_machine_info", kubeconfig=kubeconfig)
    assert "cannot verify the certificate of" in unknown["msg"]
    assert task.vms(kubeconfig=kubeconfig, validate_certs=False) == {}


def test_unusable_certificate_and_key_files(task: Task, tmp_path: Path) -> None:
    junk = tmp_path / "junk.pem"
    junk.write_text("no certificate")
    for options, words in (
        ({"ca_cert": str(tmp_path / "none.pem")}, f"ca_cert {tmp_path}/none.pem: cannot be used: No such file"),
        ({"ca_cert": str(junk)}, f"ca_cert {junk}: cannot be used"),
        (
            {"client_cert": str(junk), "client_key": str(junk)},
            f"client_cert {junk} with client_key {junk}: cannot be",
        ),
    ):
        assert words in task.refused("virtual_machine_info", **options)["msg"]


def plugged(cluster: Path, folder: Path, body: str = GIVES) -> dict[str, Any]:
    """The cluster's kubeconfig with an exec plugin, which notes what it sees of other processes."""
    kubeconfig: dict[str, Any] = yaml.safe_load(cluster.read_text())
    user = kubeconfig["users"][0]["user"]
    if "token" not in user:
        pytest.skip("the cluster's user has no token that a plugin could give")
    (folder / "token").write_text(user["token"])
    plugin = folder / "plugin"
    plugin.write_text(PLUGIN.format(python=sys.executable, folder=str(folder), body=body))
    plugin.chmod(0o700)
    run = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}
    kubeconfig["users"][0]["user"] = {"exec": run}
    return kubeconfig


def test_exec_plugin_supplies_the_token(task: Task, cluster: Path, tmp_path: Path) -> None:
    assert task.vms(kubeconfig=plugged(cluster, tmp_path)) == {}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "import sys; print('login has expired', file=sys.stderr); sys.exit(3)",
            "process returned 3. login has expired",
        ),
        ("print('hello')", "failed to decode process output"),
        ("print(json.dumps({'kind': 'ExecCredential'}))", "missing key"),
    ],
)
def test_failing_exec_plugin_is_reported(task: Task, cluster: Path, tmp_path: Path, body: str, words: str) -> None:
    result = task.refused("virtual_machine_info", kubeconfig=plugged(cluster, tmp_path, body))["msg"]
    assert result.startswith("kubeconfig: the credential plugin returned no credentials: ") and words in result


def test_missing_exec_plugin(task: Task, cluster: Path, tmp_path: Path) -> None:
    kubeconfig = plugged(cluster, tmp_path)
    (tmp_path / "plugin").unlink()
    result = task.refused("virtual_machine_info", kubeconfig=kubeconfig)["msg"]
    assert "the credential plugin returned no credentials" in result and "No such file" in result


@pytest.fixture
def left() -> Iterator[Path]:
    """A folder for temporary files. ansible-core 2.21 has a socket there, whose path may have 107 bytes."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def test_secrets_are_hidden(cluster: Path, namespace: str, tmp_path: Path, left: Path) -> None:
    spy = tmp_path / "spy"
    spy.mkdir()
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(plugged(cluster, spy)))
    token = (spy / "token").read_text()
    secrets = {"password": "pass-7391-word", "user data": "data-5520-user", "token": token}
    task = {
        "kubeconfig": str(kubeconfig),
        "namespace": namespace,
        "name": "web",
        "run_strategy": "Halted",
        "volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}],
        "cloud_init": {"user": "me", "password": secrets["password"]},
        "template": {"spec": {"volumes": [{"name": "x", "cloudInitConfigDrive": {"userData": secrets["user data"]}}]}},
    }
    play = tmp_path / "play.yml"
    # With a token, no credential plugin runs.
    tokened = {"kubeconfig": str(kubeconfig), "api_key": token, "namespace": namespace}
    tasks = [
        {"virtshape.instancetypes.virtual_machine": task, "diff": True},
        {"virtshape.instancetypes.virtual_machine_info": tokened},
    ]
    play.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    environment = {
        "ANSIBLE_LOG_PATH": str(left / "ansible.log"),
        "ANSIBLE_LOCAL_TEMP": str(left),
        "ANSIBLE_REMOTE_TEMP": str(left),
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "TMPDIR": str(left),
    }
    code, output = ansible(left, "ansible-playbook", "-vvv", "--diff", str(play), **environment)
    assert code == 0, output
    files = {str(path): path.read_text(errors="replace") for path in left.rglob("*") if path.is_file()}
    assert files and "ansible.log" in " ".join(files)
    seen = {"output": output, "other processes": (spy / "seen.json").read_text(), **files}
    for what, secret in secrets.items():
        assert [where for where, text in seen.items() if secret in text] == [], what


HOSTILE = ["../../etc/passwd", "a\nb", "Upper", "ünï", "x" * 300, "a;rm -rf", "{{ 7 * 7 }}", "a%2fb", "-a", "?x=1", "#"]


def test_hostile_names_fail_alone(task: Task) -> None:
    entries = [vm_alone(name) for name in [*HOSTILE, "good"]]
    output = by_name(task.refused("virtual_machine", virtual_machines=entries)["results"])
    assert set(output) == {*HOSTILE, "good"}
    for name in HOSTILE:
        assert output[name]["failed"], name
        assert "\n" not in output[name]["msg"] and "Traceback" not in output[name]["msg"], name
        assert len(output[name]["msg"]) < 1500, name


@pytest.mark.parametrize("namespace_name", ["../kube-system", "a/b", "ünï", "?watch=1"])
def test_hostile_namespaces_are_rejected(cluster: Path, namespace_name: str) -> None:
    refused = Task(cluster, namespace_name).refused("virtual_machine", virtual_machines=[vm_alone("a")])
    assert "Traceback" not in refused["msg"]


def test_unicode_is_kept(task: Task) -> None:
    text = "Grüße, 世界 \U0001f600 \u202eevil\u202c \x7f 'quoted' \"twice\" {{ none }}"
    assert task("virtual_machine", **vm_alone("web"), annotations={"note": text})["changed"]
    assert not task("virtual_machine", **vm_alone("web"), annotations={"note": text})["changed"]


def test_a_megabyte_of_user_data(task: Task) -> None:
    data = "#cloud-config\n" + "# a line of user data\n" * 50_000
    volumes = [{"name": "x", "cloudInitNoCloud": {"userData": data}}]
    entry = {**vm_alone("web"), "template": {"spec": {"volumes": volumes}}}
    result = task.outcome("virtual_machine", **entry)
    assert len(json.dumps(result)) < 20_000
    if result.get("failed"):
        assert "userdata" in result["msg"].lower() and len(result["msg"]) < 1000
    else:
        assert not task("virtual_machine", **entry)["changed"]


DEEP = pytest.mark.skipif(
    ANSIBLE_CORE < (2, 19), reason="this ansible-core cannot print what such a task was given, whatever its module says"
)


@pytest.mark.parametrize("depth", [50, 150, pytest.param(400, marks=DEEP)])
def test_deep_nesting_is_rejected(task: Task, depth: int) -> None:
    nested: Any = "end"
    for _level in range(depth):
        nested = {"a": nested}
    refused = task.refused("virtual_machine", **vm_alone("web"), template={"spec": {"domain": nested}})
    assert "Traceback" not in refused["msg"], refused
    assert "template" in refused["msg"] and len(refused["msg"]) < 1000


def vm_alone(name: str) -> dict[str, Any]:
    """A VM that refers to nothing."""
    alone = vm(name, run_strategy="Halted")
    return {key: value for key, value in alone.items() if key not in ("instancetype", "preference")}
