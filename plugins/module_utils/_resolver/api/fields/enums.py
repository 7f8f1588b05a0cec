"""Values that a field chooses from; a type expression names them like a type (`*DiskBus`).

A list is here only if it is closed: a webhook of KubeVirt or libvirt refuses everything else, sometimes only
once a VM uses it. The CRDs take any text, and so does the canonical form.
"""

from __future__ import annotations

ENUMS: dict[str, tuple[str, ...]] = {
    "Architecture": ("amd64", "arm64", "s390x"),
    "CPUFeaturePolicy": ("force", "require", "optional", "disable", "forbid"),
    # The prefer... spellings mean the same and are deprecated since KubeVirt 1.4.
    "CPUTopology": (
        "sockets",
        "cores",
        "threads",
        "spread",
        "any",
        "preferSockets",
        "preferCores",
        "preferThreads",
        "preferSpread",
        "preferAny",
    ),
    "DiskBus": ("virtio", "scsi", "sata", "usb"),
    "DiskCache": ("none", "writethrough", "writeback"),
    "DiskIO": ("native", "threads"),
    "HPETTickPolicy": ("delay", "catchup", "merge", "discard"),
    "InputBus": ("virtio", "usb"),
    "InputType": ("tablet", "keyboard"),
    "InterfaceModel": ("virtio", "e1000", "e1000e", "igb", "ne2k_pci", "pcnet", "rtl8139"),
    "IOThreadsPolicy": ("auto", "shared", "supplementalPool"),
    "PanicDeviceModel": ("hyperv", "isa", "pvpanic"),
    "PITTickPolicy": ("delay", "catchup", "discard"),
    "RTCTickPolicy": ("delay", "catchup"),
    # KubeVirt names the first two and hands the text on; QEMU knows the third as well.
    "RTCTrack": ("guest", "wall", "realtime"),
    "SoundModel": ("ich9", "ac97"),
    "SpreadAcross": ("SocketsCores", "CoresThreads", "SocketsCoresThreads"),
    "VideoType": ("virtio", "vga", "bochs", "cirrus", "ramfb"),
}
