"""Instancetypes and preferences: instancetype.kubevirt.io/v1beta1, and the API versions before it.

Type → field → type expression, or a tuple (type expression, notes): see `schema` and `release_schema`.
"""

from __future__ import annotations

from typing import Any

from .core import OBJECT

TYPES: dict[str, dict[str, Any]] = {
    "VirtualMachineInstancetype": {**OBJECT, "spec": "VirtualMachineInstancetypeSpec!"},
    "VirtualMachineInstancetypeSpec": {
        "nodeSelector": ("map[string]string", {"empty": "undeclared"}),
        "schedulerName": "string",
        "cpu": "CPUInstancetype!",
        "memory": "MemoryInstancetype!",
        "gpus": "[]GPU",
        "hostDevices": "[]HostDevice",
        "ioThreadsPolicy": "*IOThreadsPolicy",
        "ioThreads": ("*DiskIOThreads", {"since": "1.7"}),
        "launchSecurity": "*LaunchSecurity",
        "annotations": "map[string]string",
    },
    "CPUInstancetype": {
        "guest": "uint32!",
        "model": "*string",
        "dedicatedCPUPlacement": "*bool",
        "numa": "*NUMA",
        "isolateEmulatorThread": "*bool",
        "realtime": "*Realtime",
        "maxSockets": "*uint32",
    },
    "MemoryInstancetype": {
        "guest": "Quantity!",
        "hugepages": "*Hugepages",
        "overcommitPercent": "int",
        "maxGuest": "*Quantity",
    },
    "VirtualMachinePreference": {**OBJECT, "spec": "VirtualMachinePreferenceSpec!"},
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
        "annotations": "map[string]string",
        "preferSpreadSocketToCoreRatio": "uint32",
        "preferredArchitecture": ("*Architecture", {"since": "1.7"}),
        "preferredLaunchSecurity": ("*LaunchSecurity", {"since": "1.9"}),
    },
    "ClockPreferences": {"preferredClockOffset": "*ClockOffset", "preferredTimer": "*Timer"},
    "CPUPreferences": {
        "preferredCPUTopology": "*CPUTopology",
        "spreadOptions": "*SpreadOptions",
        "preferredCPUFeatures": "[]CPUFeature",
    },
    "SpreadOptions": {"across": "*SpreadAcross", "ratio": "*uint32"},
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
        "preferredRng": "*Empty",
        "preferredBlockMultiQueue": "*bool",
        "preferredNetworkInterfaceMultiQueue": "*bool",
        "preferredTPM": "*TPMDevice",
        "preferredInterfaceMasquerade": "*Empty",
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
        "preferredEfi": "*EFI",
    },
    "MachinePreferences": {"preferredMachineType": "string"},
    "VolumePreferences": {"preferredStorageClassName": "string"},
    "PreferenceRequirements": {
        "cpu": "*CPUPreferenceRequirement",
        "memory": "*MemoryPreferenceRequirement",
        "architecture": ("*Architecture", {"since": "1.7"}),
    },
    "CPUPreferenceRequirement": {"guest": "uint32!"},
    "MemoryPreferenceRequirement": {"guest": "Quantity!"},
}

# flavor.kubevirt.io/v1alpha1, instancetype.kubevirt.io/v1alpha1 and v1alpha2 had no pointers to strings and booleans;
# KubeVirt converts unset ones to "" and false.
_LATER_DEVICES = ("preferredInterfaceMasquerade", "preferredPanicDeviceModel", "preferredVideoType")

_V1ALPHA1_PREFERENCE: dict[str, Any] = {
    "clock": "*ClockPreferences",
    "cpu": "*AlphaCPUPreferences",
    "devices": "*AlphaDevicePreferences",
    "features": "*FeaturePreferences",
    "firmware": "*AlphaFirmwarePreferences",
    "machine": "*MachinePreferences",
}

ALPHA_TYPES: dict[str, dict[str, Any]] = {
    "AlphaInstancetypeSpec": {
        "cpu": "AlphaCPUInstancetype!",
        "memory": "AlphaMemoryInstancetype!",
        "gpus": "[]GPU",
        "hostDevices": "[]HostDevice",
        "ioThreadsPolicy": "*IOThreadsPolicy",
        "launchSecurity": "*LaunchSecurity",
    },
    "AlphaCPUInstancetype": {
        "guest": "uint32!",
        "model": "string!",
        "dedicatedCPUPlacement": "bool!",
        "numa": "*NUMA",
        "isolateEmulatorThread": "bool!",
        "realtime": "*Realtime",
    },
    "AlphaMemoryInstancetype": {"guest": "Quantity!", "hugepages": "*Hugepages"},
    "V1alpha1PreferenceSpec": _V1ALPHA1_PREFERENCE,
    "V1alpha2PreferenceSpec": {**_V1ALPHA1_PREFERENCE, "volumes": "*VolumePreferences"},
    "AlphaCPUPreferences": {"preferredCPUTopology": "string"},
    "AlphaDevicePreferences": {
        field: declaration for field, declaration in TYPES["DevicePreferences"].items() if field not in _LATER_DEVICES
    },
    "AlphaFirmwarePreferences": {
        "preferredUseBios": "*bool",
        "preferredUseBiosSerial": "*bool",
        "preferredUseEfi": "*bool",
        "preferredUseSecureBoot": "*bool",
    },
}

# Kind and apiVersion → type of the spec.
SPEC_TYPES = {
    ("VirtualMachineInstancetype", "flavor.kubevirt.io/v1alpha1"): "AlphaInstancetypeSpec",
    ("VirtualMachineInstancetype", "instancetype.kubevirt.io/v1alpha1"): "AlphaInstancetypeSpec",
    ("VirtualMachineInstancetype", "instancetype.kubevirt.io/v1alpha2"): "AlphaInstancetypeSpec",
    ("VirtualMachinePreference", "flavor.kubevirt.io/v1alpha1"): "V1alpha1PreferenceSpec",
    ("VirtualMachinePreference", "instancetype.kubevirt.io/v1alpha1"): "V1alpha1PreferenceSpec",
    ("VirtualMachinePreference", "instancetype.kubevirt.io/v1alpha2"): "V1alpha2PreferenceSpec",
}
