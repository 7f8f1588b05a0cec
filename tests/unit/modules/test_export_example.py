"""The example of virtual_machine_info that writes manifests."""

import json
import stat
from pathlib import Path

import yaml
from ansible_environment import ansible

from plugins.modules import virtual_machine_info

SECRET = "s3cr3t"


def test_manifests_are_written_in_order_and_kept_private(tmp_path: Path) -> None:
    user_data = f"#cloud-config\npassword: {SECRET}\nruncmd:\n  - [echo, '{{}}: \"---\"']\n"
    manifests = [
        {"kind": "ControllerRevision", "metadata": {"name": "small-1"}, "revision": 0, "data": {"spec": {}}},
        {"kind": "VirtualMachine", "metadata": {"name": "web", "labels": {"on": "yes", "n": "1e3"}}, "spec": user_data},
    ]
    (write,) = [task for task in yaml.safe_load(virtual_machine_info.EXAMPLES) if "ansible.builtin.copy" in task]
    (tmp_path / "play.yml").write_text(
        json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": [write, write]}])
    )
    (tmp_path / "shop.json").write_text(json.dumps({"shop": {"manifests": manifests}}))
    _code, printed = ansible(tmp_path, "ansible-playbook", "play.yml", "-e", "@shop.json", "--diff", "-v")
    # The second time, nothing changes.
    assert printed.count("\nchanged: ") == printed.count("\nok: ") == 1, printed
    assert SECRET not in printed
    file = tmp_path / "shop.yml"
    assert list(yaml.safe_load_all(file.read_text(encoding="utf-8"))) == manifests
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
