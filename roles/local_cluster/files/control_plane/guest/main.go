// Guest makes what a launcher of KubeVirt makes for a VMI before it starts a guest: it prints the domain as XML, and
// writes the image of cloud-init.
package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"

	kubevirt "kubevirt.io/api/core/v1"
	cloudinit "kubevirt.io/kubevirt/pkg/cloud-init"
	diskutils "kubevirt.io/kubevirt/pkg/ephemeral-disk-utils"
	"kubevirt.io/kubevirt/pkg/os/disk"
	"kubevirt.io/kubevirt/pkg/virt-launcher/virtwrap/api"
	"kubevirt.io/kubevirt/pkg/virt-launcher/virtwrap/converter"
	"kubevirt.io/kubevirt/pkg/virt-launcher/virtwrap/converter/arch"
	"kubevirt.io/kubevirt/pkg/virt-launcher/virtwrap/converter/types"
)

// input is what the node writes to the standard input.
type input struct {
	VMI kubevirt.VirtualMachineInstance `json:"vmi"`
	// Formats has the format of each container disk, by its volume.
	Formats map[string]string `json:"formats"`
	// Directory is where the image of cloud-init goes, Secrets where each volume's Secret has a folder of files.
	Directory string `json:"directory"`
	Secrets   string `json:"secrets"`
	// Accelerated is whether the machine runs guests without emulation.
	Accelerated bool `json:"accelerated"`
}

// output is what the node reads.
type output struct {
	Domain string `json:"domain"`
	// CloudInit is the image's file, and Volume the one that it belongs to; empty without cloud-init.
	CloudInit string `json:"cloudInit"`
	Volume    string `json:"volume"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}

func run() error {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	made, err := cloudInit(&in)
	if err != nil {
		return fmt.Errorf("cloud-init: %w", err)
	}
	domain, err := convert(&in)
	if err != nil {
		return fmt.Errorf("domain: %w", err)
	}
	made.Domain = domain
	return json.NewEncoder(os.Stdout).Encode(made)
}

// secure says whether a guest boots by EFI with secure boot, which is the default.
func secure(vmi *kubevirt.VirtualMachineInstance) bool {
	if !vmi.IsBootloaderEFI() {
		return false
	}
	wanted := vmi.Spec.Domain.Firmware.Bootloader.EFI.SecureBoot
	return wanted == nil || *wanted
}

func convert(in *input) (string, error) {
	vmi := &in.VMI
	disks := map[string]*disk.DiskInfo{}
	for name, format := range in.Formats {
		disks[name] = &disk.DiskInfo{Format: format}
	}
	permanent, plugged := map[string]kubevirt.VolumeStatus{}, map[string]kubevirt.VolumeStatus{}
	for _, status := range vmi.Status.VolumeStatus {
		if status.HotplugVolume == nil {
			permanent[status.Name] = status
		} else {
			plugged[status.Name] = status
		}
	}
	attachments := map[string]string{}
	for _, device := range vmi.Spec.Domain.Devices.Interfaces {
		attachments[device.Name] = "tap"
	}
	context := &types.ConverterContext{
		Architecture:                    arch.NewConverter(vmi.Spec.Architecture),
		VirtualMachine:                  vmi,
		AllowEmulation:                  true,
		HypervisorDeviceAvailable:       in.Accelerated,
		HypervisorName:                  kubevirt.KvmHypervisorName,
		PermanentVolumes:                permanent,
		HotplugVolumes:                  plugged,
		DisksInfo:                       disks,
		EphemeraldiskCreator:            overlays{},
		EFIConfiguration:                &types.EFIConfiguration{EFICode: "code", EFIVars: "vars", SecureLoader: secure(vmi)},
		DomainAttachmentByInterfaceName: attachments,
	}
	if devices := vmi.Spec.Domain.Devices; devices.UseVirtioTransitional != nil {
		context.UseVirtioTransitional = *devices.UseVirtioTransitional
	}
	domain := &api.Domain{}
	if err := converter.Convert_v1_VirtualMachineInstance_To_api_Domain(vmi, domain, context); err != nil {
		return "", err
	}
	api.NewDefaulter(context.Architecture.GetArchitecture()).SetObjectDefaults_Domain(domain)
	text, err := xml.MarshalIndent(domain.Spec, "", " ")
	return string(text), err
}

// cloudInit writes the image that the VMI's first volume of cloud-init describes.
func cloudInit(in *input) (output, error) {
	diskutils.MockDefaultOwnershipManager() // files stay those of the user who runs this
	if err := cloudinit.SetLocalDirectory(in.Directory); err != nil {
		return output{}, err
	}
	data, err := cloudinit.ReadCloudInitVolumeDataSource(&in.VMI, in.Secrets)
	if err != nil || data == nil {
		return output{}, err
	}
	instancetype := in.VMI.Annotations[kubevirt.ClusterInstancetypeAnnotation]
	if instancetype == "" {
		instancetype = in.VMI.Annotations[kubevirt.InstancetypeAnnotation]
	}
	if err := cloudinit.GenerateLocalData(&in.VMI, instancetype, data); err != nil {
		return output{}, err
	}
	file := cloudinit.GetIsoFilePath(data.DataSource, in.VMI.Name, in.VMI.Namespace)
	return output{CloudInit: file, Volume: data.VolumeName}, nil
}

// overlays names the files above container disks. The node makes its own and puts them in their place.
type overlays struct{}

func (overlays) Init() error { return nil }

func (overlays) GetFilePath(volume string) string { return filepath.Join("overlays", volume) }

func (overlays) CreateBackedImageForVolume(kubevirt.Volume, string, string) error { return nil }

func (overlays) CreateEphemeralImages(*kubevirt.VirtualMachineInstance, *api.Domain) error { return nil }
