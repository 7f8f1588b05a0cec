"""The differences between KubeVirt's releases for pods, as rows like in `_resolver.api.behaviour`."""

from __future__ import annotations

from typing import Final

# Memory overhead, in Mi
PROCESSES: Final = {"-1.4": 215, "1.5-1.9": 220, "1.10": 240}  # the processes in every pod
GRAPHICS: Final = {"-1.5": 16, "1.6": 32}  # a graphics device
GUARANTEED_OVERHEAD_SCALES: Final = "1.5"  # the cluster's ratio also applies to the extra overhead of guaranteed pods
SNP_OVERHEAD: Final = "1.7"  # SEV-SNP needs the same memory as SEV

# The compute container
POOL_NEEDS_CPU: Final = "1.5"  # each thread of the supplemental IO thread pool requests a CPU
DEDICATED_WINS: Final = "1.5"  # dedicated CPUs replace the CPU that the VM requests
SEV_DEVICE_OF_SNP: Final = "1.7"  # SEV-SNP needs the device of SEV
HAS_TDX_DEVICE: Final = "1.9"  # TDX needs its own device
NAMELESS_DEVICES: Final = "-1.5"  # a device without a resource name is requested under an empty name
CLAIMS_ONCE: Final = "-1.7"  # the first of several requests for a claim counts
CLAIMS_NEED_REQUEST: Final = "-1.8"  # a device without a request name claims nothing

# The stored VMI
PCI_TOPOLOGY: Final = "1.6"  # with PCI Express it gets an annotation with the version of its topology
QUOTE_SOCKET: Final = "1.9"  # with TDX it gets an annotation with the socket of the quote generation service

# Other containers
CONSOLE_LOG_IS_SIDECAR: Final = "1.6"  # the console log is a restartable init container

# Nodes
MACHINE_LABEL: Final = "1.5"  # they must support the machine type
FEATURE_LABELS: Final = "1.5"  # they must support realtime and SEV
SECURE_EXECUTION_LABEL: Final = "1.6"  # they must support secure execution
SNP_LABEL: Final = "1.7"  # they must support SEV-SNP
# The label of nodes with dedicated CPUs.
CPU_MANAGER_LABEL: Final = {"-1.7": "cpumanager", "1.8": "kubevirt.io/cpumanager"}
SEPARATES_RESERVATIONS: Final = "1.9"  # two guests that reserve the same volume need different nodes

# Targets of migrations
VENDOR_LABEL: Final = "1.6"  # the CPUs are of one vendor
NEEDS_HOST_MODEL: Final = "-1.5"  # a guest with host-model does not leave a node without a label for the CPU model
