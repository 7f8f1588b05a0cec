"""Further VMs at the limits of what KubeVirt admits: one for each rule and gate that those of `cases` do not reach."""

from virt_api.case import Case, gates, vm, vmi

POD = {"name": "a", "pod": {}}
DEFAULT = {"name": "m", "multus": {"networkName": "net", "default": True}}

RULES: dict[str, Case] = {
    "two pods": vm({"networks": [POD, {"name": "b", "pod": {}}]}),
    "two defaults": vm({"networks": [DEFAULT, DEFAULT]}),
    "a pod and a default": vm({"networks": [POD, DEFAULT]}),
    "multus without a name": vm({"networks": [{"name": "m", "multus": {}}]}),
    "a network twice": vm({"networks": [POD, POD]}),
    "an interface alone": vm({"domain.devices.interfaces": [{"name": "a"}]}),
    "claimed and pod": vm(
        {
            "networks": [POD, {"name": "c", "resourceClaim": {"claimName": "claim", "requestName": "one"}}],
            "domain.devices.interfaces": [{"name": "c", "sriov": {}}],
        },
        gates("NetworkDevicesWithDRA"),
    ),
    "interfaces of one name": vm({"domain.devices.interfaces": [{"name": "a"}, {"name": "a"}]}),
    "an unknown state": vm({"networks": [POD], "domain.devices.interfaces": [{"name": "a", "state": "sideways"}]}),
    "time servers": vm(
        {"networks": [POD], "domain.devices.interfaces": [{"name": "a", "dhcpOptions": {"ntpServers": ["nowhere"]}}]}
    ),
    "private options": vm(
        {
            "networks": [POD],
            "domain.devices.interfaces": [
                {
                    "name": "a",
                    "dhcpOptions": {"privateOptions": [{"option": 1}, {"option": 1}], "ntpServers": ["10.0.0.1"]},
                }
            ],
        }
    ),
    "port names, alone": vm(
        {
            "networks": [POD],
            "domain.devices.interfaces": [
                {
                    "name": "a",
                    "masquerade": {},
                    "ports": [{"port": 1}, {"port": 2, "name": "web"}, {"port": 3, "name": "web"}],
                }
            ],
        }
    ),
    "no port": vm({"networks": [POD], "domain.devices.interfaces": [{"name": "a", "masquerade": {}, "ports": [{}]}]}),
    "ranges side by side": vm(
        {
            "networks": [POD],
            "domain.devices.interfaces": [
                {
                    "name": "a",
                    "masquerade": {},
                    "portRanges": [
                        {"protocol": "TCP", "start": 1, "end": 2},
                        {"protocol": "TCP", "start": 3, "end": 4},
                        {"protocol": "UDP", "start": 1, "end": 2},
                    ],
                }
            ],
        },
        gates("PortRangesSpec"),
    ),
    "ranges off the pod network": vm(
        {
            "networks": [DEFAULT],
            "domain.devices.interfaces": [
                {"name": "m", "bridge": {}, "portRanges": [{"protocol": "TCP", "start": 1, "end": 2}]}
            ],
        },
        gates("PortRangesSpec"),
    ),
    "less than no CPU": vm({"domain.resources.requests": {"cpu": "2"}, "domain.resources.limits": {"cpu": "1"}}),
    "realtime": vm({"domain.cpu": {"realtime": {}}}),
    "memory that may grow": vm(
        {
            "domain.resources.requests": {"memory": "1Gi", "cpu": "1"},
            "domain.resources.limits": {"memory": "2Gi", "cpu": "1"},
            "domain.cpu": {"dedicatedCpuPlacement": True},
        }
    ),
    "CPUs that may grow": vm(
        {
            "domain.resources.requests": {"cpu": "1"},
            "domain.resources.limits": {"cpu": "2"},
            "domain.cpu": {"dedicatedCpuPlacement": True},
        }
    ),
    "no CPUs": vm({"domain.cpu": {"dedicatedCpuPlacement": True, "cores": 0}}),
    "vmi without CPUs": vmi({"domain.cpu": {"dedicatedCpuPlacement": True, "cores": 0, "sockets": 0}}),
    "three threads": vm({"domain.cpu": {"dedicatedCpuPlacement": True, "cores": 1, "sockets": 1, "threads": 3}}),
    "host devices": vm({"domain.devices.hostDevices": [{"name": "h", "deviceName": "x"}]}),
    "a socket": vm({"domain.devices.autoattachVSOCK": True}),
    "metrics": vm({"domain.devices.downwardMetrics": {}}),
    "video without graphics": vm(
        {"domain.devices.video": {"type": "vga"}, "domain.devices.autoattachGraphicsDevice": False}
    ),
    "a reboot policy": vm(
        {"domain.rebootPolicy": "Terminate"}, {"developerConfiguration": {"disabledFeatureGates": ["RebootPolicy"]}}
    ),
    "metrics on a disk of no kind": vm(
        {"volumes": [{"name": "d", "downwardMetrics": {}}], "domain.devices.disks": [{"name": "d", "cdrom": {}}]}
    ),
    "metrics on another bus": vm(
        {
            "volumes": [{"name": "d", "downwardMetrics": {}}],
            "domain.devices.disks": [{"name": "d", "disk": {"bus": "sata"}}],
        }
    ),
    "a lun of a container disk": vm(
        {
            "volumes": [{"name": "d", "containerDisk": {"image": "i"}}],
            "domain.devices.disks": [{"name": "d", "lun": {}}],
        }
    ),
    "an empty CD-ROM": vm(
        {"domain.devices.disks": [{"name": "d", "cdrom": {}}]},
        {"developerConfiguration": {"disabledFeatureGates": ["DeclarativeHotplugVolumes"]}},
    ),
    "an interface that boots at 0": vm({"domain.devices.interfaces": [{"name": "a", "bootOrder": 0}]}),
    "IDE": vm({"domain.devices.disks": [{"name": "d", "disk": {"bus": "ide"}}]}),
    "virtio for a CD-ROM": vm({"domain.devices.disks": [{"name": "d", "cdrom": {"bus": "virtio"}}]}),
    "disks of one name": vm({"domain.devices.disks": [{"name": "d", "disk": {}}, {"name": "d", "disk": {}}]}),
    "a service account twice": vm(
        {
            "serviceAccountName": "a",
            "volumes": [
                {"serviceAccount": {"serviceAccountName": "a"}},
                {"serviceAccount": {"serviceAccountName": "b"}},
            ],
        }
    ),
    "two probes in one": vm(
        {
            "livenessProbe": {"exec": {"command": ["a"]}, "httpGet": {"port": 1}},
            "networks": [POD],
            "domain.devices.interfaces": [{"name": "a", "masquerade": {}}],
        }
    ),
    "a probe of nothing": vm({"livenessProbe": {}, "networks": [POD]}),
    "a probe without a pod network": vm({"livenessProbe": {"tcpSocket": {"port": 1}}}),
    "four name servers": vm(
        {
            "dnsPolicy": "None",
            "dnsConfig": {"nameservers": ["1.1.1.1", "1.1.1.1", "1.1.1.1", "1.1.1.1"], "options": [{"name": "a"}, {}]},
        }
    ),
    "many search paths": vm(
        {
            "dnsPolicy": "Default",
            "dnsConfig": {
                "searches": [
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa3.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa4.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa5.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa6.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa7.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa8.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa9.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa10.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa11.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa12.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa13.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa14.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa15.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa16.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa17.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa18.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa19.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa20.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa21.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa22.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa23.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa24.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa25.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa26.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa27.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa28.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa29.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa30.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa31.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa32.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa33.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa34.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa35.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa36.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa37.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa38.b",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa39.b",
                ]
            },
        }
    ),
    "a key without a user": vm(
        {
            "accessCredentials": [
                {
                    "sshPublicKey": {
                        "source": {"secret": {"secretName": "s"}},
                        "propagationMethod": {"qemuGuestAgent": {"users": []}},
                    }
                },
                {
                    "userPassword": {
                        "source": {"secret": {"secretName": "s"}},
                        "propagationMethod": {"qemuGuestAgent": {}},
                    }
                },
            ]
        }
    ),
    "a key without its volume": vm(
        {
            "accessCredentials": [
                {"sshPublicKey": {"source": {}, "propagationMethod": {"noCloud": {}, "configDrive": {}}}},
                {"sshPublicKey": {"source": {}, "propagationMethod": {}}},
                {},
            ]
        }
    ),
    "a hidden label": vm(
        metadata={"labels": {"kubevirt.io/nodeName": "n"}, "annotations": {"hooks.kubevirt.io/hookSidecars": "[]"}}
    ),
    "an unknown eviction": vm({"evictionStrategy": "Never"}),
    "an unknown start": vm({"startStrategy": "Late"}),
    "paused and alive": vm({"startStrategy": "Paused", "livenessProbe": {}}),
    "no start strategy": vm({}),
    "arm64 as it should be": vmi(
        {"architecture": "arm64", "domain.devices.disks": [{"name": "d", "disk": {"bus": "virtio"}}]}
    ),
    "an unknown machine": vmi({"architecture": "mips"}),
    "two targets": vm({"domain.devices.disks": [{"name": "d", "disk": {}, "lun": {}}]}),
    "an emulator thread": vm({"domain.cpu": {"isolateEmulatorThread": True}}),
    "an open CD-ROM": vm({"domain.devices.disks": [{"name": "d", "cdrom": {}}]}, gates("DeclarativeHotplugVolumes")),
    "TDX with SMM": vm(
        {"architecture": "amd64", "domain.launchSecurity": {"tdx": {}}, "domain.features": {"smm": {}}},
        gates("WorkloadEncryptionTDX"),
    ),
    "no configuration": vm({"dnsPolicy": "None"}),
    "a port of no name": vm(
        {
            "networks": [POD],
            "domain.devices.interfaces": [
                {"name": "a", "masquerade": {}, "ports": [{"port": 1, "name": "Not A Name"}]}
            ],
        }
    ),
    "passt": vm(
        {"networks": [POD], "domain.devices.interfaces": [{"name": "a", "passtBinding": {}}]},
        {"developerConfiguration": {"disabledFeatureGates": ["PasstBinding"]}},
    ),
    "a model of no kind": vm({"networks": [POD], "domain.devices.interfaces": [{"name": "a", "model": "ne1"}]}),
    "an interface of no name": vm({"domain.devices.interfaces": [{"name": "a b", "macAddress": "1"}]}),
    "a claim of nobody": vm(
        {"domain.devices.gpus": [{"name": "g", "claimName": "c", "requestName": "r"}]}, gates("GPUsWithDRA")
    ),
    "nodes as they should be": vm(
        {
            "affinity": {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 1,
                            "preference": {
                                "matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["1"]}],
                                "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}],
                            },
                        }
                    ]
                }
            }
        }
    ),
    "a receiver": vm(
        {},
        {"developerConfiguration": {"disabledFeatureGates": ["DecentralizedLiveMigration"]}},
        vm={"runStrategy": "WaitAsReceiver"},
    ),
    "none": vm(vm={"runStrategy": None}),
    "evmcs without vmx": vmi(
        {
            "domain.features": {"hyperv": {"evmcs": {"enabled": True}, "vapic": {"enabled": True}}},
            "domain.cpu": {"features": []},
        }
    ),
    "evmcs with another feature": vmi(
        {
            "domain.features": {"hyperv": {"evmcs": {"enabled": True}, "vapic": {"enabled": True}}},
            "domain.cpu": {"features": [{"name": "svm"}]},
        }
    ),
    "evmcs with a forced feature": vmi(
        {
            "domain.features": {"hyperv": {"evmcs": {"enabled": True}, "vapic": {"enabled": True}}},
            "domain.cpu": {"features": [{"name": "vmx", "policy": "force"}]},
        }
    ),
    "metrics as a volume": vm(
        {"volumes": [{"name": "a", "downwardMetrics": {}}, {"name": "b", "downwardMetrics": {}}]},
        gates("DownwardMetrics"),
    ),
    "unmapped": vmi(
        {
            "volumes": [
                {"name": "a", "emptyDisk": {"capacity": "1Gi"}},
                {"name": "m", "memoryDump": {"claimName": "c"}},
                {"name": "p", "containerPath": {"path": "/data"}},
            ]
        }
    ),
    "hugepages of no size": vm({"domain.memory": {"guest": "1Gi", "hugepages": {"pageSize": "0"}}}),
    "io threads pool of two": vm(
        {"domain.ioThreadsPolicy": "supplementalPool", "domain.ioThreads": {"supplementalPoolThreadCount": 2}}
    ),
    "data volume of no name": vm({"volumes": [{"name": "v", "dataVolume": {}}]}),
    "objects without names": vm(
        {"volumes": [{"name": source, source: {}} for source in ("secret", "configMap", "serviceAccount")]}
    ),
    "metrics as they should be": vm(
        {"volumes": [{"name": "d", "downwardMetrics": {}}], "domain.devices.disks": [{"name": "d", "disk": {}}]},
        gates("DownwardMetrics"),
    ),
    "a path of the container": vmi(
        {
            "volumes": [
                {"name": "p", "containerPath": {"path": "/data"}},
                {"name": "q", "containerPath": {"path": "/data"}},
            ],
            "domain.devices.filesystems": [{"name": "p", "virtiofs": {}}],
            "domain.devices.disks": [{"name": "q", "disk": {}}],
        }
    ),
    "panic device of the gate": vm({"domain.devices.panicDevices": [{"model": "isa"}]}, gates("PanicDevices")),
    "panic device": vm({"domain.devices.panicDevices": [{"model": "isa"}]}),
    "secure execution with its gate": vm(
        {"architecture": "s390x", "domain.launchSecurity": {}}, gates("SecureExecution")
    ),
    "secure execution with another gate": vm(
        {"architecture": "s390x", "domain.launchSecurity": {}}, gates("WorkloadEncryptionSEV")
    ),
    "sev without efi": vm(
        {"architecture": "amd64", "domain.launchSecurity": {"sev": {}}}, gates("WorkloadEncryptionSEV")
    ),
    "arm64": vm({"architecture": "arm64"}),
    "arm64 with its gate": vm({"architecture": "arm64"}, gates("MultiArchitecture")),
    "amd64": vm({"architecture": "amd64"}),
    "persistent tpm": vm({"domain.devices.tpm": {"persistent": True}}),
    "persistent tpm with its gate": vm({"domain.devices.tpm": {"persistent": True}}, gates("VMPersistentState")),
    "persistent tpm that is off": vm({"domain.devices.tpm": {"persistent": True, "enabled": False}}),
    "tpm": vm({"domain.devices.tpm": {}}),
    "persistent efi": vm({"domain.firmware.bootloader": {"efi": {"persistent": True, "secureBoot": False}}}),
    "machines of all architectures": vm(
        {"domain.machine": {"type": "virt"}, "architecture": "arm64"},
        {"emulatedMachines": ["q35*"], "architectureConfiguration": {"arm64": {"emulatedMachines": ["virt*"]}}},
    ),
    "machines of an architecture": vm(
        {"domain.machine": {"type": "virt"}, "architecture": "arm64"},
        {"architectureConfiguration": {"arm64": {"emulatedMachines": ["virt*"]}}},
    ),
    "arm64 with another gate": vm({"architecture": "arm64"}, gates("VMPersistentState")),
    "old slirp": vm({"networks": [POD], "domain.devices.interfaces": [{"name": "a", "slirp": {}}]}),
    "old macvtap": vm({"networks": [POD], "domain.devices.interfaces": [{"name": "a", "macvtap": {}}]}),
    "old passt on multus": vm({"networks": [DEFAULT], "domain.devices.interfaces": [{"name": "m", "passt": {}}]}),
    "vmi old passt with its gate": vmi(
        {"networks": [POD], "domain.devices.interfaces": [{"name": "a", "passt": {}}]}, gates("Passt")
    ),
    "annotations without gates": vm(
        metadata={"annotations": {"hooks.kubevirt.io/hookSidecars": "[]", "kubevirt.io/ignitiondata": "x"}}
    ),
    "gpu with a name and half a claim": vm(
        {"domain.devices.gpus": [{"name": "g", "deviceName": "x", "claimName": "c"}]}, gates("GPUsWithDRA")
    ),
    "gpu by a claim that is there": vm(
        {
            "domain.devices.gpus": [{"name": "g", "claimName": "c", "requestName": "r"}],
            "resourceClaims": [{"name": "c", "resourceClaimName": "x"}],
        },
        gates("GPUsWithDRA"),
    ),
}
