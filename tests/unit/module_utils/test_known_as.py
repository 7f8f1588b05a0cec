"""Names of other tools lead to the options that are meant."""

from typing import Any

import pytest

from plugins.module_utils import _known_as as known_as
from plugins.module_utils._vm_options import VM_OPTIONS

VM = VM_OPTIONS.spec
VOLUME, NETWORK = VM["volumes"]["options"], VM["networks"]["options"]


@pytest.mark.parametrize(
    ("name", "spec", "expected"),
    [
        ("pvc", VM, ["boot.pvc", "volumes[].persistent_volume_claim"]),
        ("pvc", VOLUME, ["persistent_volume_claim"]),
        ("image", VM, ["boot.container_disk", "volumes[].container_disk"]),
        ("disk", VM, ["boot", "volumes"]),
        ("disks", VM, ["boot", "volumes"]),
        ("cpu_cores", VM, ["cpu.cores"]),
        ("numCpus", VM, ["cpu.sockets"]),
        ("ram", VM, ["memory"]),
        ("interfaces", VM, ["networks"]),
        ("nics", VM, ["networks"]),
        ("mac", NETWORK, ["mac_address"]),
        ("ssh_key", VM, ["cloud_init.ssh_keys"]),
        ("userdata", VM, ["cloud_init.user_data"]),
        ("cloudinit", VM, ["cloud_init"]),
        ("cloud-init", VM, ["cloud_init"]),
        ("containerdisk", VOLUME, ["container_disk"]),
        ("running", VM, ["run_strategy"]),
        ("flavor", VM, ["instancetype"]),
        ("os", VM, ["preference"]),
        ("hostname", VM, ["template.spec.hostname"]),
        ("cores", {"cpu": {"type": "dict", "options": {"guest": {"type": "int"}}}}, ["cpu.guest"]),
        ("memory", {"memory_size": {"type": "str"}}, []),
        ("no-such", VM, []),
    ],
)
def test_names_of_other_tools(name: str, spec: dict[str, Any], expected: list[str]) -> None:
    assert known_as.meant(name, spec) == expected
