# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Written by tools/generate_docs.py from the options and their descriptions; do not edit.

"""The options of VMs, of one and of a list."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  name:
    description: Name of the VM. Either O(name) or O(virtual_machines) is required.
    type: str
  namespace: &id001
    description: Namespace of the VM.
    type: str
  state:
    description:
      - Whether the VM must exist as declared, or must not exist.
      - With V(absent), only name and namespace count. An entry of O(virtual_machines) can then be what
        M(virtshape.instancetypes.virtual_machine_info) returns for a VM.
      - A VM that is being deleted counts as absent. To create it again, the task first waits until it is gone.
      - With V(rendered), the task connects to nothing and returns the manifests of new objects as RV(rendered). All
        entries of a task are rendered, or none.
    type: str
    default: present
    choices: [present, absent, rendered]
  labels: &id002
    description: Labels of the VM. Set labels of its VMI in O(template).
    type: dict
  annotations: &id003
    description: Annotations of the VM. Set annotations of its VMI in O(template).
    type: dict
  run_strategy: &id004
    description: Run strategy of the VM. By default a new VM gets V(Always), and an existing VM keeps its run strategy,
      so that the next run does not start a VM that someone stopped.
    type: str
    choices: [Always, RerunOnFailure, Manual, Halted, Once]
  instancetype: &id005
    description: Instancetype of the VM. A string is short for O(instancetype.name), such as V(u1.small).
    type: dict
    suboptions:
      name:
        description: Name of the instancetype.
        type: str
      kind:
        description: Kind of the object. The default is the cluster-wide kind. As in KubeVirt, case does not matter and
          the plural is valid too.
        type: str
        choices: [VirtualMachineInstancetype, VirtualMachineClusterInstancetype]
      revision_name:
        description: Name of a ControllerRevision to pin the VM to, instead of the current instancetype.
        type: str
        aliases: [revisionName]
      infer:
        description:
          - Whether KubeVirt infers the instancetype from the labels of a volume. The volume is that of O(boot), else
            the volume with the lowest O(volumes[].boot_order), else the first volume.
          - With V(required) a volume without these labels is an error. With V(auto) such a volume leaves the VM without
            an instancetype, and with 512Mi of memory unless O(memory) is given.
          - A VM with O(cpu) or O(memory) gets no instancetype from V(auto).
          - With V(none) the VM gets no instancetype.
          - Without O(instancetype), a VM with O(boot.data_source) or O(boot.pvc) has V(required), any other VM V(none).
        type: str
        choices: [auto, required, none]
      infer_from_volume:
        description: Name of the volume from whose labels KubeVirt infers the instancetype. A volume without these
          labels is an error.
        type: str
        aliases: [inferFromVolume]
  preference: &id006
    description: Preference of the VM. A string is short for O(preference.name).
    type: dict
    suboptions:
      name:
        description: Name of the preference.
        type: str
      kind:
        description: Kind of the object. The default is the cluster-wide kind. As in KubeVirt, case does not matter and
          the plural is valid too.
        type: str
        choices: [VirtualMachinePreference, VirtualMachineClusterPreference]
      revision_name:
        description: Name of a ControllerRevision to pin the VM to, instead of the current preference.
        type: str
        aliases: [revisionName]
      infer:
        description:
          - Whether KubeVirt infers the preference from the labels of a volume. The volume is that of O(boot), else the
            volume with the lowest O(volumes[].boot_order), else the first volume.
          - With V(required) a volume without these labels is an error. With V(auto) such a volume leaves the VM without
            a preference.
          - With V(none) the VM gets no preference.
          - Without O(preference), a VM with O(boot.data_source) or O(boot.pvc) has V(required), any other VM V(none).
        type: str
        choices: [auto, required, none]
      infer_from_volume:
        description: Name of the volume from whose labels KubeVirt infers the preference. A volume without these labels
          is an error.
        type: str
        aliases: [inferFromVolume]
  cpu: &id007
    description: vCPUs and CPU model of the VM. vCPUs conflict with an instancetype.
    type: dict
    suboptions:
      sockets:
        description: Number of sockets.
        type: int
      cores:
        description: Number of cores in each socket.
        type: int
      threads:
        description: Number of threads in each core.
        type: int
      model:
        description: CPU model. Conflicts with an instancetype that sets a CPU model.
        type: str
  memory: &id008
    description:
      - Guest memory of a VM without an instancetype, as a quantity. Mutually exclusive with O(instancetype).
      - A new VM without both gets V(512Mi). An existing VM keeps its memory.
    type: str
  termination_grace_period: &id009
    description: Number of seconds for the guest to shut down.
    type: int
  access_credentials: &id010
    description: SSH keys and passwords that KubeVirt brings into the guest from Secrets. The task does not read the
      Secrets.
    type: list
    elements: dict
    suboptions:
      type:
        description: Type of the content of the Secret.
        type: str
        default: ssh
        choices: [ssh, password]
      secret:
        description: Name of the Secret, in the namespace of the VM.
        type: str
        required: true
      method:
        description:
          - How KubeVirt brings the credential into the guest, by the guest agent (V(ga)) or by cloud-init. Passwords
            require V(ga).
          - V(nocloud) and V(configdrive) require a cloud-init volume of this type, which the task adds if necessary.
        type: str
        default: ga
        choices: [ga, nocloud, configdrive]
      users:
        description: Users of the guest who get the keys. Only for SSH keys with the method V(ga). Default is
          O(cloud_init.user).
        type: list
        elements: str
  networks: &id011
    description: Networks of the VM, each with an interface. By default KubeVirt adds an interface on the pod network.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the network and of the interface.
        type: str
        default: default
      multus:
        description: Name of a NetworkAttachmentDefinition, or C(namespace/name). Default is the pod network.
        type: str
      binding:
        description: How the guest is connected. Default is V(masquerade) for the pod network and V(bridge) for other
          networks.
        type: str
        choices: [masquerade, bridge, sriov]
      binding_plugin:
        description: Name of a network binding plugin, instead of O(networks[].binding).
        type: str
      model:
        description: Model of the interface. The preference sets the default.
        type: str
      mac_address:
        description: MAC address in the guest.
        type: str
      boot_order:
        description: Position in the boot order, from 1, for a network boot.
        type: int
      ports:
        description: Ports of the guest to expose. Default is all.
        type: list
        elements: dict
        suboptions:
          name:
            description: Name of the port.
            type: str
          port:
            description: Number of the port.
            type: int
            required: true
          protocol:
            description: Protocol of the port. Default is V(TCP).
            type: str
            choices: [TCP, UDP]
  efi: &id012
    description: Boot with EFI, also with an empty dictionary. The preference sets the default firmware.
    type: dict
    suboptions:
      secure_boot:
        description: Whether to use secure boot, the default of KubeVirt. With secure boot the task also enables system
          management mode, which secure boot requires.
        type: bool
      persistent:
        description: Whether the firmware's variables survive a stop of the VM.
        type: bool
  tpm: &id013
    description: A TPM device, also with an empty dictionary.
    type: dict
    suboptions:
      persistent:
        description: Whether the state of the TPM survives a stop of the VM.
        type: bool
  node_selector: &id014
    description: Labels of the nodes that can run the VM. Conflicts with an instancetype that has a node selector.
    type: dict
  tolerations: &id015
    description: Tolerations of the VM, in the API's form.
    type: list
    elements: dict
  eviction_strategy: &id016
    description: What happens to the VM when its node is drained. The configuration of the cluster sets the default.
    type: str
    choices: [None, LiveMigrate, LiveMigrateIfPossible, External]
  template: &id017
    description: Fields of the VM's template without an option, in the API's form (C(metadata) and C(spec)). Merged with
      the other options; lists are joined; different values for the same field are an error.
    type: dict
  spec: &id018
    description: Fields of the VM's spec without an option, in the API's form. Merged like O(template).
    type: dict
  accept_unknown_fields: &id019
    description:
      - Whether to send fields that this collection does not know. By default an unknown field fails the task before
        anything is sent, and the message suggests the closest known field.
      - Use this option for fields of a KubeVirt release that is newer than the collection. If KubeVirt does not know
        the field either, it rejects the object.
    type: bool
  boot: &id020
    description:
      - The disk that the VM boots from. It becomes the first volume, named C(boot). A VM needs nothing else to run.
      - A string is short for O(boot.data_source), such as V(fedora).
      - KubeVirt infers instancetype and preference from the labels of O(boot.data_source) or O(boot.pvc) unless the
        task sets them. If the disk lacks these labels, the error says what to add and suggests instancetypes.
      - KubeVirt cannot infer anything from O(boot.container_disk) and O(boot.url). Without O(instancetype), O(cpu) or
        O(memory), a new VM then gets 512Mi of memory and the task warns.
    type: dict
    suboptions:
      data_source:
        description: Name of a DataSource in the namespace of the VM, or C(namespace/name) of a DataSource in another
          namespace. The disk is a copy of its image.
        type: str
      pvc:
        description: Name of a PersistentVolumeClaim in the namespace of the VM. The VM uses the claim itself, not a
          copy.
        type: str
      container_disk:
        description: Image of a container disk. The disk loses all changes when the VM stops.
        type: str
      url:
        description: URL of an image to download, beginning with C(http://), C(https://), C(gs://), C(docker://) or
          C(oci-archive://).
        type: str
      size:
        description: Size of the disk, as a quantity. By default a copy has the size of its source, and a download from
          O(boot.url) has V(30Gi).
        type: str
      storage_class:
        description: StorageClass of the disk. The default is the default StorageClass of the cluster.
        type: str
      access_modes:
        description: Access modes of the disk. The default comes from the StorageProfile of the StorageClass.
        type: list
        elements: str
      volume_mode:
        description: Volume mode of the disk. The default comes from the StorageProfile of the StorageClass.
        type: str
        choices: [Block, Filesystem]
      expand:
        description: What to do about a disk whose claim is smaller than O(boot.size). V(warn) warns in every run;
          V(grow) grows the claim, if its StorageClass allows expansion, and KubeVirt tells a running guest. No disk
          shrinks.
        type: str
        choices: [warn, grow]
  volumes: &id021
    description:
      - Volumes of the VM. The VM boots from the first volume unless a volume has O(volumes[].boot_order).
      - KubeVirt adds a disk for each volume. O(volumes[].bus), O(volumes[].device) and O(volumes[].boot_order)
        configure the disk.
      - Each volume has exactly one source. An entry with only O(volumes[].name) and V(cdrom) for O(volumes[].device) is
        an empty CD-ROM drive.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the volume and of its disk. Default is the name of the claim or DataVolume,
          C(cloudinitdisk), C(sysprepdisk), or a name from the name of the VM and the position of the volume.
        type: str
      container_disk:
        description: Image of a container disk. The disk loses all changes when the VM stops.
        type: str
      persistent_volume_claim:
        description: Name of a PersistentVolumeClaim in the namespace of the VM.
        type: str
      data_volume:
        description: Name of a DataVolume, for example from O(data_volume_templates).
        type: str
      empty_disk:
        description: Capacity of an empty disk that lasts as long as the VMI, as a quantity.
        type: str
      import:
        description: A DataVolume that KubeVirt creates for the VM from exactly one of the sources below, and only once.
          The task warns in every run of a disk that has another source, storage class or mode than declared.
        type: dict
        suboptions:
          name:
            description: Name of the DataVolume. Default is the names of VM and volume, C(VM-VOLUME).
            type: str
          blank:
            description: An empty disk.
            type: bool
          data_source:
            description: A copy of the image of a DataSource.
            type: dict
            suboptions:
              name:
                description: Name of the DataSource.
                type: str
                required: true
              namespace:
                description: Namespace of the DataSource. Default is the namespace of the VM.
                type: str
          gcs:
            description: An image in Google Cloud Storage.
            type: dict
            suboptions:
              url:
                description: URL of the image.
                type: str
                required: true
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
          http:
            description: An image that is downloaded by HTTP.
            type: dict
            suboptions:
              url:
                description: URL of the image.
                type: str
                required: true
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
              cert_config_map:
                description: Name of a ConfigMap with the certificates to trust.
                type: str
              extra_headers:
                description: Headers to send, each as C(Name:\ value). Never shown.
                type: list
                elements: str
              secret_extra_headers:
                description: Names of Secrets with headers to send.
                type: list
                elements: str
          imageio:
            description: A disk of oVirt.
            type: dict
            suboptions:
              url:
                description: Address of the engine's API.
                type: str
                required: true
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
              cert_config_map:
                description: Name of a ConfigMap with the certificates to trust.
                type: str
              disk_id:
                description: ID of the disk.
                type: str
                required: true
          pvc:
            description: A clone of a PersistentVolumeClaim.
            type: dict
            suboptions:
              name:
                description: Name of the claim.
                type: str
                required: true
              namespace:
                description: Namespace of the object.
                type: str
                required: true
          registry:
            description: A copy of a container disk. Either O(volumes[].import.registry.url) or an image stream is
              required.
            type: dict
            suboptions:
              url:
                description: URL of the image, beginning with C(docker://) or C(oci-archive://).
                type: str
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
              cert_config_map:
                description: Name of a ConfigMap with the certificates to trust.
                type: str
              image_stream:
                description: Name of an ImageStream of OpenShift.
                type: str
              pull_method:
                description: Whether the importer pod or the container runtime of its node pulls the image.
                type: str
                choices: [pod, node]
          s3:
            description: An image in an S3 bucket.
            type: dict
            suboptions:
              url:
                description: URL of the image.
                type: str
                required: true
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
              cert_config_map:
                description: Name of a ConfigMap with the certificates to trust.
                type: str
          snapshot:
            description: A disk that is restored from a VolumeSnapshot.
            type: dict
            suboptions:
              name:
                description: Name of the VolumeSnapshot.
                type: str
                required: true
              namespace:
                description: Namespace of the object.
                type: str
                required: true
          vddk:
            description: A disk of VMware vSphere.
            type: dict
            suboptions:
              url:
                description: Address of the vCenter or ESXi host.
                type: str
                required: true
              uuid:
                description: UUID of the VM in vSphere.
                type: str
                required: true
              thumbprint:
                description: Thumbprint of the host's certificate.
                type: str
                required: true
              secret_ref:
                description: Name of a Secret with the credentials.
                type: str
                required: true
              backing_file:
                description: Path of the disk in vSphere.
                type: str
                required: true
              init_image_url:
                description: Image with the VDDK library.
                type: str
          size:
            description: Size of the disk, as a quantity. Optional for O(volumes[].import.data_source),
              O(volumes[].import.pvc) and O(volumes[].import.snapshot), whose copies have the size of the source;
              otherwise required.
            type: str
          storage_class:
            description: StorageClass of the disk. The default is the default StorageClass of the cluster.
            type: str
          access_modes:
            description: Access modes of the disk. The default comes from the StorageProfile of the StorageClass.
            type: list
            elements: str
          volume_mode:
            description: Volume mode of the disk. The default comes from the StorageProfile of the StorageClass.
            type: str
            choices: [Block, Filesystem]
          expand:
            description: What to do about a disk whose claim is smaller than O(volumes[].import.size). V(warn) warns in
              every run; V(grow) grows the claim, if its StorageClass allows expansion, and KubeVirt tells a running
              guest. No disk shrinks.
            type: str
            choices: [warn, grow]
      cloud_init:
        description: Data for cloud-init, sent unchanged. Never shown in results, diffs or logs. O(cloud_init) creates
          user data from options.
        type: dict
        suboptions:
          type:
            description: Data source of cloud-init.
            type: str
            default: nocloud
            choices: [nocloud, configdrive]
          user_data:
            description: User data.
            type: str
          user_data_base64:
            description: User data, base64-encoded.
            type: str
          network_data:
            description: Network data.
            type: str
          network_data_base64:
            description: Network data, base64-encoded.
            type: str
      sysprep:
        description: Answer file for Sysprep of Windows, from a ConfigMap or a Secret.
        type: dict
        suboptions:
          config_map:
            description: Name of a ConfigMap with C(autounattend.xml) or C(unattend.xml).
            type: str
          secret:
            description: Name of a Secret with such a file.
            type: str
      boot_order:
        description: Position in the boot order, from 1.
        type: int
      bus:
        description: Bus of the disk. The preference sets the default, except for a disk with O(volumes[].hotpluggable),
          whose bus is V(scsi) by default, as with C(virtctl addvolume).
        type: str
        choices: [virtio, scsi, sata, usb]
      device:
        description: Type of the device in the guest.
        type: str
        choices: [disk, cdrom, lun]
      hotpluggable:
        description:
          - Whether a running guest gets the volume when the task adds it, and loses it when the task no longer declares
            it. Only for O(volumes[].persistent_volume_claim), O(volumes[].data_volume) and O(volumes[].import), as a
            disk with the bus V(scsi) or V(virtio), as a LUN, or in a CD-ROM drive that the guest has since its start.
          - From KubeVirt 1.9 on by default. Before, the feature gate C(DeclarativeHotplugVolumes) is necessary, from
            1.6 on, or C(HotplugVolumes), with which the task requests each volume, as C(virtctl addvolume) does. A
            request neither replaces a volume, nor reaches a CD-ROM drive, nor removes a volume of O(volumes[].import).
            What KubeVirt does not plug waits for a restart, and the task warns.
          - The disk gets an entry in the API's C(disks), and KubeVirt puts disks without an entry after it at the next
            start. Therefore give the boot disk an O(volumes[].boot_order) when you create the VM.
        type: bool
  adopt_disks: &id022
    description:
      - Whether the VM may adopt a DataVolume or a claim that exists, has no owner, and has the name of a disk that
        KubeVirt is to make for the VM. The VM then has its content, and it is deleted with the VM.
      - By default such a disk is an error. To use a disk that outlives the VM, name it in O(volumes[].data_volume),
        O(volumes[].persistent_volume_claim) or O(boot.pvc).
    type: bool
  sysprep: &id023
    description: Answer file for Sysprep of Windows, on a volume C(sysprepdisk) after O(volumes).
    type: dict
    suboptions:
      config_map:
        description: Name of a ConfigMap with C(autounattend.xml) or C(unattend.xml).
        type: str
      secret:
        description: Name of a Secret with such a file.
        type: str
  cloud_init: &id024
    description:
      - Configuration of the guest by cloud-init, on the last volume C(cloudinitdisk). Without any data and without
        O(cloud_init.type) the VM has no such volume.
      - The data never appear in results, diffs or logs. The VM stores them in clear text. Use O(access_credentials) for
        data that users with read access to the VM must not see.
    type: dict
    suboptions:
      type:
        description: Data source of cloud-init. Default is V(nocloud). With V(none) the VM has no such volume.
        type: str
        choices: [nocloud, configdrive, none]
      user:
        description: Name of the default user.
        type: str
      password:
        description: Password of this user, for example from a vault.
        type: str
      password_file:
        description: Path of a file with this password on the host where the module runs. Surrounding white space is
          ignored.
        type: path
      ssh_keys:
        description: Public SSH keys for logins of this user.
        type: list
        elements: str
      manage_ssh:
        description: Whether the guest agent may write SSH keys in the guest. Default is true with a credential of
          O(access_credentials) with the method V(ga).
        type: bool
      quote:
        description: Whether to quote user, password and keys if YAML would parse them as another value. With V(false)
          they are written unquoted, as by C(virtctl).
        type: bool
        default: true
      user_data:
        description: User data. Mutually exclusive with user, password and keys.
        type: str
      user_data_base64:
        description: The same, base64-encoded.
        type: str
      network_data:
        description: Network data.
        type: str
      network_data_base64:
        description: The same, base64-encoded.
        type: str
  data_volume_templates: &id025
    description: DataVolumes that KubeVirt creates with the VM, in the API's form.
    type: list
    elements: dict
  workload: &id026
    description:
      - What the VM is for, such as V(fedora), V(rhel.9) or V(windows.11). The task chooses the preference, the boot
        source among the DataSources of all namespaces, and the instancetype, by the rules of
        P(virtshape.instancetypes.workload#filter). RV(results[].choice) says what and why.
      - An ambiguous name is an error that lists the choices. With O(boot), the disk is that of O(boot). With
        O(state=rendered), which makes no connection, O(workload) is an error.
      - With O(preflight_quota) and O(preflight_placement), the instancetype is the smallest with which the VM can run.
      - An existing VM keeps what was chosen for it, in the annotation C(instancetypes.virtshape.io/workload), until
        O(size) is set to another value. To go back to O(boot), O(instancetype) and O(preference), set them to the
        values of RV(results[].choice).
    type: str
  size: &id027
    description: Size for O(workload). A string is short for O(size.name), such as V(medium). By default the
      instancetype is the boot source's default, else the smallest for general purposes that meets the requirements of
      the preference.
    type: dict
    suboptions:
      name:
        description: Size of the instancetype, such as V(medium).
        type: str
      cpu:
        description: Minimum number of vCPUs.
        type: int
      memory:
        description: Minimum memory of the guest, a quantity such as V(4Gi).
        type: str
      performance:
        description: Class of the instancetype, such as V(dedicated.vcpu), or its part before the first dot, such as
          V(dedicated). The default is V(general.purpose), or the only class that exists.
        type: str
  infer_from_registry: &id028
    description:
      - Whether the task infers O(instancetype) and O(preference) from images in registries, which KubeVirt never does.
        This concerns container disks, and disks that CDI imports from a registry - by O(data_volume_templates),
        O(volumes[].import) or O(boot.url), or a DataVolume that a volume names and that has no labels.
      - The task asks the registry for the environment variables of the image, such as
        C(INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE=fedora), and declares the names that it finds. It uses the Secret
        and the ConfigMap that the disk names, and asks for each image once.
      - An existing VM keeps what it has, and the task asks nothing. An instancetype or a preference that the task names
        wins over the image.
      - A VM that boots from such a disk and names nothing has O(instancetype.infer=required) and
        O(preference.infer=required). Then it is an error if the registry does not answer, or if the image lacks these
        variables; with V(auto) it is none. With O(state=rendered), the option is an error.
    type: bool
  insecure_registry: &id029
    description: Whether O(infer_from_registry) accepts any certificate of a registry, and plain HTTP. It always does
      for the C(insecureRegistries) of CDI.
    type: bool
  from_template: &id030
    description:
      - The VirtualMachineTemplate of which to make the VM. It is processed here, with the rights of the user, who must
        be allowed to read it. A string is short for O(from_template.name). Requires KubeVirt 1.9. With
        O(state=rendered), which makes no connection, the option is an error.
      - Other options take precedence over the template. Objects are merged, other values replaced. O(name) and
        O(namespace) are those of the VM, whatever the template says, and give their value to a parameter that names the
        VM, such as C(NAME) in C(${NAME}). Options that add disks, networks or credentials cannot be combined with it.
      - Parameters that generate their value do so once. In an existing VM, the value is read from where the template
        has the parameter. If that is impossible, the error says which parameter to set.
      - The run strategy of the template is that of a new VM, as if O(run_strategy) was not set.
      - Values of parameters whose names contain such words as C(password), C(secret) and C(token) are hidden, as is
        cloud-init data. To know a password, set it.
    type: dict
    suboptions:
      name:
        description: Name of the template.
        type: str
        required: true
      namespace:
        description: Namespace of the template. Default is that of the VM.
        type: str
      parameters:
        description: Values of the template's parameters, by name.
        type: dict
  sizes: &id031
    description:
      - 'How the VM has O(instancetype) and O(preference): V(named) names them, V(expanded) declares what they resolve
        to, and records in annotations of which objects. V(auto) names them if the cluster accepts that in a dry run,
        which a task makes once; Harvester since 1.7 does not. Default is V(named).'
      - An expanded VM keeps its values when the instancetype changes, as a VM keeps its revision;
        M(virtshape.instancetypes.controller_revision) refreshes both. A change of O(sizes) does not change the guest.
    type: str
    choices: [named, expanded, auto]
  virtual_machines:
    description: A list of VMs. An entry takes the same options as the task does for one VM. An option that an entry
      leaves out has the value that the task gives, and an option with the value V(null) has none.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the VM.
        type: str
        required: true
      namespace: *id001
      state:
        description:
          - Whether the VM must exist as declared, or must not exist.
          - With V(absent), only name and namespace count. An entry of O(virtual_machines) can then be what
            M(virtshape.instancetypes.virtual_machine_info) returns for a VM.
          - A VM that is being deleted counts as absent. To create it again, the task first waits until it is gone.
          - With V(rendered), the task connects to nothing and returns the manifests of new objects as RV(rendered). All
            entries of a task are rendered, or none.
        type: str
        choices: [present, absent, rendered]
      labels: *id002
      annotations: *id003
      run_strategy: *id004
      instancetype: *id005
      preference: *id006
      cpu: *id007
      memory: *id008
      termination_grace_period: *id009
      access_credentials: *id010
      networks: *id011
      efi: *id012
      tpm: *id013
      node_selector: *id014
      tolerations: *id015
      eviction_strategy: *id016
      template: *id017
      spec: *id018
      accept_unknown_fields: *id019
      boot: *id020
      volumes: *id021
      adopt_disks: *id022
      sysprep: *id023
      cloud_init: *id024
      data_volume_templates: *id025
      workload: *id026
      size: *id027
      infer_from_registry: *id028
      insecure_registry: *id029
      from_template: *id030
      sizes: *id031
"""
