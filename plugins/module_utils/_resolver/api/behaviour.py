"""The differences between KubeVirt's releases: the table of behaviours and the releases that have them.

A row has the releases as `Release.has` reads them, or a value for each period, of which `Release.pick` takes one. Which
releases know a field is noted at the field (`fields`); a capability has the rows that only it asks for.
"""

from __future__ import annotations

from typing import Final, NamedTuple

# Conflicts, preferences and requirements
ANY_MEMORY_CONFLICTS: Final = "-1.6"  # any `memory` of a VM conflicts, even an empty one
# virt-api's message for the {path} of a conflict, virt-controller's for {paths}.
CONFLICT_CAUSE: Final = {
    "-1.4": "VM field {path} conflicts with selected instance type",
    "1.5": "VM field(s) {path} conflicts with selected instance type",
}
CONFLICT_LIST: Final = {
    "-1.4": "VM fields {paths} conflict with selected instance type",
    "1.5": "VM field(s) {paths} conflicts with selected instance type",
}
LEAVES_EMPTY_MACHINE: Final = "-1.4"  # a machine preference without a type adds a machine without a type
CREATES_PANIC_DEVICE: Final = "1.9"  # preferredPanicDeviceModel adds a device, and not only the model to existing ones
VM_MEMORY_COUNTS: Final = "1.5.1"  # a VM's own guest memory counts for requirements, not the instancetype's

# Matchers and what they name
REFUSES_UNKNOWN_OBJECTS: Final = "-1.5"  # a VM without its instancetype or preference is not only not started
SETS_MATCHER_KIND: Final = "-1.6"  # a matcher without kind is stored with the cluster-wide one
# For a {field} together with inferFromVolume in a {matcher}: the type of virt-api's cause, and its message.
NAMED_AND_INFERRED: Final = {
    "-1.6": (
        "FieldValueNotFound",
        "{field} should not be provided when InferFromVolume is used within the {matcher}",
    ),
    "1.7": ("FieldValueNotSupported", "{field} already set, should be cleared before setting inferFromVolume"),
}
INFERS_FROM_SNAPSHOTS: Final = "1.9"  # a volume's VolumeSnapshot may have labels of instancetype and preference
TAKES_ARCHITECTURE_OF_SOURCES: Final = "1.7"  # the VM gets the architecture in the label of a DataSource
WARNS_OF_LAUNCH_SECURITY: Final = "1.9"  # of an instancetype: deprecated

# Captured revisions
CAPTURES_IN_STATUS: Final = "1.5"  # the VM's status names the revision, not the matcher
# virt-controller crashes when a VM starts whose status names the captured revision of a matcher that it no longer has;
# patches of 2026 do not (KubeVirt issue 16071).
CRASHES_WITHOUT_MATCHER: Final = "1.5-1.7"
CHECKS_CAPTURED_NAME: Final = "1.5.2"  # a revision counts only if labelled with the matcher's name
READS_OLD_REVISIONS: Final = "-1.6"  # of v1alpha1 and v1alpha2
SERVES_OLD_VERSIONS: Final = "-1.5"  # instancetypes and preferences may be written as v1alpha1 and v1alpha2

# Running guests
REQUESTS_GUEST_MEMORY: Final = "-1.6.1 1.6.3-1.6.3"  # the defaults of expanded VMs set requests.memory
UPDATES_LIVE_BY_DEFAULT: Final = "1.6"  # without a rollout strategy, changes reach running guests
STAGES_VOLUMES: Final = "-1.5"  # with the rollout strategy Stage, volumes wait for a restart, too
REPLACES_VOLUMES: Final = "-1.6"  # volumes that a running VM gets wait for a restart, also hotpluggable ones
PLUGS_ONLY_SCSI: Final = "-1.5"  # a request plugs a volume only as a disk with the bus scsi
# The condition RestartRequired stays until a restart, also if the change is undone. Until then the guest takes no
# change but plugged interfaces and volumes.
KEEPS_RESTART_CONDITION: Final = "-1.7"
RESTARTS_FOR_POD_NETWORK: Final = "1.8"  # a pod network that a VM gets waits for a restart

