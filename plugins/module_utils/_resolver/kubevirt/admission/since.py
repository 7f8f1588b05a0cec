"""The releases in which virt-api began to do what it does now, as data: a rule asks `kubevirt.release.has`."""

from __future__ import annotations

from typing import Final

# Firmware, CPU and memory
ACPI: Final = "1.5"  # ACPI tables need volumes
MSDM: Final = "1.6"  # the table MSDM is one of them
SUPPLEMENTAL_POOL: Final = "1.5"  # a policy of IO threads
MACHINE_WITHOUT_SLASH: Final = "1.6"  # patterns of machine types do not match a slash
BARE_LAUNCH_SECURITY: Final = "1.6"  # launch security without a type needs no gate
SECURE_EXECUTION: Final = "1.6"  # launch security on s390x may need a feature gate
ONE_LAUNCH_SECURITY: Final = "1.7"  # exactly one type of launch security may be set, and it must fit the architecture
TDX_WITHOUT_SMM: Final = "1.9"  # secure boot with TDX needs no SMM
PAGE_SIZE_FIELD: Final = "1.8"  # virt-api names the field of a huge page size as it is

# Interfaces
OLD_GATES_REFUSED: Final = "1.5"  # the gates of discontinued bindings make KubeVirt refuse VMs
LINK_STATES: Final = "1.5"  # the state of an interface may be up or down
BINDINGS_DISCONTINUED: Final = "1.8"  # passt and macvtap no longer have gates
BINDING_NEEDED: Final = "1.9"  # an interface must have a binding
PORT_FIELD: Final = "1.9"  # for a missing port, the cause names the port's own field

# Disks and other devices
FILESYSTEM_GATES: Final = "1.5"  # filesystems may need feature gates
EMPTY_CDROMS: Final = "1.6"  # a CD-ROM may have no volume
SATA_BLOCKS: Final = "1.7"  # the block size of SATA disks is fixed
RESERVATION_SETTING: Final = "1.9"  # the configuration, in addition to the gate, permits persistent reservations
DEVICE_NEEDED: Final = "1.6"  # a GPU must name a device or a claim
HOST_DEVICE_CLAIMS: Final = "1.8"  # host devices may have claims; all GPUs have claims, or none has
CLAIMS_CHECKED: Final = "1.9"  # claims must be well-formed
UNCLAIMED_PERMITTED: Final = "1.9"  # with the gate of claims, devices without a claim must be permitted, too
NVIDIA_GRACE: Final = "1.9"  # GPUs of NVIDIA Grace have requirements

# VMs and VMIs
EXTERNAL_POPULATION: Final = "1.5"  # a DataVolume may have a dataSource only
WAIT_AS_RECEIVER: Final = "1.6"  # a run strategy
ARCHITECTURES: Final = "1.5"  # VMIs have limits on amd64 and s390x, too
