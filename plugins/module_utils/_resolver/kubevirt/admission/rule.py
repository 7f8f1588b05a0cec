"""The common parts of rules: their type, differences of releases, causes, amounts of resources, paths of files."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from ...api import quantity
from ...api.errors import Cause
from ...api.quantity import Quantity
from ...api.release import Release, differences
from ..config.cluster import KubeVirt
from ..webhooks.response import INVALID, NOT_FOUND, NOT_SUPPORTED, REQUIRED

__all__ = [
    "DUPLICATE",
    "FORBIDDEN",
    "INVALID",
    "NOT_FOUND",
    "NOT_SUPPORTED",
    "REQUIRED",
    "Cause",
    "Rule",
    "Spec",
    "quoted",
]

DUPLICATE = "FieldValueDuplicate"
FORBIDDEN = "FieldValueForbidden"

Spec = dict[str, Any]
"""A canonical VMI spec, or a part of one: `domain`, `domain.devices` and `domain.resources` always exist."""

Rule = Callable[[Spec, str, KubeVirt], Iterable[Cause]]
"""(VMI spec with all defaults, path of that spec such as `spec.template.spec`, cluster's KubeVirt) → causes."""


def quoted(value: Any) -> str:
    """A value in a message of Kubernetes (field.Error)."""
    return json.dumps(value, ensure_ascii=False)


_NANOS_PER_MILLI: Final = 10**6


def amount(resources: dict[str, Any], field: str, name: str) -> Quantity:
    """The `requests` or `limits` (field) of `cpu` or `memory` (name); 0 if absent."""
    return quantity.parse((resources.get(field) or {}).get(name, "0"))


def millis(value: Quantity) -> int:
    """Thousandths, rounded away from zero (Quantity.MilliValue)."""
    size = -(-abs(value.nanos) // _NANOS_PER_MILLI)
    return size if value.nanos >= 0 else -size


def absolute_path(path: str, field: str) -> Iterator[Cause]:
    """storageadmitters.ValidatePath."""
    if path == "/":
        yield Cause(INVALID, f"{field} must not point to root", field)
    # Go's filepath.Join("/", path). Two leading slashes are special in POSIX and so in Python, but not in Go.
    elif posixpath.normpath("/" + path.lstrip("/")) != path.removesuffix("/"):
        message = f"{field} must be an absolute path to a file without relative components"
        yield Cause(INVALID, message, field)


class AdmissionRules(NamedTuple):
    """The rules of a release. The defaults are the newest release's.

    Firmware and CPU:
    page_size_field: the field of a VM's huge page size, in virt-api's words.
    io_threads_policies: the permitted values of ioThreadsPolicy.
    checks_acpi: ACPI tables need volumes. has_msdm: the table MSDM is one of them.
    one_launch_security: exactly one type of launch security may be set, and it must fit the architecture.
    bare_launch_security: launch security without a type needs no gate.
    checks_secure_execution: launch security on s390x may need a feature gate.
    tdx_needs_no_smm: secure boot with TDX needs no SMM.
    names_guest_memory: where memory is missing, virt-api names the guest's memory, too.
    slash_in_machine: patterns of machine types also match a slash.

    Devices:
    needs_binding: an interface must have a binding. discontinues_bindings: passt and macvtap no longer have gates.
    refuses_old_gates: old feature gates make KubeVirt refuse VMs. sets_links: an interface's state may be up or down.
    names_port_field: for a missing port, the cause names the port's own field.
    empty_cdroms: a CD-ROM may have no volume. claims_host_devices: host devices may have claims, and all devices of a
    kind have claims or none has.
    checks_sata_blocks: the block size of SATA disks is fixed.
    checks_devices: a GPU or host device must name a device or a claim. checks_claims: claims must be well-formed.
    checks_grace: GPUs of NVIDIA Grace have requirements. checks_filesystems: filesystems may need feature gates.
    reservation_setting: the configuration, in addition to the feature gate, permits persistent reservations.

    wait_as_receiver: WaitAsReceiver is a run strategy. populates_externally: a DataVolume may have a dataSource only.
    checks_architectures: VMIs have limits on amd64 and s390x, too.
    """

    page_size_field: str = "memory.hugepages.pageSize"
    io_threads_policies: tuple[str, ...] = ("shared", "auto", "supplementalPool")
    checks_acpi: bool = True
    has_msdm: bool = True
    one_launch_security: bool = True
    bare_launch_security: bool = True
    checks_secure_execution: bool = True
    tdx_needs_no_smm: bool = True
    names_guest_memory: bool = True
    slash_in_machine: bool = False

    needs_binding: bool = True
    discontinues_bindings: bool = True
    refuses_old_gates: bool = True
    sets_links: bool = True
    names_port_field: bool = True
    empty_cdroms: bool = True
    claims_host_devices: bool = True
    checks_sata_blocks: bool = True
    checks_devices: bool = True
    checks_claims: bool = True
    checks_grace: bool = True
    checks_filesystems: bool = True
    reservation_setting: bool = True

    wait_as_receiver: bool = True
    populates_externally: bool = True
    checks_architectures: bool = True


# Differences before a release, newest first: a release takes all rows above it, and later rows win.
_BEFORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "1.9.0": {
        "tdx_needs_no_smm": False,
        "needs_binding": False,
        "names_port_field": False,
        "checks_claims": False,
        "checks_grace": False,
        "reservation_setting": False,
    },
    "1.8.0": {
        "page_size_field": "hugepages.size",
        "discontinues_bindings": False,
        "claims_host_devices": False,
    },
    "1.7.0": {"one_launch_security": False, "checks_sata_blocks": False, "names_guest_memory": False},
    "1.6.0": {
        "checks_devices": False,
        "has_msdm": False,
        "slash_in_machine": True,
        "bare_launch_security": False,
        "checks_secure_execution": False,
        "wait_as_receiver": False,
        "empty_cdroms": False,
    },
    "1.5.0": {
        "io_threads_policies": ("shared", "auto"),
        "checks_acpi": False,
        "refuses_old_gates": False,
        "sets_links": False,
        "populates_externally": False,
        "checks_filesystems": False,
        "checks_architectures": False,
    },
}


@cache
def rules(release: Release) -> AdmissionRules:
    """The rules of a release."""
    return AdmissionRules(**differences(_BEFORE, release.version))


AMD64: Final = "amd64"
ARM64: Final = "arm64"
S390X: Final = "s390x"