# Admission: firmware, CPU and memory
ACPI: Final = "1.5"  # ACPI tables need volumes
MSDM: Final = "1.6"  # the table MSDM is one of them
SUPPLEMENTAL_POOL: Final = "1.5"  # a policy of IO threads
MACHINE_WITHOUT_SLASH: Final = "1.6"  # patterns of machine types do not match a slash
BARE_LAUNCH_SECURITY: Final = "1.6"  # launch security without a type needs no gate
SECURE_EXECUTION: Final = "1.6"  # launch security on s390x may need a feature gate
ONE_LAUNCH_SECURITY: Final = "1.7"  # exactly one type of launch security may be set, and it must fit the architecture
TDX_WITHOUT_SMM: Final = "1.9"  # secure boot with TDX needs no SMM
PAGE_SIZE_FIELD: Final = "1.8"  # virt-api names the field of a huge page size as it is

# Admission: interfaces
OLD_GATES_REFUSED: Final = "1.5"  # the gates of discontinued bindings make KubeVirt refuse VMs
LINK_STATES: Final = "1.5"  # the state of an interface may be up or down
BINDINGS_DISCONTINUED: Final = "1.8"  # passt and macvtap no longer have gates
BINDING_NEEDED: Final = "1.9"  # an interface must have a binding
PORT_FIELD: Final = "1.9"  # for a missing port, the cause names the port's own field

# Admission: disks and other devices
FILESYSTEM_GATES: Final = "1.5"  # filesystems may need feature gates
EMPTY_CDROMS: Final = "1.6"  # a CD-ROM may have no volume
SATA_BLOCKS: Final = "1.7"  # the block size of SATA disks is fixed
RESERVATION_SETTING: Final = "1.9"  # the configuration, in addition to the gate, permits persistent reservations
DEVICE_NEEDED: Final = "1.6"  # a GPU must name a device or a claim
HOST_DEVICE_CLAIMS: Final = "1.8"  # host devices may have claims; all GPUs have claims, or none has
CLAIMS_CHECKED: Final = "1.9"  # claims must be well-formed
UNCLAIMED_PERMITTED: Final = "1.9"  # with the gate of claims, devices without a claim must be permitted, too
RAM_FB_BY_DEFAULT: Final = "1.10"  # the display of a GPU whose `ramFB` does not say `enabled` shows the boot
NVIDIA_GRACE: Final = "1.9"  # GPUs of NVIDIA Grace have requirements

# Admission: VMs and VMIs
EXTERNAL_POPULATION: Final = "1.5"  # a DataVolume may have a dataSource only
WAIT_AS_RECEIVER: Final = "1.6"  # a run strategy
ARCHITECTURES: Final = "1.5"  # VMIs have limits on amd64 and s390x, too


class Gate(NamedTuple):
    """The releases that know a feature gate (for others it is closed), open it unless `disabledFeatureGates` names it,
    and do not need it; "" for none.
    """

    known: str = "-"
    default: str = ""
    retired: str = ""


# An ordinary gate is closed unless `featureGates` names it, in all releases. All others are here.
GATES: Final = {
    "AutoResourceLimitsGate": Gate(retired="1.5"),
    "ConfigurableHypervisor": Gate("1.8"),
    "CrossArchitectureVirtualization": Gate("1.9"),
    "DecentralizedLiveMigration": Gate(default="1.10"),
    "DeclarativeHotplugVolumes": Gate("1.6", "1.9"),
    "EnableVirtioFsConfigVolumes": Gate(retired="1.8"),
    "ExternalNetResourceInjection": Gate("1.8", "1.9"),
    "GPUsWithDRA": Gate("1.6", "1.9"),
    "HostDevicesWithDRA": Gate("1.6", "1.9"),
    "IOMMUFD": Gate("1.9"),
    "ImageVolume": Gate("1.6", "1.9"),
    "InstancetypeReferencePolicy": Gate(retired="1.6"),
    "LibvirtHooksServerAndClient": Gate("1.8", "1.9", "1.10"),
    "LiveUpdateNADRef": Gate("1.8", retired="1.9"),
    "MigrationDowntimeTuning": Gate("1.10"),
    "MultiArchitecture": Gate(retired="1.8"),
    "NetworkBindingPlugins": Gate(retired="1.5"),
    "NetworkDevicesWithDRA": Gate("1.9"),
    "PanicDevices": Gate(retired="1.9"),
    "PasstBinding": Gate(default="1.9"),
    "RebootPolicy": Gate(default="1.9"),
    "SecureExecution": Gate(retired="1.9"),
    "VMLiveUpdateFeatures": Gate(retired="1.5"),
    "VMPersistentState": Gate(retired="1.6"),
    "VideoConfig": Gate(retired="1.9"),
    "VmiMemoryOverheadReport": Gate("1.8", "1.9", "1.10"),
    "WorkloadEncryptionSEV": Gate(default="1.9"),
}
