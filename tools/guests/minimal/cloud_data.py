"""Gives the guest what its seed holds, as cloud-init does: `early` before logins, `late` for commands.

A seed is a disk with the label `cidata` (NoCloud) or `config-2` (config drive). Users, passwords and files are made
once for each instance-id, the host's name and the network at each start.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = ["/usr/lib/guest", "/usr/lib/python3/dist-packages"]

import network_data  # noqa: E402
import user_data  # noqa: E402
import yaml  # noqa: E402

RUN = Path("/run/guest")
SEED = RUN / "seed"
CLOUD = Path("/var/lib/cloud")
DONE = Path("/var/lib/guest/instance")
LOG = Path("/var/log/cloud-init-output.log")
LABELS = {"cidata": "", "CIDATA": "", "config-2": "openstack/latest"}


def main(stage: str) -> None:
    meta, user, network = read_seed()
    data = user_data.parse(user)
    instance = str(meta.get("instance-id") or meta.get("instance_id") or meta.get("uuid") or "none")
    is_new = not DONE.is_file() or DONE.read_text() != instance
    if stage == "early":
        set_host_name(*user_data.host_names(data.config, meta))
        set_network(network)
        for line in data.unknown:
            say(line)
        run_all(data.config.get("bootcmd"))
        if is_new:
            make_users(data.config, meta)
            write_files(data.config, deferred=False)
        set_login(data.config)
        return
    if is_new:
        write_files(data.config, deferred=True)
        run_all(data.config.get("runcmd"))
        for script in data.scripts:
            run_script(script)
        DONE.parent.mkdir(parents=True, exist_ok=True)
        DONE.write_text(instance)
    # What `cloud-init status --wait` and playbooks look for.
    (CLOUD / "instance").mkdir(parents=True, exist_ok=True)
    (CLOUD / "instance/boot-finished").touch()
    (RUN / "finished").touch()
    say(f"finished, {Path('/proc/uptime').read_text().split()[0]} seconds after the start")


def say(line: str) -> None:
    print(f"guest: {line}", flush=True)


def call(*command: str, given: str | None = None, check: bool = True) -> str:
    """Runs a command and returns its output. One that fails is named, without its input, and the rest goes on."""
    answer = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if check and answer.returncode:
        say(f"{command[0]}: {answer.stderr.strip() or answer.returncode}")
    return answer.stdout.strip()


def read_seed() -> tuple[dict[str, Any], bytes, Any]:
    """Meta data, user data and network data; nothing where there is no seed."""
    kept = RUN / "files"
    if not kept.is_dir():
        kept.mkdir(parents=True, mode=0o700)
        for label, folder in LABELS.items():
            if device := call("findfs", f"LABEL={label}", check=False):
                SEED.mkdir(exist_ok=True)
                call("mount", "-r", device, str(SEED))
                for path in (SEED / folder).glob("*"):
                    if path.is_file():
                        shutil.copyfile(path, kept / path.name.replace("_", "-").removesuffix(".json"))
                call("umount", str(SEED))
                break
    network = load(kept / "network-config") or load(kept / "network-data")
    user = kept / "user-data"
    return load(kept / "meta-data") or {}, user.read_bytes() if user.exists() else b"", network


def load(path: Path) -> Any:
    try:
        text = path.read_text()
        return json.loads(text) if text.startswith("{") else yaml.safe_load(text)
    except FileNotFoundError:
        return None
    except (ValueError, yaml.YAMLError):
        say(f"{path.name}: not YAML")
        return None


def set_host_name(name: str, full: str) -> None:
    Path("/etc/hostname").write_text(f"{name}\n")
    Path("/proc/sys/kernel/hostname").write_text(name)
    names = f"{full} {name}" if full != name else name
    Path("/etc/hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {names}\n::1 localhost ip6-localhost\n")


def set_network(data: Any) -> None:
    plan = network_data.plan(data, name_links())
    if plan.servers:
        (RUN / "dns").touch()
        search = [f"search {' '.join(plan.search)}"] if plan.search else []
        lines = [*search, *(f"nameserver {server}" for server in plan.servers)]
        Path("/etc/resolv.conf").write_text("\n".join(lines) + "\n")
    for command in plan.commands:
        call(*command)
    for line in plan.unknown:
        say(line)


def name_links() -> dict[str, str]:
    """The NICs with names by their place, as systemd gives them, and their MAC addresses."""
    result = {}
    for path in sorted(Path("/sys/class/net").iterdir()):
        place = re.findall(r"[0-9a-f]{4}:([0-9a-f]{2}):([0-9a-f]{2})\.\d", str((path / "device").resolve()))
        if not place:
            continue
        name = f"enp{int(place[-1][0], 16)}s{int(place[-1][1], 16)}"
        address = (path / "address").read_text().strip()
        if path.name.startswith("eth"):
            call("ip", "link", "set", path.name, "name", name)
        else:
            name = path.name
        result[name] = address
    return dict(sorted(result.items()))


def make_users(config: dict[str, Any], meta: dict[str, Any]) -> None:
    for group in config.get("groups") or []:
        for name, members in group.items() if isinstance(group, dict) else [(group, [])]:
            call("groupadd", "-f", name)
            for member in [members] if isinstance(members, str) else members or []:
                call("usermod", "-a", "-G", name, member)
    for user in user_data.users(config, meta):
        make_user(user)
    if config.get("disable_root") is False:
        add_keys("root", user_data.public_keys(meta) + [str(key) for key in config.get("ssh_authorized_keys") or []])
    for name, password, is_hash in user_data.passwords(config):
        set_password(name, password, is_hash)


def make_user(user: dict[str, Any]) -> None:
    name = str(user["name"])
    exists = bool(call("id", "-u", name, check=False))
    if not exists:
        groups = user.get("groups") or []
        groups = [group.strip() for group in groups.split(",")] if isinstance(groups, str) else list(groups)
        for group in groups:
            call("groupadd", "-f", group)
        options = ["-s", user.get("shell") or "/bin/bash", "-c", str(user.get("gecos", ""))]
        options += ["-G", ",".join(groups)] if groups else []
        options += ["-u", str(user["uid"])] if "uid" in user else []
        options += ["-g", str(user["primary_group"])] if "primary_group" in user else []
        options += ["-d", str(user["homedir"])] if "homedir" in user else []
        options += ["-r"] if user.get("system") else []
        options += ["-M" if user.get("no_create_home") or user.get("system") else "-m"]
        if "primary_group" in user:
            call("groupadd", "-f", str(user["primary_group"]))
        call("useradd", *options, name)
    for key, is_hash in (("passwd", True), ("hashed_passwd", True), ("plain_text_passwd", False)):
        # A user that exists keeps the password of `passwd`.
        if user.get(key) and not (exists and key == "passwd"):
            set_password(name, str(user[key]), is_hash)
    if user.get("lock_passwd", True):
        call("usermod", "-L", name)
    if rules := user.get("sudo"):
        path = Path("/etc/sudoers.d/90-cloud-init-users")
        with path.open("a") as sudoers:
            sudoers.writelines(f"{name} {rule}\n" for rule in ([rules] if isinstance(rules, str) else rules))
        path.chmod(0o440)
    add_keys(name, [str(key) for key in user.get("ssh_authorized_keys") or []])


def set_password(name: str, password: str, is_hash: bool) -> None:
    call("chpasswd", *(["-e"] if is_hash else []), given=f"{name}:{password}\n")


def add_keys(name: str, keys: list[str]) -> None:
    if not keys:
        return
    _, _, uid, gid, _, home, _ = call("grep", f"^{re.escape(name)}:", "/etc/passwd").split(":")
    folder = Path(home) / ".ssh"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / "authorized_keys"
    known = path.read_text().splitlines() if path.exists() else []
    path.write_text("".join(f"{key}\n" for key in dict.fromkeys([*known, *keys])))
    path.chmod(0o600)
    for owned in (folder, path):
        os.chown(owned, int(uid), int(gid))


def set_login(config: dict[str, Any]) -> None:
    """Whether SSH takes passwords; it does unless the data say otherwise."""
    refused = str(config.get("ssh_pwauth", True)).lower() in ("false", "no", "0")
    (RUN / "dropbear").write_text("-s" if refused else "")


def write_files(config: dict[str, Any], deferred: bool) -> None:
    for entry in config.get("write_files") or []:
        if bool(entry.get("defer")) != deferred:
            continue
        path, encoding = Path(entry["path"]), str(entry.get("encoding", "")).lower()
        content = str(entry.get("content", "")) if not isinstance(entry.get("content"), bytes) else entry["content"]
        data = content.encode() if isinstance(content, str) else content
        if "b64" in encoding or "base64" in encoding:
            data = base64.b64decode(data)
        if "gz" in encoding:
            data = gzip.decompress(data)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab" if entry.get("append") else "wb") as file:
            file.write(data)
        path.chmod(int(str(entry.get("permissions", "0644")), 8))
        if entry.get("owner"):
            call("chown", str(entry["owner"]), str(path))


def run_all(commands: Any) -> None:
    """Commands in their order: a list as it stands, a text by the shell."""
    for command in commands or []:
        arguments = [str(part) for part in command] if isinstance(command, list) else ["sh", "-c", str(command)]
        with LOG.open("a") as log:
            try:
                subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
            except OSError as error:
                say(f"{arguments[0]}: {error.strerror}")


def run_script(content: bytes) -> None:
    path = RUN / "script"
    path.write_bytes(content)
    path.chmod(0o700)
    run_all([[str(path)]])


if __name__ == "__main__":
    main(sys.argv[1])
