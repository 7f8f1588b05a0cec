"""Preferences (instancetype.kubevirt.io/v1beta1).

Type → field → type expression, or a tuple (type expression, notes): see `schema` and `release_schema`.
"""

from __future__ import annotations

from typing import Any

TYPES: dict[str, dict[str, Any]] = {
    "VirtualMachinePreference": {
        "kind": "string",
        "apiVersion": "string",
        "metadata": "ObjectMeta",
        "spec": "VirtualMachinePreferenceSpec!",
    },
    "VirtualMachinePreferenceSpec": {
        "clock": "*ClockPreferences",
        "cpu": "*CPUPreferences",
        "devices": "*DevicePreferences",
        "features": "*FeaturePreferences",
        "firmware": "*FirmwarePreferences",
        "machine": "*MachinePreferences",
        "volumes": "*VolumePreferences",
        "preferredSubdomain": "*string",
        "preferredTerminationGracePeriodSeconds": "*int64",
        "requirements": "*PreferenceRequirements",
        "annotations": ("map[string]string", {"since": "1.1"}),
        "preferSpreadSocketToCoreRatio": ("uint32", {"since": "1.1"}),
        "preferredArchitecture": ("*Architecture", {"since": "1.7"}),
        "preferredLaunchSecurity": ("*LaunchSecurity", {"since": "1.9"}),
    },
    "ClockPreferences": {
        "preferredClockOffset": "*ClockOffset",
        "preferredTimer": "*Timer",
    },
    "CPUPreferences": {
        "preferredCPUTopology": "*CPUTopology",
        "spreadOptions": ("*SpreadOptions", {"since": "1.3"}),
        "preferredCPUFeatures": "[]CPUFeature",
    },
    "SpreadOptions": {
        "across": "*SpreadAcross",
        "ratio": "*uint32",
    },
    "DevicePreferences": {
        "preferredAutoattachGraphicsDevice": "*bool",
        "preferredAutoattachMemBalloon": "*bool",
        "preferredAutoattachPodInterface": "*bool",
        "preferredAutoattachSerialConsole": "*bool",
        "preferredAutoattachInputDevice": "*bool",
        "preferredDisableHotplug": "*bool",
        "preferredVirtualGPUOptions": "*VGPUOptions",
        "preferredSoundModel": "SoundModel",
        "preferredUseVirtioTransitional": "*bool",
        "preferredInputBus": "InputBus",
        "preferredInputType": "InputType",
        "preferredDiskBus": "DiskBus",
        "preferredLunBus": "DiskBus",
        "preferredCdromBus": "DiskBus",
        "preferredDiskDedicatedIoThread": "*bool",
        "preferredDiskCache": "DiskCache",
        "preferredDiskIO": "DiskIO",
        "preferredDiskBlockSize": "*BlockSize",
        "preferredInterfaceModel": "InterfaceModel",
        "preferredRng": "*Rng",
        "preferredBlockMultiQueue": "*bool",
        "preferredNetworkInterfaceMultiQueue": "*bool",
        "preferredTPM": "*TPMDevice",
        "preferredInterfaceMasquerade": "*InterfaceMasquerade",
        "preferredPanicDeviceModel": ("*PanicDeviceModel", {"since": "1.6"}),
        "preferredVideoType": ("*VideoType", {"since": "1.9"}),
    },
    "FeaturePreferences": {
        "preferredAcpi": "*FeatureState",
        "preferredApic": "*FeatureAPIC",
        "preferredHyperv": "*FeatureHyperv",
        "preferredKvm": "*FeatureKVM",
        "preferredPvspinlock": "*FeatureState",
        "preferredSmm": "*FeatureState",
    },
    "FirmwarePreferences": {
        "preferredUseBios": "*bool",
        "preferredUseBiosSerial": "*bool",
        "preferredUseEfi": "*bool",
        "preferredUseSecureBoot": "*bool",
        "preferredEfi": ("*EFI", {"since": "1.4"}),
    },
    "MachinePreferences": {
        "preferredMachineType": "string",
    },
    "VolumePreferences": {
        "preferredStorageClassName": "string",
    },
    "PreferenceRequirements": {
        "cpu": "*CPUPreferenceRequirement",
        "memory": "*MemoryPreferenceRequirement",
        "architecture": ("*Architecture", {"since": "1.7"}),
    },
    "CPUPreferenceRequirement": {
        "guest": "uint32!",
    },
    "MemoryPreferenceRequirement": {
        "guest": "Quantity!",
    },
}
