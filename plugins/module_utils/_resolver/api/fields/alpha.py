"""Specs of instancetypes and preferences before v1beta1: flavor.kubevirt.io/v1alpha1, instancetype.kubevirt.io/v1alpha1
and v1alpha2.

Type → field → type expression, as in the other modules of this package, which define the common types. Strings and
booleans were not pointers yet; KubeVirt converts unset ones to "" and false.
"""

from __future__ import annotations

from typing import Any

from . import preference

_LATER_DEVICES = ("preferredInterfaceMasquerade", "preferredPanicDeviceModel", "preferredVideoType")

_V1ALPHA1_PREFERENCE: dict[str, Any] = {
    "clock": "*ClockPreferences",
    "cpu": "*AlphaCPUPreferences",
    "devices": "*AlphaDevicePreferences",
    "features": "*FeaturePreferences",
    "firmware": "*AlphaFirmwarePreferences",
    "machine": "*MachinePreferences",
}

TYPES: dict[str, dict[str, Any]] = {
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
    "AlphaMemoryInstancetype": {
        "guest": "Quantity!",
        "hugepages": "*Hugepages",
    },
    "V1alpha1PreferenceSpec": _V1ALPHA1_PREFERENCE,
    "V1alpha2PreferenceSpec": {**_V1ALPHA1_PREFERENCE, "volumes": "*VolumePreferences"},
    "AlphaCPUPreferences": {
        "preferredCPUTopology": "string",
    },
    "AlphaDevicePreferences": {
        field: declaration
        for field, declaration in preference.TYPES["DevicePreferences"].items()
        if field not in _LATER_DEVICES
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
