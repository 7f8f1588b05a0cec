"""A VM whose running guest gets and loses volumes, and what it has of them."""

from collections.abc import Callable
from typing import Any

Run = Callable[..., dict[str, Any]]
Volume = dict[str, Any]

ROOT = {"name": "root", "container_disk": "registry.example.com/disk:1"}
DATA = {"name": "data", "persistent_volume_claim": "one", "hotpluggable": True}
# Made with the VM's change.
BLANK = {"name": "blank", "import": {"blank": True, "size": "1Gi"}, "hotpluggable": True}


def attached(vm: dict[str, Any]) -> dict[str, str]:
    """The claims of the guest's disks by name, of those that libvirt has."""
    return {disk["name"]: disk["claim"] for disk in vm["vmi"]["disks"] if disk["target"] or not disk["source"]}
