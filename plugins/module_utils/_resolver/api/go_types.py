# Written by tools/generate_fields.py; do not edit.
"""The types and choices of the API, as text that `fields` reads.

A line, and the indented ones after it, is a type with its fields: name, type expression and notes of each.
"""

from __future__ import annotations

from typing import Final

TYPES: Final = """\
ACPI: slicNameRef string, msdmNameRef string
AccessCredential: sshPublicKey *SSHPublicKeyAccessCredential, userPassword *UserPasswordAccessCredential
AccessCredentialSecretSource: secretName string!
AddVolumeOptions: name string!, disk *Disk!, volumeSource *HotplugVolumeSource!, dryRun []string
Affinity: nodeAffinity *NodeAffinity, podAffinity *PodAffinity, podAntiAffinity *PodAntiAffinity
AlphaCPUInstancetype: guest uint32!, model string!, dedicatedCPUPlacement bool!, numa *NUMA,
  isolateEmulatorThread bool!, realtime *Realtime
AlphaCPUPreferences: preferredCPUTopology string
AlphaDevicePreferences: preferredAutoattachGraphicsDevice *bool, preferredAutoattachMemBalloon *bool,
  preferredAutoattachPodInterface *bool, preferredAutoattachSerialConsole *bool, preferredAutoattachInputDevice *bool,
  preferredDisableHotplug *bool, preferredVirtualGPUOptions *VGPUOptions, preferredSoundModel SoundModel,
  preferredUseVirtioTransitional *bool, preferredInputBus InputBus, preferredInputType InputType,
  preferredDiskBus DiskBus, preferredLunBus DiskBus, preferredCdromBus DiskBus, preferredDiskDedicatedIoThread *bool,
  preferredDiskCache DiskCache, preferredDiskIO DiskIO, preferredDiskBlockSize *BlockSize,
  preferredInterfaceModel InterfaceModel, preferredRng *Empty, preferredBlockMultiQueue *bool,
  preferredNetworkInterfaceMultiQueue *bool, preferredTPM *TPMDevice
AlphaFirmwarePreferences: preferredUseBios *bool, preferredUseBiosSerial *bool, preferredUseEfi *bool,
  preferredUseSecureBoot *bool
AlphaInstancetypeSpec: cpu AlphaCPUInstancetype!, memory AlphaMemoryInstancetype!, gpus []GPU, hostDevices []HostDevice,
  ioThreadsPolicy *IOThreadsPolicy, launchSecurity *LaunchSecurity
AlphaMemoryInstancetype: guest Quantity!, hugepages *Hugepages
BIOS: useSerial *bool
BlockSize: custom *CustomBlockSize, matchVolume *FeatureState
Bootloader: bios *BIOS, efi *EFI
CDRomTarget: bus string, readonly *bool, tray string
CPU: cores uint32, sockets uint32, maxSockets uint32, threads uint32, model string, features []CPUFeature,
  dedicatedCpuPlacement bool, numa *NUMA, isolateEmulatorThread bool, realtime *Realtime
CPUFeature: name string!, policy CPUFeaturePolicy
CPUInstancetype: guest uint32!, model *string, dedicatedCPUPlacement *bool, numa *NUMA, isolateEmulatorThread *bool,
  realtime *Realtime, maxSockets *uint32
CPUPreferenceRequirement: guest uint32!
CPUPreferences: preferredCPUTopology *CPUTopology, spreadOptions *SpreadOptions, preferredCPUFeatures []CPUFeature
ChangedBlockTrackingStatus: state string!, backupStatus *VirtualMachineInstanceBackupStatus
Chassis: manufacturer string, version string, serial string, asset string, sku string
ClaimRequest: claimName string, requestName string
Clock: utc *ClockOffsetUTC, timezone *string, timer *Timer
ClockOffset: utc *ClockOffsetUTC, timezone *string
ClockOffsetUTC: offsetSeconds *int
ClockPreferences: preferredClockOffset *ClockOffset, preferredTimer *Timer
CloudInitConfigDriveSource: secretRef *LocalObjectReference, userDataBase64 string, userData string,
  networkDataSecretRef *LocalObjectReference, networkDataBase64 string, networkData string
CloudInitNoCloudSource: secretRef *LocalObjectReference, userDataBase64 string, userData string,
  networkDataSecretRef *LocalObjectReference, networkDataBase64 string, networkData string
ConfigMapVolumeSource: name string, optional *bool, volumeLabel string
ContainerDiskSource: image string!, imagePullSecret string, path string,
  imagePullPolicy string (values Always IfNotPresent Never)
ContainerPathVolumeSource: path string!, readOnly *bool
ControllerRevisionRef: name string
CorePersistentVolumeClaimVolumeSource: claimName string!, readOnly bool
CustomBlockSize: logical uint (written -1.6), physical uint (written -1.6), discardGranularity *uint (since 1.7)
DHCPOptions: bootFileName string, tftpServerName string, ntpServers []string, privateOptions []DHCPPrivateOptions
DHCPPrivateOptions: option int!, value string!
DataImportCron: kind string, apiVersion string, metadata ObjectMeta, status any, spec DataImportCronSpec!
DataImportCronSpec: template DataVolumeTemplate!, schedule string!, garbageCollect *string, importsToKeep *int32,
  managedDataSource string!, retentionPolicy *string
DataSource: kind string, apiVersion string, metadata ObjectMeta, status any, spec any
DataVolume: kind string, apiVersion string, metadata ObjectMeta, status any, spec DataVolumeSpec!
DataVolumeCheckpoint: previous string!, current string!
DataVolumeImport: http *DataVolumeSourceHTTP, s3 *DataVolumeSourceS3, gcs *DataVolumeSourceGCS,
  registry *DataVolumeSourceRegistry, pvc *DataVolumeSourcePVC, upload *Empty, blank *Empty,
  imageio *DataVolumeSourceImageIO, vddk *DataVolumeSourceVDDK, snapshot *DataVolumeSourceSnapshot
DataVolumeSource: name string!, hotpluggable bool
DataVolumeSourceGCS: url string!, secretRef string
DataVolumeSourceHTTP: url string!, secretRef string, certConfigMap string, extraHeaders []string,
  secretExtraHeaders []string
DataVolumeSourceImageIO: url string!, diskId string!, secretRef string, certConfigMap string, insecureSkipVerify *bool
DataVolumeSourcePVC: namespace string!, name string!
DataVolumeSourceRef: kind string!, namespace *string, name string!
DataVolumeSourceRegistry: url *string, imageStream *string, pullMethod *string, secretRef *string,
  certConfigMap *string, platform *PlatformOptions
DataVolumeSourceS3: url string!, secretRef string, certConfigMap string
DataVolumeSourceSnapshot: namespace string!, name string!
DataVolumeSourceVDDK: url string, uuid string, backingFile string, thumbprint string, secretRef string,
  initImageURL string, extraArgs string
DataVolumeSpec: source *DataVolumeImport, sourceRef *DataVolumeSourceRef, pvc *PersistentVolumeClaimSpec,
  storage *StorageSpec, priorityClassName string, contentType string, checkpoints []DataVolumeCheckpoint,
  finalCheckpoint bool, preallocation *bool
DataVolumeTemplate: spec DataVolumeSpec!
DataVolumeTemplateSpec: kind string, apiVersion string, metadata ObjectMeta, spec DataVolumeSpec!, status *Empty
DevicePreferences: preferredAutoattachGraphicsDevice *bool, preferredAutoattachMemBalloon *bool,
  preferredAutoattachPodInterface *bool, preferredAutoattachSerialConsole *bool, preferredAutoattachInputDevice *bool,
  preferredDisableHotplug *bool, preferredVirtualGPUOptions *VGPUOptions, preferredSoundModel SoundModel,
  preferredUseVirtioTransitional *bool, preferredInputBus InputBus, preferredInputType InputType,
  preferredDiskBus DiskBus, preferredLunBus DiskBus, preferredCdromBus DiskBus, preferredDiskDedicatedIoThread *bool,
  preferredDiskCache DiskCache, preferredDiskIO DiskIO, preferredDiskBlockSize *BlockSize,
  preferredInterfaceModel InterfaceModel, preferredRng *Empty, preferredBlockMultiQueue *bool,
  preferredNetworkInterfaceMultiQueue *bool, preferredTPM *TPMDevice, preferredInterfaceMasquerade *Empty,
  preferredPanicDeviceModel *PanicDeviceModel (since 1.6), preferredVideoType *VideoType (since 1.9)
Devices: useVirtioTransitional *bool, disableHotplug bool, disks []Disk, watchdog *Watchdog, interfaces []Interface,
  inputs []Input, autoattachPodInterface *bool, autoattachGraphicsDevice *bool, autoattachSerialConsole *bool,
  logSerialConsole *bool, autoattachMemBalloon *bool, autoattachInputDevice *bool, autoattachVSOCK *bool, rng *Empty,
  blockMultiQueue *bool, networkInterfaceMultiqueue *bool, gpus []GPU, downwardMetrics *Empty,
  panicDevices []PanicDevice (since 1.6), filesystems []Filesystem, hostDevices []HostDevice, clientPassthrough *Empty,
  sound *SoundDevice, tpm *TPMDevice, video *VideoDevice (since 1.6)
Diag288Watchdog: action string
Disk: name string!, disk *DiskTarget, lun *LunTarget, cdrom *CDRomTarget, bootOrder *uint, serial string,
  dedicatedIOThread *bool, cache string, io string, tag string, blockSize *BlockSize, shareable *bool,
  errorPolicy *string, changedBlockTracking *bool (since 1.7)
DiskIOThreads: supplementalPoolThreadCount *uint32
DiskTarget: bus string, readonly bool, pciAddress string
DomainSpec: resources ResourceRequirements, cpu *CPU, memory *Memory, machine *Machine, firmware *Firmware,
  clock *Clock, features *Features, devices Devices!, ioThreadsPolicy *string, ioThreads *DiskIOThreads (since 1.5),
  chassis *Chassis, launchSecurity *LaunchSecurity, rebootPolicy *string (since 1.8)
DownwardAPIVolumeFile: path string!, fieldRef *ObjectFieldSelector, resourceFieldRef *ResourceFieldSelector, mode *int32
DownwardAPIVolumeSource: fields []DownwardAPIVolumeFile, volumeLabel string
EFI: secureBoot *bool, persistent *bool
Empty:
EmptyDiskSource: capacity Quantity!
EphemeralVolumeSource: persistentVolumeClaim *CorePersistentVolumeClaimVolumeSource
ExecAction: command []string
FeatureAPIC: enabled *bool, endOfInterrupt bool
FeatureHyperv: relaxed *FeatureState, vapic *FeatureState, spinlocks *FeatureSpinlocks, vpindex *FeatureState,
  runtime *FeatureState, synic *FeatureState, synictimer *SyNICTimer, reset *FeatureState, vendorid *FeatureVendorID,
  frequencies *FeatureState, reenlightenment *FeatureState, tlbflush *TLBFlush, ipi *FeatureState, evmcs *FeatureState
FeatureKVM: hidden bool
FeaturePreferences: preferredAcpi *FeatureState, preferredApic *FeatureAPIC, preferredHyperv *FeatureHyperv,
  preferredKvm *FeatureKVM, preferredPvspinlock *FeatureState, preferredSmm *FeatureState
FeatureSpinlocks: enabled *bool, spinlocks *uint32
FeatureState: enabled *bool
FeatureVendorID: enabled *bool, vendorid string
Features: acpi FeatureState, apic *FeatureAPIC, hypervPassthrough *HyperVPassthrough, hyperv *FeatureHyperv,
  smm *FeatureState, kvm *FeatureKVM, pvspinlock *FeatureState
Filesystem: name string!, virtiofs *Empty!
Firmware: uuid string, bootloader *Bootloader, serial string, kernelBoot *KernelBoot, acpi *ACPI
FirmwarePreferences: preferredUseBios *bool, preferredUseBiosSerial *bool, preferredUseEfi *bool,
  preferredUseSecureBoot *bool, preferredEfi *EFI
GPU: name string!, deviceName string (written -1.5), claimName string (since 1.6; kept -1.8),
  requestName string (since 1.6; kept -1.8), virtualGPUOptions *VGPUOptions, tag string
HPETTimer: tickPolicy HPETTickPolicy, present *bool
HTTPGetAction: path string, port IntOrString!, host string, scheme string (values HTTP HTTPS), httpHeaders []HTTPHeader
HTTPHeader: name string!, value string!
HostDevice: name string!, deviceName string (written -1.5), claimName string (since 1.6; kept -1.8),
  requestName string (since 1.6; kept -1.8), tag string
HostDisk: path string!, type string!, capacity Quantity, shared *bool
HotplugVolumeSource: persistentVolumeClaim *PersistentVolumeClaimVolumeSource, dataVolume *DataVolumeSource
Hugepages: pageSize string
HyperVPassthrough: enabled *bool
HypervTimer: present *bool
I6300ESBWatchdog: action string
Input: bus string, type string!, name string!
InstancetypeMatcher: name string, kind string, revisionName string, inferFromVolume string,
  inferFromVolumeFailurePolicy *string
InstancetypeStatusRef: name string, kind string, controllerRevisionRef *ControllerRevisionRef, inferFromVolume string,
  inferFromVolumeFailurePolicy *string
Interface: name string!, model string, bridge *Empty, slirp *Empty, masquerade *Empty, sriov *Empty, macvtap *Empty,
  passt *Empty, passtBinding *Empty (since 1.8), binding *PluginBinding, ports []Port,
  portRanges []PortRange (since 1.9), macAddress string, bootOrder *uint, pciAddress string, dhcpOptions *DHCPOptions,
  tag string, acpiIndex int, state string
KVMTimer: present *bool
KernelBoot: kernelArgs string, container *KernelBootContainer
KernelBootContainer: image string!, imagePullSecret string, imagePullPolicy string (values Always IfNotPresent Never),
  kernelPath string, initrdPath string
LabelSelector: matchLabels map[string]string, matchExpressions []LabelSelectorRequirement
LabelSelectorRequirement: key string!, operator string!, values []string
LaunchSecurity: sev *SEV, snp *Empty (since 1.7), tdx *Empty (since 1.7)
LocalObjectReference: name string
LunTarget: bus string, readonly bool, reservation bool
Machine: type string! (empty undeclared)
MachinePreferences: preferredMachineType string
ManagedFieldsEntry: manager string, operation string, apiVersion string, time *Time, fieldsType string, fieldsV1 any,
  subresource string
Memory: hugepages *Hugepages, guest *Quantity, maxGuest *Quantity, reservedOverhead *ReservedOverhead (since 1.8)
MemoryDumpVolumeSource: claimName string!, readOnly bool, hotpluggable bool
MemoryInstancetype: guest Quantity!, hugepages *Hugepages, overcommitPercent int, maxGuest *Quantity
MemoryPreferenceRequirement: guest Quantity!
MultusNetwork: networkName string!, default bool
NUMA: guestMappingPassthrough *Empty
Network: name string!, pod *PodNetwork, multus *MultusNetwork, resourceClaim *ClaimRequest (since 1.9)
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution *NodeSelector,
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
NodeSelector: nodeSelectorTerms []NodeSelectorTerm!
NodeSelectorRequirement: key string!, operator string! (values DoesNotExist Exists Gt In Lt NotIn), values []string
NodeSelectorTerm: matchExpressions []NodeSelectorRequirement, matchFields []NodeSelectorRequirement
ObjectFieldSelector: apiVersion string, fieldPath string!
ObjectMeta: name string, generateName string, namespace string, selfLink string, uid string, resourceVersion string,
  generation int64, creationTimestamp *Time, deletionTimestamp *Time, deletionGracePeriodSeconds *int64,
  labels map[string]string, annotations map[string]string, ownerReferences []OwnerReference, finalizers []string,
  managedFields []ManagedFieldsEntry
OwnerReference: apiVersion string!, kind string!, name string!, uid string!, controller *bool, blockOwnerDeletion *bool
PITTimer: tickPolicy PITTickPolicy, present *bool
PanicDevice: model *string
Parameter: name string!, displayName string, description string, value string, generate string, from string,
  required bool
PersistentVolumeClaim: kind string, apiVersion string, metadata ObjectMeta, status any, spec any
PersistentVolumeClaimInfo: claimName string,
  accessModes []string (values ReadOnlyMany ReadWriteMany ReadWriteOnce ReadWriteOncePod),
  volumeMode *string (values Block Filesystem FromStorageProfile), capacity map[string]Quantity,
  requests map[string]Quantity, preallocated bool, filesystemOverhead *string
PersistentVolumeClaimSpec: accessModes []string (values ReadOnlyMany ReadWriteMany ReadWriteOnce ReadWriteOncePod),
  selector *LabelSelector, resources VolumeResourceRequirements, volumeName string, storageClassName *string,
  volumeMode *string (values Block Filesystem FromStorageProfile), dataSource *TypedLocalObjectReference,
  dataSourceRef *TypedObjectReference, volumeAttributesClassName *string
PersistentVolumeClaimVolumeSource: claimName string!, readOnly bool, hotpluggable bool
PlatformOptions: architecture string
PluginBinding: name string!
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm,
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
PodAffinityTerm: labelSelector *LabelSelector, namespaces []string, topologyKey string!,
  namespaceSelector *LabelSelector, matchLabelKeys []string, mismatchLabelKeys []string
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm,
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
PodDNSConfig: nameservers []string, searches []string, options []PodDNSConfigOption
PodDNSConfigOption: name string, value *string
PodNetwork: vmNetworkCIDR string, vmIPv6NetworkCIDR string
Port: name string, protocol string, port int32!
PortRange: protocol string!, start int32!, end int32!
PreferenceMatcher: name string, kind string, revisionName string, inferFromVolume string,
  inferFromVolumeFailurePolicy *string
PreferenceRequirements: cpu *CPUPreferenceRequirement, memory *MemoryPreferenceRequirement,
  architecture *Architecture (since 1.7)
PreferredSchedulingTerm: weight int32!, preference NodeSelectorTerm!
Probe: exec *ExecAction, guestAgentPing *Empty, httpGet *HTTPGetAction, tcpSocket *TCPSocketAction,
  initialDelaySeconds int32, timeoutSeconds int32, periodSeconds int32, successThreshold int32, failureThreshold int32
QemuGuestAgentSSHPublicKeyAccessCredentialPropagation: users []string!
RTCTimer: tickPolicy RTCTickPolicy, present *bool, track RTCTrack
Realtime: mask string
RemoveVolumeOptions: name string!, dryRun []string
ReservedOverhead: addedOverhead *Quantity, memLock *string
ResourceFieldSelector: containerName string, resource string!, divisor Quantity
ResourceRequirements: requests map[string]Quantity, limits map[string]Quantity, overcommitGuestOverhead bool
SEV: policy *SEVPolicy, attestation *Empty, session string, dhCert string
SEVPolicy: encryptedState *bool
SSHPublicKeyAccessCredential: source SSHPublicKeyAccessCredentialSource!,
  propagationMethod SSHPublicKeyAccessCredentialPropagationMethod!
SSHPublicKeyAccessCredentialPropagationMethod: configDrive *Empty, noCloud *Empty,
  qemuGuestAgent *QemuGuestAgentSSHPublicKeyAccessCredentialPropagation
SSHPublicKeyAccessCredentialSource: secret *AccessCredentialSecretSource
SecretVolumeSource: secretName string, optional *bool, volumeLabel string
ServiceAccountVolumeSource: serviceAccountName string
SoundDevice: name string!, model string
SpreadOptions: across *SpreadAcross, ratio *uint32
StorageMigratedVolumeInfo: volumeName string!, sourcePVCInfo *PersistentVolumeClaimInfo,
  destinationPVCInfo *PersistentVolumeClaimInfo
StorageSpec: accessModes []string (values ReadOnlyMany ReadWriteMany ReadWriteOnce ReadWriteOncePod),
  selector *LabelSelector, resources VolumeResourceRequirements, volumeName string, storageClassName *string,
  volumeMode *string (values Block Filesystem FromStorageProfile), dataSource *TypedLocalObjectReference,
  dataSourceRef *TypedObjectReference
SyNICTimer: enabled *bool, direct *FeatureState
SysprepSource: secret *LocalObjectReference, configMap *LocalObjectReference
TCPSocketAction: port IntOrString!, host string
TLBFlush: enabled *bool, direct *FeatureState (since 1.8), extended *FeatureState (since 1.8)
TPMDevice: enabled *bool (since 1.4.1-1.4 1.5.1), persistent *bool
Template: kind string, apiVersion string, metadata ObjectMeta, message string, objects []any, parameters []Parameter,
  labels map[string]string
Timer: hpet *HPETTimer, kvm *KVMTimer, pit *PITTimer, rtc *RTCTimer, hyperv *HypervTimer
Toleration: key string, operator string (values Equal Exists), value string,
  effect string (values NoExecute NoSchedule PreferNoSchedule), tolerationSeconds *int64
TopologySpreadConstraint: maxSkew int32!, topologyKey string!,
  whenUnsatisfiable string! (values DoNotSchedule ScheduleAnyway), labelSelector *LabelSelector, minDomains *int32,
  nodeAffinityPolicy *string (values Honor Ignore), nodeTaintsPolicy *string (values Honor Ignore),
  matchLabelKeys []string
TypedLocalObjectReference: apiGroup *string!, kind string!, name string!
TypedObjectReference: apiGroup *string!, kind string!, name string!, namespace *string
UserPasswordAccessCredential: source UserPasswordAccessCredentialSource!,
  propagationMethod UserPasswordAccessCredentialPropagationMethod!
UserPasswordAccessCredentialPropagationMethod: qemuGuestAgent *Empty
UserPasswordAccessCredentialSource: secret *AccessCredentialSecretSource
UtilityVolume: name string!, claimName string!, readOnly bool, type *string
V1alpha1PreferenceSpec: clock *ClockPreferences, cpu *AlphaCPUPreferences, devices *AlphaDevicePreferences,
  features *FeaturePreferences, firmware *AlphaFirmwarePreferences, machine *MachinePreferences
V1alpha2PreferenceSpec: clock *ClockPreferences, cpu *AlphaCPUPreferences, devices *AlphaDevicePreferences,
  features *FeaturePreferences, firmware *AlphaFirmwarePreferences, machine *MachinePreferences,
  volumes *VolumePreferences
VGPUDisplayOptions: enabled *bool, ramFB *FeatureState
VGPUOptions: display *VGPUDisplayOptions
ValidatingAdmissionPolicy: kind string, apiVersion string, metadata ObjectMeta, spec any!
ValidatingAdmissionPolicyBinding: kind string, apiVersion string, metadata ObjectMeta, spec any!
VideoDevice: type string
VirtualMachine: kind string, apiVersion string, metadata ObjectMeta, spec VirtualMachineSpec!,
  status VirtualMachineStatus
VirtualMachineCondition: type string!, status string!, lastProbeTime Time, lastTransitionTime Time, reason string,
  message string
VirtualMachineInstanceBackupStatus: backupName string, startTimestamp *Time, endTimestamp *Time, completed bool,
  failed bool, backupMsg *string, checkpointName *string, volumes []VirtualMachineInstanceBackupVolumeInfo,
  quiesceStatus string
VirtualMachineInstanceBackupVolumeInfo: volumeName string!
VirtualMachineInstanceResourceClaim: name string!, resourceClaimName *string, resourceClaimTemplateName *string
VirtualMachineInstanceSpec: priorityClassName string, domain DomainSpec!,
  nodeSelector map[string]string (empty undeclared), affinity *Affinity, schedulerName string,
  serviceAccountName string (since 1.9), tolerations []Toleration, topologySpreadConstraints []TopologySpreadConstraint,
  evictionStrategy *string, startStrategy *string, terminationGracePeriodSeconds *int64, volumes []Volume,
  livenessProbe *Probe, readinessProbe *Probe, hostname string, subdomain string, networks []Network,
  dnsPolicy string (values ClusterFirst ClusterFirstWithHostNet Default None), dnsConfig *PodDNSConfig,
  accessCredentials []AccessCredential, architecture string,
  resourceClaims []VirtualMachineInstanceResourceClaim (since 1.6), utilityVolumes []UtilityVolume (since 1.8)
VirtualMachineInstanceTemplateSpec: metadata ObjectMeta, spec VirtualMachineInstanceSpec
VirtualMachineInstancetype: kind string, apiVersion string, metadata ObjectMeta, spec VirtualMachineInstancetypeSpec!
VirtualMachineInstancetypeSpec: nodeSelector map[string]string (empty undeclared), schedulerName string,
  cpu CPUInstancetype!, memory MemoryInstancetype!, gpus []GPU, hostDevices []HostDevice,
  ioThreadsPolicy *IOThreadsPolicy, ioThreads *DiskIOThreads (since 1.7), launchSecurity *LaunchSecurity,
  annotations map[string]string
VirtualMachineMemoryDumpRequest: claimName string!, phase string!, remove bool, startTimestamp *Time,
  endTimestamp *Time, fileName *string, message string
VirtualMachinePreference: kind string, apiVersion string, metadata ObjectMeta, spec VirtualMachinePreferenceSpec!
VirtualMachinePreferenceSpec: clock *ClockPreferences, cpu *CPUPreferences, devices *DevicePreferences,
  features *FeaturePreferences, firmware *FirmwarePreferences, machine *MachinePreferences, volumes *VolumePreferences,
  preferredSubdomain *string, preferredTerminationGracePeriodSeconds *int64, requirements *PreferenceRequirements,
  annotations map[string]string, preferSpreadSocketToCoreRatio uint32, preferredArchitecture *Architecture (since 1.7),
  preferredLaunchSecurity *LaunchSecurity (since 1.9)
VirtualMachineSpec: running *bool, runStrategy *string, instancetype *InstancetypeMatcher,
  preference *PreferenceMatcher, template *VirtualMachineInstanceTemplateSpec!,
  dataVolumeTemplates []DataVolumeTemplateSpec, updateVolumesStrategy *string
VirtualMachineStartFailure: consecutiveFailCount int, lastFailedVMIUID string, retryAfterTimestamp *Time
VirtualMachineStateChangeRequest: action string!, data map[string]string, uid *string
VirtualMachineStatus: snapshotInProgress *string, restoreInProgress *string, created bool, ready bool,
  printableStatus string, conditions []VirtualMachineCondition, stateChangeRequests []VirtualMachineStateChangeRequest,
  volumeRequests []VirtualMachineVolumeRequest, volumeSnapshotStatuses []VolumeSnapshotStatus,
  startFailure *VirtualMachineStartFailure, memoryDumpRequest *VirtualMachineMemoryDumpRequest,
  observedGeneration int64, desiredGeneration int64, runStrategy string, volumeUpdateState *VolumeUpdateState,
  changedBlockTracking *ChangedBlockTrackingStatus, instancetypeRef *InstancetypeStatusRef (since 1.5),
  preferenceRef *InstancetypeStatusRef (since 1.5)
VirtualMachineTemplate: kind string, apiVersion string, metadata ObjectMeta, spec VirtualMachineTemplateSpec!,
  status any
VirtualMachineTemplateSpec: virtualMachine any!, parameters []Parameter, message string
VirtualMachineVolumeRequest: addVolumeOptions *AddVolumeOptions, removeVolumeOptions *RemoveVolumeOptions
Volume: name string!, hostDisk *HostDisk, persistentVolumeClaim *PersistentVolumeClaimVolumeSource,
  cloudInitNoCloud *CloudInitNoCloudSource, cloudInitConfigDrive *CloudInitConfigDriveSource, sysprep *SysprepSource,
  containerDisk *ContainerDiskSource, ephemeral *EphemeralVolumeSource, emptyDisk *EmptyDiskSource,
  dataVolume *DataVolumeSource, configMap *ConfigMapVolumeSource, secret *SecretVolumeSource,
  downwardAPI *DownwardAPIVolumeSource, serviceAccount *ServiceAccountVolumeSource, downwardMetrics *Empty,
  memoryDump *MemoryDumpVolumeSource, containerPath *ContainerPathVolumeSource (since 1.8)
VolumeMigrationState: migratedVolumes []StorageMigratedVolumeInfo
VolumePreferences: preferredStorageClassName string
VolumeResourceRequirements: limits map[string]Quantity, requests map[string]Quantity
VolumeSnapshot: kind string, apiVersion string, metadata ObjectMeta, status any, spec any
VolumeSnapshotStatus: name string!, enabled bool!, reason string
VolumeUpdateState: volumeMigrationState *VolumeMigrationState
Watchdog: name string!, i6300esb *I6300ESBWatchdog, diag288 *Diag288Watchdog
WeightedPodAffinityTerm: weight int32!, podAffinityTerm PodAffinityTerm!
"""

CHOICES: Final = """\
Architecture: amd64 arm64 s390x
CPUFeaturePolicy: force require optional disable forbid
CPUTopology: sockets cores threads spread any preferSockets preferCores preferThreads preferSpread preferAny
DiskBus: virtio scsi sata usb
DiskCache: none writethrough writeback
DiskIO: native threads
HPETTickPolicy: delay catchup merge discard
IOThreadsPolicy: auto shared supplementalPool
InputBus: virtio usb
InputType: tablet keyboard
InterfaceModel: virtio e1000 e1000e igb ne2k_pci pcnet rtl8139
PITTickPolicy: delay catchup discard
PanicDeviceModel: hyperv isa pvpanic
RTCTickPolicy: delay catchup
RTCTrack: guest wall realtime
SoundModel: ich9 ac97
SpreadAcross: SocketsCores CoresThreads SocketsCoresThreads
VideoType: virtio vga bochs cirrus ramfb
"""
