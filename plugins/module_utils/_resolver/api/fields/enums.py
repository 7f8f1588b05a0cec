"""The values of fields with choices; a type expression names them like a type (`*DiskBus`).

Only closed lists: a webhook of KubeVirt, or libvirt, rejects other values, sometimes only when a VM uses them. The CRDs
and the canonical form accept any text.
"""

from __future__ import annotations

ENUMS: dict[str, tuple[str, ...]] = {
    "Architecture": ("amd64", "arm64", "s390x"),
    "CPUFeaturePolicy": ("force", "require", "optional", "disable", "forbid"),
    # The prefer... spellings are synonyms, deprecated since KubeVirt 1.4.
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
    # KubeVirt defines the first two and passes any text on; QEMU also knows the third.
    "RTCTrack": ("guest", "wall", "realtime"),
    "SoundModel": ("ich9", "ac97"),
    "SpreadAcross": ("SocketsCores", "CoresThreads", "SocketsCoresThreads"),
    "VideoType": ("virtio", "vga", "bochs", "cirrus", "ramfb"),
}
